// expect: RTE race
// What other warps have found is read before it is there.

#include <climits>
#include <cuda_pipeline.h>

constexpr int WIDTH = 32, WARPS = 4, STAGES = 8;
constexpr int TILE = WIDTH * WIDTH, ROWS = WIDTH / WARPS, EACH = ROWS * WIDTH / 4 / 32; // int4 of a tile that each lane copies

__global__ void __launch_bounds__(WARPS * 32) walk(int *out, const int *from, const int *costs, int layers) {
    __shared__ __align__(16) int tile[STAGES][WARPS][ROWS][WIDTH];
    __shared__ int found[2][WARPS][WIDTH];
    int lane = threadIdx.x % 32, w = threadIdx.x / 32;
    const int4 *mine = reinterpret_cast<const int4 *>(costs + (size_t)blockIdx.x * layers * TILE + w * ROWS * WIDTH) + lane;
    int best = from[blockIdx.x * WIDTH + lane]; // each warp holds the shortest paths to all nodes, one node per lane
    auto fetch = [&](int l) {
#pragma unroll
        for (int k = 0; k < EACH; k++)
            if (l < layers) __pipeline_memcpy_async(reinterpret_cast<int4 *>(tile[l % STAGES][w]) + k * 32 + lane, mine + l * TILE / 4 + k * 32, 16);
        __pipeline_commit(); // one copy group per layer, empty after the last layer
    };
    for (int l = 0; l < STAGES - 1; l++) fetch(l);
    for (int l = 0; l < layers; l++) {
        __pipeline_wait_prior(STAGES - 2); // this lane's part of layer l has arrived ...
        __syncwarp();                      // ... and the other lanes' parts; no lane reads layer l - 1 any more
        fetch(l + STAGES - 1);
        int least = INT_MAX;
#pragma unroll
        for (int i = 0; i < ROWS; i++) least = min(least, __shfl_sync(~0u, best, w * ROWS + i) + tile[l % STAGES][w][i][lane]);
        found[l % 2][w][lane] = least;
        best = INT_MAX;
#pragma unroll
        for (int k = 0; k < WARPS; k++) best = min(best, found[l % 2][k][lane]);
    }
    if (w == 0) out[blockIdx.x * WIDTH + lane] = best;
}

extern "C" void stages(int *out, const int *from, const int *costs, int graphs, int layers) {
    if (graphs > 0) walk<<<graphs, WARPS * 32>>>(out, from, costs, layers);
}
