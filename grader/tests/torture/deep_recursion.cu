// Recursion that branches: many different paths, few at a time. Lanes go to different depths.
// also: --schedule hostile
#include "../programs/check.h"

__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

__global__ void start(int *p) { p[threadIdx.x] = fib(threadIdx.x % 20); }

int main() {
    int *p, host[64], a = 0, b = 1, ok = 0, want[20];
    for (int i = 0; i < 20; i++) {
        want[i] = a;
        int c = a + b;
        a = b;
        b = c;
    }
    CHECK(cudaMalloc(&p, sizeof host));
    start<<<1, 64>>>(p);
    CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) ok += host[i] == want[i % 20];
    printf("%d of 64\n", ok);
    return 0;
}
