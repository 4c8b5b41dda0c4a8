// ldmatrix reads rows that other lanes have written, without __syncwarp() between.
// lesson: chapters/14-tensor-cores/README.md, What the hardware does
// expect: data race in shared memory
#include "../mistake.h"
#include <cuda_fp16.h>

__global__ void load(unsigned *out) {
    __shared__ __align__(16) half tile[8 * 64];
    for (int i = threadIdx.x; i < 8 * 64; i += 32) tile[i] = __float2half(i + 1.0f);
#ifndef MISTAKE
    __syncwarp();
#endif
    unsigned r, row = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x % 8 * 64]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(row) : "memory"); // reported
    out[threadIdx.x] = r;
}

int main() {
    unsigned *out = zeros<unsigned>(32);
    load<<<1, 32>>>(out);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
