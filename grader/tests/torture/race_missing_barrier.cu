// A tile that is read with no barrier after it was loaded.
#include "../programs/check.h"

__global__ void reverse(int *p) {
    __shared__ int tile[128];
    int t = threadIdx.x;
    tile[t] = p[t]; // reported
    p[t] = tile[127 - t]; // reported
}

int main() {
    int *p, host[128];
    CHECK(cudaMalloc(&p, 1024));
    CHECK(cudaMemset(p, 0, 1024));
    reverse<<<1, 128>>>(p);
    CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    SHOW(cudaDeviceSynchronize());
    return 0;
}
