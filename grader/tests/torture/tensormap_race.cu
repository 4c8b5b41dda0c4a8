// Two threads change fields of one tensor map, each of which is a change of all of it; and a copy out that does not wait for the change.
// nvcc: -gencode arch=compute_90a,code=compute_90a -std=c++17
#include "tensormap.cuh"

__global__ void two(const __grid_constant__ CUtensorMap base, const float *p, CUtensorMap *map, float *out) {
    __shared__ alignas(128) float tile[ROWS * COLUMNS];
    __shared__ alignas(128) CUtensorMap copy;
    __shared__ unsigned long long bar;
    take(&copy, base);
    if (threadIdx.x == 0) lead_to(&copy, p + SIDE);
    if (threadIdx.x == 1) set_box<1>(&copy, ROWS);
    publish(map, &copy);
    if (threadIdx.x == 0) {
        init(&bar, 1);
        acquire(map);
        fetch(tile, map, &bar, 0);
        out[0] = tile[0];
    }
}

int main() {
    run(two);
    return 0;
}
