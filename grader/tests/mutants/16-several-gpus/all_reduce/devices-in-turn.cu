// expect: PART
// The host waits for each copy before it starts the next one.

constexpr int DEVICES = 4, THREADS = 256;

// out = a + b; any two of them may be the same.
__global__ void add(float *out, const float *a, const float *b, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

struct worker {
    cudaStream_t stream;
    cudaEvent_t sent;
    float *received; // a place for each step's part
};

extern "C" void all_reduce(float *out0, float *out1, float *out2, float *out3, const float *in0, const float *in1, const float *in2,
                                const float *in3, int n) {
    float *out[] = {out0, out1, out2, out3};
    const float *in[] = {in0, in1, in2, in3};
    if (n == 0) return;
    int each = ((n + DEVICES - 1) / DEVICES + 63) / 64 * 64; // a part; parts begin at multiples of 256 bytes
    worker w[DEVICES];
    for (int d = 0; d < DEVICES; d++) {
        cudaSetDevice(d);
        cudaStreamCreateWithFlags(&w[d].stream, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&w[d].sent, cudaEventDisableTiming);
        cudaMalloc(&w[d].received, (DEVICES - 1) * each * sizeof(float));
    }
    for (int step = 0; step < 2 * (DEVICES - 1); step++) {
        bool adds = step < DEVICES - 1; // then device d has the whole sum of part d + 1
        for (int d = 0; d < DEVICES; d++) {
            int next = (d + 1) % DEVICES, part = (d - step + 2 * DEVICES) % DEVICES, m = min(each, n - part * each);
            const float *from = (step == 0 ? in[d] : out[d]) + part * each;
            cudaSetDevice(d);
            if (m > 0)
                cudaMemcpyPeerAsync(adds ? w[next].received + step * each : out[next] + part * each, next, from, d, m * sizeof(float),
                                    w[d].stream);
            cudaEventRecord(w[d].sent, w[d].stream);
            cudaDeviceSynchronize();
        }
        for (int d = 0; d < DEVICES; d++) {
            int before = (d + DEVICES - 1) % DEVICES, part = (before - step + 2 * DEVICES) % DEVICES, m = min(each, n - part * each);
            cudaSetDevice(d);
            cudaStreamWaitEvent(w[d].stream, w[before].sent);
            if (adds && m > 0)
                add<<<(m + THREADS - 1) / THREADS, THREADS, 0, w[d].stream>>>(out[d] + part * each, in[d] + part * each,
                                                                            w[d].received + step * each, m);
        }
    }
    for (worker &x : w) cudaStreamDestroy(x.stream), cudaFree(x.received);
}
