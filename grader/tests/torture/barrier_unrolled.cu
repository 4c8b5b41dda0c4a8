// Lanes that return one by one out of a loop with a barrier, which the compiler unrolls: lanes of one warp wait at different
// copies of it. A GPU hangs.
#include "../programs/check.h"

__global__ void one_by_one(int *out) {
    __shared__ int s[96];
    int t = threadIdx.x;
    for (int i = 0; i < 96; i++) {
        if (t < i) return;
        if (t == i) s[i] = i;
        __syncthreads(); // reported
        if (t == 95) out[i] = s[i] + 1;
    }
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 96 * sizeof(int)));
    one_by_one<<<1, 96>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
