// The host changes pageable memory behind an asynchronous copy from it; the copy may still read.
// lesson: chapters/13-async/README.md, Streams and graphs
// missed: a copy from pageable memory has read it when the call returns, here and on today's drivers
#include "../mistake.h"

int main() {
    std::vector<int> host(2048, 5);
    int *dev = zeros(2048);
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaMemcpyAsync(dev, host.data(), 2048 * sizeof(int), cudaMemcpyHostToDevice, s));
#ifndef MISTAKE
    CHECK(cudaStreamSynchronize(s));
#endif
    host[9] = 0;
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(dev, 9) == 5);
    return 0;
}
