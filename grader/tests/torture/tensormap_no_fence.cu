// Tensor maps that are changed and then used without a fence: one that another copy used before (an H100 goes on by the old one), and one that was
// only just made.
// nvcc: -gencode arch=compute_90a,code=compute_90a -std=c++17
#include "tensormap.cuh"

__global__ void changed(const __grid_constant__ CUtensorMap base, const float *p, CUtensorMap *map, float *out) {
    __shared__ alignas(128) float tile[2][ROWS * COLUMNS];
    __shared__ alignas(128) CUtensorMap copy;
    __shared__ unsigned long long bar;
    take(&copy, base);
    publish(map, &copy);
    if (threadIdx.x == 0) {
        init(&bar, 1);
        acquire(map);
        fetch(tile[0], map, &bar, 0);
        lead_to_in_global(map, p + SIDE);
        release();
        fetch(tile[1], map, &bar, 1);
        out[0] = tile[0][0], out[1] = tile[1][0];
    }
}
__global__ void made(const __grid_constant__ CUtensorMap base, const float *p, CUtensorMap *map, float *out) {
    __shared__ alignas(128) float tile[ROWS * COLUMNS];
    __shared__ alignas(128) CUtensorMap copy;
    __shared__ unsigned long long bar;
    take(&copy, base);
    if (threadIdx.x == 0) lead_to(&copy, p + SIDE);
    publish(map, &copy);
    if (threadIdx.x == 0) {
        init(&bar, 1);
        fetch(tile, map, &bar, 0);
        out[0] = tile[0];
    }
}

int main() {
    run(changed);
    run(made);
    return 0;
}
