// Cooperative groups: tiles, coalesced, labelled and binary groups; reductions and scans.
// nvcc: -std=c++17
#include "expect.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

__global__ void groups(int *o) {
    auto b = cg::this_thread_block();
    auto w = cg::tiled_partition<32>(b);
    auto t8 = cg::tiled_partition<8>(w);
    int i = b.thread_rank();
    int *p = o + i * 16;
    p[0] = cg::reduce(t8, i, cg::plus<int>());
    p[1] = cg::reduce(w, i * 7 % 13, cg::greater<int>());
    p[2] = cg::inclusive_scan(t8, i, cg::plus<int>());
    p[3] = cg::exclusive_scan(w, 1);
    p[4] = t8.shfl_xor(i, 3);
    p[5] = t8.any(i % 8 == 3);
    p[6] = w.ballot(i % 3 == 0);
    p[7] = t8.meta_group_rank();
    if (i % 3 == 1) {
        auto c = cg::coalesced_threads();
        p[8] = c.size();
        p[9] = c.thread_rank();
        p[10] = cg::reduce(c, i, cg::plus<int>());
        p[11] = c.shfl(i, 0);
    } else
        p[8] = p[9] = p[10] = p[11] = -1;
    auto l = cg::labeled_partition(w, i % 5);
    p[12] = cg::reduce(l, 1, cg::plus<int>());
    p[13] = l.thread_rank();
    auto bp = cg::binary_partition(w, i & 1);
    p[14] = bp.size();
    b.sync();
    p[15] = cg::reduce(w, (float)i, cg::plus<float>());
}
static void check_groups() {
    const int n = 128;
    int *d, o[n * 16];
    CHECK(cudaMalloc(&d, sizeof o));
    groups<<<1, n>>>(d);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(o, d, sizeof o, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        int *p = o + i * 16, b8 = i / 8 * 8, b32 = i / 32 * 32;
        int s = 0, m = 0, bal = 0, inc = 0, cs = 0, cr = 0, csum = 0, first = -1, ls = 0, lr = 0;
        float f = 0;
        for (int j = b8; j < b8 + 8; j++) {
            s += j;
            if (j <= i) inc += j;
        }
        for (int j = b32; j < b32 + 32; j++) {
            m = j * 7 % 13 > m ? j * 7 % 13 : m;
            bal |= (j % 3 == 0) << (j - b32);
            f += j;
            if (j % 3 == 1) {
                cs++;
                if (j < i) cr++;
                csum += j;
                if (first < 0) first = j;
            }
            if (j % 5 == i % 5) {
                ls++;
                if (j < i) lr++;
            }
        }
        int w[16] = {s,  m,  inc, i - b32, b8 + ((i - b8) ^ 3), 1, bal, (i % 32) / 8, cs, cr, csum, first,
                     ls, lr, 16,  (int)f};
        if (i % 3 != 1) w[8] = w[9] = w[10] = w[11] = -1;
        for (int k = 0; k < 16; k++)
            EXPECT(p[k] == w[k], "groups %d thread %d: %d want %d", k, i, p[k], w[k]);
    }
    cudaFree(d);
}

int main() {
    check_groups();
    printf("%d wrong\n", wrong);
    return 0;
}
