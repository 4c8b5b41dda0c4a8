// The same with both fences, and words that need none: one that holds flag and data, a flag that may be old, data that a barrier hands on.
#include "../programs/check.h"

__global__ void both(volatile int *data, volatile int *ready, int *out) {
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        *ready = 1;
    } else {
        while (!*ready) {}
        __threadfence();
        *out = *data;
    }
}

__global__ void packed(volatile unsigned long long *state, unsigned *out) { // look-back with one word a tile
    if (threadIdx.x) return;
    unsigned sum = 0;
    for (int b = blockIdx.x - 1; b >= 0; b--) {
        unsigned long long s;
        while (!((s = state[b]) >> 32)) {}
        sum += (unsigned)s;
        if (s >> 32 == 2) break;
    }
    state[blockIdx.x] = 2ull << 32 | (sum + 1);
    out[blockIdx.x] = sum;
}

__global__ void fenced(volatile int *flag, volatile int *sum, int *out) { // a chained scan
    __shared__ int base;
    if (threadIdx.x == 0) {
        int b = blockIdx.x, before = 0;
        if (b) {
            while (!flag[b - 1]) {}
            __threadfence();
            before = sum[b - 1];
        }
        sum[b] = before + 1;
        __threadfence();
        flag[b] = 1;
        base = before;
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = base;
}

__device__ unsigned count;
__global__ void last_block(const int *in, volatile int *part, int *out) { // the Programming Guide's example
    __shared__ bool last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = in[blockIdx.x];
        __threadfence();
        last = atomicInc(&count, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < gridDim.x; i++) sum += part[i];
        *out = sum;
    }
}

__global__ void stop_early(int *next, volatile int *stop, int *out) { // a flag that may be old
    if (threadIdx.x) return;
    for (int i; (i = atomicAdd(next, 1)) < 64;) {
        if (*stop) break;
        if (i == 40) *stop = 1;
        out[i] = 1;
    }
}

__global__ void by_warps(int *out) {
    __shared__ volatile int ready;
    __shared__ int data;
    int t = threadIdx.x;
    if (t == 0) ready = 0;
    __syncthreads();
    if (t == 0) {
        data = out[1] + 42;
        __threadfence_block();
        ready = 1;
    } else if (t == 32) {
        while (!ready) {}
        __threadfence_block();
        *out = data;
    }
}

__global__ void together(volatile unsigned *what, volatile unsigned *sum, unsigned *out) { // look-back that tests flag and sum at once
    if (threadIdx.x) return;
    unsigned before = 0;
    for (int b = blockIdx.x - 1; b >= 0; b--) {
        unsigned long long found;
        do {
            unsigned w = what[b];
            __threadfence();
            found = (unsigned long long)w << 32 | sum[b];
        } while (!found);
        before += (unsigned)found;
        if (found >> 32 == 2) break;
    }
    sum[blockIdx.x] = before + 1;
    __threadfence();
    what[blockIdx.x] = 2;
    out[blockIdx.x] = before;
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 4096));
    CHECK(cudaMemset(p, 0, 4096));
    both<<<2, 32>>>(p, p + 1, p + 2);
    packed<<<4, 32>>>((unsigned long long *)p + 10, (unsigned *)p + 30);
    fenced<<<4, 32>>>(p + 40, p + 50, p + 100);
    last_block<<<4, 32>>>(p + 300, p + 310, p + 320);
    stop_early<<<4, 32>>>(p + 330, p + 331, p + 340);
    by_warps<<<1, 64>>>(p + 60);
    together<<<4, 32>>>((unsigned *)p + 400, (unsigned *)p + 410, (unsigned *)p + 420);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
