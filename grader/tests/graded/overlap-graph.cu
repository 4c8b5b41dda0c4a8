// Right: a captured graph with copies and kernels in parts.
// at first: 0 points, and modelled slower than the baseline
// expect: AC 90 100
// overlap: words come from the host's memory, are mixed on the device, and go back.

// TODO: the bus is used one way at a time, and stands still while the kernel runs. Cut the array into parts, whose copies and kernels
// overlap.
constexpr int ROUNDS = 64, THREADS = 256;

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
    cudaMalloc(&p, n * sizeof(unsigned));
    const int S = 4, PARTS = 10;
    cudaStream_t s[S];
    for (int k = 0; k < S; k++) cudaStreamCreateWithFlags(&s[k], cudaStreamNonBlocking);
    int part = ((n + PARTS - 1) / PARTS + 255) / 256 * 256;
    cudaStreamBeginCapture(s[0], cudaStreamCaptureModeThreadLocal);
    cudaEvent_t fork, join[S];
    cudaEventCreate(&fork);
    cudaEventRecord(fork, s[0]);
    for (int k = 1; k < S; k++) cudaStreamWaitEvent(s[k], fork, 0), cudaEventCreate(&join[k]);
    for (int f = 0, k = 0; f < n; f += part, k++) {
        int m = min(part, n - f);
        cudaStream_t q = s[k % S];
        cudaMemcpyAsync(p + f, in + f, m * 4, cudaMemcpyHostToDevice, q);
        mix<<<(m + THREADS - 1) / THREADS, THREADS, 0, q>>>(p + f, m);
        cudaMemcpyAsync(out + f, p + f, m * 4, cudaMemcpyDeviceToHost, q);
    }
    for (int k = 1; k < S; k++) cudaEventRecord(join[k], s[k]), cudaStreamWaitEvent(s[0], join[k], 0);
    cudaGraph_t graph; cudaGraphExec_t exec;
    cudaStreamEndCapture(s[0], &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, s[0]);
    for (int k = 0; k < S; k++) cudaStreamSynchronize(s[k]), cudaStreamDestroy(s[k]);
    cudaFree(p);
}
