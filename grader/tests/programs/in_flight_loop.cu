// stderr: touches
// stderr: in_flight_loop.cu:21: the host's early access above occurred 100 times
/* A loop whose rounds read a result too early: one report, and its number. */
#include <cstdio>
#include <cuda_runtime.h>

__global__ void add_one(int *x) {
    *x += 1;
}

int main() {
    int *x, sum = 0;
    cudaMallocManaged(&x, sizeof *x);
    *x = 0;
    cudaDeviceSynchronize();
    for (int i = 0; i < 100; i++) {
        add_one<<<1, 1>>>(x);
        // no synchronization
        // before
        // this line:
        sum += *x;
        cudaDeviceSynchronize();
    }
    printf("%d\n", sum);
    cudaFree(x);
}
