// expect: PART
// Copies in parts, but one kernel for all of them.

constexpr int ROUNDS = 64, THREADS = 256, PARTS = 8, STREAMS = 4;

__global__ void mix(unsigned *p, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    unsigned x = p[i];
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
    int each = ((n + PARTS - 1) / PARTS + THREADS - 1) / THREADS * THREADS; // a multiple of the block size, so that parts begin at a sector
    cudaStream_t stream[STREAMS];
    for (cudaStream_t &s : stream) cudaStreamCreate(&s); // they wait for the default stream, and it for them
    for (int first = 0, k = 0; first < n; first += each, k++)
        cudaMemcpyAsync(p + first, in + first, min(each, n - first) * sizeof *p, cudaMemcpyHostToDevice, stream[k % STREAMS]);
    mix<<<(n + THREADS - 1) / THREADS, THREADS>>>(p, n);
    for (int first = 0, k = 0; first < n; first += each, k++)
        cudaMemcpyAsync(out + first, p + first, min(each, n - first) * sizeof *p, cudaMemcpyDeviceToHost, stream[k % STREAMS]);
    for (cudaStream_t s : stream) cudaStreamDestroy(s);
    cudaFree(p);
}
