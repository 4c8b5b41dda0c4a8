// What lesson 13 shows of graphs: a step of a simulation with two branches, captured in two streams, and launched again and again. Its
// number is in device memory.
constexpr int N = 4096, STEPS = 50, BLOCKS = N / 256;

extern "C" __global__ void push(float *speed, const float *force, const int *step) { speed[blockIdx.x * 256 + threadIdx.x] += force[*step]; }
extern "C" __global__ void move(float *place, const float *speed) { place[blockIdx.x * 256 + threadIdx.x] += speed[blockIdx.x * 256 + threadIdx.x]; }
extern "C" __global__ void energy(float *sum, const float *speed, const int *step) {
    float v = speed[blockIdx.x * 256 + threadIdx.x], square = v * v;
    for (int d = 16; d; d /= 2) square += __shfl_xor_sync(~0u, square, d);
    if (threadIdx.x % 32 == 0) atomicAdd(&sum[*step], square);
}
extern "C" __global__ void next(int *step) { ++*step; }

static void capture(cudaGraph_t *graph, float *place, float *speed, float *sum, const float *force, int *step, cudaStream_t stream,
                    cudaStream_t other) {
    cudaEvent_t pushed, summed;
    cudaEventCreateWithFlags(&pushed, cudaEventDisableTiming), cudaEventCreateWithFlags(&summed, cudaEventDisableTiming);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    push<<<BLOCKS, 256, 0, stream>>>(speed, force, step);  // force[*step]: the kernel reads the number
    cudaEventRecord(pushed, stream);
    cudaStreamWaitEvent(other, pushed, 0);                 // `other` joins the capture ...
    energy<<<BLOCKS, 256, 0, other>>>(sum, speed, step);
    cudaEventRecord(summed, other);
    move<<<BLOCKS, 256, 0, stream>>>(place, speed);
    cudaStreamWaitEvent(stream, summed, 0);                // ... and `stream` waits for it
    next<<<1, 1, 0, stream>>>(step);                       // no kernel reads the number any more
    cudaStreamEndCapture(stream, graph);
    cudaEventDestroy(pushed), cudaEventDestroy(summed);
}

int main() {
    float *place, *speed, *sum, *force;
    int *step;
    cudaStream_t stream, other;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaMalloc(&place, N * sizeof *place), cudaMalloc(&speed, N * sizeof *speed);
    cudaMalloc(&sum, STEPS * sizeof *sum), cudaMalloc(&force, STEPS * sizeof *force), cudaMalloc(&step, sizeof *step);
    cudaStreamCreate(&stream), cudaStreamCreate(&other);
    cudaMemsetAsync(place, 0, N * sizeof *place, stream), cudaMemsetAsync(speed, 0, N * sizeof *speed, stream);
    cudaMemsetAsync(sum, 0, STEPS * sizeof *sum, stream), cudaMemsetAsync(force, 0, STEPS * sizeof *force, stream);
    cudaMemsetAsync(step, 0, sizeof *step, stream);
    capture(&graph, place, speed, sum, force, step, stream, other);
    cudaGraphInstantiate(&ready, graph, 0);
    for (int k = 0; k < STEPS; k++) cudaGraphLaunch(ready, stream);
    cudaGraphExecDestroy(ready), cudaGraphDestroy(graph);
    return cudaDeviceSynchronize();
}
