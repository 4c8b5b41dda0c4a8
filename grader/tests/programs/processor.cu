// nvcc: -O2
// Implementation-defined behaviour is the same on all processors: char is signed, in kernels and in host code, and host code rounds a product
// and a sum separately. (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: rounding loses the last term; a kernel's fused operation keeps it.
#include <cstdio>

static __host__ __device__ int below_zero(const char *text) { return text[0] < 0; }
static __host__ __device__ float left_over(float a, float b) { return a * a + b; }

__global__ void ask(const char *text, float a, float b, int *below, float *left) {
    *below = below_zero(text);
    *left = left_over(a, b);
}

int main() {
    volatile float a = 1 + 1.0f / 4096, b = -1 - 1.0f / 2048;
    volatile char first = (char)0xe9;
    char text[2] = {first, 0}, *there;
    int *below, got;
    float *left, rest;
    cudaMalloc(&there, 2), cudaMalloc(&below, 4), cudaMalloc(&left, 4);
    cudaMemcpy(there, text, 2, cudaMemcpyHostToDevice);
    ask<<<1, 1>>>(there, a, b, below, left);
    cudaMemcpy(&got, below, 4, cudaMemcpyDeviceToHost), cudaMemcpy(&rest, left, 4, cudaMemcpyDeviceToHost);
    printf("kernel: %d %a\nhost: %d %a\n", got, rest, below_zero(text), left_over(a, b));
    return 0;
}
