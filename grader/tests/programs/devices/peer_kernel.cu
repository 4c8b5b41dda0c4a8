// run: --devices 2
// peer_kernel.cu: kernels that load, store and update the memory of the other device.
#include "../expect.h"
#include <vector>

__device__ int counter = 5;
__constant__ int factor = 3;

__global__ void scale(int *to, const int *from, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = factor * from[i];
}

__global__ void count(int *total, const int *values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && values[i] % 2) atomicAdd_system(total, 1);
    if (i == 0) counter++;
}

int main() {
    const int n = 10000;
    const size_t bytes = n * sizeof(int);
    int *a[2], *total, on[2], sum, value[2];
    std::vector<int> host(n);
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaDeviceCanAccessPeer(&on[d], d, 1 - d));
        CHECK(cudaDeviceEnablePeerAccess(1 - d, 0));
        CHECK(cudaMalloc(&a[d], bytes));
    }
    printf("access: %d %d\n", on[0], on[1]);
    CHECK(cudaSetDevice(0));
    for (int i = 0; i < n; i++) host[i] = i;
    CHECK(cudaMemcpy(a[0], host.data(), bytes, cudaMemcpyDefault));
    CHECK(cudaMalloc(&total, sizeof *total));
    CHECK(cudaMemset(total, 0, sizeof *total));
    CHECK(cudaDeviceSynchronize());

    int seven = 7;
    CHECK(cudaSetDevice(1));
    CHECK(cudaMemcpyToSymbol(factor, &seven, sizeof seven));
    scale<<<(n + 255) / 256, 256>>>(a[1], a[0], n); // reads device 0's memory
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host.data(), a[1], bytes, cudaMemcpyDefault));
    for (int i = 0; i < n; i++) EXPECT(host[i] == 7 * i, "device 1, %d: %d", i, host[i]);

    CHECK(cudaSetDevice(0));
    scale<<<(n + 255) / 256, 256>>>(a[1], a[0], n); // writes device 1's memory
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host.data(), a[1], bytes, cudaMemcpyDefault));
    for (int i = 0; i < n; i++) EXPECT(host[i] == 3 * i, "device 0, %d: %d", i, host[i]);

    for (int d = 0; d < 2; d++) { // Both devices count in the memory of device 0 at once.
        CHECK(cudaSetDevice(d));
        count<<<(n + 255) / 256, 256>>>(total, a[d], n);
        if (d == 1) count<<<(n + 255) / 256, 256>>>(total, a[d], n);
    }
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpyFromSymbol(&value[d], counter, sizeof(int)));
    }
    CHECK(cudaMemcpy(&sum, total, sizeof sum, cudaMemcpyDefault));
    EXPECT(sum == 3 * n / 2, "counted %d, not %d", sum, 3 * n / 2);
    printf("each device has its own variables: %d %d\n", value[0], value[1]);
    printf("kernels with the memory of both devices: %d wrong\n", wrong);
    return wrong != 0;
}
