// AC/RTE/MLE/TLE | own | 227 KiB of shared memory in blocks by the hundred thousand | 
__global__ void k(int *out, const int *in, int n) {
    extern __shared__ int s[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = threadIdx.x; j < 58112; j += blockDim.x) s[j] = j;
    __syncthreads();
    if (i < n) out[i] = in[i] + 1 + (s[i % 58112] != i % 58112);
}
extern "C" void plus_one(int *out, const int *in, int n) {
    cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448);
    if (n) k<<<(n + 31) / 32, 32, 232448>>>(out, in, n);
}
