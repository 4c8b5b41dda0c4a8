// Two streams count in one word by atomics, which is right, and a third stream reads it meanwhile.
#include "../programs/check.h"

__global__ void count(int *p) { atomicAdd(p, 1); }

__global__ void look(const int *p, int *out) { *out = *p; } // reported

int main() {
    int *p, *out;
    cudaStream_t stream[3];
    CHECK(cudaMalloc(&p, 4));
    CHECK(cudaMalloc(&out, 4));
    CHECK(cudaMemset(p, 0, 4));
    for (int i = 0; i < 3; i++) CHECK(cudaStreamCreate(&stream[i]));
    for (int i = 0; i < 2; i++) count<<<4, 64, 0, stream[i]>>>(p);
    look<<<1, 1, 0, stream[2]>>>(p, out);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
