// look_back by CUB, for the lesson's "In practice": one pass over the input.
#include <cub/device/device_scan.cuh>

extern "C" void look_back(unsigned *out, const unsigned *in, int n) {
    size_t bytes = 0;
    void *temporary = nullptr;
    cub::DeviceScan::InclusiveSum(nullptr, bytes, in, out, n);
    cudaMalloc(&temporary, bytes);
    cub::DeviceScan::InclusiveSum(temporary, bytes, in, out, n);
    cudaFree(temporary);
}
