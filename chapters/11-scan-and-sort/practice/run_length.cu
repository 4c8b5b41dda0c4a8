// run_length by CUB, for the lesson's "In practice": one pass over the input.
#include <cub/device/device_run_length_encode.cuh>

extern "C" void run_length(int *values, int *lengths, int *runs, const int *in, int n) {
    size_t bytes = 0;
    void *temporary = nullptr;
    cub::DeviceRunLengthEncode::Encode(nullptr, bytes, in, values, lengths, runs, n);
    cudaMalloc(&temporary, bytes);
    cub::DeviceRunLengthEncode::Encode(temporary, bytes, in, values, lengths, runs, n);
    cudaFree(temporary);
}
