// Several copies in one call.
#include "check.h"
int main() {
    int *a, *b, h[2] = {5, 6}, r[2] = {};
    CHECK(cudaMalloc(&a, 4));
    CHECK(cudaMalloc(&b, 4));
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    void *to[] = {a, b};
    const void *from[] = {&h[0], &h[1]};
    size_t n[] = {4, 4}, which = 0;
    cudaMemcpyAttributes at = {};
    at.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    CHECK(cudaMemcpyBatchAsync(to, from, n, 2, &at, &which, 1, s));
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaMemcpy(&r[0], a, 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&r[1], b, 4, cudaMemcpyDeviceToHost));
    printf("%d %d\n", r[0], r[1]);
}
