// Memory is allocated in the order of one stream and used in another one, without an event between.
// lesson: chapters/13-async/README.md, Streams and graphs
// expect: which cudaMallocAsync
#include "../mistake.h"

__global__ void work(int *p) { p[threadIdx.x] = 1; } // reported

int main() {
    int *p;
    cudaStream_t first, second;
    cudaEvent_t here;
    CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&here, cudaEventDisableTiming));
    CHECK(cudaMallocAsync((void **)&p, 64 * sizeof *p, first));
#ifndef MISTAKE
    CHECK(cudaEventRecord(here, first));
    CHECK(cudaStreamWaitEvent(second, here, 0));
#endif
    work<<<1, 64, 0, second>>>(p);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(p) == 1);
    return 0;
}
