// Copies larger than the window between the processes, in both directions and within the device.
#include "check.h"
#include <cstring>
#include <vector>

__global__ void flip(unsigned *p, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) p[i] = ~p[i];
}

int main() {
    size_t n = 11u * 1000 * 1000 + 7, bytes = n * 4;
    std::vector<unsigned> host(n), back(n);
    for (size_t i = 0; i < n; i++) host[i] = (unsigned)(i * 2654435761u);
    unsigned *a, *b;
    CHECK(cudaMalloc(&a, bytes));
    CHECK(cudaMalloc(&b, bytes));
    CHECK(cudaMemcpy(a, host.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b, a, bytes, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemset(a, 0xff, bytes));
    flip<<<(unsigned)((n + 1023) / 1024), 1024>>>(a, n);
    CHECK(cudaMemcpy(back.data(), b, bytes, cudaMemcpyDefault));
    printf("copy: %s\n", memcmp(host.data(), back.data(), bytes) ? "differs" : "same");
    CHECK(cudaMemcpy(back.data(), a, bytes, cudaMemcpyDeviceToHost));
    size_t nonzero = 0;
    for (size_t i = 0; i < n; i++) nonzero += back[i] != 0;
    printf("flipped: %zu not zero\n", nonzero);
    return 0;
}
