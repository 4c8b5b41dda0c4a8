// run: --memory-model hardware
// Without fences, and with a shuffle for __syncwarp(): GPUs keep these orders, and the lenient memory model accepts them.
#include "../programs/check.h"

__global__ void flag(int *data, volatile int *ready) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 42;
        *ready = 1;
    } else {
        while (!*ready) {}
        data[1] = *data;
    }
}

__global__ void volatile_data(volatile int *data, volatile int *ready) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 42;
        *ready = 1;
    } else {
        while (!*ready) {}
        data[1] = *data;
    }
}

__global__ void exchange(int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t;
    int v = __shfl_xor_sync(~0u, t, 3);
    out[t] = s[t ^ 1] + v;
}

__global__ void by_warps(int *out) {
    __shared__ volatile int ready;
    __shared__ int data;
    int t = threadIdx.x;
    if (t == 0) ready = 0;
    __syncthreads();
    if (t == 0) {
        data = out[1] + 42;
        ready = 1;
    } else if (t == 32) {
        while (!ready) {}
        *out = data;
    }
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 4096));
    CHECK(cudaMemset(p, 0, 4096));
    flag<<<2, 32>>>(p, p + 10);
    volatile_data<<<2, 32>>>(p + 20, p + 30);
    exchange<<<1, 32>>>(p + 40);
    by_warps<<<1, 64>>>(p + 80);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
