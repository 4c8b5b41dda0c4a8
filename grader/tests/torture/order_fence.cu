// A missing __threadfence(): data that another block is told of by a counter or a flag, in no order with it.
#include "../programs/check.h"

__device__ unsigned ticket;

__global__ void sums(const int *in, int *part, int *out) { // the last block adds up what the others left
    __shared__ bool last;
    part[blockIdx.x] = in[blockIdx.x];
    if (threadIdx.x == 0) last = atomicAdd(&ticket, 1) == gridDim.x - 1; // no fence before it
    __syncthreads();
    if (!last || threadIdx.x) return;
    int sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += part[i]; // reported
    *out = sum;
    ticket = 0;
}

__global__ void flag(int *data, volatile int *ready) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        __threadfence();
        *data = 42; // after the fence
        *ready = 1;
    } else if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (!*ready) {}
        data[1] = *data; // reported
    }
}

__global__ void near(int *data, volatile int *ready) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *data = 42;
        __threadfence_block(); // for the block only
        *ready = 1;
    } else if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (!*ready) {}
        data[1] = *data; // reported
    }
}

__global__ void locked(int *lock, int *count) {
    while (atomicCAS(lock, 0, 1)) {}
    *count += 1; // reported: nothing orders it with the lock's being let go
    atomicExch(lock, 0);
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 4096));
    CHECK(cudaMemset(p, 0, 4096));
    sums<<<4, 32>>>(p, p + 100, p + 200);
    flag<<<2, 32>>>(p + 300, p + 310);
    near<<<2, 32>>>(p + 400, p + 410);
    locked<<<2, 1>>>(p + 500, p + 501);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
