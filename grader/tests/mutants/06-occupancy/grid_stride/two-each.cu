// expect: PART
// Two numbers a thread: half of the jumps.

constexpr unsigned MULTIPLY = 1664525u, ADD = 1013904223u; // one step: s becomes MULTIPLY s + ADD
constexpr int THREADS = 256, EACH = 2;

// Returns the state `steps` steps after s: after a step of twice the length, the map s -> a s + c is applied twice.
__device__ unsigned jump(unsigned s, unsigned steps) {
    unsigned a = MULTIPLY, c = ADD;
    for (; steps; steps >>= 1) {
        if (steps & 1) s = a * s + c;
        c += a * c, a *= a;
    }
    return s;
}

__global__ void fill(unsigned *__restrict__ out, int n, unsigned seed) {
    int i = EACH * (blockIdx.x * THREADS + threadIdx.x);
    if (i >= n) return;
    unsigned v[EACH];
    v[0] = jump(seed, i + 1);
#pragma unroll
    for (int k = 1; k < EACH; k++) v[k] = MULTIPLY * v[k - 1] + ADD;
    if (i + EACH <= n) *reinterpret_cast<uint2 *>(out + i) = make_uint2(v[0], v[1]);
    else
        for (int k = 0; k < EACH && i + k < n; k++) out[i + k] = v[k];
}

extern "C" void grid_stride(unsigned *out, int n, unsigned seed) {
    if (n > 0) fill<<<(n + THREADS * EACH - 1) / (THREADS * EACH), THREADS>>>(out, n, seed);
}
