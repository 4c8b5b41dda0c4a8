// The event that the second stream waits for is recorded before the kernel.
#include "../programs/check.h"

__global__ void make(int *p) { p[threadIdx.x] = threadIdx.x; }

__global__ void use(const int *p, int *q) { q[threadIdx.x] = p[threadIdx.x]; } // reported

int main() {
    int *p, *q;
    cudaEvent_t made;
    CHECK(cudaMalloc(&p, 128));
    CHECK(cudaMalloc(&q, 128));
    CHECK(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
    cudaStream_t one, two;
    CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
#ifndef FIXED
    CHECK(cudaEventRecord(made, one));
#endif
    make<<<1, 32, 0, one>>>(p);
#ifdef FIXED
    CHECK(cudaEventRecord(made, one));
#endif
    CHECK(cudaStreamWaitEvent(two, made));
    use<<<1, 32, 0, two>>>(p, q);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
