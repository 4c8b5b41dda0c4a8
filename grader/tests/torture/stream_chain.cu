// A waits for B, and C for B: that does not order A and C.
#include "../programs/check.h"

__global__ void set(int *p, int v) { p[threadIdx.x] = v; } // reported

int main() {
    int *p, *q;
    cudaEvent_t e;
    cudaStream_t three;
    CHECK(cudaMalloc(&p, 128));
    CHECK(cudaMalloc(&q, 128));
    CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    CHECK(cudaStreamCreateWithFlags(&three, cudaStreamNonBlocking));
    cudaStream_t one, two;
    CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    set<<<1, 32, 0, one>>>(q, 1);
    CHECK(cudaEventRecord(e, one));
    CHECK(cudaStreamWaitEvent(two, e));
    CHECK(cudaStreamWaitEvent(three, e));
    set<<<1, 32, 0, two>>>(p, 2);
#ifdef FIXED
    CHECK(cudaEventRecord(e, two));
    CHECK(cudaStreamWaitEvent(three, e));
#endif
    set<<<1, 32, 0, three>>>(p, 3);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
