// cuda::pipeline, whose stages are two layers early.
#include <climits>
#include <cuda/pipeline>

constexpr int WIDTH = 64, SOURCES = 8, THREADS = 256, STAGES = 3;
constexpr int TILE = WIDTH * WIDTH, EACH = TILE / 4 / THREADS;

__global__ void __launch_bounds__(THREADS) walk(int *out, const int *from, const int *costs, int layers) {
    extern __shared__ __align__(16) int memory[];
    __shared__ int best[2][SOURCES][WIDTH];
    int(*tile)[WIDTH][WIDTH] = reinterpret_cast<int(*)[WIDTH][WIDTH]>(memory);
    int t = threadIdx.x, j = t % WIDTH, s = t / WIDTH * 2;
    const int4 *mine = reinterpret_cast<const int4 *>(costs + (size_t)blockIdx.x * layers * TILE) + t;
    auto pipe = cuda::make_pipeline();
    for (int k = 0; k < 2; k++) best[0][s + k][j] = from[(blockIdx.x * SOURCES + s + k) * WIDTH + j];
    auto fetch = [&](int l) {
        pipe.producer_acquire();
        for (int k = 0; l < layers && k < EACH; k++)
            cuda::memcpy_async(reinterpret_cast<int4 *>(tile[l % STAGES]) + k * THREADS + t, mine + l * TILE / 4 + k * THREADS,
                               cuda::aligned_size_t<16>(16), pipe);
        pipe.producer_commit();
    };
    for (int l = 0; l < STAGES - 1; l++) fetch(l);
    for (int l = 0; l < layers; l++) {
        cuda::pipeline_consumer_wait_prior<STAGES - 2>(pipe);
        __syncthreads();
        fetch(l + STAGES - 1);
        int a = INT_MAX, b = INT_MAX;
#pragma unroll
        for (int i = 0; i < WIDTH; i++) {
            a = min(a, best[l % 2][s][i] + tile[l % STAGES][i][j]);
            b = min(b, best[l % 2][s + 1][i] + tile[l % STAGES][i][j]);
        }
        best[(l + 1) % 2][s][j] = a, best[(l + 1) % 2][s + 1][j] = b;
        pipe.consumer_release();
    }
    for (int k = 0; k < 2; k++) out[(blockIdx.x * SOURCES + s + k) * WIDTH + j] = best[layers % 2][s + k][j];
}

extern "C" void async_tiles(int *out, const int *from, const int *costs, int graphs, int layers) {
    if (graphs == 0) return;
    cudaFuncSetAttribute(walk, cudaFuncAttributeMaxDynamicSharedMemorySize, STAGES * TILE * sizeof(int));
    walk<<<graphs, THREADS, STAGES * TILE * sizeof(int)>>>(out, from, costs, layers);
}
