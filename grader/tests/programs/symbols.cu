// Variables of the device: initial values, copies to and from them, their address and size.
// stderr: the program never called cudaGetLastError()
#include "check.h"

__device__ int counter = 5;
__device__ double table[4] = {1.5, 2.5, 3.5, 4.5};
__constant__ float factors[8];
__device__ int *pointer = &counter;

__global__ void use(float *out) {
    int i = threadIdx.x;
    out[i] = factors[i] * 10 + (i < 4 ? (float)table[i] : 0);
    if (i == 0) *pointer += 100;
}

int main() {
    int value;
    float host[8] = {0, 1, 2, 3, 4, 5, 6, 7}, out[8], *device;
    double pair[2] = {-1, -2};
    CHECK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    printf("counter starts at %d\n", value);
    CHECK(cudaMemcpyToSymbol(factors, host, sizeof host));
    CHECK(cudaMemcpyToSymbol(table, pair, sizeof pair, 2 * sizeof(double)));
    CHECK(cudaMalloc(&device, sizeof out));
    use<<<1, 8>>>(device);
    CHECK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    for (float x : out) printf("%g ", x);
    CHECK(cudaMemcpyFromSymbol(&value, counter, sizeof value, 0, cudaMemcpyDeviceToHost));
    printf("\ncounter is %d\n", value);
    void *address;
    size_t size;
    CHECK(cudaGetSymbolAddress(&address, table));
    CHECK(cudaGetSymbolSize(&size, table));
    CHECK(cudaMemcpy(pair, (double *)address + 1, sizeof pair, cudaMemcpyDeviceToHost));
    printf("table has %zu bytes, [1] = %g, [2] = %g\n", size, pair[0], pair[1]);
    SHOW(cudaMemcpyToSymbol(factors, host, sizeof host, 4));
    SHOW(cudaMemcpyToSymbol(&host, host, sizeof host));
    return 0;
}
