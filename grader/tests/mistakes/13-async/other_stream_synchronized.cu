// The host waits for another stream than the one that copies into its pinned memory.
// lesson: chapters/13-async/README.md, Streams and graphs
// expect: that an asynchronous copy writes to pinned memory
#include "../mistake.h"

int main() {
    int *dev = counting(4096), *host;
    cudaStream_t copying, other;
    CHECK(cudaStreamCreateWithFlags(&copying, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CHECK(cudaMallocHost(&host, 4096 * sizeof *host));
    CHECK(cudaMemcpyAsync(host, dev, 4096 * sizeof *host, cudaMemcpyDeviceToHost, copying));
#ifdef MISTAKE
    CHECK(cudaStreamSynchronize(other));
#else
    CHECK(cudaStreamSynchronize(copying));
#endif
    printf("%d\n", host[9]); // reported
    CHECK(cudaDeviceSynchronize());
    return 0;
}
