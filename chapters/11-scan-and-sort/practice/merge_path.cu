// merge_path by CUB, for the lesson's "In practice". The comparison looks at keys only.
#include <cub/device/device_merge.cuh>

struct smaller_key {
    __device__ bool operator()(unsigned long long x, unsigned long long y) const { return x >> 32 < y >> 32; }
};

extern "C" void merge_path(unsigned long long *out, const unsigned long long *a, const unsigned long long *b, int na, int nb) {
    size_t bytes = 0;
    void *temporary = nullptr;
    cub::DeviceMerge::MergeKeys(nullptr, bytes, a, na, b, nb, out, smaller_key{});
    cudaMalloc(&temporary, bytes);
    cub::DeviceMerge::MergeKeys(temporary, bytes, a, na, b, nb, out, smaller_key{});
    cudaFree(temporary);
}
