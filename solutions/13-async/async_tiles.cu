// async_tiles: the model solution. Three tiles in shared memory, of which two are being filled by asynchronous copies while a block works on
// the third. So a tile is in flight even while the block waits for another one.

#include <climits>
#include <cuda_pipeline.h>

constexpr int WIDTH = 64, SOURCES = 8, THREADS = 256, TILES = 3;
// tune: TILES 2 3 4
constexpr int TILE = WIDTH * WIDTH, EACH = TILE / 4 / THREADS; // int4 of a tile that each thread copies

__global__ void __launch_bounds__(THREADS) walk(int *out, const int *from, const int *costs, int layers) {
    extern __shared__ __align__(16) int memory[];
    __shared__ __align__(16) int best[2][SOURCES][WIDTH];
    auto tile = reinterpret_cast<int(*)[WIDTH][WIDTH]>(memory);
    int t = threadIdx.x, j = t % WIDTH, s = t / WIDTH * 2; // a thread computes node j for sources s and s + 1
    const int4 *mine = reinterpret_cast<const int4 *>(costs + (size_t)blockIdx.x * layers * TILE) + t;
    for (int k = 0; k < 2; k++) best[0][s + k][j] = from[(blockIdx.x * SOURCES + s + k) * WIDTH + j];
    auto fetch = [&](int l) {
#pragma unroll
        for (int k = 0; k < EACH; k++)
            if (l < layers) __pipeline_memcpy_async(reinterpret_cast<int4 *>(tile[l % TILES]) + k * THREADS + t, mine + l * TILE / 4 + k * THREADS, 16);
        __pipeline_commit(); // one copy group per layer, empty after the last layer
    };
    for (int l = 0; l < TILES - 1; l++) fetch(l);
    for (int l = 0; l < layers; l++) {
        __pipeline_wait_prior(TILES - 2); // this thread's part of the tile has arrived ...
        __syncthreads();                  // ... and all other threads' parts; no thread reads the previous layer's tile any more
        fetch(l + TILES - 1);
        int a = INT_MAX, b = INT_MAX;
#pragma unroll
        for (int i = 0; i < WIDTH; i++) {
            a = min(a, best[l % 2][s][i] + tile[l % TILES][i][j]);
            b = min(b, best[l % 2][s + 1][i] + tile[l % TILES][i][j]);
        }
        best[(l + 1) % 2][s][j] = a, best[(l + 1) % 2][s + 1][j] = b;
    }
    // Each thread reads back only values that it wrote.
    for (int k = 0; k < 2; k++) out[(blockIdx.x * SOURCES + s + k) * WIDTH + j] = best[layers % 2][s + k][j];
}

extern "C" void async_tiles(int *out, const int *from, const int *costs, int graphs, int layers) {
    if (graphs == 0) return;
    cudaFuncSetAttribute(walk, cudaFuncAttributeMaxDynamicSharedMemorySize, TILES * TILE * sizeof(int));
    walk<<<graphs, THREADS, TILES * TILE * sizeof(int)>>>(out, from, costs, layers);
}
