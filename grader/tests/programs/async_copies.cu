// cuda::barrier, cuda::memcpy_async and cooperative groups' memcpy_async.
// nvcc: -std=c++17 -diag-suppress 20054
#include "expect.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cstdint>
#include <cuda/barrier>
namespace cg = cooperative_groups;

__host__ __device__ static uint64_t hash(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    x ^= x >> 33;
    return x;
}

__global__ void pipeline(const int *in, int *out) {
    __shared__ alignas(16) int s[256];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    auto b = cg::this_thread_block();
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    b.sync();
    cuda::memcpy_async(b, s, in + blockIdx.x * 256, cuda::aligned_size_t<16>(sizeof s), bar);
    bar.arrive_and_wait();
    out[blockIdx.x * 256 + threadIdx.x] = s[255 - threadIdx.x] + 1;
    b.sync();
    cg::memcpy_async(b, s, in + blockIdx.x * 256, sizeof s);
    cg::wait(b);
    out[blockIdx.x * 256 + threadIdx.x] += s[threadIdx.x];
}
static void check_pipe() {
    const int n = 1024;
    int *a, *b, h[n], o[n];
    for (int i = 0; i < n; i++) h[i] = hash(i) & 0xffff;
    CHECK(cudaMalloc(&a, n * 4));
    CHECK(cudaMalloc(&b, n * 4));
    CHECK(cudaMemcpy(a, h, n * 4, cudaMemcpyHostToDevice));
    pipeline<<<4, 256>>>(a, b);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(o, b, n * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        int w = h[i / 256 * 256 + 255 - i % 256] + 1 + h[i];
        EXPECT(o[i] == w, "pipe %d %d want %d", i, o[i], w);
    }
}

int main() {
    check_pipe();
    printf("%d wrong\n", wrong);
    return 0;
}
