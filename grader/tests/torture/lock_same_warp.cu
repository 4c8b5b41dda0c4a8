// A lock that lanes of one warp take from each other: each lane must make progress while others spin.
// also: --schedule hostile
#include "../programs/check.h"

__global__ void in_loop(int *lock, int *count) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *(volatile int *)count = *(volatile int *)count + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

__global__ void spin_first(int *lock, int *count) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    *(volatile int *)count = *(volatile int *)count + 1;
    __threadfence();
    atomicExch(lock, 0);
}

__global__ void in_shared(int *count) {
    __shared__ int lock, sum;
    if (threadIdx.x == 0) lock = sum = 0;
    __syncthreads();
    for (int i = 0; i < 3; i++) {
        bool done = false;
        while (!done) {
            if (atomicCAS(&lock, 0, 1) == 0) {
                *(volatile int *)&sum = *(volatile int *)&sum + 1;
                __threadfence_block();
                atomicExch(&lock, 0);
                done = true;
            }
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) *count = sum;
}

int main() {
    int *p, host[2];
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    in_loop<<<4, 64>>>(p, p + 1);
    CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d\n", host[1]);
    spin_first<<<4, 64>>>(p, p + 1);
    CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d\n", host[1]);
    in_shared<<<1, 96>>>(p + 1);
    CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d\n", host[1]);
    return 0;
}
