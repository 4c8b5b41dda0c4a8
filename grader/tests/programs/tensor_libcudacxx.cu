// Tensor maps by libcu++: cuda::device::experimental, and cuda::ptx with multicast and a reduction. Expected values by hand.
// nvcc: -gencode arch=compute_90a,code=compute_90a -std=c++17 -lcuda
#include "check.h"
#include <cuda.h>
#include <cuda/barrier>
#include <cuda/ptx>
#include <utility>

using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;
namespace ptx = cuda::ptx;
#pragma nv_diag_suppress static_var_with_dynamic_init

__global__ void add_1000(const __grid_constant__ CUtensorMap map, int x, int y, float *out) {
    __shared__ alignas(128) float tile[4][8];
    __shared__ barrier bar;
    int t = threadIdx.x;
    if (t == 0) {
        init(&bar, blockDim.x);
        cde::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    barrier::arrival_token token;
    if (t == 0) {
        cde::cp_async_bulk_tensor_2d_global_to_shared(&tile, &map, x, y, bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof tile);
    } else
        token = bar.arrive();
    bar.wait(std::move(token));
    out[t] = tile[t / 8][t % 8];
    tile[t / 8][t % 8] += 1000;
    cde::fence_proxy_async_shared_cta();
    __syncthreads();
    if (t == 0) {
        cde::cp_async_bulk_tensor_2d_shared_to_global(&map, x, y, &tile);
        cde::cp_async_bulk_commit_group();
        cde::cp_async_bulk_wait_group_read<0>();
    }
}

__global__ void __cluster_dims__(2) add_itself_twice(const __grid_constant__ CUtensorMap map, int x, int y, float *out) {
    __shared__ alignas(128) float tile[4][8];
    __shared__ uint64_t bar;
    int t = threadIdx.x, c[2] = {x, y};
    if (t == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof tile);
    }
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
    if (t == 0 && blockIdx.x == 0)
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, &tile, &map, c, &bar, (uint16_t)3);
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {
    }
    out[blockIdx.x * 32 + t] = tile[t / 8][t % 8];
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
    if (t == 0) {
        ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &map, c, &tile);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
}

static void print(const float *p, int n, int columns) {
    for (int i = 0; i < n; i++) printf("%g%c", p[i], i % columns == columns - 1 ? '\n' : ' ');
}

int main() {
    float host[120], tile[64], *d, *out;
    for (int i = 0; i < 120; i++) host[i] = i;
    CHECK(cudaMalloc(&d, sizeof host));
    CHECK(cudaMalloc(&out, sizeof tile));
    CHECK(cudaMemcpy(d, host, sizeof host, cudaMemcpyHostToDevice));
    CUtensorMap map;
    cuuint64_t dim[] = {12, 10}, stride[] = {48};
    cuuint32_t box[] = {8, 4}, step[] = {1, 1};
    printf("encode: %d\n", cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, d, dim, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                                  CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    add_1000<<<1, 32>>>(map, 8, 8, out);
    CHECK(cudaMemcpy(tile, out, 128, cudaMemcpyDeviceToHost));
    print(tile, 32, 8);
    CHECK(cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost));
    print(host + 84, 36, 12);
    add_itself_twice<<<2, 32>>>(map, 4, 7, out);
    CHECK(cudaMemcpy(tile, out, sizeof tile, cudaMemcpyDeviceToHost));
    print(tile, 64, 8);
    CHECK(cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost));
    print(host + 84, 36, 12);
    return 0;
}
