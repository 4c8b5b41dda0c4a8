// Graphs: captured with a fork and a join, built by hand, changed, launched several times.
// stderr: the executable graph was destroyed
#include "check.h"

__global__ void plus(int *p, int n, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += value;
}
__global__ void sum(const int *a, const int *b, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] * 1000 + b[i];
}
static void CUDART_CB count(void *data) { ++*(int *)data; }

const int n = 100;

static int element(const int *p, int i) {
    int value;
    CHECK(cudaMemcpy(&value, p + i, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

int main() {
    int *a, *b, *out, host[n], calls = 0;
    for (int i = 0; i < n; i++) host[i] = i;
    CHECK(cudaMalloc(&a, sizeof host));
    CHECK(cudaMalloc(&b, sizeof host));
    CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMemset(out, 0, sizeof host));
    cudaStream_t s, side;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamCreate(&side));
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));

    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemcpyAsync(a, host, sizeof host, cudaMemcpyHostToDevice, s));
    CHECK(cudaEventRecord(fork, s));
    CHECK(cudaStreamWaitEvent(side, fork, 0));
    CHECK(cudaMemsetAsync(b, 0, sizeof host, side));
    plus<<<1, 128, 0, side>>>(b, n, 7);
    CHECK(cudaEventRecord(join, side));
    plus<<<1, 128, 0, s>>>(a, n, 2);
    CHECK(cudaStreamWaitEvent(s, join, 0));
    sum<<<1, 128, 0, s>>>(a, b, out, n);
    CHECK(cudaLaunchHostFunc(s, count, &calls));
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamIsCapturing(side, &status));
    printf("side stream captured: %d\n", status == cudaStreamCaptureStatusActive);
    CHECK(cudaStreamEndCapture(s, &graph));
    size_t nodes = 0, roots = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
    printf("%zu nodes, %zu root, nothing ran: %d %d\n", nodes, roots, element(out, 5), calls);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++) {
        host[5] = 5 + i * 10; // read when the graph runs
        CHECK(cudaGraphLaunch(exec, s));
        CHECK(cudaStreamSynchronize(s));
        printf("launch %d: %d, %d calls\n", i, element(out, 5), calls);
    }
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));

    cudaGraphNode_t fill, kernel, copy;
    cudaMemsetParams zero = {};
    zero.dst = a;
    zero.value = 0x01020304;
    zero.elementSize = 4;
    zero.width = n;
    zero.height = 1;
    int count_n = n, value = 1;
    void *args[] = {&a, &count_n, &value};
    cudaKernelNodeParams k = {};
    k.func = (void *)plus;
    k.gridDim = dim3(1);
    k.blockDim = dim3(128);
    k.kernelParams = args;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, host, a, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &zero));
    CHECK(cudaGraphAddKernelNode(&kernel, graph, &fill, 1, &k));
    value = 99; // too late: parameters are copied
    CHECK(cudaGraphAddDependencies(graph, &kernel, &copy, nullptr, 1));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    printf("by hand: %x\n", host[99]);
    value = 2;
    CHECK(cudaGraphExecKernelNodeSetParams(exec, kernel, &k));
    CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaStreamSynchronize(s));
    printf("changed: %x\n", host[0]);

    SHOW(cudaGraphExecDestroy(exec));
    SHOW(cudaGraphLaunch(exec, s));
    for (int joined = 0; joined < 2; joined++) { // the last kernel of the branch is waited for, or only the first
        CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
        CHECK(cudaEventRecord(fork, s));
        CHECK(cudaStreamWaitEvent(side, fork, 0));
        plus<<<1, 128, 0, side>>>(b, n, 1);
        if (!joined) CHECK(cudaEventRecord(join, side));
        plus<<<1, 128, 0, side>>>(b, n, 1);
        if (joined) CHECK(cudaEventRecord(join, side));
        CHECK(cudaStreamWaitEvent(s, join, 0));
        SHOW(cudaStreamEndCapture(s, &graph));
    }
    return 0;
}
