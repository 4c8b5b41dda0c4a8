// TLE/RTE/AC | own | a constructor that launches a kernel without end | 
__global__ void spin(volatile int *p) { while (!*p) {} }
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
__attribute__((constructor)) static void early() {
    int *p;
    if (!cudaMalloc(&p, 64)) cudaMemset(p, 0, 64), spin<<<1, 32>>>(p);
    cudaDeviceSynchronize();
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
