// expect: PART
// The first thread of a block jumps and leaves the state of each thread in shared memory; nobody loops.

constexpr int THREADS = 256;

__global__ void fill(unsigned *__restrict__ out, int n, unsigned seed) {
    __shared__ unsigned state[THREADS];
    if (threadIdx.x == 0) {
        unsigned a = 1664525u, c = 1013904223u, s = seed;
        for (unsigned steps = blockIdx.x * THREADS + 1; steps; steps >>= 1) {
            if (steps & 1) s = a * s + c;
            c += a * c, a *= a;
        }
        for (int k = 0; k < THREADS; k++, s = s * 1664525u + 1013904223u) state[k] = s;
    }
    __syncthreads();
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) out[i] = state[threadIdx.x];
}

extern "C" void grid_stride(unsigned *out, int n, unsigned seed) {
    if (n > 0) fill<<<(n + THREADS - 1) / THREADS, THREADS>>>(out, n, seed);
}
