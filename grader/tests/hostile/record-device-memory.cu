// MLE* | own | allocates all of the device's memory | failed: cudaErrorMemoryAllocation
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    void *p;
    for (int i = 0; n && i < 256; i++) cudaMalloc(&p, 1ull << 30);
    int *q = (int *)p;
    if (n) k<<<(n + 255) / 256, 256>>>(q, in, n);
}
