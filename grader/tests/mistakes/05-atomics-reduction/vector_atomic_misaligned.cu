// An atomic addition of a float4 at an address that is not a multiple of 16.
// lesson: chapters/05-atomics-reduction/README.md, What an atomic does
// expect: misaligned
#include "../mistake.h"

__global__ void add(float *sums) {
    atomicAdd(reinterpret_cast<float4 *>(sums), make_float4(1, 2, 3, 4)); // reported
}

int main() {
    float *sums = zeros<float>(16);
#ifdef MISTAKE
    sums += 2;
#else
    sums += 4;
#endif
    add<<<1, 32>>>(sums);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(sums, 1) == 64);
    return 0;
}
