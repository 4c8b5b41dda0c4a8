// AC | - | two dynamic shared sizes, the attribute lowered in between | 
__global__ void k(int *out, const int *in, int first, int n) {
    extern __shared__ int s[];
    int i = first + blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    if (i < n) out[i] = s[threadIdx.x] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    int half = n / 2;
    if (!n) return;
    cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
    k<<<(half + 255) / 256 + 1, 256, 65536>>>(out, in, 0, half);
    cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024);
    k<<<(n - half + 255) / 256, 256, 1024>>>(out, in, half, n);
}
