// A block has a stretch of the sequence instead of every so many numbers of it, and its threads stride by the block.

constexpr int THREADS = 256, BLOCKS = 528;

struct map { // s -> a s + c
    unsigned a, c;
};

__host__ __device__ map map_of(unsigned steps) {
    map all = {1, 0}, power = {1664525u, 1013904223u};
    for (; steps; steps >>= 1) {
        if (steps & 1) all = {power.a * all.a, power.a * all.c + power.c};
        power = {power.a * power.a, power.a * power.c + power.c};
    }
    return all;
}

__global__ void fill(unsigned *__restrict__ out, int n, unsigned seed, map ahead) {
    int share = (n + BLOCKS - 1) / BLOCKS, begin = min(blockIdx.x * share, n), end = min(begin + share, n);
    int i = begin + threadIdx.x;
    map here = map_of(i + 1);
    unsigned s = here.a * seed + here.c;
#pragma unroll 4
    for (; i < end; i += THREADS) {
        out[i] = s;
        s = ahead.a * s + ahead.c;
    }
}

extern "C" void grid_stride(unsigned *out, int n, unsigned seed) {
    if (n > 0) fill<<<BLOCKS, THREADS>>>(out, n, seed, map_of(THREADS));
}
