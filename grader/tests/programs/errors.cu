// Wrong calls: each is refused, and none affects later calls.
// stderr: 2048 threads
// stderr: cudaFuncAttributeMaxDynamicSharedMemorySize
// stderr: freed twice?
#include "check.h"

__global__ void nothing(int *) {}
__global__ void dynamic(int *p) {
    extern __shared__ int s[];
    s[threadIdx.x] = threadIdx.x;
    if (p) *p = s[0];
}

#define LAUNCH(...)                                                                                          \
    do {                                                                                                     \
        __VA_ARGS__;                                                                                         \
        printf("%-56s %s\n", #__VA_ARGS__, cudaGetErrorName(cudaGetLastError()));                            \
    } while (0)

int main() {
    int *p, x = 0, count = -1;
    void *q = &x;
    CHECK(cudaGetDeviceCount(&count));
    CHECK(cudaMalloc(&p, 400));
    LAUNCH(nothing<<<1, 2048>>>(p));
    LAUNCH(nothing<<<0, 32>>>(p));
    LAUNCH(nothing<<<1, 0>>>(p));
    LAUNCH(nothing<<<1, dim3(1, 1, 128)>>>(p));
    LAUNCH(dynamic<<<1, 32, 49153>>>(p));
    LAUNCH(nothing<<<1, 32>>>(p));
    SHOW(cudaMemcpy(p, q, 401, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy(p, q, 4, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpy(p, q, 4, (cudaMemcpyKind)9));
    SHOW(cudaMemcpy(p, q, 0, cudaMemcpyHostToDevice));
    SHOW(cudaMemset(p, 0, 401));
    SHOW(cudaFree(&x));
    SHOW(cudaSetDevice(count));
    SHOW(cudaSetDevice(0));
    SHOW(cudaMalloc(&q, 1ull << 50));
    SHOW(cudaPeekAtLastError());
    SHOW(cudaGetLastError());
    SHOW(cudaGetLastError());
    SHOW(cudaFree(0));
    SHOW(cudaFree(p));
    SHOW(cudaFree(p));
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
    SHOW(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    SHOW(cudaGetLastError());
    LAUNCH(dynamic<<<1, 32, 65536>>>(nullptr));
    LAUNCH(dynamic<<<1, 32, 65537>>>(nullptr));
    SHOW(cudaLaunchKernel((const void *)main, dim3(1), dim3(1), nullptr, 0, 0));
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    printf("%s\n", cudaGetErrorString(cudaErrorIllegalAddress));
    printf("%s / %s\n", cudaGetErrorName((cudaError_t)12345), cudaGetErrorString((cudaError_t)12345));
    return 0;
}
