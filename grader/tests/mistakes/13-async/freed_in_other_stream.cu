// Stream-ordered memory is freed in one stream while a kernel in another may still use it.
// lesson: chapters/13-async/README.md, Streams and graphs
// expect: stream race
#include "../mistake.h"

__global__ void work(int *p) { p[threadIdx.x] = threadIdx.x; } // reported

int main() {
    int *p;
    cudaStream_t one, two;
    cudaEvent_t done;
    CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&done));
    CHECK(cudaMallocAsync(&p, 256, one));
    CHECK(cudaEventRecord(done, one));
    CHECK(cudaStreamWaitEvent(two, done));
    work<<<1, 64, 0, two>>>(p);
    CHECK(cudaEventRecord(done, two));
#ifndef MISTAKE
    CHECK(cudaStreamWaitEvent(one, done));
#endif
    CHECK(cudaFreeAsync(p, one));
    CHECK(cudaDeviceSynchronize());
    return 0;
}
