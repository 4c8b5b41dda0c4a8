// nvcc: -std=c++17
// The same with fences where they belong, by name or in an atomic; nothing is reported.
#include "../programs/check.h"
#include <cooperative_groups.h>
#include <cuda/atomic>

__device__ unsigned ticket;

__global__ void sums(const int *in, int *part, int *out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = in[blockIdx.x];
        __threadfence();
        last = atomicAdd(&ticket, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last || threadIdx.x) return;
    int sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += part[i];
    *out = sum;
    ticket = 0;
}

__global__ void each(int *part, int *out) { // each thread's own fence, then one for all
    __shared__ bool last;
    part[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&ticket, 1) == gridDim.x - 1;
    __syncthreads();
    if (last) out[threadIdx.x] = part[threadIdx.x] + part[blockDim.x + threadIdx.x];
}

__global__ void flag(int *data, volatile int *ready) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *data = 42;
        __threadfence();
        *ready = 1;
    } else if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (!*ready) {}
        __threadfence();
        data[1] = *data;
    }
}

__global__ void released(int *data, int *ready) {
    cuda::atomic_ref<int, cuda::thread_scope_device> r(*ready);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *data = 42;
        r.store(1, cuda::memory_order_release);
    } else if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (!r.load(cuda::memory_order_acquire)) {}
        data[1] = *data;
        r.fetch_add(1); // handed on
    } else if (blockIdx.x == 2 && threadIdx.x == 0) {
        while (r.load(cuda::memory_order_acquire) < 2) {}
        data[2] = data[0] + data[1];
    }
}

__global__ void locked(int *lock, int *count) {
    while (atomicCAS(lock, 0, 1)) {}
    __threadfence();
    *count += 1;
    __threadfence();
    atomicExch(lock, 0);
}

__global__ void grid(int *p) {
    auto g = cooperative_groups::this_grid();
    p[g.thread_rank()] = g.thread_rank();
    g.sync();
    int v = p[(g.thread_rank() + 33) % g.size()];
    g.sync();
    p[g.thread_rank()] = v;
}

int main() {
    int *p, *q;
    CHECK(cudaMalloc(&p, 4096));
    CHECK(cudaMemset(p, 0, 4096));
    sums<<<4, 32>>>(p, p + 100, p + 200);
    each<<<2, 32>>>(p + 600, p + 700);
    flag<<<2, 32>>>(p + 300, p + 310);
    released<<<3, 32>>>(p + 400, p + 410);
    locked<<<2, 1>>>(p + 500, p + 501);
    q = p + 800;
    void *args[] = {&q};
    CHECK(cudaLaunchCooperativeKernel((void *)grid, dim3(2), dim3(64), args, 0, 0));
    SHOW(cudaDeviceSynchronize());
    return 0;
}
