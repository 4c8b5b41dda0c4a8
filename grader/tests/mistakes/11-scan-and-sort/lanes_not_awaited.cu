// Lane 0 releases the flag without a warp barrier, behind which the other lanes would have written.
// lesson: chapters/11-scan-and-sort/README.md, Messages between blocks
// expect: no __syncwarp() between that and the store of the flag
#include "../mistake.h"
#include <cuda/atomic>

__global__ void send(int *out, int *words, int *flag) {
    cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        words[t] = t;
#ifndef MISTAKE
        __syncwarp();
#endif
        if (t == 0) f.store(1, cuda::memory_order_release);
    } else {
        if (t == 0)
            while (!f.load(cuda::memory_order_acquire)) {}
        __syncwarp();
        out[t] = words[t]; // reported
    }
}

int main() {
    int *out = zeros(32), *words = zeros(32), *flag = zeros(1);
    send<<<2, 32>>>(out, words, flag);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 31) == 31);
    return 0;
}
