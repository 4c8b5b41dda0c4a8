// Lane 0 gives the buffer back while other lanes may still read it; the sender overwrites it.
// lesson: chapters/11-scan-and-sort/README.md, Messages between blocks
// expect: no __syncwarp() between that and the store of the flag
#include "../mistake.h"
#include <cuda/atomic>

using device_word = cuda::atomic_ref<int, cuda::thread_scope_device>;

__global__ void hand_over(int *out, int *words, int *full, int *empty) {
    int t = threadIdx.x;
    for (int round = 1; round <= 2; round++) {
        if (blockIdx.x == 0) {
            if (t == 0)
                while (device_word(*empty).load(cuda::memory_order_acquire) < round - 1) {}
            __syncwarp();
            words[t] = round * 100 + t; // reported
            __syncwarp();
            if (t == 0) device_word(*full).store(round, cuda::memory_order_release);
        } else {
            if (t == 0)
                while (device_word(*full).load(cuda::memory_order_acquire) < round) {}
            __syncwarp();
            out[t] += words[t];
#ifndef MISTAKE
            __syncwarp();
#endif
            if (t == 0) device_word(*empty).store(round, cuda::memory_order_release);
        }
    }
}

int main() {
    int *out = zeros(32), *words = zeros(32), *full = zeros(1), *empty = zeros(1);
    hand_over<<<2, 32>>>(out, words, full, empty);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 3) == 306);
    return 0;
}
