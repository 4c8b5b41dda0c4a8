// A round of the sort stores before its partner has read, since lanes are taken to run in step.
// lesson: chapters/10-warps/warp_sync.md, Hint 1
// expect: data race in shared memory
#include "../mistake.h"

__global__ void sort(int *data) {
    __shared__ int key[32];
    int t = threadIdx.x;
    key[t] = data[t];
    __syncwarp();
    for (int size = 2; size <= 32; size *= 2)
        for (int distance = size / 2; distance > 0; distance /= 2) {
            int mine = key[t], other = key[t ^ distance];
#ifndef MISTAKE
            __syncwarp();
#endif
            bool is_upward = (t & size) == 0 || size == 32, is_low = (t & distance) == 0;
            key[t] = is_upward == is_low ? min(mine, other) : max(mine, other); // reported
            __syncwarp();
        }
    data[t] = key[t];
}

int main() {
    int *data = counting(32);
    sort<<<1, 32>>>(data);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(data, 5) == 5);
    return 0;
}
