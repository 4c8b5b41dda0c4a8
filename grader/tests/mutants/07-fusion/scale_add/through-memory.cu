// expect: PART
// One kernel, but the scaled value is stored and loaded by way of out.

__global__ void scale_add_kernel(float *__restrict__ out, const float *__restrict__ x,
                                 const float *__restrict__ y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    volatile float *o = out;
    if (i >= n) return;
    o[i] = a * x[i];
    o[i] = o[i] + y[i];
}

extern "C" void scale_add(float *out, const float *x, const float *y, float a, int n) {
    if (n == 0) return;
    const int threads = 256;
    scale_add_kernel<<<(n + threads - 1) / threads, threads>>>(out, x, y, a, n);
}
