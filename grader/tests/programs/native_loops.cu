// also: --native
// Loops that native code runs as one function, held against the same computation on the host:
// uniform loads beside rows, lanes that part within an iteration or leave the loop one by one,
// addresses that depend on data, constants, stores and atomics in a loop, NaN, and a loop that ends
// early. With --native the output must be the same.
#include "check.h"
#include <cstring>

enum { N = 96, THREADS = 64 };

__host__ __device__ inline float product(const float *a, const float *b, int y, int x, int n) {
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
    return sum;
}
__global__ void products(const float *a, const float *b, float *c, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < n) c[blockIdx.y * n + x] = product(a, b, blockIdx.y, x, n);
}

// Two branches that part the lanes, one within the other, and one that all lanes take alike.
__host__ __device__ inline unsigned parted(const unsigned *in, unsigned t, int n) {
    unsigned h = t, odd = 0;
    for (int i = 0; i < n; i++) {
        unsigned v = in[i] ^ h * 2654435761u;
        if (v >> 30 == 0) continue;
        if (v & 1) {
            h += v;
            if (v & 2) odd += v >> 5;
            else h ^= odd;
        } else {
            h = h << 5 | h >> 27;
        }
        if (i % 16 == 3) h += i;
        h *= 16777619u;
    }
    return h ^ odd;
}
__global__ void part(const unsigned *in, unsigned *out, int n) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    out[t] = parted(in, t, n);
}

// Lanes leave one by one; the address depends on what was read.
__host__ __device__ inline unsigned chased(const unsigned *next, unsigned t, int n) {
    unsigned at = t % N, steps = 0;
    while (steps < 40 && (at & 7) != 7) at = next[at] % N, steps++;
    for (int i = 0; i < n; i++) at = next[(at + i) % N] % N;
    return at * 64 + steps;
}
__global__ void chase(const unsigned *next, unsigned *out, int n) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    out[t] = chased(next, t, n);
}

// A store, an atomic and a read of shared memory in each iteration.
__global__ void store(unsigned *out, unsigned *sums, int n) {
    __shared__ unsigned row[THREADS];
    unsigned t = threadIdx.x, v = t;
    row[t] = t * 3;
    __syncthreads();
    for (int i = 0; i < n; i++) {
        v = v * 5 + row[(t + i) % THREADS] + row[i % THREADS];
        out[i * THREADS + t] = v;
        atomicAdd(&sums[i], v);
    }
}

// NaN in a chain of sums, and a loop that the whole warp leaves early.
__host__ __device__ inline float chained(const float *a, float x, int n) {
    float s = x, t = 1;
    for (int i = 0; i < n; i++) {
        if (a[i] > 90) break;
        s = s * a[i] + t;
        t = s - a[i] * x;
        t = t * 0.5f;
    }
    return s + t;
}
__global__ void chain(const float *a, float *out, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    out[t] = chained(a, t == 5 ? __int_as_float(0xffc01234) : t == 9 ? 1e38f : t * 0.25f, n);
}

// Constant memory, at one address for all lanes and at one for each.
__constant__ unsigned weights[N];
__global__ void weigh(unsigned *out, int n) {
    unsigned t = threadIdx.x, sum = 0;
    for (int i = 0; i < n; i++) sum = sum * 3 + weights[i] * weights[(t + i) % N];
    out[t] = sum;
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
static bool check_products() {
    static float a[N * N], b[N * N], c[N * N];
    for (int i = 0; i < N * N; i++) a[i] = (float)(i % 37 - 18), b[i] = (float)(i % 101 - 50);
    float *d_a = on_device(a, N * N), *d_b = on_device(b, N * N), *d_c = on_device(c, N * N);
    products<<<dim3(2, N), THREADS>>>(d_a, d_b, d_c, N); // the last warp is half full
    for (int i = 0; i < N * N; i++) c[i] = product(a, b, i / N, i % N, N);
    return is_same(d_c, c, N * N);
}

static bool check_integers() {
    unsigned in[N], out[2 * THREADS] = {0};
    for (unsigned i = 0; i < N; i++) in[i] = (i + 1) * 2246822519u;
    unsigned *d_in = on_device(in, N), *d_out = on_device(out, 2 * THREADS);
    part<<<2, THREADS>>>(d_in, d_out, N);
    for (unsigned t = 0; t < 2 * THREADS; t++) out[t] = parted(in, t, N);
    bool same = is_same(d_out, out, 2 * THREADS);
    chase<<<2, THREADS>>>(d_in, d_out, N);
    for (unsigned t = 0; t < 2 * THREADS; t++) out[t] = chased(in, t, N);
    return same && is_same(d_out, out, 2 * THREADS);
}

static bool check_stores() {
    static unsigned out[N * THREADS], sums[N];
    unsigned *d_out = on_device(out, N * THREADS), *d_sums = on_device(sums, N);
    store<<<1, THREADS>>>(d_out, d_sums, N);
    for (unsigned t = 0; t < THREADS; t++)
        for (unsigned i = 0, v = t; i < N; i++) {
            v = v * 5 + (t + i) % THREADS * 3 + i % THREADS * 3;
            out[i * THREADS + t] = v;
            sums[i] += v;
        }
    return is_same(d_out, out, N * THREADS) && is_same(d_sums, sums, N);
}

// The bits of a NaN are the device's own, 0x7fffffff.
static bool check_chain() {
    float a[N], out[THREADS];
    unsigned bits[THREADS];
    for (int i = 0; i < N; i++) a[i] = i == 60 ? 91.0f : (i % 8) * 0.5f;
    float *d_a = on_device(a, N), *d_out = on_device(a, THREADS);
    chain<<<1, THREADS>>>(d_a, d_out, N);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    memcpy(bits, out, sizeof bits);
    return bits[5] == 0x7fffffff && out[0] == out[0] && out[8] != out[7];
}

static bool check_constants() {
    unsigned w[N], out[THREADS] = {0}, *d_out = on_device(out, THREADS);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    for (unsigned i = 0; i < N; i++) w[i] = i * 2654435761u;
    CHECK(cudaMemcpyToSymbol(weights, w, sizeof w));
    weigh<<<1, THREADS, 0, stream>>>(d_out, N);
    CHECK(cudaStreamSynchronize(stream));
    for (unsigned t = 0; t < THREADS; t++)
        for (unsigned i = 0; i < N; i++) out[t] = out[t] * 3 + w[i] * w[(t + i) % N];
    return is_same(d_out, out, THREADS);
}

int main() {
    printf("products: %s\n", check_products() ? "same" : "DIFFERENT");
    printf("parted and chased: %s\n", check_integers() ? "same" : "DIFFERENT");
    printf("stores: %s\n", check_stores() ? "same" : "DIFFERENT");
    printf("constants: %s\n", check_constants() ? "same" : "DIFFERENT");
    printf("chain: %s\n", check_chain() ? "same" : "DIFFERENT");
    return 0;
}
