// What lesson 13 shows of streams and graphs: parts of an array come in, are worked on, and go out, each in a stream of its own; a kernel
// waits for another stream's copy; and ten small kernels are launched one by one, and as one graph.
constexpr int PARTS = 4, PART = 4096, SMALL = 10;

extern "C" __global__ void work(float *p) { p[blockIdx.x * 256 + threadIdx.x] += 1.0f; }
extern "C" __global__ void small(float *p) { p[threadIdx.x] *= 0.5f; }

static void in_parts(float *host, float *dev, cudaStream_t *stream) {
    for (int k = 0; k < PARTS; k++) {
        float *h = host + k * PART, *d = dev + k * PART;
        cudaMemcpyAsync(d, h, PART * sizeof *d, cudaMemcpyHostToDevice, stream[k]);
        work<<<PART / 256, 256, 0, stream[k]>>>(d);               // behind its copy, beside other parts' copies
        cudaMemcpyAsync(h, d, PART * sizeof *d, cudaMemcpyDeviceToHost, stream[k]);
    }
    cudaDeviceSynchronize();
}

static void with_an_event(float *host, float *dev, cudaStream_t in, cudaStream_t out) {
    cudaEvent_t here;
    cudaEventCreateWithFlags(&here, cudaEventDisableTiming);
    cudaMemcpyAsync(dev, host, PART * sizeof *dev, cudaMemcpyHostToDevice, in);
    cudaEventRecord(here, in);                                    // a mark behind the copy
    cudaStreamWaitEvent(out, here, 0);                            // what `out` is given from now on waits for the mark
    work<<<PART / 256, 256, 0, out>>>(dev);
    cudaDeviceSynchronize();
    cudaEventDestroy(here);
}

static void as_a_graph(float *p, cudaStream_t stream) {
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);  // from here on nothing runs, all is written down
    for (int i = 0; i < SMALL; i++) small<<<1, 32, 0, stream>>>(p);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&ready, graph, 0);                       // checked and prepared once
    for (int step = 0; step < 3; step++) cudaGraphLaunch(ready, stream); // ten kernels, one call
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(ready), cudaGraphDestroy(graph);
}

int main() {
    float *host, *dev;
    cudaStream_t stream[PARTS];
    cudaMallocHost(&host, PARTS * PART * sizeof *host);           // memory that the GPU can copy from by itself
    cudaMalloc(&dev, PARTS * PART * sizeof *dev);
    for (int i = 0; i < PARTS * PART; i++) host[i] = 1.0f;
    for (cudaStream_t &s : stream) cudaStreamCreate(&s);
    in_parts(host, dev, stream);
    with_an_event(host, dev, stream[0], stream[1]);
    as_a_graph(dev, stream[0]);
    return cudaDeviceSynchronize();
}
