// A float2 is stored at an odd element: its address is not a multiple of 8.
// lesson: chapters/02-coalescing/vector_loads.md, vector_loads: 16 bytes a lane
// expect: misaligned
#include "../mistake.h"

__global__ void pairs(float *out, int first) {
    float2 pair = {1, 2};
    *(float2 *)(out + first + 2 * threadIdx.x) = pair; // reported
}

int main() {
    float *out = zeros<float>(80);
#ifdef MISTAKE
    pairs<<<1, 32>>>(out, 3);
#else
    pairs<<<1, 32>>>(out, 4);
#endif
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 5) == 2);
    return 0;
}
