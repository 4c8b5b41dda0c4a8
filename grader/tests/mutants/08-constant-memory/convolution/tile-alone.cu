// expect: PART
// The input in a tile with a halo, but the filter stays in global memory: the tile and the taps share the load/store unit.

constexpr int MAX_RADIUS = 64, THREADS = 256;

__global__ void convolve(float *__restrict__ out, const float *__restrict__ in, const float *__restrict__ filter, int n,
                         int radius) {
    __shared__ float tile[THREADS + 2 * MAX_RADIUS]; // tile[t + radius] is the element of thread t
    int first = blockIdx.x * THREADS - radius;
    for (int e = threadIdx.x; e < THREADS + 2 * radius; e += THREADS)
        tile[e] = first + e >= 0 && first + e < n ? in[first + e] : 0.0f;
    __syncthreads();

    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = 0; k <= 2 * radius; k++) sum += tile[threadIdx.x + k] * filter[k];
    out[i] = sum;
}

extern "C" void convolution(float *out, const float *in, const float *filter, int n, int radius) {
    if (n > 0) convolve<<<(n + THREADS - 1) / THREADS, THREADS>>>(out, in, filter, n, radius);
}
