// Virtual functions, device heap, function pointers, recursion, structures by value, switch, inline PTX,
// alloca, complex numbers, 128-bit integers. nvcc: -std=c++17
#include "expect.h"
#include <cmath>
#include <cstdint>
#include <cuda/std/complex>

__host__ __device__ static uint64_t hash(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    x ^= x >> 33;
    return x;
}

struct Shape {
    __device__ virtual float area(float s) const = 0;
    __device__ virtual ~Shape() {}
};
struct Sq : Shape {
    __device__ float area(float s) const override { return s * s; }
};
struct Ci : Shape {
    float k;
    __device__ Ci(float k) : k(k) {}
    __device__ float area(float s) const override { return k * s * s; }
};
__global__ void virt(float *o) {
    int i = threadIdx.x;
    Sq a;
    Ci b(3.0f);
    const Shape *s = (i & 1) ? (const Shape *)&a : (const Shape *)&b;
    o[i] = s->area((float)i);
}
__global__ void virt_heap(float *o) {
    int i = threadIdx.x;
    Shape *s = (i % 3) ? (Shape *)new Sq : (Shape *)new Ci(2.0f);
    o[i] = s->area((float)i);
    delete s;
}
typedef int (*fn)(int);
__device__ int f0(int x) {
    return x + 1;
}
__device__ int f1(int x) {
    return x * 2;
}
__device__ int f2(int x) {
    return x - 3;
}
__device__ fn table[3] = {f0, f1, f2};
__device__ int ack(int m, int n) {
    return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1));
}
struct Big {
    int v[20];
    double d;
    char c;
};
__device__ __noinline__ Big mut(Big b, int i) {
    for (int k = 0; k < 20; k++) b.v[k] += i * k;
    b.d *= 2;
    b.c ^= 0x55;
    return b;
}
__global__ void calls(int *o, Big b) {
    int i = threadIdx.x;
    int *p = o + i * 8;
    p[0] = table[i % 3](i);
    p[1] = ack(2, i % 4);
    Big r = mut(b, i);
    p[2] = r.v[19];
    p[3] = (int)r.d;
    p[4] = r.c;
    switch (i % 10) {
    case 0:
        p[5] = 5;
        break;
    case 1:
        p[5] = 17;
        break;
    case 2:
        p[5] = 3;
        break;
    case 3:
        p[5] = 99;
        break;
    case 4:
        p[5] = -4;
        break;
    case 5:
        p[5] = i * 2;
        break;
    case 6:
        p[5] = i << 3;
        break;
    case 8:
        p[5] = 1;
        break;
    default:
        p[5] = 0;
    }
    int x[33];
    for (int k = 0; k < 33; k++) x[k] = k * i;
    int s = 0;
    for (int k = 0; k < 33; k += (i & 3) + 1) s += x[(k * 7) % 33];
    p[6] = s;
    unsigned r1;
    asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 16; selp.u32 %0, %1, 77, p; }" : "=r"(r1) : "r"(i));
    p[7] = r1;
}
static int hack(int m, int n) {
    return m == 0 ? n + 1 : n == 0 ? hack(m - 1, 1) : hack(m - 1, hack(m, n - 1));
}
static void check_calls() {
    const int n = 64;
    int *d, o[n * 8];
    Big b;
    for (int k = 0; k < 20; k++) b.v[k] = k;
    b.d = 21.5;
    b.c = 3;
    CHECK(cudaMalloc(&d, sizeof o));
    calls<<<1, n>>>(d, b);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(o, d, sizeof o, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        int c[10] = {5, 17, 3, 99, -4, i * 2, i << 3, 0, 1, 0};
        int s = 0;
        for (int k = 0; k < 33; k += (i & 3) + 1) s += ((k * 7) % 33) * i;
        int w[8] = {i % 3 == 0   ? i + 1
                    : i % 3 == 1 ? i * 2
                                 : i - 3,
                    hack(2, i % 4),
                    19 + 19 * i,
                    43,
                    3 ^ 0x55,
                    c[i % 10],
                    s,
                    i < 16 ? i : 77};
        for (int k = 0; k < 8; k++)
            EXPECT(o[i * 8 + k] == w[k], "calls %d thread %d: %d want %d", k, i, o[i * 8 + k], w[k]);
    }
    float *f, g[64];
    CHECK(cudaMalloc(&f, 256));
    virt<<<1, 64>>>(f);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(g, f, 256, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) EXPECT(g[i] == (i & 1 ? 1 : 3) * (float)i * i, "virt %d %g", i, g[i]);
    virt_heap<<<1, 64>>>(f);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(g, f, 256, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) EXPECT(g[i] == (i % 3 ? 1 : 2) * (float)i * i, "virt_heap %d %g", i, g[i]);
}
__global__ void misc(double *o, int n) {
    int i = threadIdx.x;
    int m = i % 7 + 1;
    int *v = (int *)alloca(m * sizeof(int));
    for (int k = 0; k < m; k++) v[k] = k * k;
    int s = 0;
    for (int k = 0; k < m; k++) s += v[m - 1 - k] * (k + 1);
    cuda::std::complex<double> z(i, 1), w = z * z / cuda::std::complex<double>(2, 1);
    unsigned __int128 x = (unsigned __int128)hash(i) * hash(i + 1) + hash(i + 2);
    x = x / (hash(i + 3) | 1);
    o[i * 4] = s;
    o[i * 4 + 1] = w.real();
    o[i * 4 + 2] = w.imag();
    o[i * 4 + 3] = (double)(unsigned long long)(x >> 3);
}
static void check_misc() {
    double *d, o[256];
    CHECK(cudaMalloc(&d, sizeof o));
    misc<<<1, 64>>>(d, 64);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(o, d, sizeof o, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) {
        int m = i % 7 + 1, s = 0;
        for (int k = 0; k < m; k++) s += (m - 1 - k) * (m - 1 - k) * (k + 1);
        double a = (double)i * i - 1, b = 2.0 * i;
        unsigned __int128 x = (unsigned __int128)hash(i) * hash(i + 1) + hash(i + 2);
        x = x / (hash(i + 3) | 1);
        EXPECT(o[4 * i] == s, "alloca %d: %g want %d", i, o[4 * i], s);
        EXPECT(fabs(o[4 * i + 1] - (2 * a + b) / 5) < 1e-9 && fabs(o[4 * i + 2] - (2 * b - a) / 5) < 1e-9,
               "complex");
        EXPECT(o[4 * i + 3] == (double)(unsigned long long)(x >> 3), "int128 %d", i);
    }
}

int main() {
    check_calls();
    check_misc();
    printf("%d wrong\n", wrong);
    return 0;
}
