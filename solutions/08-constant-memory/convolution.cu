// convolution: the model solution. The filter in constant memory, where all lanes read one tap at a time; the
// input through a shared tile with a halo. A thread makes two groups of four neighbouring results, half a tile
// apart: a tap that was fetched serves eight products, a vector from the tile sixteen, and neighbouring lanes
// store neighbouring vectors.

constexpr int MAX_RADIUS = 64, THREADS = 128, GROUPS = 2;
// tune: THREADS 64 128 256
constexpr int APART = 4 * THREADS, PART = GROUPS * APART; // PART results per block
constexpr int LOADS = PART / THREADS;

__constant__ float taps[2 * MAX_RADIUS + 1];

// The tile begins with the first result's first element. A thread issues all loads before a store waits
// for the first of them. Not every thread loads part of the halo.
__device__ void fill(float *tile, const float *in, int first, int end, int n) {
    const int t = threadIdx.x;
    if (first >= 0 && first + end <= n) {
        float v[LOADS + 1];
#pragma unroll
        for (int e = 0; e <= LOADS; e++)
            if (e < LOADS || PART + t < end) v[e] = in[first + t + e * THREADS];
#pragma unroll
        for (int e = 0; e <= LOADS; e++)
            if (e < LOADS || PART + t < end) tile[t + e * THREADS] = v[e];
        for (int e = PART + THREADS + t; e < end; e += THREADS) tile[e] = in[first + e]; // the end of a wide halo
    } else
        for (int e = t; e < end; e += THREADS)
            tile[e] = first + e >= 0 && first + e < n ? in[first + e] : 0.0f;
}

__device__ void load4(float *x, const float *from) {
    float4 v = *reinterpret_cast<const float4 *>(from);
    x[0] = v.x, x[1] = v.y, x[2] = v.z, x[3] = v.w;
}

template <int TAPS> __device__ void add(float (&sum)[GROUPS][4], const float (&x)[GROUPS][8], int k, int count) {
#pragma unroll
    for (int j = 0; j < TAPS; j++)
        if (j < count)
#pragma unroll
            for (int g = 0; g < GROUPS; g++)
#pragma unroll
                for (int e = 0; e < 4; e++) sum[g][e] += x[g][j + e] * taps[k + j];
}

__device__ void store4(float *out, int i, int n, const float (&sum)[4]) {
    if (i + 3 < n)
        *reinterpret_cast<float4 *>(out + i) = make_float4(sum[0], sum[1], sum[2], sum[3]);
    else
#pragma unroll
        for (int e = 0; e < 4; e++)
            if (i + e < n) out[i + e] = sum[e];
}

__global__ void __launch_bounds__(THREADS)
    convolve(float *__restrict__ out, const float *__restrict__ in, int n, int radius) {
    __shared__ __align__(16) float tile[PART + 2 * MAX_RADIUS + 4];
    const float *own = tile + 4 * threadIdx.x; // the first group's first element
    fill(tile, in, blockIdx.x * PART - radius, PART + 2 * radius + 4, n);
    __syncthreads();

    float sum[GROUPS][4] = {}, x[GROUPS][8]; // x: the elements for the next four taps
#pragma unroll
    for (int g = 0; g < GROUPS; g++) load4(x[g], own + g * APART);
    int k = 0;
#pragma unroll 4
    for (; k + 3 <= 2 * radius; k += 4) {
#pragma unroll
        for (int g = 0; g < GROUPS; g++) load4(x[g] + 4, own + g * APART + k + 4);
        add<4>(sum, x, k, 4);
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
#pragma unroll
            for (int e = 0; e < 4; e++) x[g][e] = x[g][e + 4];
    }
#pragma unroll
    for (int g = 0; g < GROUPS; g++) load4(x[g] + 4, own + g * APART + k + 4);
    add<3>(sum, x, k, 2 * radius + 1 - k); // 2 * radius + 1 taps: one or three remain
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
        store4(out, blockIdx.x * PART + g * APART + 4 * threadIdx.x, n, sum[g]);
}

extern "C" void convolution(float *out, const float *in, const float *filter, int n, int radius) {
    if (n == 0) return;
    cudaMemcpyToSymbolAsync(taps, filter, (2 * radius + 1) * sizeof(float), 0, cudaMemcpyDeviceToDevice);
    convolve<<<(n + PART - 1) / PART, THREADS>>>(out, in, n, radius);
}
