// A kernel writes every other word of 4 MiB; a later fill in another stream meets the last one.
#include "../programs/check.h"

__global__ void scatter(int *p, int n) {
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        if (i % 3) p[(i * 7919ll) % n] = i;
}

int main() {
    const int n = 1 << 20;
    int *p;
    CHECK(cudaMalloc(&p, n * 4));
    cudaStream_t one, two;
    CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    scatter<<<64, 256, 0, one>>>(p, n);
#ifdef FIXED
    cudaEvent_t done;
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    CHECK(cudaEventRecord(done, one));
    CHECK(cudaStreamWaitEvent(two, done));
#endif
    CHECK(cudaMemsetAsync(p + n - 64, 0, 256, two)); // reported
    SHOW(cudaDeviceSynchronize());
    return 0;
}
