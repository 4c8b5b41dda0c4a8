// A lane passes a mask that does not name it.
// lesson: chapters/10-warps/README.md, What the hardware does
// expect: is not in the member mask
#include "../mistake.h"

__global__ void sum(int *out, const int *in) {
    int lane = threadIdx.x, v = in[lane];
#ifdef MISTAKE
    unsigned mask = 0xffffu;
#else
    unsigned mask = 0xffffffffu;
#endif
    out[lane] = __reduce_add_sync(mask, v); // reported
}

int main() {
    int *in = counting(32), *out = zeros(32);
    sum<<<1, 32>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 496);
    return 0;
}
