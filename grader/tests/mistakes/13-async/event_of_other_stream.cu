// The event is recorded in another stream than the one whose copy the kernel needs.
// lesson: chapters/13-async/README.md, Streams and graphs
// expect: stream race
#include "../mistake.h"

__global__ void work(int *p) { p[threadIdx.x] += 1; } // reported

int main() {
    int *dev = zeros(64), *from = counting(64);
    cudaStream_t in, out;
    cudaEvent_t here;
    CHECK(cudaStreamCreateWithFlags(&in, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&out, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&here, cudaEventDisableTiming));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpyAsync(dev, from, 64 * sizeof *dev, cudaMemcpyDeviceToDevice, in));
#ifdef MISTAKE
    CHECK(cudaEventRecord(here, out));
#else
    CHECK(cudaEventRecord(here, in));
#endif
    CHECK(cudaStreamWaitEvent(out, here, 0));
    work<<<1, 64, 0, out>>>(dev);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(dev, 9) == 10);
    return 0;
}
