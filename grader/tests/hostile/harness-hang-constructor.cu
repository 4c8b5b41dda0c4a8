// TLE | 32 | a constructor that never returns | constructor
__attribute__((constructor)) static void early() { for (volatile int i = 0;; i = 0) ; }
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
