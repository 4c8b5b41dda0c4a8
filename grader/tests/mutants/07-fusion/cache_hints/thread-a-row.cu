// expect: PART
// The hints are right, but a thread reads a whole row, so neighbours read far apart.

constexpr int THREADS = 256, LANES = 8, AT_ONCE = 4; // a row has 8 float4; a thread has 4 of them in flight
constexpr unsigned ALL = 0xffffffff;

__device__ float term(float x, float t) { return x * t; }

__global__ void __launch_bounds__(THREADS)
    score_rows(float *__restrict__ out, const float4 *__restrict__ x, const int *__restrict__ row, const float4 *__restrict__ table, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    const float4 *b = table + __ldcs(row + i) * LANES;
    float sum = 0;
    for (int k = 0; k < LANES; k++) {
        float4 v = __ldcs(x + (size_t)i * LANES + k);
        sum += term(v.x, b[k].x) + term(v.y, b[k].y) + term(v.z, b[k].z) + term(v.w, b[k].w);
    }
    __stcs(out + i, sum);
}

extern "C" void cache_hints(float *out, const float *x, const int *row, const float *table, int n, int rows) {
    int blocks = (n + THREADS - 1) / THREADS;
    if (n > 0) score_rows<<<blocks, THREADS>>>(out, (const float4 *)x, row, (const float4 *)table, n);
}
