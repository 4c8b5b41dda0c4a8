// expect: RTE
// The kernel reads the host's memory itself.

constexpr int ROUNDS = 64, THREADS = 256;

__global__ void mix(unsigned *p, const unsigned *in, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    unsigned x = in[i];
    for (int r = 0; r < ROUNDS; r++) {
        x ^= x >> 16, x *= 0x7feb352du;
        x ^= x >> 15, x *= 0x846ca68bu;
    }
    p[i] = x;
}

extern "C" void overlap(unsigned *out, const unsigned *in, int n) {
    if (n == 0) return;
    unsigned *p;
    cudaMalloc(&p, n * sizeof *p);
    mix<<<(n + THREADS - 1) / THREADS, THREADS>>>(p, in, n);
    cudaMemcpyAsync(out, p, n * sizeof *p, cudaMemcpyDeviceToHost);
    cudaFree(p); // waits for the copies that read it
}
