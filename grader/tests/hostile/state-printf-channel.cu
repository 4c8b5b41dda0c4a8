// AC/RTE/WA | 6 | the host requests the device printf output of the last replay, which has inputs | 
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include "forge.cuh"
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i < 4) printf("input %d\n", in[i]);
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    ask(OP_output, "", 0);
    if (strstr(reply + sizeof(struct header) + 8, "input")) printf("LEAK: an input of the last replay\n");
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
