// AC/RTE | own | a constructor causes every error of the server, then works correctly | 
#include <sys/mman.h>
#include "forge.cuh"
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
__attribute__((constructor)) static void early() {
    char body[256];
    for (uint32_t op = 0; op < OP_next_call; op++) memset(body, 0xff, sizeof body), ask(op, body, request_bytes[op]);
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
