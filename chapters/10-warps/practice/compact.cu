// compact by CUB, for the lesson's "In practice": one pass over the input.
#include <cub/device/device_select.cuh>

struct above_zero {
    __device__ bool operator()(int x) const { return x > 0; }
};

extern "C" void compact(int *out, int *count, const int *in, int n) {
    size_t bytes = 0;
    void *temporary = nullptr;
    cub::DeviceSelect::If(nullptr, bytes, in, out, count, n, above_zero());
    cudaMalloc(&temporary, bytes);
    cub::DeviceSelect::If(temporary, bytes, in, out, count, n, above_zero());
    cudaFree(temporary);
}
