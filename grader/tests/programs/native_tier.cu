// also: --native
// Kernels whose segments native code runs, held against the same computation on the host: a state
// machine with divergent branches, sums of products from rows and from shared memory, and values of
// 8, 16 and 64 bits. With --native the output must be the same.
#include "check.h"
#include <cstring>

__host__ __device__ inline unsigned step(unsigned h, unsigned i, unsigned word) {
    unsigned state = (word ^ h) * 1664525u + 1013904223u;
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    if ((state & 7) == 0) h = (h >> 3) | (h << 29);
    switch (state >> 28) {
    case 0:
    case 1: h += state; break;
    case 3:
    case 4: h -= state * i; break;
    default: h ^= state >> 2;
    }
    return h * 16777619u;
}

__global__ void machine(const unsigned *in, unsigned *out, int n) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x, h = t;
    for (int i = 0; i < n; i++) h = step(h, i, in[i] ^ in[t & 15]);
    out[t] = h;
}

// Integers in floats and doubles, so that the sums are exact in any order.
__global__ void products(const float *a, const double *b, double *c, int n) {
    __shared__ float row[64];
    int x = threadIdx.x, y = blockIdx.x;
    double sum = 0;
    row[x] = a[y * n + x];
    __syncthreads();
    for (int k = 0; k < n; k++) sum += row[k] * b[k * n + x];
    c[y * n + x] = sum;
}

__global__ void narrow(const signed char *in, short *out, long long *wide, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return; // the last warp is partial
    short s = (short)(in[t] * 3 - in[(t + 1) % n]);
    out[t] = s > 100 ? (short)(s - t) : s;
    wide[t] = (long long)s << 33 | (unsigned char)in[t];
}

enum { WORDS = 64, THREADS = 256, N = 64, BYTES = 1000 };

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

static bool check_machine() {
    unsigned in[WORDS], out[THREADS] = {0};
    for (unsigned i = 0; i < WORDS; i++) in[i] = (i + 1) * 2654435761u;
    unsigned *d_in = on_device(in, WORDS), *d_out = on_device(out, THREADS);
    machine<<<2, THREADS / 2>>>(d_in, d_out, WORDS);
    for (unsigned t = 0; t < THREADS; t++) {
        unsigned h = t;
        for (unsigned i = 0; i < WORDS; i++) h = step(h, i, in[i] ^ in[t & 15]);
        out[t] = h;
    }
    return is_same(d_out, out, THREADS);
}

static bool check_products() {
    static float a[N * N];
    static double b[N * N], c[N * N];
    for (int i = 0; i < N * N; i++) a[i] = (float)(i % 37 - 18), b[i] = i % 101 - 50;
    float *d_a = on_device(a, N * N);
    double *d_b = on_device(b, N * N), *d_c = on_device(c, N * N);
    products<<<N, N>>>(d_a, d_b, d_c, N);
    for (int y = 0; y < N; y++)
        for (int k = 0; k < N; k++)
            for (int x = 0; x < N; x++) c[y * N + x] += a[y * N + k] * b[k * N + x];
    return is_same(d_c, c, N * N);
}

static bool check_narrow() {
    static signed char in[BYTES];
    static short out[BYTES];
    static long long wide[BYTES];
    for (int i = 0; i < BYTES; i++) in[i] = (signed char)(i * 7 - 128);
    signed char *d_in = on_device(in, BYTES);
    short *d_out = on_device(out, BYTES);
    long long *d_wide = on_device(wide, BYTES);
    narrow<<<(BYTES + 127) / 128, 128>>>(d_in, d_out, d_wide, BYTES);
    for (int t = 0; t < BYTES; t++) {
        short s = (short)(in[t] * 3 - in[(t + 1) % BYTES]);
        out[t] = s > 100 ? (short)(s - t) : s;
        wide[t] = (long long)((unsigned long long)s << 33) | (unsigned char)in[t];
    }
    return is_same(d_out, out, BYTES) && is_same(d_wide, wide, BYTES);
}

int main() {
    printf("state machine: %s\n", check_machine() ? "same" : "DIFFERENT");
    printf("products: %s\n", check_products() ? "same" : "DIFFERENT");
    printf("narrow types: %s\n", check_narrow() ? "same" : "DIFFERENT");
    return 0;
}
