// expect: RTE
// Two tiles, but all copies go into the first one.

#include <climits>
#include <cuda_pipeline.h>

constexpr int WIDTH = 64, SOURCES = 8, THREADS = 256;
constexpr int TILE = WIDTH * WIDTH, EACH = TILE / 4 / THREADS; // int4 of a tile that each thread copies

__global__ void __launch_bounds__(THREADS) walk(int *out, const int *from, const int *costs, int layers) {
    __shared__ __align__(16) int tile[2][WIDTH][WIDTH], best[2][SOURCES][WIDTH];
    int t = threadIdx.x, j = t % WIDTH, s = t / WIDTH * 2; // a thread computes node j for sources s and s + 1
    const int4 *mine = reinterpret_cast<const int4 *>(costs + (size_t)blockIdx.x * layers * TILE) + t;
    for (int k = 0; k < 2; k++) best[0][s + k][j] = from[(blockIdx.x * SOURCES + s + k) * WIDTH + j];
    auto fetch = [&](int l) {
#pragma unroll
        for (int k = 0; k < EACH; k++)
            __pipeline_memcpy_async(reinterpret_cast<int4 *>(tile[0]) + k * THREADS + t, mine + l * TILE / 4 + k * THREADS, 16);
    };
    if (layers > 0) fetch(0);
    __pipeline_commit();
    for (int l = 0; l < layers; l++) {
        __pipeline_wait_prior(0); // this thread's part of the tile has arrived ...
        __syncthreads();          // ... and all other threads' parts; no thread reads the other tile any more
        if (l + 1 < layers) fetch(l + 1);
        __pipeline_commit();
        int a = INT_MAX, b = INT_MAX;
#pragma unroll
        for (int i = 0; i < WIDTH; i++) {
            a = min(a, best[l % 2][s][i] + tile[0][i][j]);
            b = min(b, best[l % 2][s + 1][i] + tile[0][i][j]);
        }
        best[(l + 1) % 2][s][j] = a, best[(l + 1) % 2][s + 1][j] = b;
    }
    // Each thread reads back only values that it wrote.
    for (int k = 0; k < 2; k++) out[(blockIdx.x * SOURCES + s + k) * WIDTH + j] = best[layers % 2][s + k][j];
}

extern "C" void async_tiles(int *out, const int *from, const int *costs, int graphs, int layers) {
    if (graphs > 0) walk<<<graphs, THREADS>>>(out, from, costs, layers);
}
