// The same with fences; and a map that another warp of the block has changed.
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
        acquire(map);
        fetch(tile[1], map, &bar, 1);
        out[0] = tile[0][0], out[1] = tile[1][0];
    }
}
__global__ void made(const __grid_constant__ CUtensorMap base, const float *p, CUtensorMap *map, float *out) {
    __shared__ alignas(128) float tile[2][ROWS * COLUMNS];
    __shared__ alignas(128) CUtensorMap copy;
    __shared__ unsigned long long bar;
    if (threadIdx.x == 0) init(&bar, 1);
    take(&copy, base);
    for (int i = 0; i < 2; i++) {
        if (threadIdx.x == 0) lead_to(&copy, p + i * SIDE);
        publish(map, &copy);
        if (threadIdx.x == 0) {
            acquire(map);
            fetch(tile[i], map, &bar, i);
            out[i] = tile[i][0];
        }
        __syncwarp();
    }
}

int main() {
    run(changed);
    run(made);
    return 0;
}
