// The same with fences; what a copy brought needs none, whether it goes out as it is or is multiplied.
// nvcc: -arch=sm_90 -std=c++17
#include "tensor.cuh"

__device__ void show() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void copy(float *to, const float *from) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(to), "r"(at(from)) : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}
__global__ void range(float *p) {
    __shared__ alignas(128) float s[ROWS * COLUMNS];
    for (int i = 0; i < 2; i++) {
        s[threadIdx.x] = threadIdx.x + i;
        show();
        __syncthreads();
        if (threadIdx.x == 0) copy(p, s);
        __syncthreads();
    }
}
__global__ void own(float *p) {
    __shared__ alignas(128) float s[ROWS * COLUMNS];
    for (int i = 0; i < 128; i++) s[i] = i;
    show();
    copy(p, s);
}
__global__ void through(const __grid_constant__ CUtensorMap map, float *p) {
    __shared__ alignas(128) float s[ROWS * COLUMNS];
    __shared__ unsigned long long bar;
    s[threadIdx.x] = 0; // and then a copy writes there
    if (threadIdx.x == 0) init(&bar, 1);
    __syncthreads();
    if (threadIdx.x) return;
    expect(&bar, TILE);
    load(s, &map, 0, 0, &bar);
    wait(&bar, 0);
    copy(p, s);
}

int main() {
    float *p = matrix_memory(), host[SIDE];
    CUtensorMap map = matrix(p);
    range<<<1, 128>>>(p);
    own<<<1, 1>>>(p);
    through<<<1, 128>>>(map, p + 1024);
    SHOW(cudaMemcpy(host, p + 1024, sizeof host, cudaMemcpyDeviceToHost));
    printf("%g %g\n", host[0], host[63]);
    return 0;
}
