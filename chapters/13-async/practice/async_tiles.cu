// async_tiles by Cooperative Groups: the block copies a tile together, and says nothing of lanes.
#include <climits>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;

constexpr int WIDTH = 64, SOURCES = 8, THREADS = 256, TILE = WIDTH * WIDTH;

__global__ void __launch_bounds__(THREADS) walk(int *out, const int *from, const int *costs, int layers) {
    __shared__ __align__(16) int tile[2][WIDTH][WIDTH], best[2][SOURCES][WIDTH];
    auto block = cg::this_thread_block();
    int t = threadIdx.x, j = t % WIDTH, s = t / WIDTH * 2;
    const int *mine = costs + (size_t)blockIdx.x * layers * TILE;
    for (int k = 0; k < 2; k++) best[0][s + k][j] = from[(blockIdx.x * SOURCES + s + k) * WIDTH + j];
    auto fetch = [&](int l) {
        if (l < layers) cg::memcpy_async(block, tile[l % 2][0], mine + (size_t)l * TILE, cuda::aligned_size_t<16>(TILE * sizeof(int)));
    };
    fetch(0);
    for (int l = 0; l < layers; l++) {
        cg::wait(block); // the copies, and a barrier of the block
        fetch(l + 1);
        int a = INT_MAX, b = INT_MAX;
#pragma unroll
        for (int i = 0; i < WIDTH; i++) {
            a = min(a, best[l % 2][s][i] + tile[l % 2][i][j]);
            b = min(b, best[l % 2][s + 1][i] + tile[l % 2][i][j]);
        }
        best[(l + 1) % 2][s][j] = a, best[(l + 1) % 2][s + 1][j] = b;
    }
    for (int k = 0; k < 2; k++) out[(blockIdx.x * SOURCES + s + k) * WIDTH + j] = best[layers % 2][s + k][j];
}

extern "C" void async_tiles(int *out, const int *from, const int *costs, int graphs, int layers) {
    if (graphs > 0) walk<<<graphs, THREADS>>>(out, from, costs, layers);
}
