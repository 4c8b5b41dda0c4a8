// RTE | own | recursion without end | crashed
static int deep(volatile int n) { volatile char b[4096]; b[n % 4096] = 1; return deep(n + 1) + b[0]; }
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) deep(1);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
