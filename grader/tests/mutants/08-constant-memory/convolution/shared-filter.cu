// expect: PART
// The filter in shared memory.

__global__ void convolve(float *__restrict__ out, const float *__restrict__ in,
                         const float *__restrict__ filter, int n, int radius) {
    __shared__ float taps[129]; // the radius is 64 at most
    for (int k = threadIdx.x; k <= 2 * radius; k += blockDim.x) taps[k] = filter[k];
    __syncthreads();

    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = -radius; k <= radius; k++)
        if (i + k >= 0 && i + k < n) sum += in[i + k] * taps[k + radius];
    out[i] = sum;
}

extern "C" void convolution(float *out, const float *in, const float *filter, int n, int radius) {
    if (n == 0) return;
    const int threads = 256;
    convolve<<<(n + threads - 1) / threads, threads>>>(out, in, filter, n, radius);
}
