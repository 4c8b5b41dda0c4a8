// expect: RTE
// The last thread stores four numbers where fewer are left.

constexpr int THREADS = 256, EACH = 4;
constexpr int MAX_BLOCKS = 528; // 4 blocks for each of 132 SMs

struct map { // s -> a s + c
    unsigned a, c;
};

// Returns the map of so many steps. It takes a turn for each bit of their number.
__host__ __device__ map map_of(unsigned steps) {
    map all = {1, 0}, power = {1664525u, 1013904223u};
    for (; steps; steps >>= 1) {
        if (steps & 1) all = {power.a * all.a, power.a * all.c + power.c};
        power = {power.a * power.a, power.a * power.c + power.c};
    }
    return all;
}

__global__ void fill(unsigned *__restrict__ out, int n, unsigned seed, map step, map ahead) {
    int stride = gridDim.x * THREADS * EACH, i = EACH * (blockIdx.x * THREADS + threadIdx.x);
    map here = map_of(i + 1);
    for (unsigned s = here.a * seed + here.c; i < n; i += stride) {
        unsigned t = step.a * s + step.c, u = step.a * t + step.c, v = step.a * u + step.c;
        if (i < n) *reinterpret_cast<uint4 *>(out + i) = make_uint4(s, t, u, v);
        else {
            out[i] = s;
            if (i + 1 < n) out[i + 1] = t;
            if (i + 2 < n) out[i + 2] = u;
        }
        s = ahead.a * s + ahead.c;
    }
}

extern "C" void grid_stride(unsigned *out, int n, unsigned seed) {
    if (n == 0) return;
    int blocks = min((n + THREADS * EACH - 1) / (THREADS * EACH), MAX_BLOCKS);
    fill<<<blocks, THREADS>>>(out, n, seed, map_of(1), map_of(blocks * THREADS * EACH));
}
