// expect: RTE
// The memory is allocated in the first stream's order, and the others don't wait for that.

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
    cudaStream_t stream[STREAMS];
    for (cudaStream_t &s : stream) cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaMallocAsync(&p, n * sizeof *p, stream[0]);
    int each = ((n + PARTS - 1) / PARTS + THREADS - 1) / THREADS * THREADS; // a multiple of the block size, so that parts begin at a sector
    for (int first = 0, k = 0; first < n; first += each, k++) {
        int m = min(each, n - first);
        cudaStream_t s = stream[k % STREAMS];
        cudaMemcpyAsync(p + first, in + first, m * sizeof *p, cudaMemcpyHostToDevice, s);
        mix<<<(m + THREADS - 1) / THREADS, THREADS, 0, s>>>(p + first, m);
        cudaMemcpyAsync(out + first, p + first, m * sizeof *p, cudaMemcpyDeviceToHost, s);
    }
    for (cudaStream_t s : stream) cudaStreamDestroy(s);
    cudaFree(p);
}
