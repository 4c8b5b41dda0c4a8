// Blocks that wait for all others of the grid; all fit on the device at once.
// also: --schedule hostile
#include "../programs/check.h"

__global__ void meet(unsigned *count, int *out) {
    __shared__ int seen;
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (atomicAdd(count, 0) < gridDim.x) {}
        seen = (int)*(volatile unsigned *)count;
    }
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = seen;
}

int main() {
    unsigned *count;
    int *out, host[200], ok = 0;
    CHECK(cudaMalloc(&count, sizeof *count));
    CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMemset(count, 0, sizeof *count));
    meet<<<200, 64>>>(count, out);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 200; i++) ok += host[i] == 200;
    printf("%d of 200\n", ok);
    return 0;
}
