// A kernel uses the address of a local variable that an earlier kernel has left behind.
#include <cstdio>

__device__ int *kept;

__global__ void keep(int k) {
    int values[4] = {k, k, k, k};
    values[k & 3] = 5;
    kept = values;
}

__global__ void use(int *out) { *out = *kept; }

int main() {
    int *out;
    cudaMalloc(&out, sizeof(int));
    keep<<<1, 1>>>(1);
    use<<<1, 1>>>(out);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
