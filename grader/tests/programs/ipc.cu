// Calls that need other processes or devices.
// stderr: cudaIpcGetMemHandle is not supported
#include "check.h"
int main() {
    int *p;
    CHECK(cudaMalloc(&p, 4));
    cudaIpcMemHandle_t h;
    SHOW(cudaIpcGetMemHandle(&h, p));
    cudaGetLastError();
    int can;
    SHOW(cudaDeviceCanAccessPeer(&can, 0, 1));
    cudaGetLastError();
    int n;
    CHECK(cudaGetDeviceCount(&n));
    printf("%d\n", n);
    SHOW(cudaSetDevice(1));
}
