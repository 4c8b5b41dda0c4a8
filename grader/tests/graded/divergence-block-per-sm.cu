// Right: 128 blocks of 256 threads, about one for each SM.
// at first: 37 points: the guard asked for 132 blocks
// expect: PART 94 99

constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr int MAX_BLOCKS = 128;
constexpr int MIN_PER_WARP = 120;
constexpr int STEPS = 16;          // between two votes
constexpr unsigned ALL = 0xffffffff;

__global__ void walk(int *__restrict__ steps, const int *__restrict__ start, const unsigned *__restrict__ seed, int n,
                     int width) {
    int lane = threadIdx.x % 32, warp = blockIdx.x * WARPS + threadIdx.x / 32;
    int share = (n + gridDim.x * WARPS - 1) / (gridDim.x * WARPS);
    int next = min(warp * share, n), end = min(next + share, n); // the warp's walks that no lane has taken yet
    int i = -1, count = 0;                                       // this lane's walk; none at first
    unsigned state = 0, inner = width - 1, place = inner;        // place = position - 1: inside if it is below `inner`
    while (true) {
        bool idle = place >= inner;
        unsigned votes = __ballot_sync(ALL, idle);
        if (votes) {
            if (idle) {
                if (i >= 0) steps[i] = place == inner ? count : -count;
                i = next + __popc(votes & ((1u << lane) - 1)); // as many idle lanes are below this one
                if (i < end) place = start[i] - 1, state = seed[i], count = 0;
                else i = -1;
            }
            if (votes == ALL && next >= end) break;
            next += __popc(votes);
        }
#pragma unroll
        for (int k = 0; k < STEPS; k++)
            if (place < inner) {
                state = state * 1664525u + 1013904223u;
                place += state >> 31 ? 1 : -1;
                count++;
            }
    }
}

extern "C" void divergence(int *steps, const int *start, const unsigned *seed, int n, int width) {
    int blocks = min((n + WARPS * MIN_PER_WARP - 1) / (WARPS * MIN_PER_WARP), MAX_BLOCKS);
    if (n > 0) walk<<<blocks, THREADS>>>(steps, start, seed, n, width);
}
