// Constant memory is copied to in one stream and read in another.
// at first: AC
// expect: RTE 0 0
// says: stream race
__constant__ float taps[129];
__global__ void convolve(float *__restrict__ out, const float *__restrict__ in, int n, int radius) {
    __shared__ float tile[256 + 128];
    int t = threadIdx.x, base = blockIdx.x * 256;
    for (int j = t; j < 256 + 2 * radius; j += 256) {
        int g = base + j - radius;
        tile[j] = g >= 0 && g < n ? in[g] : 0.0f;
    }
    __syncthreads();
    if (base + t >= n) return;
    float sum = 0.0f;
    for (int k = 0; k <= 2 * radius; k++) sum += tile[t + k] * taps[k];
    out[base + t] = sum;
}
extern "C" void convolution(float *out, const float *in, const float *filter, int n, int radius) {
    if (n == 0) return;
    cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaMemcpyToSymbolAsync(taps, filter, (2 * radius + 1) * sizeof(float), 0, cudaMemcpyDeviceToDevice, s);
    convolve<<<(n + 255) / 256, 256>>>(out, in, n, radius);
}
