// The flag is released and acquired at the scope of a block, and read in another block.
// lesson: chapters/11-scan-and-sort/README.md, By hand: look_back
// expect: data race
#include "../mistake.h"
#include <cuda/atomic>

#ifdef MISTAKE
using flag_ref = cuda::atomic_ref<int, cuda::thread_scope_block>;
#else
using flag_ref = cuda::atomic_ref<int, cuda::thread_scope_device>;
#endif
__global__ void hand_on(int *out, int *number, int *flag) {
    int b = blockIdx.x, before = 0;
    if (b) {
        while (!flag_ref(flag[b - 1]).load(cuda::memory_order_acquire)) {}
        before = number[b - 1]; // reported
    }
    number[b] = before + b;
    flag_ref(flag[b]).store(1, cuda::memory_order_release);
    out[b] = before;
}

int main() {
    int *out = zeros(4), *number = zeros(4), *flag = zeros(4);
    hand_on<<<4, 1>>>(out, number, flag);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(out, 3) == 3);
    return 0;
}
