// A call that fails, of whose result the program asks for the last error.
#include "../programs/check.h"

__constant__ int table[4];
__global__ void use(int *out) { out[threadIdx.x] = table[threadIdx.x]; }

int main() {
    int *p, host[4];
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 1, sizeof host));
    cudaMemcpyToSymbol(table, p, sizeof host); // from the device, by default from the host
    SHOW(cudaGetLastError());
    use<<<1, 4>>>(p);
    CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d\n", host[3]);
    return 0;
}
