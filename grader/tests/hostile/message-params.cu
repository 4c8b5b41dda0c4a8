// WA/RTE | own | launches with 32764 bytes of parameters and more, for a kernel that takes 20 | 
#include <sys/mman.h>
#include "forge.cuh"
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    static char tail[40000];
    struct { uint64_t kernel, stream; uint32_t g[3], b[3]; uint64_t shared; uint32_t coop, pad; } q = {1, 0, {1, 1, 1}, {32, 1, 1}, 0, 0, 0};
    uint64_t module = 1;
    ask(OP_kernel_find, &module, 8, "_Z1kPiPKii", 10);
    size_t sizes[] = {0, 1, 19, 21, 24, 4096, 32764, 32768, 32769, 40000};
    for (size_t s : sizes) ask(OP_launch, &q, sizeof q, tail, s);
}
