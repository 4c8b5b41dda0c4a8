// Zeroes become a map field by field; other bytes stay what they are.
// nvcc: -gencode arch=compute_90a,code=compute_90a -std=c++17
#include "tensormap.cuh"

__global__ void tile(const __grid_constant__ CUtensorMap base, const float *p, CUtensorMap *map, float *out) {
    __shared__ alignas(128) float tile[ROWS * COLUMNS];
    __shared__ alignas(128) CUtensorMap copy;
    __shared__ unsigned long long bar;
    take(&copy, base);
    if (threadIdx.x == 0) {
        for (int i = 0; i < 32; i++) ((int *)&copy)[i] = 0x12345678 * i;
        lead_to(&copy, p);
    }
    publish(map, &copy);
    if (threadIdx.x == 0) {
        init(&bar, 1);
        acquire(map);
        fetch(tile, map, &bar, 0);
        out[0] = tile[0];
    }
}

int main() {
    run(tile);
    return 0;
}
