// The host stores to pinned memory while a copy from it may be under way.
// lesson: chapters/13-async/README.md, Streams and graphs
// expect: host
#include "../mistake.h"

int main() {
    int *host, *dev = zeros(2048);
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaMallocHost(&host, 2048 * sizeof *host));
    for (int i = 0; i < 2048; i++) host[i] = i;
    CHECK(cudaMemcpyAsync(dev, host, 2048 * sizeof *host, cudaMemcpyHostToDevice, s));
#ifndef MISTAKE
    CHECK(cudaStreamSynchronize(s));
#endif
    host[9] = 0; // reported
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(dev, 9) == 9);
    return 0;
}
