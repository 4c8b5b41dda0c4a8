// Neighbouring bytes belong to different warps: no race; one byte written by two: a race.
#include "../programs/check.h"

__global__ void bytes(unsigned char *p, int shift) {
    __shared__ unsigned char s[256];
    int t = threadIdx.x, at = (t >> shift) + (t % 2) * 128 * (1 - shift);
    s[at] = t; // reported
    __syncthreads();
    p[t] = s[at];
}

int main() {
    unsigned char *p;
    CHECK(cudaMalloc(&p, 128));
    bytes<<<1, 128>>>(p, 0);
    SHOW(cudaDeviceSynchronize());
    bytes<<<1, 128>>>(p, 1);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
