// expect: PART
// One counter for all warps: as many atomics on one address as there are votes.

constexpr int THREADS = 128, MAX_BLOCKS = 1056, STEPS = 16;
constexpr unsigned ALL = 0xffffffff;

__global__ void walk(int *__restrict__ steps, const int *__restrict__ start, const unsigned *__restrict__ seed, int n,
                     int width, int *ticket) {
    int lane = threadIdx.x % 32, i = -1, position = 0, count = 0;
    unsigned state = 0;
    while (true) {
        bool idle = position <= 0 || position >= width;
        unsigned votes = __ballot_sync(ALL, idle);
        if (votes) {
            if (idle && i >= 0) steps[i] = position > 0 ? count : -count;
            int next = 0;
            if (lane == 0) next = atomicAdd(ticket, __popc(votes));
            next = __shfl_sync(ALL, next, 0);
            if (votes == ALL && next >= n) break;
            if (idle) {
                i = next + __popc(votes & ((1u << lane) - 1));
                if (i < n) position = start[i], state = seed[i], count = 0;
                else i = -1;
            }
        }
#pragma unroll
        for (int k = 0; k < STEPS; k++)
            if (position > 0 && position < width) {
                state = state * 1664525u + 1013904223u;
                position += state >> 31 ? 1 : -1;
                count++;
            }
    }
}

extern "C" void divergence(int *steps, const int *start, const unsigned *seed, int n, int width) {
    if (n == 0) return;
    int *ticket, blocks = min((n + 959) / 960, MAX_BLOCKS);
    cudaMalloc(&ticket, sizeof *ticket);
    cudaMemsetAsync(ticket, 0, sizeof *ticket);
    walk<<<blocks, THREADS>>>(steps, start, seed, n, width, ticket);
    cudaFree(ticket);
}
