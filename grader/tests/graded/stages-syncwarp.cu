// A __syncwarp() is missing between a copy by some lanes and its use by others.
// at first: AC 100
// expect: RTE 0 0
// says: race
// stages: the cheapest ways through a graph in layers of 32 nodes. A block has a graph; each of its warps copies, and looks at, eight rows of a tile.

#include <climits>
#include <cuda_pipeline.h>

// TODO: a copy takes longer than a layer's work: with two tiles, a block waits for most of the time. Write a ring of more.
constexpr int WIDTH = 32, WARPS = 4;
constexpr int TILE = WIDTH * WIDTH, ROWS = WIDTH / WARPS, EACH = ROWS * WIDTH / 4 / 32, S = 8; // int4 of a tile that each lane brings

__global__ void __launch_bounds__(WARPS * 32) walk(int *out, const int *from, const int *costs, int layers) {
    __shared__ __align__(16) int tile[S][WARPS][ROWS][WIDTH];
    __shared__ int found[2][WARPS][WIDTH];
    int lane = threadIdx.x % 32, w = threadIdx.x / 32;
    const int4 *mine = reinterpret_cast<const int4 *>(costs + (size_t)blockIdx.x * layers * TILE + w * ROWS * WIDTH) + lane;
    int best = from[blockIdx.x * WIDTH + lane]; // each warp knows the best ways to all nodes, a lane each
    auto fetch = [&](int l) {
#pragma unroll
        for (int k = 0; k < EACH; k++)
            if (l < layers) __pipeline_memcpy_async(reinterpret_cast<int4 *>(tile[l % S][w]) + k * 32 + lane, mine + l * TILE / 4 + k * 32, 16);
        __pipeline_commit(); // a group for each layer, empty ones behind the last
    };
    for (int l = 0; l < S - 1; l++) fetch(l);
    for (int l = 0; l < layers; l++) {
        __pipeline_wait_prior(S - 2); // this lane's part of layer l is here ...
        fetch(l + S - 1);
        int least = INT_MAX;
#pragma unroll
        for (int i = 0; i < ROWS; i++) least = min(least, __shfl_sync(~0u, best, w * ROWS + i) + tile[l % S][w][i][lane]);
        found[l % 2][w][lane] = least;
        __syncthreads();
        best = INT_MAX;
#pragma unroll
        for (int k = 0; k < WARPS; k++) best = min(best, found[l % 2][k][lane]);
    }
    if (w == 0) out[blockIdx.x * WIDTH + lane] = best;
}

extern "C" void stages(int *out, const int *from, const int *costs, int graphs, int layers) {
    if (graphs > 0) walk<<<graphs, WARPS * 32>>>(out, from, costs, layers);
}
