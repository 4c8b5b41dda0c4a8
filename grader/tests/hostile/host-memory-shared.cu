// AC | own | shared anonymous memory, which no limit on data counts | 
#include <sys/mman.h>
#include <string.h>
#include <stdio.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    for (int i = 0; i < 64; i++) {
        char *p = (char *)mmap(0, 1ul << 30, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) break;
        puts("LEAK: uncounted memory");
        memset(p, 1, 64 << 20);
    }
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
