// One half of a program of two files, compiled apart; see test_simgpu.c.
#include <cstdio>
void scale_all(float *p, int n, float by);
__global__ void start(float *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = i;
}

int main(int argc, char **) {
    float *p, last;
    cudaMalloc(&p, 64 * sizeof *p);
    start<<<2, 32>>>(p, 64);
    scale_all(p, 64, argc);
    cudaMemcpy(&last, p + 63, sizeof last, cudaMemcpyDeviceToHost);
    printf("%g\n", last);
    return cudaGetLastError();
}
