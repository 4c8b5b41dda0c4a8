// expect: PART
// cp.async, which needs a lane for 16 bytes, too.

#include <cuda_pipeline.h>

constexpr int THREADS = 256;

__global__ void gather(float4 *out, const float4 *table, const int *index, int vectors) {
    size_t to = (size_t)blockIdx.x * vectors, from = (size_t)index[blockIdx.x] * vectors;
    __shared__ float4 piece[THREADS];
    for (int c = threadIdx.x; c < vectors; c += THREADS) {
        __pipeline_memcpy_async(&piece[threadIdx.x], &table[from + c], 16);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        out[to + c] = piece[threadIdx.x];
    }
}

extern "C" void bulk_rows(float *out, const float *table, const int *index, int n, int rows, int cols) {
    if (n > 0 && cols > 0)
        gather<<<n, THREADS>>>(reinterpret_cast<float4 *>(out), reinterpret_cast<const float4 *>(table), index, cols / 4);
}
