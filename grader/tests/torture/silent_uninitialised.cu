// Reads of what nothing wrote whose values decide nothing: both sides of a condition loaded, halos, unused components, padding,
// bits that are masked away.
#include "../programs/check.h"

__global__ void both_sides(const float *raw, const float *in, float *p, int n) {
    int t = threadIdx.x;
    float a = raw[t], b = in[t];
    p[t] = t < n ? b : a * 0.5f + 1; // all of them below n
}
__global__ void halo(const float *in, float *p, int n) {
    __shared__ float s[34];
    int t = threadIdx.x;
    if (t < n) s[t + 1] = in[t];
    __syncthreads();
    float left = s[t], here = s[t + 1], right = s[t + 2];
    float sum = here;
    if (t > 0) sum += left;
    if (t < n - 1) sum += right;
    if (t < n) p[t] = sum;
}
__global__ void hoisted(const float *in, float *p, int n, int radius) {
    int t = threadIdx.x;
    float sum = 0;
#pragma unroll 8
    for (int q = -radius; q <= radius; q++)
        if (t + q >= 0 && t + q < n) sum += in[t + q + 8];
    p[t] = sum;
}
__global__ void three_of_four(const float4 *in, float *p) {
    float4 v = in[threadIdx.x];
    p[threadIdx.x] = v.x + v.y + v.z;
}
__global__ void set_three(float4 *p) { p[threadIdx.x].x = p[threadIdx.x].y = p[threadIdx.x].z = 1; }

struct padded { char c; double d; int i; };
__global__ void set_padded(padded *a) { a[threadIdx.x].c = 1, a[threadIdx.x].d = 2, a[threadIdx.x].i = 3; }
__global__ void copy_padded(padded *to, const padded *from) { to[threadIdx.x] = from[31 - threadIdx.x]; }

// By loads of bytes and selections, as CUB's sorts do.
__global__ void sort_padded(padded *p) {
    padded a = p[2 * threadIdx.x], b = p[2 * threadIdx.x + 1];
    bool swap = a.d > b.d;
    for (int i = 0; i < (int)sizeof a; i++) {
        ((volatile char *)p)[2 * sizeof a * threadIdx.x + i] = swap ? ((const char *)p)[2 * sizeof a * threadIdx.x + sizeof a + i]
                                                                    : ((const char *)p)[2 * sizeof a * threadIdx.x + i];
    }
}

union either { int i; float f; double d; };
__global__ void set_union(either *u) { u[threadIdx.x].i = threadIdx.x; }
__global__ void move_union(either *to, const either *from) { to[threadIdx.x] = from[threadIdx.x ^ 1]; }
__global__ void use_union(const either *u, int *p) { p[threadIdx.x] = u[threadIdx.x].i; }

// Both sides are loaded before it is known whether they lie in range.
__global__ void bisection(const int *a, int na, const int *b, int nb, int *p) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < na) s[t] = a[t];
    if (t < nb) s[32 + t] = b[t];
    __syncthreads();
    int low = max(0, t - nb), high = min(t, na);
    while (low < high) {
        int mid = (low + high) / 2;
        if (s[mid] <= s[32 + t - 1 - mid]) low = mid + 1;
        else high = mid;
    }
    int i = low, j = t - low, x = s[i], y = s[32 + (j & 31)];
    bool first = j >= nb || (i < na && x <= y);
    if (t < na + nb) p[t] = first ? x : y;
}
__global__ void masked(const unsigned *raw, unsigned *p, unsigned zero) {
    unsigned v = raw[threadIdx.x];
    unsigned long long w = ((unsigned long long)v << 32) | threadIdx.x; // and the low half of it
    p[threadIdx.x] = (v & zero) + (unsigned)w + ((v | ~zero) == ~0u);
}
__global__ void not_used(const int *raw, int *p, int n) {
    int v[4] = {raw[0], raw[1], raw[2], raw[3]}, best = 0;
    for (int i = 0; i < 4; i++) best = i < n && v[i] > 5 ? v[i] : best;
    p[threadIdx.x] = best;
}
__global__ void in_local(int *p, int n) {
    int a[16];
    for (int i = 0; i < n; i++) a[i] = i * 3;
    int sum = 0;
#pragma unroll
    for (int i = 0; i < 16; i++) {
        int v = a[(i + n) % 16];
        sum += (i + n) % 16 < n ? v : 0;
    }
    p[threadIdx.x] = sum;
}
__global__ void scratch(const int *raw, int *left) { left[threadIdx.x] = raw[threadIdx.x] + 1; } // nobody reads it
__global__ void shuffled(const int *raw, int *p, int n) {
    int v = raw[threadIdx.x];
    int other = __shfl_sync(~0u, v, threadIdx.x % n); // of lanes below n alone
    unsigned some = __ballot_sync(~0u, threadIdx.x < n && v > 100);
    p[threadIdx.x] = other + __popc(some);
}

int main() {
    char *memory;
    static char host[512];
    CHECK(cudaMalloc(&memory, 1 << 16));
    int next = 0;
    auto fresh = [&]() { return (void *)(memory + 1024 * next++); };
    auto back = [&](void *p, size_t n) { CHECK(cudaMemcpy(host, p, n, cudaMemcpyDeviceToHost)); };
    float *in = (float *)fresh(), *raw = (float *)fresh(), *p = (float *)fresh();
    CHECK(cudaMemset(in, 0, 128));
    both_sides<<<1, 32>>>(raw, in, p, 32), back(p, 128);
    halo<<<1, 32>>>(in, p, 30), back(p, 120);
    float *wide = (float *)fresh();
    CHECK(cudaMemset(wide + 8, 0, 128));
    hoisted<<<1, 32>>>(wide, p, 32, 5), back(p, 128);
    float4 *vectors = (float4 *)fresh();
    set_three<<<1, 32>>>(vectors), three_of_four<<<1, 32>>>(vectors, p), back(p, 128);
    padded *a = (padded *)fresh(), *b = (padded *)fresh();
    set_padded<<<1, 16>>>(a), set_padded<<<1, 32>>>(a), copy_padded<<<1, 32>>>(b, a), sort_padded<<<1, 16>>>(b), back(b, sizeof host);
    either *u = (either *)fresh(), *v = (either *)fresh();
    set_union<<<1, 32>>>(u), move_union<<<1, 32>>>(v, u), use_union<<<1, 32>>>(v, (int *)p), back(p, 128);
    bisection<<<1, 32>>>((int *)in, 13, (int *)in, 9, (int *)p), back(p, 22 * 4);
    masked<<<1, 32>>>((unsigned *)raw, (unsigned *)p, 0), back(p, 128);
    CHECK(cudaMemset(raw + 64, 0, 8));
    not_used<<<1, 32>>>((int *)raw + 64, (int *)p, 2), back(p, 128);
    in_local<<<1, 32>>>((int *)p, 10), back(p, 128);
    scratch<<<1, 32>>>((int *)raw, (int *)fresh());
    CHECK(cudaMemset(raw, 0, 20));
    shuffled<<<1, 32>>>((int *)raw, (int *)p, 5), back(p, 128);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
