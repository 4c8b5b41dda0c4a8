// expect: PART
// One kernel that goes through memory between its operations.

__global__ void axpb_relu_kernel(float *out, const float *x, float a, float b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    volatile float *o = out;
    if (i >= n) return;
    o[i] = a * x[i];
    o[i] = o[i] + b;
    o[i] = fmaxf(o[i], 0.0f);
}

extern "C" void axpb_relu(float *out, const float *x, float a, float b, int n) {
    if (n == 0) return;
    const int threads = 256;
    axpb_relu_kernel<<<(n + threads - 1) / threads, threads>>>(out, x, a, b, n);
}
