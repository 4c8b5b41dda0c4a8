// A copy by a tensor map in shared memory, where it can be changed, but not used.
// nvcc: -gencode arch=compute_90a,code=compute_90a -std=c++17
#include "tensormap.cuh"

__global__ void tile(const __grid_constant__ CUtensorMap base, const float *p, CUtensorMap *map, float *out) {
    __shared__ alignas(128) float tile[ROWS * COLUMNS];
    __shared__ alignas(128) CUtensorMap copy;
    __shared__ unsigned long long bar;
    take(&copy, base);
    if (threadIdx.x == 0) lead_to(&copy, p);
    publish(map, &copy);
    if (threadIdx.x == 0) {
        init(&bar, 1);
        acquire(map);
        fetch(tile, &copy, &bar, 0);
        out[0] = tile[0];
    }
}

int main() {
    run(tile);
    return 0;
}
