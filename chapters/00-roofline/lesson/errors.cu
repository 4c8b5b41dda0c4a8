// What lesson 00 shows of errors: each call is checked, a launch twice; a kernel checks what it assumes, and prints.
#include <cassert>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                          \
    do {                                                                                     \
        cudaError_t error = (call);                                                          \
        if (error != cudaSuccess) {                                                          \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));   \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

extern "C" __global__ void square(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef BUG
    x[i] *= x[i];
#else
    if (i >= n) return;
    assert(x[i] >= 0);                                   // the kernel ends with an error if it is false
    if (i == 7) printf("x[%d] is %g\n", i, x[i]);        // one thread, not all
    x[i] *= x[i];
#endif
}

int main() {
    constexpr int N = 1000, THREADS = 256;
    float *x;
    CHECK(cudaMalloc(&x, N * sizeof *x));
    CHECK(cudaMemset(x, 0, N * sizeof *x));
    square<<<1, 2000>>>(x, N);                           // 2000 threads in a block: no thread starts
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    square<<<(N + THREADS - 1) / THREADS, THREADS>>>(x, N);
    CHECK(cudaGetLastError());                           // was it launched?
    CHECK(cudaDeviceSynchronize());                      // did it end without an error?
    CHECK(cudaFree(x));
}
