// AC | - | a call that fails and is dealt with | 
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    void *p;
    if (cudaMalloc(&p, 1ull << 40) == cudaSuccess) cudaFree(p);
    cudaGetLastError();
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
