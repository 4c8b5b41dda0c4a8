// A cuda::pipeline of the whole block, with its state in shared memory: mbarriers in place of groups.
#include <climits>
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

constexpr int WIDTH = 64, SOURCES = 8, THREADS = 256, TILES = 3, TILE = WIDTH * WIDTH;

__global__ void __launch_bounds__(THREADS) walk(int *out, const int *from, const int *costs, int layers) {
    extern __shared__ __align__(16) int memory[];
    auto tile = reinterpret_cast<int(*)[WIDTH][WIDTH]>(memory);
    __shared__ int best[2][SOURCES][WIDTH];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, TILES> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int t = threadIdx.x, j = t % WIDTH, s = t / WIDTH * 2;
    const int *mine = costs + (size_t)blockIdx.x * layers * TILE;
    for (int k = 0; k < 2; k++) best[0][s + k][j] = from[(blockIdx.x * SOURCES + s + k) * WIDTH + j];
    auto fetch = [&](int l) {
        if (l >= layers) return;
        pipe.producer_acquire(); // until all have released the tile
        cuda::memcpy_async(block, tile[l % TILES][0], mine + (size_t)l * TILE, cuda::aligned_size_t<16>(TILE * sizeof(int)), pipe);
        pipe.producer_commit();
    };
    for (int l = 0; l < TILES - 1; l++) fetch(l);
    for (int l = 0; l < layers; l++) {
        pipe.consumer_wait();
        __syncthreads(); // `best` is whole
        fetch(l + TILES - 1);
        int a = INT_MAX, b = INT_MAX;
#pragma unroll
        for (int i = 0; i < WIDTH; i++) {
            a = min(a, best[l % 2][s][i] + tile[l % TILES][i][j]);
            b = min(b, best[l % 2][s + 1][i] + tile[l % TILES][i][j]);
        }
        best[(l + 1) % 2][s][j] = a, best[(l + 1) % 2][s + 1][j] = b;
        pipe.consumer_release();
    }
    for (int k = 0; k < 2; k++) out[(blockIdx.x * SOURCES + s + k) * WIDTH + j] = best[layers % 2][s + k][j];
}

extern "C" void async_tiles(int *out, const int *from, const int *costs, int graphs, int layers) {
    if (graphs == 0) return;
    cudaFuncSetAttribute(walk, cudaFuncAttributeMaxDynamicSharedMemorySize, TILES * TILE * sizeof(int));
    walk<<<graphs, THREADS, TILES * TILE * sizeof(int)>>>(out, from, costs, layers);
}
