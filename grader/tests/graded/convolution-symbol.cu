// cudaMemcpyToSymbol copies from device memory, and the direction is left at its default.
// at first: an empty message
// expect: RTE 0 0
// says: cudaMemcpyToSymbol
__constant__ float taps[129];
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
    cudaMemcpyToSymbol(taps, filter, (2 * radius + 1) * sizeof(float));
    convolve<<<(n + 255) / 256, 256>>>(out, in, n, radius);
}
