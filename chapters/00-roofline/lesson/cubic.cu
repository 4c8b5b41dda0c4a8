// What lesson 00 shows: an element a thread, and several elements a thread.
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
    float *x, *y;
    cudaMalloc(&x, N * sizeof *x);
    cudaMalloc(&y, N * sizeof *y);
    cudaMemset(x, 0, N * sizeof *x);
    one_each<<<N / 256, 256>>>(y, x, N);
    several_each<<<N / 256 / 32, 256>>>(y, x, N);
    return cudaDeviceSynchronize();
}
