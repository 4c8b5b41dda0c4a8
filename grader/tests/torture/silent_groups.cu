// Correct programs with cooperative groups: tiles, a partition that diverges, coalesced threads, a grid barrier.
// also: --schedule hostile
#include <cooperative_groups.h>
#include "../programs/check.h"

namespace cg = cooperative_groups;

__global__ void tiles(int *out) {
    __shared__ int s[128];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int t = block.thread_rank(), v = t;
    for (int d = 4; d; d /= 2) v += tile.shfl_xor(v, d);
    s[t] = v;
    tile.sync();
    v = s[t / 8 * 8 + 7 - t % 8] + (tile.any(t == 13) ? 1000 : 0);
    block.sync();
    if (t / 8 % 2) { // tiles that go another way, with barriers of their own
        s[t] = t;
        tile.sync();
        v += s[t / 8 * 8 + (t + 1) % 8];
    } else {
        v += tile.shfl(t, 5);
    }
    out[t] = v;
}

__global__ void coalesced(int *count, int n) {
    int t = threadIdx.x;
    if (t % 3 == 0 && t < n) {
        cg::coalesced_group g = cg::coalesced_threads();
        if (g.thread_rank() == 0) atomicAdd(count, (int)g.size());
    }
}

__global__ void rounds(int *a, int *b, int n) {
    cg::grid_group grid = cg::this_grid();
    int i = (int)grid.thread_rank();
    for (int k = 0; k < 5; k++) {
        if (i < n) b[i] = a[(i + 7) % n] + 1;
        grid.sync();
        if (i < n) a[i] = b[i];
        grid.sync();
    }
}

int main() {
    int *p, *q, host[1000], bad = 0, n = 1000;
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMalloc(&q, sizeof host));
    tiles<<<1, 128>>>(p);
    CHECK(cudaMemcpy(host, p, 512, cudaMemcpyDeviceToHost));
    for (int t = 0; t < 128; t++) {
        int base = t / 8 * 8, want = base * 8 + 28 + (base == 8 ? 1000 : 0);
        bad += host[t] != want + (t / 8 % 2 ? base + (t + 1) % 8 : base + 5);
    }
    CHECK(cudaMemset(p, 0, sizeof host));
    coalesced<<<4, 100>>>(p, 50);
    CHECK(cudaMemcpy(host, p, 4, cudaMemcpyDeviceToHost));
    bad += host[0] != 4 * 17;
    CHECK(cudaMemset(p, 0, sizeof host));
    void *args[] = {&p, &q, &n};
    CHECK(cudaLaunchCooperativeKernel((const void *)rounds, dim3(8), dim3(128), args, 0, nullptr));
    CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) bad += host[i] != 5;
    printf("%d wrong\n", bad);
    return 0;
}
