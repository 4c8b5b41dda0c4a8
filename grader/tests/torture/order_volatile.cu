// Data that is volatile, like the flag, still needs fences: strong loads and stores of two words have no order. And a plain store is no flag.
#include "../programs/check.h"

__global__ void writer(volatile int *data, volatile int *ready, int *out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 42; // no fence behind it
        *ready = 1;
    } else {
        while (!*ready) {}
        __threadfence();
        *out = *data; // reported
    }
}

__global__ void reader(volatile int *data, volatile int *ready, int *out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        *ready = 1;
    } else {
        while (!*ready) {}
        *out = *data; // reported: no fence before it
    }
}

__global__ void plain_reader(int *data, volatile int *ready, int *out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        *ready = 1;
    } else {
        while (!*ready) {}
        *out = *data; // reported: no fence before it
    }
}

__global__ void plain_flag(int *data, int *ready, int *out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        *ready = 1; // plain
    } else {
        while (!*(volatile int *)ready) {} // reported
        __threadfence();
        *out = *data;
    }
}

__global__ void chain(volatile int *flag, volatile int *sum, int *out) { // a chained scan whose blocks find their number by a counter
    __shared__ int base;
    if (threadIdx.x == 0) {
        int b = blockIdx.x, before = 0;
        if (b) {
            while (!flag[b - 1]) {}
            before = sum[b - 1]; // reported
        }
        sum[b] = before + 1;
        flag[b] = 1;
        base = before;
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = base;
}

__global__ void by_warps(int *out) { // the same between warps of a block
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
        *out = data; // reported
    }
}

__global__ void together(volatile unsigned *what, volatile unsigned *sum, unsigned *out) { // look-back that tests flag and sum at once
    if (threadIdx.x) return;
    unsigned before = 0;
    for (int b = blockIdx.x - 1; b >= 0; b--) {
        unsigned long long found;
        do {
            unsigned w = what[b];
            found = (unsigned long long)w << 32 | sum[b]; // reported
        } while (!found);
        before += (unsigned)found;
        if (found >> 32 == 2) break;
    }
    sum[blockIdx.x] = before + 1;
    what[blockIdx.x] = 2;
    out[blockIdx.x] = before;
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 4096));
    CHECK(cudaMemset(p, 0, 4096));
    writer<<<2, 32>>>(p, p + 1, p + 2);
    reader<<<2, 32>>>(p + 10, p + 11, p + 12);
    plain_reader<<<2, 32>>>(p + 20, p + 21, p + 22);
    plain_flag<<<2, 32>>>(p + 30, p + 31, p + 32);
    chain<<<4, 32>>>(p + 40, p + 50, p + 100);
    by_warps<<<1, 64>>>(p + 60);
    together<<<4, 32>>>((unsigned *)p + 300, (unsigned *)p + 310, (unsigned *)p + 320);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
