// Step 3: all rounds are captured in one graph, which is launched once.

constexpr int THREADS = 256;

// Positive floats compare as their bits do.
__global__ void multiply(float *__restrict__ y, float *largest, const float *__restrict__ x, const float *shift, int k, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = 0.0f;
    if (i < n) y[i] = sum = 0.25f * x[max(i - 1, 0)] + 0.5f * x[i] + 0.25f * x[min(i + 1, n - 1)] + shift[k] * x[i];
    unsigned bits = __reduce_max_sync(~0u, __float_as_uint(sum));
    if (threadIdx.x % 32 == 0) atomicMax((unsigned *)largest + k, bits);
}

__global__ void divide(float *__restrict__ x, const float *__restrict__ y, const float *largest, int k, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) x[i] = y[i] / largest[k];
}

extern "C" void graph_launch(float *x, float *largest, const float *shift, int n, int rounds) {
    if (rounds == 0) return;
    float *y;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCreate(&stream);
    cudaMallocAsync(&y, n * sizeof(float), stream);
    cudaMemsetAsync(largest, 0, rounds * sizeof(float), stream);
    int blocks = (n + THREADS - 1) / THREADS;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    for (int k = 0; k < rounds; k++) {
        multiply<<<blocks, THREADS, 0, stream>>>(y, largest, x, shift, k, n);
        divide<<<blocks, THREADS, 0, stream>>>(x, y, largest, k, n);
    }
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, stream);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaFreeAsync(y, stream);
    cudaStreamDestroy(stream);
}
