// The last piece along k is shorter, and the rest of the tile is not filled in as zeros.
// lesson: chapters/09-capstone/sgemm.md, sgemm: the whole ladder
// expect: uninitialized
#include "../mistake.h"

enum { PIECE = 32 };
__global__ void dot(float *out, const float *a, int k) {
    __shared__ float tile[PIECE];
    int t = threadIdx.x;
    float sum = 0;
    for (int begin = 0; begin < k; begin += PIECE) {
        __shared__ float last[PIECE];
        float *to = begin + PIECE <= k ? tile : last;
        if (begin + t < k) to[t] = a[begin + t];
#ifndef MISTAKE
        else to[t] = 0;
#endif
        __syncthreads();
        for (int i = 0; i < PIECE; i++) sum += to[i]; // reported
        __syncthreads();
    }
    if (sum > 0) out[t] = sum;
}

int main() {
    float *out = zeros<float>(PIECE), *a = counting<float>(40);
    dot<<<1, PIECE>>>(out, a, 40);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 780);
    return 0;
}
