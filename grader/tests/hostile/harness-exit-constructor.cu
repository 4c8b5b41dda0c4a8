// RTE* | 32 | _exit(0) in a constructor | exit status 0
#include <unistd.h>
__attribute__((constructor)) static void early() { _exit(0); }
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
