// Threads without an element to read return before the barrier, so their part of the tile stays empty.
// lesson: chapters/02-coalescing/transpose.md, Hint 3
// expect: uninitialized
#include "../mistake.h"

__global__ void turn(float *out, const float *in, int n) { // reverses n elements, padded with zeros in front
    __shared__ float tile[128];
    int t = threadIdx.x;
#ifdef MISTAKE
    if (t >= n) return;
    tile[t] = in[t];
#else
    tile[t] = t < n ? in[t] : 0;
#endif
    __syncthreads();
    if (t < n) out[t] = tile[127 - t]; // reported
}

int main() {
    float *in = counting<float>(100), *out = zeros<float>(100);
    turn<<<1, 128>>>(out, in, 100);
    EXPECT(element(out, 28) == 99);
    std::vector<float> host(100);
    CHECK(cudaMemcpy(host.data(), out, 400, cudaMemcpyDeviceToHost));
    return 0;
}
