// A kernel receives a pointer to the host's memory.
// lesson: chapters/00-roofline/vector_add.md, Hint 1
// expect: which is not a device address (a host pointer?)
#include "../mistake.h"

__global__ void sum(int *out, const int *in) { *out = in[0] + in[1]; } // reported

int main() {
    int host[2] = {1, 2}, *out = zeros(1), *in = zeros(2);
    CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
#ifdef MISTAKE
    in = host;
#endif
    sum<<<1, 1>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 3);
    return 0;
}
