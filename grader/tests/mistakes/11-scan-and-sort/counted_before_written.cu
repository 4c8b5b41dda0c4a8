// Each warp counts itself as done by a releasing atomic of lane 0, without waiting for its lanes.
// lesson: chapters/11-scan-and-sort/README.md, Messages between blocks
// expect: data race between blocks
#include "../mistake.h"
#include <cuda/atomic>

__global__ void collect(int *out, int *parts, int *done) {
    cuda::atomic_ref<int, cuda::thread_scope_device> d(*done);
    int t = threadIdx.x, lane = t % 32, warps = gridDim.x * blockDim.x / 32;
    parts[blockIdx.x * blockDim.x + t] = t;
#ifndef MISTAKE
    __syncwarp();
#endif
    int last = 0;
    if (lane == 0) last = d.fetch_add(1, cuda::memory_order_acq_rel) == warps - 1;
    __syncwarp();
    last = __shfl_sync(0xffffffffu, last, 0);
    if (!last) return;
    int sum = 0;
    for (int i = lane; i < warps * 32; i += 32) sum += parts[i]; // reported
    sum = __reduce_add_sync(0xffffffffu, sum);
    if (lane == 0) *out = sum;
}

int main() {
    int *out = zeros(1), *parts = zeros(256), *done = zeros(1);
    collect<<<4, 64>>>(out, parts, done);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out) == 4 * 63 * 32);
    return 0;
}
