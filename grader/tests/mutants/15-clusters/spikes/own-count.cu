// expect: WA
// Computes the threshold from the block's own spike count.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

constexpr int THREADS = 512, BLOCKS = 128, START = 160, LEAST = 64, WEIGHT = 20;

__device__ void block_count(int mine, int *to) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    mine = __reduce_add_sync(0xffffffff, mine);
    if (threadIdx.x % 32 == 0) atomicAdd(&count, mine);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(to, count);
}

__global__ void run(int *out, const int *v, const int *drive, int2 *ends, int *fired, int n, int steps, int piece) {
    extern __shared__ int own[]; // the piece's cells, each one's input, then the flags of the cells that fire and of both neighbours
    cg::grid_group grid = cg::this_grid();
    int *driven = own + piece, first = blockIdx.x * piece, size = min(n - first, piece), at = START;
    bool *fires = (bool *)(driven + piece) + 1;
    int before = (blockIdx.x + gridDim.x - 1) % gridDim.x, behind = (blockIdx.x + 1) % gridDim.x;
    int left = v[(first + n - 1) % n], right = v[(first + size) % n];
    for (int j = threadIdx.x; j < size; j += THREADS) own[j] = v[first + j], driven[j] = drive[first + j];
    __syncthreads();
    for (int k = 0; k < steps; k++) {
        int mine = 0;
        for (int j = threadIdx.x; j < size; j += THREADS) mine += fires[j] = own[j] >= at;
        if (threadIdx.x == 0) fires[-1] = left >= at, fires[size] = right >= at;
        block_count(mine, &fired[k * BLOCKS + blockIdx.x]); // and the flags are complete: the call contains a barrier
        for (int j = threadIdx.x; j < size; j += THREADS)
            own[j] += driven[j] + WEIGHT * (fires[j - 1] + fires[j + 1]) - (fires[j] ? at : 0);
        __syncthreads(); // the first and the last cell are up to date
        int2 *here = ends + k % 2 * BLOCKS; // double-buffered: other threads may still read the previous step's
        if (threadIdx.x == 0) here[blockIdx.x] = {own[0], own[size - 1]};
        grid.sync();
        left = here[before].y, right = here[behind].x;
        at = max(LEAST, at + 256 * fired[k * BLOCKS + blockIdx.x] / size - 16);
    }
    for (int j = threadIdx.x; j < size; j += THREADS) out[first + j] = own[j];
}

extern "C" void spikes(int *out, const int *v, const int *drive, int n, int steps) {
    if (n == 0) return;
    int2 *ends;
    if (cudaMalloc(&ends, 2 * BLOCKS * sizeof(int2) + steps * BLOCKS * sizeof(int)) != cudaSuccess) return;
    int *fired = (int *)(ends + 2 * BLOCKS), piece = (n + BLOCKS - 1) / BLOCKS, blocks = (n + piece - 1) / piece;
    int bytes = 2 * piece * sizeof(int) + piece + 2;
    cudaMemset(fired, 0, steps * BLOCKS * sizeof(int));
    cudaFuncSetAttribute(run, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    void *arguments[] = {&out, &v, &drive, &ends, &fired, &n, &steps, &piece};
    cudaLaunchCooperativeKernel((void *)run, blocks, THREADS, arguments, bytes, 0);
    cudaFree(ends);
}
