// What lesson 00 shows: a program around a kernel; an element a thread, and several elements a thread.
#include <cstdio>
#include <vector>

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
    std::vector<float> in(N, 2.0f), result(N);       // in the host's memory

    float *x, *y;                                    // will point to the device's memory
    cudaMalloc(&x, N * sizeof(float));
    cudaMalloc(&y, N * sizeof(float));
    cudaMemcpy(x, in.data(), N * sizeof(float), cudaMemcpyHostToDevice);

    one_each<<<N / 256, 256>>>(y, x, N);

    cudaMemcpy(result.data(), y, N * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%g\n", result[0]);                       // 2 * 2 * 2 + 2 = 10

    several_each<<<N / 256 / 32, 256>>>(y, x, N);
    cudaFree(x);
    cudaFree(y);
    return cudaGetLastError();
}
