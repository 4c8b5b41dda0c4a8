// expect: PART
// Two kernels, by way of out.

__global__ void scale(float *out, const float *x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i];
}

__global__ void add(float *out, const float *x, const float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] + y[i];
}

extern "C" void scale_add(float *out, const float *x, const float *y, float a, int n) {
    if (n == 0) return;
    const int threads = 256, blocks = (n + threads - 1) / threads;
    scale<<<blocks, threads>>>(out, x, a, n);
    add<<<blocks, threads>>>(out, out, y, n);
}
