// Bulk copies out of shared memory whose stores nothing shows them: a range, a tile of a tensor, and after a loop that shows only its first turn.
// nvcc: -arch=sm_90 -std=c++17
#include "tensor.cuh"

__device__ void copy(float *to, const float *from) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(to), "r"(at(from)) : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}
__global__ void range(float *p) {
    __shared__ alignas(128) float s[ROWS * COLUMNS];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) copy(p, s);
}
__global__ void own(float *p) {
    __shared__ alignas(128) float s[ROWS * COLUMNS];
    for (int i = 0; i < 128; i++) s[i] = i;
    copy(p, s);
}
__global__ void tile(const __grid_constant__ CUtensorMap map) {
    __shared__ alignas(128) float s[ROWS * COLUMNS];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(0), "r"(0), "r"(at(s)) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
__global__ void turns(float *p) {
    __shared__ alignas(128) float s[ROWS * COLUMNS];
    for (int i = 0; i < 2; i++) {
        s[threadIdx.x] = threadIdx.x + i;
        if (i == 0) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) copy(p, s);
        __syncthreads();
    }
}

int main() {
    float *p = matrix_memory(), host[SIDE];
    CUtensorMap map = matrix(p);
    range<<<1, 128>>>(p);
    SHOW(cudaDeviceSynchronize());
    own<<<1, 1>>>(p);
    SHOW(cudaDeviceSynchronize());
    tile<<<1, 128>>>(map);
    SHOW(cudaDeviceSynchronize());
    turns<<<1, 128>>>(p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%g %g\n", host[0], host[63]);
    return 0;
}
