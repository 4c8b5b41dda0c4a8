// Step 2: all threads of a kernel do the same, so counting one of them is enough. Thread 0 adds its counts
// times n. No atomics, but the kernels must still run before the numbers exist.

__device__ void report(double *counts, int n, double flops, double bytes) {
    counts[0] = n * flops;
    counts[1] = n * bytes;
}

__global__ void judge(double *answers, double peak_flops, double peak_bytes) {
    double *a = answers + 3 * threadIdx.x;
    a[2] = a[0] * peak_bytes > a[1] * peak_flops;
}

__global__ void scale_add(float *y, double *counts, const float *x, const float *w, int n) // kernel 0
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = fmaf(2.0f, x[i], w[i]);
    if (i == 0) report(counts, n, 2, 12);
}

__global__ void horner(float *y, double *counts, const float *x, int n, int steps) // kernel 1
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i], sum = v;
    for (int s = 0; s < steps; s++) sum = fmaf(sum, 0.5f, v);
    y[i] = sum;
    if (i == 0) report(counts, n, 2 * steps, 8);
}

__global__ void smooth(float *y, double *counts, const float *x, int n) // kernel 2
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float left = i > 0 ? x[i - 1] : 0.0f;
    float right = i + 1 < n ? x[i + 1] : 0.0f;
    y[i] = left + x[i] + right;
    if (i == 0) report(counts, n, 2, 8); // the neighbours' threads count the neighbours' loads
}

extern "C" void intensity(double *answers_out, float *y, const float *x, const float *w, int n, int steps,
                          double peak_flops, double peak_bytes) {
    cudaMemsetAsync(answers_out, 0, 9 * sizeof(double));
    if (n == 0) return;
    const int threads = 256, blocks = (n + threads - 1) / threads;
    scale_add<<<blocks, threads>>>(y, answers_out, x, w, n);
    horner<<<blocks, threads>>>(y + n, answers_out + 3, x, n, steps);
    smooth<<<blocks, threads>>>(y + 2 * (size_t)n, answers_out + 6, x, n);
    judge<<<1, 3>>>(answers_out, peak_flops, peak_bytes);
}
