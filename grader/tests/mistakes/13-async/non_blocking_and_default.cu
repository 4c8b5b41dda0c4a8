// A kernel in the default stream uses what a non-blocking stream makes: they don't wait for each other.
// lesson: chapters/13-async/README.md, Streams and graphs
// expect: stream race
#include "../mistake.h"

__global__ void make(int *p) { p[threadIdx.x] = threadIdx.x; }
__global__ void use(int *q, const int *p) { q[threadIdx.x] = 2 * p[threadIdx.x]; } // reported

int main() {
    int *p = zeros(64), *q = zeros(64);
    cudaStream_t s;
#ifdef MISTAKE
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
#else
    CHECK(cudaStreamCreate(&s));
#endif
    make<<<1, 64, 0, s>>>(p);
    use<<<1, 64>>>(q, p);
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(q, 9) == 18);
    return 0;
}
