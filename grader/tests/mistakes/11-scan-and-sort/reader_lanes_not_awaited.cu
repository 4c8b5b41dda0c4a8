// Lane 0 waits for the flag, and the other lanes read the words without waiting for lane 0.
// lesson: chapters/11-scan-and-sort/README.md, Messages between blocks
// expect: no __syncwarp() between line
#include "../mistake.h"
#include <cuda/atomic>

__global__ void receive(int *out, int *words, int *flag) {
    cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        words[t] = t;
        __syncwarp();
        if (t == 0) f.store(1, cuda::memory_order_release);
    } else {
        if (t == 0)
            while (!f.load(cuda::memory_order_acquire)) {}
#ifndef MISTAKE
        __syncwarp();
#endif
        out[t] = words[t]; // reported
    }
}

int main() {
    int *out = zeros(32), *words = zeros(32), *flag = zeros(1);
    receive<<<2, 32>>>(out, words, flag);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 31) == 31);
    return 0;
}
