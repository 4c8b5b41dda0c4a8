// tensormap.cuh: what the programs that change tensor maps have in common: the map of tensor.cuh in shared memory, and ways out of there.
#pragma once
#include "tensor.cuh"

// A warp takes a map into shared memory.
__device__ inline void take(CUtensorMap *to, const CUtensorMap &from) {
    ((int *)to)[threadIdx.x] = ((const int *)&from)[threadIdx.x];
    __syncwarp();
}
// The map's tensor is that of the rows from `p` on.
__device__ inline void lead_to(CUtensorMap *map, const float *p) {
    asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"l"((unsigned long long)at(map)), "l"(p) : "memory");
}
__device__ inline void lead_to_in_global(CUtensorMap *map, const float *p) {
    asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(map), "l"(p) : "memory");
}
template <int DIMENSION> __device__ inline void set_box(CUtensorMap *map, unsigned n) {
    asm volatile("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], %1, %2;" ::"l"((unsigned long long)at(map)), "n"(DIMENSION), "r"(n) : "memory");
}
__device__ inline void publish(CUtensorMap *to, const CUtensorMap *from) {
    __syncwarp();
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(to), "r"(at(from)) : "memory");
}
__device__ inline void release() { asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory"); }
__device__ inline void acquire(const CUtensorMap *map) { asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory"); }
// Thread 0 fetches a tile, and waits for it.
__device__ inline void fetch(float *tile, const CUtensorMap *map, unsigned long long *bar, int phase) {
    expect(bar, TILE), load(tile, map, 16, 8, bar), wait(bar, phase);
}

template <class K> static void run(K kernel) {
    float *p = matrix_memory(), *out, host[2] = {0};
    CUtensorMap *map;
    CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMemset(out, 0, sizeof host));
    CHECK(cudaMalloc(&map, sizeof *map));
    kernel<<<1, 32>>>(matrix(p), p, map, out);
    SHOW(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    printf("%g %g\n", host[0], host[1]);
}
