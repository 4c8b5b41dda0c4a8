// A counter in shared memory, from which the warps of a block take the walks of the block's range.

constexpr int THREADS = 256, MAX_BLOCKS = 528, MIN_PER_BLOCK = 960, STEPS = 16;
constexpr unsigned ALL = 0xffffffff;

__global__ void walk(int *__restrict__ steps, const int *__restrict__ start, const unsigned *__restrict__ seed, int n,
                     int width) {
    __shared__ int ticket;
    int lane = threadIdx.x % 32, share = (n + gridDim.x - 1) / gridDim.x;
    int begin = min(blockIdx.x * share, n), end = min(begin + share, n);
    if (threadIdx.x == 0) ticket = begin;
    __syncthreads();
    int i = -1, position = 0, count = 0;
    unsigned state = 0;
    while (true) {
        bool idle = position <= 0 || position >= width;
        unsigned votes = __ballot_sync(ALL, idle);
        if (votes) {
            int next = 0;
            if (lane == 0) next = atomicAdd(&ticket, __popc(votes));
            next = __shfl_sync(ALL, next, 0);
            if (idle) {
                if (i >= 0) steps[i] = position > 0 ? count : -count;
                i = next + __popc(votes & ((1u << lane) - 1));
                if (i < end) position = start[i], state = seed[i], count = 0;
                else i = -1;
            }
            if (votes == ALL && next >= end) break;
        }
#pragma unroll
        for (int k = 0; k < STEPS; k++)
            if ((unsigned)position - 1 < width - 1u) {
                state = state * 1664525u + 1013904223u;
                position += state >> 31 ? 1 : -1;
                count++;
            }
    }
}

extern "C" void divergence(int *steps, const int *start, const unsigned *seed, int n, int width) {
    int blocks = min((n + MIN_PER_BLOCK - 1) / MIN_PER_BLOCK, MAX_BLOCKS);
    if (n > 0) walk<<<blocks, THREADS>>>(steps, start, seed, n, width);
}
