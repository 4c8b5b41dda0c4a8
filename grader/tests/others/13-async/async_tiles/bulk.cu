// One thread asks for a whole tile by a bulk copy; the others wait for the phase of its mbarrier.
#include <climits>

constexpr int WIDTH = 64, SOURCES = 8, THREADS = 256;
constexpr int TILE = WIDTH * WIDTH, BYTES = TILE * sizeof(int);

__device__ unsigned place(const void *shared) { return (unsigned)__cvta_generic_to_shared(shared); }

__global__ void __launch_bounds__(THREADS) walk(int *out, const int *from, const int *costs, int layers) {
    __shared__ __align__(128) int tile[2][WIDTH][WIDTH];
    __shared__ int best[2][SOURCES][WIDTH];
    __shared__ unsigned long long full[2];
    int t = threadIdx.x, j = t % WIDTH, s = t / WIDTH * 2;
    const int *mine = costs + (size_t)blockIdx.x * layers * TILE;
    for (int k = 0; k < 2; k++) best[0][s + k][j] = from[(blockIdx.x * SOURCES + s + k) * WIDTH + j];
    if (t == 0) {
        for (int k = 0; k < 2; k++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(place(&full[k])) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    auto fetch = [&](int l) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(&full[l % 2])), "r"(BYTES) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(place(tile[l % 2])),
                     "l"(mine + (size_t)l * TILE), "r"(BYTES), "r"(place(&full[l % 2]))
                     : "memory");
    };
    if (t == 0 && layers > 0) fetch(0);
    for (int l = 0; l < layers; l++) {
        if (l > 0) __syncthreads(); // nobody reads the other tile any more, and `best` is whole
        if (t == 0 && l + 1 < layers) fetch(l + 1);
        asm volatile("{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra again;\n}" ::"r"(place(&full[l % 2])), "r"(l / 2 & 1)
                     : "memory");
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
