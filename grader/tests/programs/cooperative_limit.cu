// A reduction with a grid barrier, and a refused launch of more blocks than the device holds at once.
// stderr: a cooperative launch of 1057 blocks; the device holds 1056 at once
#include <vector>
#include "check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void reduce(const int *in, int n, long long *part, long long *out) {
    cg::grid_group g = cg::this_grid();
    cg::thread_block b = cg::this_thread_block();
    __shared__ long long s[32];
    long long t = 0;
    for (int i = g.thread_rank(); i < n; i += g.size()) t += in[i];
    auto w = cg::tiled_partition<32>(b);
    for (int k = 16; k; k /= 2) t += w.shfl_down(t, k);
    if (!w.thread_rank()) s[w.meta_group_rank()] = t;
    b.sync();
    if (!b.thread_rank()) {
        long long x = 0;
        for (int i = 0; i < (int)w.meta_group_size(); i++) x += s[i];
        part[blockIdx.x] = x;
    }
    g.sync();
    if (!g.thread_rank()) {
        long long x = 0;
        for (int i = 0; i < gridDim.x; i++) x += part[i];
        *out = x;
    }
}
int main() {
    int n = 1 << 18, *in;
    long long *part, *out, h;
    CHECK(cudaMalloc(&in, n * 4));
    CHECK(cudaMalloc(&part, 8 * 4096));
    CHECK(cudaMalloc(&out, 8));
    std::vector<int> v(n);
    for (int i = 0; i < n; i++) v[i] = i;
    CHECK(cudaMemcpy(in, v.data(), n * 4, cudaMemcpyHostToDevice));
    int per, sms, ok;
    CHECK(cudaDeviceGetAttribute(&ok, cudaDevAttrCooperativeLaunch, 0));
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per, reduce, 256, 0));
    void *args[] = {&in, &n, &part, &out};
    CHECK(cudaLaunchCooperativeKernel((void *)reduce, 64, 256, args, 0, 0));
    CHECK(cudaMemcpy(&h, out, 8, cudaMemcpyDeviceToHost));
    printf("%d %lld\n", ok, h);
    SHOW(cudaLaunchCooperativeKernel((void *)reduce, per * sms + 1, 256, args, 0, 0));
}
