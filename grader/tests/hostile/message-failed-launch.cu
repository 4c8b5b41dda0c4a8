// AC | own | reports a failed launch with an invalid error code | 
#include <sys/mman.h>
#include "forge.cuh"
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    uint64_t code = 0x80000001u;
    ask(OP_api_error, &code, 8, "launch", 6);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
