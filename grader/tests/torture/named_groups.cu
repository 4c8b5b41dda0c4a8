// Two groups of warps, each with a barrier of its own; a thread reads what the other group wrote.
#include "../programs/check.h"

__device__ void wait_for_group(int group) { asm volatile("bar.sync %0, 64;" ::"r"(1 + group) : "memory"); }

__global__ void in_shared(int *out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    for (int round = 0; round < 3 + t / 64; round++) {
        s[t] = t + round;
        wait_for_group(t / 64);
        out[t] += s[t ^ 64];
        wait_for_group(t / 64);
    }
}

__global__ void in_global(int *p) {
    int t = threadIdx.x;
    p[t] = t;
    wait_for_group(t / 64);
    p[128 + t] = p[t ^ 64];
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 2048));
    CHECK(cudaMemset(p, 0, 2048));
    in_shared<<<1, 128>>>(p);
    in_global<<<1, 128>>>(p + 256);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
