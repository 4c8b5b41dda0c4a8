// A kernel tells the waiting host by a plain store that its data is there; nothing orders the two.
// lesson: chapters/13-async/README.md, Streams and graphs
// expect: in pinned memory, which kernel
#include "../mistake.h"

#ifdef MISTAKE
using flag = int;
#else
using flag = volatile int;
#endif

__global__ void work(int *data, flag *done) {
    *data = 42;
#ifndef MISTAKE
    __threadfence_system();
#endif
    *done = 1;
}

int main() {
    int *data;
    CHECK(cudaHostAlloc(&data, 8192, cudaHostAllocMapped));
    volatile int *done = data + 1024;
    *data = *done = 0;
    work<<<1, 1>>>(data, (flag *)done);
    while (!*done) {} // reported
    EXPECT(*data == 42);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
