// expect: RTE
// Block 0 of divide advances the round while other blocks still read it.
constexpr int THREADS = 256;

__global__ void multiply(float *__restrict__ y, const float *__restrict__ x, const float *shift, const int *round, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = 0.25f * x[max(i - 1, 0)] + 0.5f * x[i] + 0.25f * x[min(i + 1, n - 1)] + shift[*round] * x[i];
}

// Positive floats compare as their bits do.
__global__ void find(float *largest, const float *__restrict__ y, const int *round, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    unsigned bits = __reduce_max_sync(~0u, i < n ? __float_as_uint(y[i]) : 0u);
    if (threadIdx.x % 32 == 0) atomicMax((unsigned *)&largest[*round], bits);
}

__global__ void divide(float *__restrict__ x, const float *__restrict__ y, const float *largest, int *round, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) x[i] = y[i] / largest[*round];
    if (i == 0) ++*round;
}


extern "C" void graph_launch(float *x, float *largest, const float *shift, int n, int rounds) {
    if (rounds == 0) return;
    float *y;
    int *round;
    cudaStream_t stream; // the default stream can't be captured
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCreate(&stream);
    cudaMallocAsync(&y, n * sizeof(float), stream);
    cudaMallocAsync(&round, sizeof(int), stream);
    cudaMemsetAsync(largest, 0, rounds * sizeof(float), stream);
    cudaMemsetAsync(round, 0, sizeof(int), stream);

    int blocks = (n + THREADS - 1) / THREADS;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    multiply<<<blocks, THREADS, 0, stream>>>(y, x, shift, round, n);
    find<<<blocks, THREADS, 0, stream>>>(largest, y, round, n);
    divide<<<blocks, THREADS, 0, stream>>>(x, y, largest, round, n);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);

    for (int k = 0; k < rounds; k++) cudaGraphLaunch(exec, stream);
    cudaGraphExecDestroy(exec); // once its launches have ended
    cudaGraphDestroy(graph);
    cudaFreeAsync(round, stream);
    cudaFreeAsync(y, stream);
    cudaStreamDestroy(stream);
}
