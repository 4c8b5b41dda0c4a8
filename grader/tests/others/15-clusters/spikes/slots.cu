// No counter: each block leaves its ends and its count in a place of its own, and everybody reads all counts
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

constexpr int THREADS = 512, WARPS = THREADS / 32, BLOCKS = 128, START = 160, LEAST = 64, WEIGHT = 20;
constexpr int NOBODY = -(1 << 30); // a cell past the end, which never fires

// Counts the cells of a piece that fire, 32 per warp.
__device__ int counted(const unsigned *word, int size, int lane) {
    int count = lane == 0 ? __popc(word[size / 32] & ((1u << size % 32) - 1)) : 0; // and of the last word, this piece's part
    for (int w = lane; w < size / 32; w += 32) count += __popc(word[w]);
    return __reduce_add_sync(0xffffffff, count);
}

// Returns the lane's cell after the step. word[1] has the flags of its warp, word[0] and word[2] the neighbours'.
__device__ int stepped(int own, int driven, const unsigned *word, int lane, int at) {
    unsigned to_left = __funnelshift_l(word[0], word[1], 1), to_right = __funnelshift_r(word[1], word[2], 1);
    return own + driven + WEIGHT * ((to_left >> lane & 1) + (to_right >> lane & 1)) - (own >= at ? at : 0);
}

// Thread t of a block has the cells t, THREADS + t, 2 THREADS + t, ... of its piece, so a warp's vote has the flags of 32 adjacent cells.
template <int CELLS>
__global__ void __launch_bounds__(THREADS)
    run(int *__restrict__ out, const int *__restrict__ v, const int *__restrict__ drive, int4 *told, int n, int steps) {
    constexpr int PIECE = CELLS * THREADS, WORDS = PIECE / 32;
    __shared__ unsigned flags[WORDS + 2]; // flags[w + 1]: cells 32 w to 32 w + 31; first and last: the neighbours' cells
    __shared__ int all;
    cg::grid_group grid = cg::this_grid();
    int first = blockIdx.x * PIECE, size = min(n - first, PIECE), t = threadIdx.x, warp = t / 32, lane = t % 32;
    int before = (blockIdx.x + gridDim.x - 1) % gridDim.x, behind = (blockIdx.x + 1) % gridDim.x;
    int own[CELLS], driven[CELLS], at = START, left = v[(first + n - 1) % n], right = v[(first + size) % n];
#pragma unroll
    for (int c = 0; c < CELLS; c++) {
        bool there = c * THREADS + t < size;
        own[c] = there ? v[first + c * THREADS + t] : NOBODY;
        driven[c] = there ? drive[first + c * THREADS + t] : 0;
    }

    for (int k = 0; k < steps; k++) {
#pragma unroll
        for (int c = 0; c < CELLS; c++) flags[c * WARPS + warp + 1] = __ballot_sync(0xffffffff, own[c] >= at); // uniform in the warp
        if (t == 0) flags[0] = left >= at ? 1u << 31 : 0, flags[WORDS + 1] = 0;
        if (t == size / 32 % WARPS * 32) flags[size / 32 + 1] |= right >= at ? 1u << size % 32 : 0; // index of the warp that wrote that word
        __syncthreads();
        int4 *here = told + k % 2 * BLOCKS;
        if (warp == 0) {
            int count = counted(flags + 1, size, lane);
            if (lane == 0) here[blockIdx.x].z = count;
        }
        if (t == 0) here[blockIdx.x].x = stepped(own[0], driven[0], flags + warp, lane, at);
        if (t == (size - 1) % THREADS) {
            int last = own[0], drives = driven[0];
#pragma unroll
            for (int c = 1; c < CELLS; c++) last = c * THREADS < size ? own[c] : last, drives = c * THREADS < size ? driven[c] : drives;
            here[blockIdx.x].y = stepped(last, drives, flags + (size - 1) / 32, lane, at);
        }
        auto come = grid.barrier_arrive(); // the other blocks have all they need from here, so the rest overlaps with their exchange
#pragma unroll
        for (int c = 0; c < CELLS; c++) own[c] = stepped(own[c], driven[c], flags + c * WARPS + warp, lane, at);
        grid.barrier_wait(std::move(come));
        left = here[before].y, right = here[behind].x;
        if (warp == 0) {
            int fired = 0;
            for (int b = lane; b < gridDim.x; b += 32) fired += here[b].z;
            fired = __reduce_add_sync(0xffffffff, fired);
            if (lane == 0) all = fired;
        }
        __syncthreads();
        at = max(LEAST, at + 256 * all / n - 16);
    }
#pragma unroll
    for (int c = 0; c < CELLS; c++)
        if (c * THREADS + t < size) out[first + c * THREADS + t] = own[c];
}

// At most BLOCKS blocks, with as few cells each as possible.
template <int CELLS> void launch(int *out, const int *v, const int *drive, int4 *told, int n, int steps) {
    if constexpr (CELLS < 16)
        if (n > CELLS * THREADS * BLOCKS) return launch<2 * CELLS>(out, v, drive, told, n, steps);
    int blocks = (n + CELLS * THREADS - 1) / (CELLS * THREADS);
    void *arguments[] = {&out, &v, &drive, &told, &n, &steps};
    cudaLaunchCooperativeKernel((void *)run<CELLS>, blocks, THREADS, arguments, 0, 0);
}

extern "C" void spikes(int *out, const int *v, const int *drive, int n, int steps) {
    if (n == 0) return;
    int4 *told;
    if (cudaMalloc(&told, 2 * BLOCKS * sizeof(int4)) != cudaSuccess) return;
    launch<1>(out, v, drive, told, n, steps);
    cudaFree(told);
}
