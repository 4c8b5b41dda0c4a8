// The barrier of a round is inside the branch of the threads that add.
// lesson: chapters/04-bank-conflicts/README.md, By hand: reduce_addressing
// expect: barrier divergence
#include "../mistake.h"

__global__ void sum(int *out, const int *in) {
    __shared__ int part[256];
    int t = threadIdx.x;
    part[t] = in[t];
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
#ifdef MISTAKE
        if (t < d) {
            part[t] += part[t + d];
            __syncthreads();
        }
#else
        if (t < d) part[t] += part[t + d];
        __syncthreads();
#endif
    }
    __syncthreads(); // reported
    out[t] = part[0];
}

int main() {
    int *in = counting(256), *out = zeros(256);
    sum<<<1, 256>>>(out, in);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 7) == 255 * 128);
    return 0;
}
