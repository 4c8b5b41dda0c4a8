// A part's kernel and its copy out are in different streams.
// lesson: chapters/13-async/overlap.md, Hint 2
// expect: stream race
#include "../mistake.h"

__global__ void work(int *p) { p[threadIdx.x] += 1; } // reported

int main() {
    int *host, *dev = counting(128);
    cudaStream_t stream[2];
    CHECK(cudaMallocHost(&host, 128 * sizeof *host));
    for (cudaStream_t &s : stream) CHECK(cudaStreamCreate(&s));
    for (int part = 0; part < 2; part++) {
        work<<<1, 64, 0, stream[part]>>>(dev + 64 * part);
#ifdef MISTAKE
        cudaStream_t out = stream[1 - part];
#else
        cudaStream_t out = stream[part];
#endif
        CHECK(cudaMemcpyAsync(host + 64 * part, dev + 64 * part, 256, cudaMemcpyDeviceToHost, out));
    }
    CHECK(cudaDeviceSynchronize());
    EXPECT(host[100] == 101);
    return 0;
}
