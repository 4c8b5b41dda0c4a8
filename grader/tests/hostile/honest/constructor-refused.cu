// AC | - | a constructor whose call fails, which it takes as an answer | 
static bool roomy;
__attribute__((constructor)) static void ask() {
    void *p;
    roomy = cudaMalloc(&p, 1ull << 40) == cudaSuccess;
    cudaGetLastError();
}
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, roomy ? 512 : 256>>>(out, in, n);
}
