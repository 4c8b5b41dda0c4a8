// AC | - | a __device__ counter that each call sets anew | 
__device__ int done;
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
    if (i < n && threadIdx.x == 0) atomicAdd(&done, 1);
}
extern "C" void plus_one(int *out, const int *in, int n) {
    int zero = 0;
    cudaMemcpyToSymbol(done, &zero, 4);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
