// Lane 0 has seen the other warp's flag, and the lanes beside it read without waiting for it.
// lesson: chapters/10-warps/README.md, What the hardware does
// expect: data race in shared memory
#include "../mistake.h"
#include <cuda/atomic>

__global__ void hand_over(int *out) {
    __shared__ int words[32], flag;
    int t = threadIdx.x, lane = t % 32;
    cuda::atomic_ref<int, cuda::thread_scope_block> f(flag);
    if (t == 0) flag = 0;
    __syncthreads();
    if (t < 32) {
        words[lane] = lane;
        __syncwarp();
        if (lane == 0) f.store(1, cuda::memory_order_release);
    } else {
        if (lane == 0)
            while (!f.load(cuda::memory_order_acquire)) {}
#ifndef MISTAKE
        __syncwarp();
#endif
        out[lane] = words[lane]; // reported
    }
}

int main() {
    int *out = zeros(32);
    hand_over<<<1, 64>>>(out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 31) == 31);
    return 0;
}
