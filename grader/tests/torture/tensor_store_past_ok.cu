// A tile that is stored across the lower right corner: what lies outside is left out.
// nvcc: -arch=sm_90 -std=c++17
#include "tensor.cuh"

__global__ void tile(const __grid_constant__ CUtensorMap map, float *out) {
    __shared__ alignas(128) float s[ROWS * COLUMNS];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    if (t == 0) {
        store(&map, 56, 60, s);
        wait_read();
    }
    __syncthreads();
    s[t] = -1;
    __syncthreads();
    if (t == 0) wait_read();
    out[t] = s[t];
}

int main() {
    float *p = matrix_memory(), *out, host[ROWS * COLUMNS] = {0};
    CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMemset(out, 0, sizeof host));
    tile<<<1, 128>>>(matrix(p), out);
    static float all[SIDE * SIDE];
    SHOW(cudaMemcpy(all, p, sizeof all, cudaMemcpyDeviceToHost));
    printf("%g %g %g %g\n", all[60 * SIDE + 55], all[60 * SIDE + 56], all[63 * SIDE + 63], all[61 * SIDE]);
    return 0;
}
