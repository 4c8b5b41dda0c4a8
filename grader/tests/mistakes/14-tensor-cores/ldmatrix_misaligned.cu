// A row for ldmatrix begins at an address that is not a multiple of 16 bytes.
// lesson: chapters/14-tensor-cores/mma_swizzle.md, Hint 1
// expect: misaligned
#include "../mistake.h"
#include <cuda_fp16.h>

#ifdef MISTAKE
constexpr int ROW = 64 + 4;
#else
constexpr int ROW = 64 + 8;
#endif
__global__ void load(unsigned *out) {
    __shared__ __align__(16) half tile[8 * ROW];
    for (int i = threadIdx.x; i < 8 * ROW; i += 32) tile[i] = __float2half(0);
    __syncwarp();
    unsigned r, row = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x % 8 * ROW]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(row) : "memory"); // reported
    out[threadIdx.x] = r;
}

int main() {
    unsigned *out = zeros<unsigned>(32);
    load<<<1, 32>>>(out);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
