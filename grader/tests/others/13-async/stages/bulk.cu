// A ring of bulk copies: a warp of its own asks for layers, and the others wait for the phases of their mbarriers.
#include <climits>

constexpr int WIDTH = 32, WARPS = 4, STAGES = 8;
constexpr int TILE = WIDTH * WIDTH, ROWS = WIDTH / WARPS, BYTES = TILE * sizeof(int);

__device__ unsigned place(const void *shared) { return (unsigned)__cvta_generic_to_shared(shared); }

__global__ void __launch_bounds__(WARPS * 32 + 32) walk(int *out, const int *from, const int *costs, int layers) {
    __shared__ __align__(128) int tile[STAGES][WIDTH][WIDTH];
    __shared__ int found[2][WARPS][WIDTH];
    __shared__ unsigned long long full[STAGES];
    int lane = threadIdx.x % 32, w = threadIdx.x / 32;
    const int *mine = costs + (size_t)blockIdx.x * layers * TILE;
    int best = from[blockIdx.x * WIDTH + lane];
    auto fetch = [&](int l) {
        if (lane != 0 || l >= layers) return;
        unsigned bar = place(&full[l % STAGES]);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(BYTES) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(place(tile[l % STAGES])),
                     "l"(mine + (size_t)l * TILE), "r"(BYTES), "r"(bar)
                     : "memory");
    };
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(place(&full[s])) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    for (int l = 0; l < STAGES - 1 && w == WARPS; l++) fetch(l);
    for (int l = 0; l < layers; l++) {
        if (w == WARPS) fetch(l + STAGES - 1); // into the tile of layer l - 1, which all had read at the last barrier
        else {
            asm volatile("{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra again;\n}" ::"r"(place(&full[l % STAGES])), "r"(l / STAGES & 1)
                         : "memory");
            int least = INT_MAX;
#pragma unroll
            for (int i = 0; i < ROWS; i++) least = min(least, __shfl_sync(~0u, best, w * ROWS + i) + tile[l % STAGES][w * ROWS + i][lane]);
            found[l % 2][w][lane] = least;
        }
        __syncthreads();
        best = INT_MAX;
#pragma unroll
        for (int k = 0; k < WARPS; k++) best = min(best, found[l % 2][k][lane]);
    }
    if (w == 0) out[blockIdx.x * WIDTH + lane] = best;
}

extern "C" void stages(int *out, const int *from, const int *costs, int graphs, int layers) {
    if (graphs > 0) walk<<<graphs, WARPS * 32 + 32>>>(out, from, costs, layers);
}
