// Integer intrinsics, 64-bit and SIMD-in-a-word ones among them, against the host.
#include "expect.h"
#include <cstdint>

__host__ __device__ static uint64_t hash(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    x ^= x >> 33;
    return x;
}

__global__ void intr(uint64_t *o) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    uint64_t h = hash(i + 1);
    uint32_t a = h, b = h >> 32;
    uint64_t q = hash(h);
    uint64_t *p = o + i * 32;
    int k = 0;
    p[k++] = (uint32_t)__mulhi((int)a, (int)b);
    p[k++] = __umulhi(a, b);
    p[k++] = __mul64hi((long long)h, (long long)q);
    p[k++] = __umul64hi(h, q);
    p[k++] = __funnelshift_l(a, b, q & 63);
    p[k++] = __funnelshift_rc(a, b, q & 63);
    p[k++] = __byte_perm(a, b, (uint32_t)q);
    p[k++] = __dp4a((int)a, (int)b, (int)q);
    p[k++] = (uint32_t)__dp2a_hi((int)a, (int)b, (int)q);
    p[k++] = __popc(a);
    p[k++] = __popcll(h);
    p[k++] = __clz(a & 0xffff);
    p[k++] = __clzll(h >> (q & 63));
    p[k++] = __ffs(a & 0xf0f00);
    p[k++] = __ffsll(h << 20);
    p[k++] = __brev(a);
    p[k++] = __brevll(h);
    p[k++] = __sad((int)a, (int)b, 5u);
    p[k++] = __usad(a, b, 7u);
    p[k++] = (uint32_t)__mul24((int)a, (int)b);
    p[k++] = __umul24(a, b);
    p[k++] = (uint32_t)__hadd((int)a, (int)b);
    p[k++] = __uhadd(a, b);
    p[k++] = __urhadd(a, b);
    p[k++] = h / (q >> 20 | 1);
    p[k++] = h % (q >> 40 | 1);
    p[k++] = (uint64_t)((int64_t)h / (int64_t)((q >> 33 | 1) - (1u << 30) * 2ull));
    p[k++] = a / (b >> 8 | 1);
    p[k++] = (uint32_t)((int)a % ((int)(b >> 7) - 100));
    p[k++] = __vadd4(a, b);
    p[k++] = __vabsdiffu4(a, b);
    p[k++] = __vsetgtu2(a, b) ^ __vavgu4(a, b) ^ __vmins2(a, b) ^ __vsadu4(a, b) ^ __vaddss4(a, b);
}
static uint32_t hv4(uint32_t a, uint32_t b, int (*f)(int, int)) {
    uint32_t r = 0;
    for (int k = 0; k < 4; k++) r |= (uint32_t)(f((a >> 8 * k) & 255, (b >> 8 * k) & 255) & 255) << 8 * k;
    return r;
}
static uint32_t clz64(uint64_t v) {
    return v ? __builtin_clzll(v) : 64;
}
static void check_intr() {
    const int n = 1024;
    uint64_t *d, *o = (uint64_t *)malloc(n * 256);
    CHECK(cudaMalloc(&d, n * 256));
    intr<<<n / 128, 128>>>(d);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(o, d, n * 256, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        uint64_t h = hash(i + 1);
        uint32_t a = h, b = h >> 32;
        uint64_t q = hash(h);
        uint64_t *p = o + i * 32;
        uint64_t w[32];
        int k = 0;
        typedef __int128 s128;
        typedef unsigned __int128 u128;
        uint64_t ba = (uint64_t)b << 32 | a;
        w[k++] = (uint32_t)((int64_t)(int)a * (int)b >> 32);
        w[k++] = (uint64_t)a * b >> 32;
        w[k++] = (uint64_t)((s128)(int64_t)h * (int64_t)q >> 64);
        w[k++] = (uint64_t)((u128)h * q >> 64);
        {
            unsigned s = q & 31;
            w[k++] = (uint32_t)(ba << s >> 32);
        }
        {
            unsigned s = q & 63;
            if (s > 32) s = 32;
            w[k++] = (uint32_t)(ba >> s);
        }
        {
            uint32_t r = 0;
            for (int j = 0; j < 4; j++) r |= (uint32_t)(ba >> 8 * ((q >> 4 * j) & 7) & 255) << 8 * j;
            w[k++] = r;
        }
        {
            int s = (int)q;
            for (int j = 0; j < 4; j++) s += (int8_t)(a >> 8 * j) * (int8_t)(b >> 8 * j);
            w[k++] = (uint64_t)(int64_t)s;
        }
        {
            int s = (int)q;
            for (int j = 0; j < 2; j++) s += (int16_t)(a >> 16 * j) * (int8_t)(b >> (16 + 8 * j));
            w[k++] = (uint32_t)s;
        }
        w[k++] = __builtin_popcount(a);
        w[k++] = __builtin_popcountll(h);
        w[k++] = (a & 0xffff) ? __builtin_clz(a & 0xffff) : 32;
        w[k++] = clz64(h >> (q & 63));
        w[k++] = __builtin_ffs(a & 0xf0f00);
        w[k++] = __builtin_ffsll(h << 20);
        {
            uint32_t r = 0;
            for (int j = 0; j < 32; j++) r |= (a >> j & 1) << (31 - j);
            w[k++] = r;
        }
        {
            uint64_t r = 0;
            for (int j = 0; j < 64; j++) r |= (h >> j & 1) << (63 - j);
            w[k++] = r;
        }
        w[k++] = (uint32_t)(llabs((int64_t)(int)a - (int)b) + 5);
        w[k++] = (uint32_t)((a > b ? a - b : b - a) + 7);
        {
            int x = (int)(a << 8) >> 8, y = (int)(b << 8) >> 8;
            w[k++] = (uint32_t)((int64_t)x * y);
        }
        w[k++] = (uint32_t)((uint64_t)(a & 0xffffff) * (b & 0xffffff));
        w[k++] = (uint32_t)(((int64_t)(int)a + (int)b) >> 1);
        w[k++] = ((uint64_t)a + b) >> 1;
        w[k++] = ((uint64_t)a + b + 1) >> 1;
        w[k++] = h / (q >> 20 | 1);
        w[k++] = h % (q >> 40 | 1);
        w[k++] = (uint64_t)((int64_t)h / (int64_t)((q >> 33 | 1) - (1u << 30) * 2ull));
        w[k++] = a / (b >> 8 | 1);
        w[k++] = (uint32_t)((int)a % ((int)(b >> 7) - 100));
        w[k++] = hv4(a, b, [](int x, int y) { return x + y; });
        w[k++] = hv4(a, b, [](int x, int y) { return abs(x - y); });
        uint32_t sg = 0;
        for (int j = 0; j < 2; j++) sg |= (((a >> 16 * j) & 0xffff) > ((b >> 16 * j) & 0xffff)) << 16 * j;
        uint32_t mn = 0;
        for (int j = 0; j < 2; j++) {
            int x = (int16_t)(a >> 16 * j), y = (int16_t)(b >> 16 * j);
            mn |= (uint32_t)((x < y ? x : y) & 0xffff) << 16 * j;
        }
        uint32_t sad = 0;
        for (int j = 0; j < 4; j++) sad += abs((int)((a >> 8 * j) & 255) - (int)((b >> 8 * j) & 255));
        w[k++] = sg ^ hv4(a, b, [](int x, int y) { return (x + y + 1) / 2; }) ^ mn ^ sad ^
                 hv4(a, b, [](int x, int y) {
                     int s = (int8_t)x + (int8_t)y;
                     return s > 127 ? 127 : s < -128 ? -128 : s;
                 });
        for (int j = 0; j < 32; j++)
            EXPECT(p[j] == w[j], "intr %d thread %d: %llx want %llx", j, i, (unsigned long long)p[j],
                   (unsigned long long)w[j]);
    }
    free(o);
    cudaFree(d);
}

int main() {
    check_intr();
    printf("%d wrong\n", wrong);
    return 0;
}
