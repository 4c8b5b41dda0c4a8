// AC | - | a constructor, a signal handler, exit handlers | 
#include <signal.h>
#include <stdlib.h>
static int table[256];
__attribute__((constructor)) static void fill() { for (int i = 0; i < 256; i++) table[i] = i; }
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    signal(SIGUSR1, SIG_IGN);
    atexit([] {});
    if (table[7] == 7 && n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
