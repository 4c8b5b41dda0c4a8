// expect: RTE
// Device d waits for its own part to leave, not for the others to arrive.

constexpr int DEVICES = 4, THREADS = 256;

// out = a + b; any two of them may be the same.
__global__ void add(float *out, const float *a, const float *b, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

struct worker {
    cudaStream_t sends, adds;
    cudaEvent_t sent[DEVICES], added; // sent[k]: the part for device k
    float *received;                  // a place for each device's part
};

static void make_worker(worker *w, int d, int each) {
    cudaSetDevice(d);
    for (cudaStream_t *s : {&w->sends, &w->adds}) cudaStreamCreateWithFlags(s, cudaStreamNonBlocking);
    for (cudaEvent_t &e : w->sent) cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&w->added, cudaEventDisableTiming);
    cudaMalloc(&w->received, DEVICES * each * sizeof(float));
}

extern "C" void all_reduce(float *out0, float *out1, float *out2, float *out3, const float *in0, const float *in1, const float *in2,
                           const float *in3, int n) {
    float *out[] = {out0, out1, out2, out3};
    const float *in[] = {in0, in1, in2, in3};
    if (n == 0) return;
    int each = ((n + DEVICES - 1) / DEVICES + 63) / 64 * 64; // a part; parts begin at multiples of 256 bytes
    worker w[DEVICES];
    for (int d = 0; d < DEVICES; d++) make_worker(&w[d], d, each);
    for (int step = 1; step < DEVICES; step++) // part k of all vectors goes to device k; in each step, each device sends and receives one
        for (int d = 0; d < DEVICES; d++) {
            int to = (d + step) % DEVICES, first = to * each, m = min(each, n - first);
            cudaSetDevice(d);
            if (m > 0) cudaMemcpyPeerAsync(w[to].received + d * each, to, in[d] + first, d, m * sizeof(float), w[d].sends);
            cudaEventRecord(w[d].sent[to], w[d].sends);
        }
    for (int d = 0; d < DEVICES; d++) {
        int first = d * each, m = min(each, n - first);
        cudaSetDevice(d);
        for (int step = 1; step < DEVICES; step++) {
            int from = (d + DEVICES - step) % DEVICES; // in the order in which they arrive
            cudaStreamWaitEvent(w[d].adds, w[d].sent[from]);
            if (m > 0)
                add<<<(m + THREADS - 1) / THREADS, THREADS, 0, w[d].adds>>>(out[d] + first, (step == 1 ? in[d] : out[d]) + first,
                                                                          w[d].received + from * each, m);
        }
        cudaEventRecord(w[d].added, w[d].adds);
        cudaStreamWaitEvent(w[d].sends, w[d].added);
    }
    for (int step = 1; step < DEVICES; step++)
        for (int d = 0; d < DEVICES; d++) {
            int to = (d + step) % DEVICES, first = d * each, m = min(each, n - first);
            cudaSetDevice(d);
            if (m > 0) cudaMemcpyPeerAsync(out[to] + first, to, out[d] + first, d, m * sizeof(float), w[d].sends);
        }
    for (worker &x : w) {
        for (cudaStream_t s : {x.sends, x.adds}) cudaStreamDestroy(s);
        cudaFree(x.received);
    }
}
