// RTE/AC/TLE | own | a constructor that launches kernels, one of which faults | 
__global__ void bad(int *p) { p[1 << 28] = 1; }
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
__attribute__((constructor)) static void early() {
    int *p;
    if (!cudaMalloc(&p, 64)) bad<<<1, 32>>>(p);
    cudaDeviceSynchronize();
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
