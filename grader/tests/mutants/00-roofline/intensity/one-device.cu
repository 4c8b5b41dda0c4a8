// expect: WA
// The ridge of one device in place of the peaks that are given.

struct answers {
    double value[9];
};

__global__ void write_answers(double *out, answers a) {
    if (threadIdx.x < 9) out[threadIdx.x] = a.value[threadIdx.x];
}

__global__ void scale_add(float *y, const float *x, const float *w, int n) // kernel 0
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaf(2.0f, x[i], w[i]);
}

__global__ void horner(float *y, const float *x, int n, int steps) // kernel 1
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i], sum = v;
    for (int s = 0; s < steps; s++) sum = fmaf(sum, 0.5f, v);
    y[i] = sum;
}

__global__ void smooth(float *y, const float *x, int n) // kernel 2
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float left = i > 0 ? x[i - 1] : 0.0f;
    float right = i + 1 < n ? x[i + 1] : 0.0f;
    y[i] = left + x[i] + right;
}

extern "C" void intensity(double *answers_out, float *y, const float *x, const float *w, int n, int steps,
                          double peak_flops, double peak_bytes) {
    const double flops[3] = {2.0 * n, 2.0 * n * steps, 2.0 * n};
    const double bytes[3] = {12.0 * n, 8.0 * n, 8.0 * n}; // smooth's neighbours are already in the cache
    answers a;
    for (int k = 0; k < 3; k++) {
        a.value[3 * k] = flops[k];
        a.value[3 * k + 1] = bytes[k];
        a.value[3 * k + 2] = flops[k] > 14.0 * bytes[k]; // no division: n may be 0
    }
    write_answers<<<1, 32>>>(answers_out, a);
    if (n == 0) return;
    const int threads = 256, blocks = (n + threads - 1) / threads;
    scale_add<<<blocks, threads>>>(y, x, w, n);
    horner<<<blocks, threads>>>(y + n, x, n, steps);
    smooth<<<blocks, threads>>>(y + 2 * (size_t)n, x, n);
}
