// A barrier in a condition that part of a warp takes, behind which nobody reads anything; and whole warps that wait at different barriers, as often as
// each other: hardware counts the arrivals and goes on. Both are undefined, and reported.
#include "../programs/check.h"

__global__ void part_of_a_warp(int *p) {
    if (threadIdx.x < 16) __syncthreads(); // reported
    p[threadIdx.x] = threadIdx.x;
}

__global__ void same_number(int *p) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 32) {
        s[t] = t;
        __syncthreads();
    } else {
        s[t] = 2 * t;
        __syncthreads(); // reported: the other warp waits in line 15
    }
    p[t] = s[t ^ 32];
}

int main() {
    int *p, host[64];
    CHECK(cudaMalloc(&p, sizeof host));
    part_of_a_warp<<<1, 64>>>(p);
    SHOW(cudaDeviceSynchronize());
    same_number<<<1, 64>>>(p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[33]);
    return 0;
}
