// printf on the device: formats, order within a thread, delivery at synchronisation points.
#include "check.h"

__global__ void formats(const char *unused, double d) {
    printf("%d %5d %-5d| %05d %+d %x %X %o %u\n", 42, 42, 42, 42, 42, 255, 255, 8, 4000000000u);
    printf("%lld %llu %ld %hhd %c %s %%\n", -5000000000ll, 18446744073709551615ull, -7l, (char)300, 'x', "text");
    printf("%f %.3f %10.2f %e %g %G\n", d, d, d, d, d, 1e-10);
    printf("%8s|%-8s|%.2s\n", "right", "left", "cut");
    printf("no arguments\n");
    (void)unused;
}

__global__ void by_thread() {
    for (int i = 0; i < (int)blockDim.x; i++) {
        if (threadIdx.x == i) printf("thread %d of %d\n", threadIdx.x, blockDim.x);
        __syncthreads();
    }
}

int main() {
    printf("before\n");
    formats<<<1, 1>>>(nullptr, 3.14159265358979);
    CHECK(cudaDeviceSynchronize());
    printf("between\n");
    by_thread<<<1, 4>>>();
    CHECK(cudaDeviceSynchronize());
    printf("after\n");
    return 0;
}
