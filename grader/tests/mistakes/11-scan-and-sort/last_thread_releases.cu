// The block's last thread sets the flag without a barrier, so other warps may not have written yet.
// lesson: chapters/11-scan-and-sort/README.md, Messages between blocks
// expect: data race between blocks
#include "../mistake.h"
#include <cuda/atomic>

__global__ void send(int *out, int *words, int *flag) {
    cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        words[t] = t;
#ifndef MISTAKE
        __syncthreads();
#endif
        if (t == 127) f.store(1, cuda::memory_order_release);
    } else {
        if (t == 0)
            while (!f.load(cuda::memory_order_acquire)) {}
        __syncthreads();
        out[t] = words[t]; // reported
    }
}

int main() {
    int *out = zeros(128), *words = zeros(128), *flag = zeros(1);
    send<<<2, 128>>>(out, words, flag);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 5) == 5);
    return 0;
}
