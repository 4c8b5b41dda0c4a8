// bar.arrive and bar.sync. Who only arrives has waited for nothing.
#include "../programs/check.h"

__global__ void hand_over(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 64) {
        s[t] = t; asm volatile("bar.sync 1, 128;" ::: "memory");
    } else {
        asm volatile("bar.arrive 1, 128;" ::: "memory"); out[t] = s[t - 64];
    }
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 1024));
    CHECK(cudaMemset(p, 0, 1024));
    hand_over<<<1, 128>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
