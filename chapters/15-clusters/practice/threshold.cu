// threshold without clusters: a cooperative launch, all of whose blocks run at one time, and Cooperative Groups' barrier of the grid. Sums go
// through memory.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

constexpr int THREADS = 512, BLOCKS = 8, KEPT = 32, ROUNDS = 24; // BLOCKS: of a row; THREADS * BLOCKS * KEPT = 131072

__global__ void __launch_bounds__(THREADS, 2) find(float *out, const float *in, float2 *found, int rows, int cols) {
    cg::grid_group grid = cg::this_grid();
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    __shared__ float2 part[THREADS / 32];
    int together = gridDim.x / BLOCKS, rank = blockIdx.x % BLOCKS;
    for (int first = 0; first < rows; first += together) { // so many rows at a time as have room on the device
        int row = first + blockIdx.x / BLOCKS;
        float kept[KEPT], at = -INFINITY;
#pragma unroll
        for (int k = 0, i = rank * THREADS + threadIdx.x; k < KEPT; k++, i += BLOCKS * THREADS)
            kept[k] = row < rows && i < cols ? in[(size_t)row * cols + i] : -INFINITY;
        for (int r = 0; r < ROUNDS; r++) {
            float2 mine = {0.0f, 0.0f}, *here = found + r % 2 * gridDim.x;
#pragma unroll
            for (int k = 0; k < KEPT; k++)
                if (kept[k] > at) mine.x += kept[k], mine.y += 1.0f;
            mine = {cg::reduce(warp, mine.x, cg::plus<float>()), cg::reduce(warp, mine.y, cg::plus<float>())};
            if (warp.thread_rank() == 0) part[warp.meta_group_rank()] = mine;
            __syncthreads();
            if (threadIdx.x == 0) {
                mine = {0.0f, 0.0f};
                for (float2 p : part) mine.x += p.x, mine.y += p.y;
                here[blockIdx.x] = mine;
            }
            grid.sync();
            mine = {0.0f, 0.0f};
            for (int b = 0; b < BLOCKS; b++) {
                float2 theirs = here[blockIdx.x / BLOCKS * BLOCKS + b];
                mine.x += theirs.x, mine.y += theirs.y;
            }
            at = fmaxf(at, (mine.x - 1.0f) / mine.y);
        }
        if (row < rows && rank == 0 && threadIdx.x == 0) out[row] = at;
    }
}

extern "C" void threshold(float *out, const float *in, int rows, int cols) {
    if (rows == 0) return;
    int device, sms;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    int blocks = min(rows, 2 * sms / BLOCKS) * BLOCKS;
    float2 *found;
    if (cudaMalloc(&found, 2 * blocks * sizeof(float2)) != cudaSuccess) return;
    void *arguments[] = {&out, &in, &found, &rows, &cols};
    cudaLaunchCooperativeKernel((void *)find, blocks, THREADS, arguments, 0, 0);
    cudaFree(found);
}
