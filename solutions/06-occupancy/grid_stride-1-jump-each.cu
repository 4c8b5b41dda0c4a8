// Step 1: a thread a number; each one jumps to its own place in the sequence.

constexpr unsigned MULTIPLY = 1664525u, ADD = 1013904223u; // one step: s becomes MULTIPLY s + ADD
constexpr int THREADS = 256;

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
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) out[i] = jump(seed, i + 1);
}

extern "C" void grid_stride(unsigned *out, int n, unsigned seed) {
    if (n > 0) fill<<<(n + THREADS - 1) / THREADS, THREADS>>>(out, n, seed);
}
