// run: --devices 2
// stderr: reads 4 bytes at 0x300000000200, in `cudaMalloc #1` (1024 bytes) of device 0, which device 1 may not access: call cudaDeviceEnablePeerAccess(0, 0) on device 1
// no_access.cu: a kernel that loads from another device without peer access: an illegal address, which
// poisons the contexts of all devices.
// With an argument, the access is enabled and disabled again first.
#include "../check.h"

__global__ void copy(int *to, const int *from) { *to = *from; }
__global__ void set(int *to) { *to = 77; }

int main(int argc, char **) {
    int *p[2], value = -1;
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaMalloc(&p[d], 1024));
        CHECK(cudaMemset(p[d], 0, 1024));
        CHECK(cudaDeviceSynchronize());
    }
    if (argc > 1) {
        CHECK(cudaDeviceEnablePeerAccess(0, 0));
        copy<<<1, 1>>>(p[1], p[0]);
        SHOW(cudaDeviceSynchronize());
        CHECK(cudaDeviceDisablePeerAccess(0));
    }
    copy<<<1, 1>>>(p[1], p[0]);
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaMemset(p[1], 0, 1024));
    SHOW(cudaSetDevice(0));
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    set<<<1, 1>>>(p[0]);
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaMemcpy(&value, p[0], sizeof value, cudaMemcpyDefault));
    printf("device 0 has %d\n", value);
    SHOW(cudaMemcpyPeer(p[0], 0, p[1], 1, 4));
    SHOW(cudaSetDevice(1));
    SHOW(cudaDeviceSynchronize());
    return 0;
}
