// convolution: the model answer. The filter in constant memory, where all lanes read one tap at a time; the
// input through a shared tile with a halo; eight neighbouring results a thread, so that a tap that was fetched
// serves eight products, and a vector from the tile thirty-two.

constexpr int MOST_RADIUS = 64, THREADS = 128, EACH = 8, PART = THREADS * EACH; // PART results a block

__constant__ float taps[2 * MOST_RADIUS + 1];

// The tile begins with the first result's first element. All of a thread's loads are under way before the first
// store waits for one; the last load, the halo's, is not every thread's.
__device__ void fill(float *tile, const float *in, int first, int end, int n) {
    const int t = threadIdx.x;
    if (first >= 0 && first + end <= n) {
        float v[EACH + 1];
#pragma unroll
        for (int e = 0; e < EACH + 1; e++)
            if (e < EACH || PART + t < end) v[e] = in[first + t + e * THREADS];
#pragma unroll
        for (int e = 0; e < EACH + 1; e++)
            if (e < EACH || PART + t < end) tile[t + e * THREADS] = v[e];
        for (int e = PART + THREADS + t; e < end; e += THREADS) tile[e] = in[first + e];
    } else
        for (int e = t; e < end; e += THREADS)
            tile[e] = first + e >= 0 && first + e < n ? in[first + e] : 0.0f;
}

__device__ void load4(float *to, const float *from) {
    float4 v = *reinterpret_cast<const float4 *>(from);
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__global__ void __launch_bounds__(THREADS)
    convolve(float *__restrict__ out, const float *__restrict__ in, int n, int radius) {
    __shared__ __align__(16) float tile[PART + 2 * MOST_RADIUS + 4];
    const int i = blockIdx.x * PART + threadIdx.x * EACH;
    const float *own = tile + threadIdx.x * EACH; // the first result's first element
    fill(tile, in, blockIdx.x * PART - radius, PART + 2 * radius + 4, n);
    __syncthreads();

    float sum[EACH] = {}, x[EACH + 4]; // x: what the next four taps meet
    for (int e = 0; e < EACH; e += 4) load4(x + e, own + e);
    int k = 0;
#pragma unroll 2
    for (; k + 3 <= 2 * radius; k += 4) {
        load4(x + EACH, own + k + EACH);
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int e = 0; e < EACH; e++) sum[e] += x[j + e] * taps[k + j];
#pragma unroll
        for (int e = 0; e < EACH; e++) x[e] = x[e + 4];
    }
    load4(x + EACH, own + k + EACH);
#pragma unroll
    for (int j = 0; j < 3; j++) // 2 * radius + 1 taps: one or three are left
        if (k + j <= 2 * radius)
#pragma unroll
            for (int e = 0; e < EACH; e++) sum[e] += x[j + e] * taps[k + j];

#pragma unroll
    for (int e = 0; e < EACH; e += 4)
        if (i + e + 3 < n)
            *reinterpret_cast<float4 *>(out + i + e) = make_float4(sum[e], sum[e + 1], sum[e + 2], sum[e + 3]);
        else
#pragma unroll
            for (int j = e; j < e + 4; j++)
                if (i + j < n) out[i + j] = sum[j];
}

extern "C" void convolution(float *out, const float *in, const float *filter, int n, int radius) {
    if (n == 0) return;
    cudaMemcpyToSymbolAsync(taps, filter, (2 * radius + 1) * sizeof(float), 0, cudaMemcpyDeviceToDevice);
    convolve<<<(n + PART - 1) / PART, THREADS>>>(out, in, n, radius);
}
