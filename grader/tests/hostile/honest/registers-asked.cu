// AC | - | asks for the largest block that fits, then launches that | 
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    int blocks, threads;
    cudaFuncAttributes a;
    if (!n || cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, k, 0, 0) || cudaFuncGetAttributes(&a, k)) return;
    if (threads > a.maxThreadsPerBlock) threads = a.maxThreadsPerBlock;
    k<<<(n + threads - 1) / threads, threads>>>(out, in, n);
}
