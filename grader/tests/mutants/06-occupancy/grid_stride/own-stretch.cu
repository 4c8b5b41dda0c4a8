// expect: PART
// A thread writes numbers that follow each other: one jump, but 32 sectors a store.

constexpr int THREADS = 256, MAX_BLOCKS = 528; // 4 blocks for each of 132 SMs

struct map { // s -> a s + c
    unsigned a, c;
};

// Returns the map of so many steps. It takes a turn for each bit of their number.
__device__ map map_of(unsigned steps) {
    map all = {1, 0}, power = {1664525u, 1013904223u};
    for (; steps; steps >>= 1) {
        if (steps & 1) all = {power.a * all.a, power.a * all.c + power.c};
        power = {power.a * power.a, power.a * power.c + power.c};
    }
    return all;
}

__global__ void fill(unsigned *__restrict__ out, int n, unsigned seed) {
    int threads = gridDim.x * THREADS, t = blockIdx.x * THREADS + threadIdx.x, share = (n + threads - 1) / threads;
    int i = min(t * share, n), end = min(i + share, n);
    map here = map_of(i + 1);
    for (unsigned s = here.a * seed + here.c; i < end; i++) {
        out[i] = s;
        s = 1664525u * s + 1013904223u;
    }
}

extern "C" void grid_stride(unsigned *out, int n, unsigned seed) {
    if (n > 0) fill<<<min((n + THREADS - 1) / THREADS, MAX_BLOCKS), THREADS>>>(out, n, seed);
}
