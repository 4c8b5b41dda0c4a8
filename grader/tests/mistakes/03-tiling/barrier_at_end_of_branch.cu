// A barrier in a branch that ends the kernel: threads that don't take it never reach the barrier.
// lesson: chapters/03-tiling/README.md, What the hardware does
// missed: nvcc compiles it to the same code as an early return, and threads that have exited don't count
#include "../mistake.h"

__global__ void reverse(int *out, const int *in) {
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
#ifdef MISTAKE
    if (t < 32) {
        __syncthreads(); // reported
        out[t] = tile[63 - t];
    }
#else
    __syncthreads();
    if (t < 32) out[t] = tile[63 - t];
#endif
}

int main() {
    int *in = counting(64), *out = zeros(32);
    reverse<<<1, 64>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 31) == 32);
    return 0;
}
