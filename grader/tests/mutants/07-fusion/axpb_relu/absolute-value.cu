// expect: WA
// The absolute value in place of the maximum with 0.

__global__ void axpb_relu_kernel(float *out, const float *x, float a, float b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = fabsf(a * x[i] + b);
}

extern "C" void axpb_relu(float *out, const float *x, float a, float b, int n) {
    if (n == 0) return;
    const int threads = 256;
    axpb_relu_kernel<<<(n + threads - 1) / threads, threads>>>(out, x, a, b, n);
}
