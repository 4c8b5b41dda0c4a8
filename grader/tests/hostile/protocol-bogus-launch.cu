// WA/RTE | own | launches kernels that do not exist, with grids of 2^32 | 
#include "forge.cuh"
extern "C" void plus_one(int *out, const int *in, int n) {
    for (uint64_t kernel = 0; n && kernel < 64; kernel++) {
        struct {
            uint64_t kernel, stream;
            uint32_t grid[3], block[3];
            uint64_t shared;
            uint32_t cooperative, pad;
        } q = {kernel << 32 | kernel, 0, {~0u, ~0u, ~0u}, {~0u, 1, 1}, ~0ull, 1, 0};
        say(OP_launch, &q, sizeof q), hear();
    }
}
