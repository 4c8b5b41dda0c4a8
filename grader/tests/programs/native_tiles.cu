// also: --native
// Tiles in shared memory, whose loads native code counts once for many runs: two addresses in one
// step, rows and columns that change from step to step, a warp that is half full, wide loads, and
// loads of global memory between those of shared memory. With --native the output and the counters
// must be the same.
#include "check.h"
#include <cstring>

enum { TILE = 16, N = 64, THREADS = 96, STEPS = 40 };

// A step reads a row that all lanes share and a column; the barriers keep the loop apart.
__global__ void multiply(const float *a, const float *b, float *c, int n) {
    __shared__ float s[TILE][TILE], t[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
    float sum = 0;
    for (int k = 0; k < n; k += TILE) {
        s[y][x] = a[row * n + k + x];
        t[y][x] = b[(k + y) * n + col];
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += s[y][i] * t[i][x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

// The stride between lanes changes with the step, sometimes back to an earlier one; the last warp
// takes part in two steps of three.
__host__ __device__ inline int place(int t, int stride, int k) { return (t * stride + k) % 512; }
__global__ void stride(const int *in, int *out, int steps) {
    __shared__ int row[520];
    int t = threadIdx.x, sum = 0;
    for (int i = t; i < 520; i += THREADS) row[i] = in[i];
    for (int i = 0; i < steps; i++) {
        __syncthreads();
        if (t < 64 || i % 3) {
            const int *p = row + place(t, 1 + i / 4 % 3, i);
            sum = sum * 3 + p[0] + 2 * p[1] + in[(t + i) % N] + 3 * p[5] + 4 * p[8];
        }
    }
    out[t] = sum;
}

// Loads of 16 bytes by neighbouring lanes, and one that all lanes share.
__global__ void wide(const int4 *in, int4 *out, int steps) {
    __shared__ int4 row[THREADS + 4];
    int t = threadIdx.x;
    int4 v = in[t];
    for (int i = 0; i < steps; i++) {
        row[t] = v;
        if (t < 4) row[THREADS + t] = in[i % N];
        __syncthreads();
        int4 a = row[t + 1], b = row[t + 3], c = row[THREADS + 1], d = row[THREADS];
        v.x += a.y ^ c.x, v.y += b.x + d.w, v.z ^= a.w + c.y, v.w += b.z - d.x;
        __syncthreads();
    }
    out[t] = v;
}

template <typename T> static T *on_device(const T *host, int n) {
    T *p;
    CHECK(cudaMalloc(&p, n * sizeof(T)));
    CHECK(cudaMemcpy(p, host, n * sizeof(T), cudaMemcpyHostToDevice));
    return p;
}
template <typename T> static bool is_same(const T *device, const T *host, int n) {
    T *copy = (T *)malloc(n * sizeof(T));
    CHECK(cudaMemcpy(copy, device, n * sizeof(T), cudaMemcpyDeviceToHost));
    bool same = !memcmp(copy, host, n * sizeof(T));
    free(copy);
    return same;
}

// Small integers, so that sums are exact in any order.
static bool check_multiply() {
    static float a[N * N], b[N * N], c[N * N];
    for (int i = 0; i < N * N; i++) a[i] = (float)(i % 37 - 18), b[i] = (float)(i % 101 - 50);
    float *d_a = on_device(a, N * N), *d_b = on_device(b, N * N), *d_c = on_device(c, N * N);
    multiply<<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(d_a, d_b, d_c, N);
    for (int i = 0; i < N * N; i++)
        for (int k = 0; k < N; k++) c[i] += a[i / N * N + k] * b[k * N + i % N];
    return is_same(d_c, c, N * N);
}

static bool check_stride() {
    static int in[520], out[THREADS];
    for (int i = 0; i < 520; i++) in[i] = i * 7919 % 1009;
    int *d_in = on_device(in, 520), *d_out = on_device(out, THREADS);
    stride<<<1, THREADS>>>(d_in, d_out, STEPS);
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < STEPS; i++) {
            if (t >= 64 && i % 3 == 0) continue;
            const int *p = in + place(t, 1 + i / 4 % 3, i);
            out[t] = (int)((unsigned)out[t] * 3u + (unsigned)(p[0] + 2 * p[1] + in[(t + i) % N] +
                                                              3 * p[5] + 4 * p[8]));
        }
    return is_same(d_out, out, THREADS);
}

static bool check_wide() {
    static int4 in[THREADS], row[THREADS + 4], v[THREADS];
    for (int i = 0; i < THREADS; i++) v[i] = in[i] = make_int4(i, i * 3, i * i, 100 - i);
    int4 *d_in = on_device(in, THREADS), *d_out = on_device(in, THREADS);
    wide<<<1, THREADS>>>(d_in, d_out, STEPS);
    for (int i = 0; i < STEPS; i++) {
        for (int t = 0; t < THREADS; t++) row[t] = v[t];
        for (int t = 0; t < 4; t++) row[THREADS + t] = in[i % N];
        for (int t = 0; t < THREADS; t++) {
            int4 a = row[t + 1], b = row[t + 3], c = row[THREADS + 1], d = row[THREADS];
            v[t].x += a.y ^ c.x, v[t].y += b.x + d.w, v[t].z ^= a.w + c.y, v[t].w += b.z - d.x;
        }
    }
    return is_same(d_out, v, THREADS);
}

int main() {
    printf("multiply: %s\n", check_multiply() ? "same" : "DIFFERENT");
    printf("stride: %s\n", check_stride() ? "same" : "DIFFERENT");
    printf("wide: %s\n", check_wide() ? "same" : "DIFFERENT");
    return 0;
}
