// expect: PART
// Rounds of 64 steps, each one a launch: walks that have not left are packed into a list in global memory.

constexpr int THREADS = 128, STEPS = 64, ROUNDS = 24;
constexpr unsigned ALL = 0xffffffff;

struct walker {
    int i, position, count;
    unsigned state;
};

__global__ void round_of(int *__restrict__ steps, const int *__restrict__ start, const unsigned *__restrict__ seed, int n,
                         int width, const int4 *from, const int *left, int4 *to, int *kept, bool is_last) {
    int total = left ? *left : n, lane = threadIdx.x % 32;
    for (int first = blockIdx.x * THREADS; first < total; first += gridDim.x * THREADS) {
        int t = first + threadIdx.x;
        walker w = {-1, 0, 0, 0};
        if (t < total) {
            if (left) {
                int4 v = from[t];
                w = {v.x, v.y, v.z, (unsigned)v.w};
            } else w = {t, start[t], 0, seed[t]};
        }
        for (int k = 0; k < STEPS || is_last; k += 16) {
            if (__all_sync(ALL, w.position <= 0 || w.position >= width)) break;
#pragma unroll
            for (int j = 0; j < 16; j++)
                if (w.position > 0 && w.position < width) {
                    w.state = w.state * 1664525u + 1013904223u;
                    w.position += w.state >> 31 ? 1 : -1;
                    w.count++;
                }
        }
        bool stays = w.i >= 0 && w.position > 0 && w.position < width;
        if (w.i >= 0 && !stays) steps[w.i] = w.position > 0 ? w.count : -w.count;
        unsigned votes = __ballot_sync(ALL, stays);
        int place = 0;
        if (lane == 0 && votes) place = atomicAdd(kept, __popc(votes));
        place = __shfl_sync(ALL, place, 0) + __popc(votes & ((1u << lane) - 1));
        if (stays) to[place] = make_int4(w.i, w.position, w.count, (int)w.state);
    }
}

extern "C" void divergence(int *steps, const int *start, const unsigned *seed, int n, int width) {
    if (n == 0) return;
    int4 *lists;
    int *kept, blocks = min((n + THREADS - 1) / THREADS, 1056);
    cudaMalloc(&lists, 2 * (size_t)n * sizeof *lists);
    cudaMalloc(&kept, ROUNDS * sizeof *kept);
    cudaMemsetAsync(kept, 0, ROUNDS * sizeof *kept);
    for (int r = 0; r < ROUNDS; r++)
        round_of<<<blocks, THREADS>>>(steps, start, seed, n, width, lists + r % 2 * (size_t)n, r ? kept + r - 1 : nullptr,
                                      lists + (r + 1) % 2 * (size_t)n, kept + r, r == ROUNDS - 1);
    cudaFree(kept);
    cudaFree(lists);
}
