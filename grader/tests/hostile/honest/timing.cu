// AC | - | measures itself | 
#include <time.h>
#include <stdio.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    cudaEvent_t a, b;
    float ms = 0;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    cudaEventCreate(&a), cudaEventCreate(&b);
    cudaEventRecord(a);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
    cudaEventRecord(b);
    cudaEventSynchronize(b);
    cudaEventElapsedTime(&ms, a, b);
    cudaEventDestroy(a), cudaEventDestroy(b);
}
