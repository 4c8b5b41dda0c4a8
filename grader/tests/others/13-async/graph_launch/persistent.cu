// One cooperative kernel for all rounds, whose blocks wait for each other.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
constexpr int THREADS = 128, BLOCKS = 132;

__global__ void all_rounds(float *x, float *y, float *largest, const float *shift, int n, int rounds) {
    auto grid = cg::this_grid();
    int first = blockIdx.x * THREADS + threadIdx.x, step = gridDim.x * THREADS;
    for (int k = first; k < rounds; k += step) largest[k] = 0.0f;
    grid.sync();
    for (int k = 0; k < rounds; k++) {
        float most = 0.0f;
        for (int i = first; i < n; i += step) {
            y[i] = 0.25f * x[max(i - 1, 0)] + 0.5f * x[i] + 0.25f * x[min(i + 1, n - 1)] + shift[k] * x[i];
            most = max(most, y[i]);
        }
        unsigned bits = __reduce_max_sync(~0u, __float_as_uint(most));
        if (threadIdx.x % 32 == 0) atomicMax((unsigned *)&largest[k], bits);
        grid.sync();
        float divisor = *(volatile float *)&largest[k];
        for (int i = first; i < n; i += step) x[i] = y[i] / divisor;
        grid.sync();
    }
}

extern "C" void graph_launch(float *x, float *largest, const float *shift, int n, int rounds) {
    if (rounds == 0) return;
    float *y;
    cudaMallocAsync(&y, n * sizeof(float), 0);
    void *params[] = {&x, &y, &largest, &shift, &n, &rounds};
    cudaLaunchCooperativeKernel((void *)all_rounds, BLOCKS, THREADS, params, 0, 0);
    cudaFreeAsync(y, 0);
}
