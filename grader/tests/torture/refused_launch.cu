// A launch that the device refuses: the report has the kernel's name as the source does, and the line.
#include <cstdio>

template <typename T> __global__ void fill(T *p, T x) { p[threadIdx.x] = x; }

int main() {
    int *p;
    cudaMalloc(&p, 2000 * sizeof(int));
    fill<<<1, 2000>>>(p, 1);
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
