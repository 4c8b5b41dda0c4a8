// Graphs node by node: every kind, memory nodes, captured allocations, queries of a graph, new parameters, refused calls.
#include "check.h"

#include <cstring>

__global__ void add(int *p, int n, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += value;
}
__global__ void sum(const int *p, int n, int *out) {
    int s = 0;
    for (int i = 0; i < n; i++) s += p[i];
    *out = s;
}
__constant__ int scale[4];
__global__ void scaled(int *p) { p[threadIdx.x] = scale[threadIdx.x] * 10; }

static int calls;
static void CUDART_CB called(void *data) { calls += *(int *)data; }

static int launch(cudaGraphExec_t x, int *d) {
    int h = -1;
    CHECK(cudaGraphLaunch(x, 0));
    CHECK(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
    return h;
}

/* memset 0 -> add value to 64 -> sum, and a host function beside it */
static void by_hand(int *d, int *out) {
    cudaGraph_t g;
    cudaGraphNode_t fill, kernel, total, host;
    CHECK(cudaGraphCreate(&g, 0));
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeMemset;
    p.memset.dst = d, p.memset.elementSize = 4, p.memset.width = 64, p.memset.height = 1;
    CHECK(cudaGraphAddNode(&fill, g, nullptr, nullptr, 0, &p));
    int n = 64, value = 3, step = 5;
    void *args[] = {&d, &n, &value};
    p = {};
    p.type = cudaGraphNodeTypeKernel;
    p.kernel.func = (void *)add, p.kernel.gridDim = dim3(2), p.kernel.blockDim = dim3(32), p.kernel.kernelParams = args;
    CHECK(cudaGraphAddNode(&kernel, g, &fill, nullptr, 1, &p));
    cudaKernelNodeParams k = {};
    void *sum_args[] = {&d, &n, &out};
    k.func = (void *)sum, k.gridDim = dim3(1), k.blockDim = dim3(1), k.kernelParams = sum_args;
    CHECK(cudaGraphAddKernelNode(&total, g, &kernel, 1, &k));
    cudaHostNodeParams h = {called, &step};
    CHECK(cudaGraphAddHostNode(&host, g, nullptr, 0, &h));
    CHECK(cudaGraphAddDependencies(g, &total, &host, nullptr, 1));

    cudaGraphExec_t x;
    CHECK(cudaGraphInstantiate(&x, g, 0));
    int first = launch(x, out);
    printf("sum %d, calls %d\n", first, calls);

    size_t nodes = 0, edges = 0, roots = 0, before = 9, after = 9;
    CHECK(cudaGraphGetNodes(g, nullptr, &nodes));
    CHECK(cudaGraphGetRootNodes(g, nullptr, &roots));
    CHECK(cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &edges));
    cudaGraphNode_t from[9], to[9];
    CHECK(cudaGraphNodeGetDependencies(kernel, from, nullptr, &before));
    CHECK(cudaGraphNodeGetDependentNodes(kernel, to, nullptr, &after));
    printf("%zu nodes, %zu root, %zu edges; %zu before: %s, %zu after: %s\n", nodes, roots, edges, before,
           from[0] == fill ? "fill" : "?", after, to[0] == total ? "total" : "?");

    cudaKernelNodeParams got;
    CHECK(cudaGraphKernelNodeGetParams(kernel, &got));
    printf("kernel: grid %u, block %u, value %d\n", got.gridDim.x, got.blockDim.x, *(int *)got.kernelParams[2]);
    value = 4;
    got.kernelParams = args;
    CHECK(cudaGraphExecKernelNodeSetParams(x, kernel, &got));
    printf("executable changed: %d\n", launch(x, out));
    CHECK(cudaGraphKernelNodeGetParams(kernel, &got));
    printf("the graph not: value %d\n", *(int *)got.kernelParams[2]);

    cudaGraph_t clone;
    cudaGraphNode_t twin;
    CHECK(cudaGraphClone(&clone, g));
    CHECK(cudaGraphNodeFindInClone(&twin, kernel, clone));
    value = 7;
    cudaKernelNodeParams again = got;
    again.kernelParams = args;
    CHECK(cudaGraphKernelNodeSetParams(twin, &again));
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphExecUpdate(x, clone, &info));
    printf("updated: %d\n", launch(x, out));
    value = 1;
    CHECK(cudaGraphExecKernelNodeSetParams(x, kernel, &again));
    printf("by the first graph's node: %d\n", launch(x, out));
    CHECK(cudaGraphDestroyNode(twin));
    SHOW(cudaGraphExecUpdate(x, clone, &info));
    cudaGetLastError();
    CHECK(cudaGraphRemoveDependencies(g, &total, &host, nullptr, 1));
    CHECK(cudaGraphAddDependencies(g, &host, &fill, nullptr, 1));
    SHOW(cudaGraphAddDependencies(g, &host, &fill, nullptr, 1));
    CHECK(cudaGraphAddDependencies(g, &total, &host, nullptr, 1));
    cudaGraphExec_t circle;
    SHOW(cudaGraphInstantiate(&circle, g, 0));
    CHECK(cudaGraphDestroy(g));
    CHECK(cudaGraphDestroy(clone));
    CHECK(cudaGraphExecDestroy(x));
    printf("calls %d\n", calls);
}

/* alloc -> 3-D copy into it -> add -> copy out -> free */
static void memory_nodes(int *out) {
    cudaGraph_t g;
    cudaGraphNode_t alloc, in, kernel, back, release;
    int host[2][3][4], n = 24, value = 100;
    for (int i = 0; i < 24; i++) (&host[0][0][0])[i] = i;
    CHECK(cudaGraphCreate(&g, 0));
    cudaMemAllocNodeParams a = {};
    a.poolProps.allocType = cudaMemAllocationTypePinned;
    a.poolProps.location.type = cudaMemLocationTypeDevice;
    a.bytesize = sizeof host;
    CHECK(cudaGraphAddMemAllocNode(&alloc, g, nullptr, 0, &a));
    cudaMemcpy3DParms c = {};
    c.srcPtr = make_cudaPitchedPtr(host, 16, 4, 3), c.dstPtr = make_cudaPitchedPtr(a.dptr, 16, 4, 3);
    c.extent = make_cudaExtent(16, 3, 2), c.kind = cudaMemcpyHostToDevice;
    CHECK(cudaGraphAddMemcpyNode(&in, g, &alloc, 1, &c));
    void *args[] = {&a.dptr, &n, &value};
    cudaKernelNodeParams k = {};
    k.func = (void *)add, k.gridDim = dim3(1), k.blockDim = dim3(24), k.kernelParams = args;
    CHECK(cudaGraphAddKernelNode(&kernel, g, &in, 1, &k));
    CHECK(cudaGraphAddMemcpyNode1D(&back, g, &kernel, 1, out, (int *)a.dptr + 23, 4, cudaMemcpyDeviceToDevice));
    CHECK(cudaGraphAddMemFreeNode(&release, g, &back, 1, a.dptr));
    cudaGraphExec_t x;
    CHECK(cudaGraphInstantiate(&x, g, 0));
    printf("allocated in the graph: %d", launch(x, out));
    printf(" and again: %d\n", launch(x, out));
    unsigned long long used = 1;
    CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
    printf("used now %llu\n", used);
    CHECK(cudaGraphExecDestroy(x));
    CHECK(cudaGraphDestroy(g));
}

/* cudaMallocAsync and cudaFreeAsync of a captured stream */
static void captured(int *out) {
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphExec_t x;
    int *p = nullptr, *kept = nullptr;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CHECK(cudaMallocAsync(&p, 256, s));
    CHECK(cudaMemsetAsync(p, 0, 256, s));
    add<<<1, 64, 0, s>>>(p, 64, 2);
    sum<<<1, 1, 0, s>>>(p, 64, out);
    CHECK(cudaFreeAsync(p, s));
    CHECK(cudaMallocAsync(&kept, 256, s));
    CHECK(cudaMemsetAsync(kept, 1, 256, s));
    CHECK(cudaStreamEndCapture(s, &g));
    CHECK(cudaGraphInstantiate(&x, g, 0));
    printf("captured: %d\n", launch(x, out));
    int first = 0;
    CHECK(cudaMemcpy(&first, kept, 4, cudaMemcpyDeviceToHost));
    printf("kept: %x\n", first);
    SHOW(cudaGraphLaunch(x, s));
    CHECK(cudaFreeAsync(kept, s));
    SHOW(cudaGraphLaunch(x, s));
    CHECK(cudaFree(kept));
    cudaGetLastError();
    CHECK(cudaGraphExecDestroy(x));
    CHECK(cudaGraphInstantiate(&x, g, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    CHECK(cudaGraphLaunch(x, s));
    SHOW(cudaGraphLaunch(x, s));
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaFree(kept));
    CHECK(cudaGraphExecDestroy(x));
    CHECK(cudaGraphDestroy(g));

    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    SHOW(cudaMalloc(&p, 4));
    SHOW(cudaMemsetAsync(out, 0, 4, s));
    SHOW(cudaStreamEndCapture(s, &g));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    SHOW(cudaMalloc(&p, 4));
    SHOW(cudaStreamSynchronize(s));
    SHOW(cudaStreamEndCapture(s, &g));
    cudaStream_t blocking;
    CHECK(cudaStreamCreate(&blocking));
    CHECK(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed));
    SHOW(cudaMemset(out, 0, 4));
    SHOW(cudaStreamEndCapture(blocking, &g));
    cudaGetLastError();
}

static void symbols_and_children(int *out) {
    cudaGraph_t child, g;
    cudaGraphNode_t to, kernel, nested, from;
    int values[4] = {1, 2, 3, 4}, back = 0;
    CHECK(cudaGraphCreate(&child, 0));
    CHECK(cudaGraphAddMemcpyNodeToSymbol(&to, child, nullptr, 0, scale, values, 16, 0, cudaMemcpyHostToDevice));
    void *args[] = {&out};
    cudaKernelNodeParams k = {};
    k.func = (void *)scaled, k.gridDim = dim3(1), k.blockDim = dim3(4), k.kernelParams = args;
    CHECK(cudaGraphAddKernelNode(&kernel, child, &to, 1, &k));
    CHECK(cudaGraphCreate(&g, 0));
    CHECK(cudaGraphAddChildGraphNode(&nested, g, nullptr, 0, child));
    CHECK(cudaGraphAddMemcpyNodeFromSymbol(&from, g, &nested, 1, &back, scale, 4, 12, cudaMemcpyDeviceToHost));
    cudaGraphExec_t x;
    CHECK(cudaGraphInstantiate(&x, g, 0));
    values[0] = 9;
    printf("symbol: %d", launch(x, out));
    printf(", back %d\n", back);
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(nested, &type));
    printf("type %d\n", type);
    CHECK(cudaGraphExecDestroy(x));
    CHECK(cudaGraphDestroy(g));
    CHECK(cudaGraphDestroy(child));
}

int main() {
    int *d, *out;
    CHECK(cudaMalloc(&d, 256));
    CHECK(cudaMalloc(&out, 16));
    by_hand(d, out);
    memory_nodes(out);
    captured(out);
    symbols_and_children(out);
    return 0;
}
