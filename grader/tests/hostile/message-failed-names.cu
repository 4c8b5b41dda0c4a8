// RTE/AC/WA | own | reports failed calls with odd names and invalid error codes | 
#include <sys/mman.h>
#include "forge.cuh"
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    const char *names[] = {"", "\x1b[2J\x1b]0;x\x07", "%s%n%n%n", "launch\nverdict: AC", "0123456789012345678901234567890123456789"};
    for (const char *x : names)
        for (uint64_t code : {0ull, 1ull, 1ull << 31, ~0ull}) ask(OP_api_error, &code, 8, x, strlen(x));
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
