// Queries about the device and kernels, printed as relations that hold on any device since Volta.
#include "check.h"

__global__ void kernel(float *p) {
    __shared__ float tile[256];
    tile[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = tile[255 - threadIdx.x];
}

static int attribute(cudaDeviceAttr a) {
    int value = -1;
    CHECK(cudaDeviceGetAttribute(&value, a, 0));
    return value;
}

int main() {
    int count, device, runtime, driver;
    CHECK(cudaGetDeviceCount(&count));
    CHECK(cudaGetDevice(&device));
    CHECK(cudaRuntimeGetVersion(&runtime));
    CHECK(cudaDriverGetVersion(&driver));
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, device));
    printf("devices: %s, current %d, runtime %s\n", count >= 1 ? "some" : "none", device,
           runtime == CUDART_VERSION && driver >= 12000 ? "as built" : "other");
    printf("warp %d, block %d (%d %d %d), grid %d %d %d\n", p.warpSize, p.maxThreadsPerBlock, p.maxThreadsDim[0],
           p.maxThreadsDim[1], p.maxThreadsDim[2], p.maxGridSize[0], p.maxGridSize[1], p.maxGridSize[2]);
    printf("registers %d, constant %zu, shared %zu\n", p.regsPerBlock, p.totalConstMem, p.sharedMemPerBlock);
    printf("attributes agree: %d %d %d %d %d\n", attribute(cudaDevAttrMultiProcessorCount) == p.multiProcessorCount,
           attribute(cudaDevAttrComputeCapabilityMajor) == p.major, attribute(cudaDevAttrWarpSize) == 32,
           attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) == (int)p.sharedMemPerBlockOptin,
           attribute(cudaDevAttrClockRate) > 100000);
    SHOW(cudaDeviceGetAttribute(&count, (cudaDeviceAttr)100000, 0));
    cudaGetLastError();

    cudaFuncAttributes f;
    CHECK(cudaFuncGetAttributes(&f, kernel));
    printf("static shared %zu, local %zu, threads %d, registers %s\n", f.sharedSizeBytes, f.localSizeBytes,
           f.maxThreadsPerBlock, f.numRegs > 3 && f.numRegs < 64 ? "some" : "odd");
    int blocks, size, grid;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 0));
    printf("blocks of 256 on an SM: %s\n", blocks >= 4 && blocks <= 8 ? "4 to 8" : "odd");
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &size, kernel));
    printf("best block: %s\n", size % 32 == 0 && size >= 64 && grid >= p.multiProcessorCount ? "plausible" : "odd");
    size_t unused, total, limit;
    CHECK(cudaMemGetInfo(&unused, &total));
    printf("memory: %s\n", unused <= total && total <= p.totalGlobalMem && unused > 100 << 20 ? "plausible" : "odd");
    CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 4 << 20));
    CHECK(cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize));
    printf("limit: %s\n", limit >= 4 << 20 ? "set" : "not set");
    return 0;
}
