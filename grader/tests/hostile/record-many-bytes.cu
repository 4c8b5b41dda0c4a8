// RTE/TLE | own | commands that carry gigabytes | 
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    static char host[8 << 20];
    void *t;
    cudaMalloc(&t, sizeof host);
    for (int i = 0; n && i < 1000; i++) cudaMemcpy(t, host, sizeof host, cudaMemcpyHostToDevice);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
