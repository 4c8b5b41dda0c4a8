// expect: WA
// Doesn't store results below 0.

__global__ void axpb_relu_kernel(float *out, const float *x, float a, float b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = a * x[i] + b;
    if (v > 0.0f) out[i] = v;
}

extern "C" void axpb_relu(float *out, const float *x, float a, float b, int n) {
    if (n == 0) return;
    const int threads = 256;
    axpb_relu_kernel<<<(n + threads - 1) / threads, threads>>>(out, x, a, b, n);
}
