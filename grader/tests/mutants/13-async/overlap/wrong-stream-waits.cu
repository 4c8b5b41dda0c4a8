// expect: RTE
// The stream that recorded the event waits for it.

constexpr int ROUNDS = 64, THREADS = 256, PARTS = 8;

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
    cudaStream_t ins, work, outs;
    cudaEvent_t here[PARTS], mixed[PARTS];
    cudaMalloc(&p, n * sizeof *p);
    for (cudaStream_t *s : {&ins, &work, &outs}) cudaStreamCreateWithFlags(s, cudaStreamNonBlocking);
    for (int k = 0; k < PARTS; k++) {
        cudaEventCreateWithFlags(&here[k], cudaEventDisableTiming);
        cudaEventCreateWithFlags(&mixed[k], cudaEventDisableTiming);
    }
    int each = ((n + PARTS - 1) / PARTS + THREADS - 1) / THREADS * THREADS; // a multiple of the block size, so that parts begin at a sector
    for (int first = 0, k = 0; first < n; first += each, k++) {
        int m = min(each, n - first);
        cudaMemcpyAsync(p + first, in + first, m * sizeof *p, cudaMemcpyHostToDevice, ins);
        cudaEventRecord(here[k], ins);
        cudaStreamWaitEvent(work, here[k], 0);
        mix<<<(m + THREADS - 1) / THREADS, THREADS, 0, work>>>(p + first, m);
        cudaEventRecord(mixed[k], work);
        cudaStreamWaitEvent(work, mixed[k], 0);
        cudaMemcpyAsync(out + first, p + first, m * sizeof *p, cudaMemcpyDeviceToHost, outs);
    }
    for (int k = 0; k < PARTS; k++) cudaEventDestroy(here[k]), cudaEventDestroy(mixed[k]);
    for (cudaStream_t s : {ins, work, outs}) cudaStreamDestroy(s);
    cudaFree(p);
}
