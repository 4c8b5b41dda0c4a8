// A tile that is stored from one row before the matrix on, which loads may do.
// nvcc: -arch=sm_90 -std=c++17
#include "tensor.cuh"

__global__ void tile(const __grid_constant__ CUtensorMap map, float *out) {
    __shared__ alignas(128) float s[ROWS * COLUMNS];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    if (t == 0) {
        store(&map, 16, -1, s);
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
    SHOW(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    printf("%g %g\n", host[0], host[127]);
    return 0;
}
