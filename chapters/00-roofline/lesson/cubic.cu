// What lesson 00 shows: a program around a kernel; an element a thread, and several elements a thread.
#include <cstdio>

extern "C" __global__ void one_each(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        y[i] = v * v * v + v;
    }
}

extern "C" __global__ void several_each(float *y, const float *x, int n) {
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
        float v = x[i];
        y[i] = v * v * v + v;
    }
}

int main() {
    enum { N = 1 << 16 };
    static float in[N], result[N];                   // in the host's memory
    for (int i = 0; i < N; i++) in[i] = 2;

    float *x, *y;                                    // will point to the device's memory
    cudaMalloc(&x, N * sizeof *x);
    cudaMalloc(&y, N * sizeof *y);
    cudaMemcpy(x, in, N * sizeof *x, cudaMemcpyHostToDevice);

    one_each<<<N / 256, 256>>>(y, x, N);

    cudaMemcpy(result, y, N * sizeof *y, cudaMemcpyDeviceToHost);
    printf("%g\n", result[0]);                       // 2 * 2 * 2 + 2 = 10

    several_each<<<N / 256 / 32, 256>>>(y, x, N);
    cudaFree(x);
    cudaFree(y);
    return cudaGetLastError();
}
