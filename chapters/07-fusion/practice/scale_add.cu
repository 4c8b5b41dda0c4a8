// scale_add by CUB, which fuses an operation with the loads and stores around it, for the lesson's "In practice".
#include <cub/device/device_transform.cuh>
#include <cuda/std/tuple>

struct scaled_sum {
    float a;
    __device__ float operator()(float x, float y) const { return a * x + y; }
};

extern "C" void scale_add(float *out, const float *x, const float *y, float a, int n) {
    cub::DeviceTransform::Transform(cuda::std::make_tuple(x, y), out, n, scaled_sum{a});
}
