// Thread 0 acquires the flag, and the threads of another warp read the data without a barrier behind it.
// lesson: chapters/11-scan-and-sort/README.md, Messages between blocks
// expect: data race
#include "../mistake.h"
#include <cuda/atomic>

__global__ void hand_on(int *out, int *words, int *flag) {
    cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        words[t] = t;
        __syncthreads();
        if (t == 0) f.store(1, cuda::memory_order_release);
    } else {
        if (t == 0)
            while (!f.load(cuda::memory_order_acquire)) {}
#ifndef MISTAKE
        __syncthreads();
#endif
        out[t] = words[t]; // reported
    }
}

int main() {
    int *out = zeros(64), *words = zeros(64), *flag = zeros(1);
    hand_on<<<2, 64>>>(out, words, flag);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 63) == 63);
    return 0;
}
