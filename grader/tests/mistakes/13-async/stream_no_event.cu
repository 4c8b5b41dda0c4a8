// A kernel in one stream works on what a copy in another stream brings, without an event between.
// lesson: chapters/13-async/README.md, Streams and graphs
// expect: stream race
#include "../mistake.h"

__global__ void work(int *p) { p[threadIdx.x] += 1; } // reported

int main() {
    int *host, *dev = zeros(64);
    cudaStream_t in, out;
    cudaEvent_t here;
    CHECK(cudaMallocHost(&host, 64 * sizeof *host));
    for (int i = 0; i < 64; i++) host[i] = i;
    CHECK(cudaStreamCreateWithFlags(&in, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&out, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&here, cudaEventDisableTiming));
    CHECK(cudaMemcpyAsync(dev, host, 64 * sizeof *dev, cudaMemcpyHostToDevice, in));
    CHECK(cudaEventRecord(here, in));
#ifndef MISTAKE
    CHECK(cudaStreamWaitEvent(out, here, 0));
#endif
    work<<<1, 64, 0, out>>>(dev);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(dev, 9) == 10);
    return 0;
}
