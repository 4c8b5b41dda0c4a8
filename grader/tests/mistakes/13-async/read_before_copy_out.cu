// The host reads pinned memory while a copy into it may be under way.
// lesson: chapters/13-async/README.md, Streams and graphs
// expect: host
#include "../mistake.h"

int main() {
    int *host, *dev = counting(2048);
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaMallocHost(&host, 2048 * sizeof *host));
    CHECK(cudaMemcpyAsync(host, dev, 2048 * sizeof *host, cudaMemcpyDeviceToHost, s));
#ifndef MISTAKE
    CHECK(cudaStreamSynchronize(s));
#endif
    printf("%d\n", host[9]); // reported
    CHECK(cudaDeviceSynchronize());
    return 0;
}
