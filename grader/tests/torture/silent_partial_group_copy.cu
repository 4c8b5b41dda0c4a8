// cooperative_groups::memcpy_async of fewer elements than the group has threads: the threads without an element copy
// the last one again. All copy the same bytes, so nothing is wrong, even where lanes wait for it one after another.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>
#include <cstdio>

namespace cg = cooperative_groups;
constexpr int ROWS = 8, PITCH = 33;

__global__ void group_copies(float *out, const float *in, int cols) {
    __shared__ float tile[ROWS][PITCH];
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int row = warp.meta_group_rank(), lane = warp.thread_rank();
    cg::memcpy_async(warp, tile[row], in + row * cols, sizeof(float) * cols);
    cg::wait(warp);
    if (lane < cols) out[row * cols + lane] = tile[row][lane];
}

// Lane 31 waits first.
__global__ void waits_in_turn(float *out, const float *in, int cols) {
    __shared__ float tile[32];
    int lane = threadIdx.x, from = min(lane, cols - 1);
    __pipeline_memcpy_async(&tile[from], &in[from], sizeof(float));
    __pipeline_commit();
    for (int k = 31; k >= 0; k--)
        if (lane == k) __pipeline_wait_prior(0);
    __syncwarp();
    if (lane < cols) out[lane] = tile[lane];
}

int main() {
    float *in, *out;
    cudaMallocManaged(&in, ROWS * 32 * sizeof(float));
    cudaMallocManaged(&out, ROWS * 32 * sizeof(float));
    for (int i = 0; i < ROWS * 32; i++) in[i] = i;
    for (int cols : {1, 5, 31, 32}) {
        group_copies<<<1, ROWS * 32>>>(out, in, cols);
        cudaDeviceSynchronize();
        printf("%d columns: %g %g\n", cols, out[0], out[ROWS * cols - 1]);
    }
    waits_in_turn<<<1, 32>>>(out, in, 5);
    cudaDeviceSynchronize();
    printf("in turn: %g %g\n", out[0], out[4]);
}
