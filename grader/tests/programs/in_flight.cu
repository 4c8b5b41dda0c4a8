// Host code that accesses pinned memory before it has waited for copies to and from it: reported once per copy, and results are unchanged.
// stderr: touches byte 0 of 40000 that an asynchronous copy (default stream) writes to pinned memory, and has waited for nothing since
// stderr: writes byte 40 of 40000 that an asynchronous copy reads from pinned memory, and has waited for nothing since
// stderr: Wait for the stream (cudaStreamSynchronize), or for an event after the copy, first
#include "check.h"

enum { N = 10000 };
__global__ void twice(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }

int main() {
    int *host, *p;
    cudaStream_t s;
    CHECK(cudaMallocHost(&host, N * sizeof(int)));
    CHECK(cudaMalloc(&p, N * sizeof(int)));
    for (int i = 0; i < N; i++) host[i] = i;
    CHECK(cudaMemcpy(p, host, N * sizeof(int), cudaMemcpyHostToDevice));
    twice<<<N / 100, 100>>>(p);
    CHECK(cudaMemcpyAsync(host, p, N * sizeof(int), cudaMemcpyDeviceToHost, 0));
    printf("%d\n", host[0]); // told
    CHECK(cudaDeviceSynchronize());
    printf("%d\n", host[N - 1]);
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaMemcpyAsync(p, host, N * sizeof(int), cudaMemcpyHostToDevice, s));
    printf("%d\n", host[5]); // both read
    host[10] = 7;            // told
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaMemcpy(host, p, N * sizeof(int), cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[9], host[N - 1]);
    return 0;
}
