// Step 3: the filter in constant memory: one load a product from global memory, and one word for all lanes
// from the constant cache.

__constant__ float taps[129]; // the radius is 64 at most

__global__ void convolve(float *__restrict__ out, const float *__restrict__ in, int n, int radius) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = -radius; k <= radius; k++)
        if (i + k >= 0 && i + k < n) sum += in[i + k] * taps[k + radius];
    out[i] = sum;
}

extern "C" void convolution(float *out, const float *in, const float *filter, int n, int radius) {
    if (n == 0) return;
    cudaMemcpyToSymbolAsync(taps, filter, (2 * radius + 1) * sizeof(float), 0, cudaMemcpyDeviceToDevice);
    const int threads = 256;
    convolve<<<(n + threads - 1) / threads, threads>>>(out, in, n, radius);
}
