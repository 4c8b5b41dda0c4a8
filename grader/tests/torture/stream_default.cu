// A stream that does not wait for the default stream, and a program that takes it for one that does.
#include "../programs/check.h"

__global__ void add(int *p, int x) { p[threadIdx.x] += x; } // reported

int main() {
    int *p, host[32];
    cudaStream_t apart;
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    CHECK(cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking));
    CHECK(cudaDeviceSynchronize());
    add<<<1, 32, 0, apart>>>(p, 1);
    CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost)); // reported
    CHECK(cudaDeviceSynchronize());
    add<<<1, 32>>>(p, 2);
    add<<<1, 32, 0, apart>>>(p, 4);
    SHOW(cudaDeviceSynchronize());
    printf("%d\n", host[0]);
    return 0;
}
