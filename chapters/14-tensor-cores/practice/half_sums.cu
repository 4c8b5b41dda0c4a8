// half_sums by CUB, for the lesson's "In practice": rows are segments, and an iterator widens halves as they are read.
#include <cub/device/device_segmented_reduce.cuh>
#include <cuda_fp16.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

struct widen {
    __host__ __device__ float operator()(half v) const { return __half2float(v); }
};
struct start {
    int cols;
    __host__ __device__ size_t operator()(int row) const { return (size_t)row * cols; }
};

extern "C" void half_sums(float *sums, const half *x, int rows, int cols) {
    if (rows == 0) return;
    auto values = thrust::make_transform_iterator(x, widen());
    auto starts = thrust::make_transform_iterator(thrust::make_counting_iterator(0), start{cols});
    size_t bytes = 0;
    void *temporary = nullptr;
    cub::DeviceSegmentedReduce::Sum(nullptr, bytes, values, sums, rows, starts, starts + 1);
    cudaMalloc(&temporary, bytes);
    cub::DeviceSegmentedReduce::Sum(temporary, bytes, values, sums, rows, starts, starts + 1);
    cudaFree(temporary);
}
