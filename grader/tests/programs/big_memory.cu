// Device memory of the device's own size, of which little is touched.
// stderr: out of device memory: 107374182400 bytes requested
#include "check.h"
__global__ void write(char *p, size_t at, char v) { p[at] = v; }
int main() {
    size_t f, t;
    CHECK(cudaMemGetInfo(&f, &t));
    printf("%d\n", (int)(t >> 30));
    char *p;
    size_t n = 100ull << 30;
    CHECK(cudaMalloc(&p, n));
    write<<<1, 1>>>(p, n - 1, 42);
    write<<<1, 1>>>(p, n / 2, 43);
    char a, b;
    CHECK(cudaMemcpy(&a, p + n - 1, 1, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&b, p + n / 2, 1, cudaMemcpyDeviceToHost));
    size_t f2;
    CHECK(cudaMemGetInfo(&f2, &t));
    printf("%d %d %d\n", a, b, (int)((f - f2) >> 30));
    char *q;
    SHOW(cudaMalloc(&q, n));
    cudaGetLastError();
    CHECK(cudaFree(p));
    CHECK(cudaMalloc(&q, n));
}
