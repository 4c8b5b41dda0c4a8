// Graphs that kernels launch: alongside the current graph, after it, repeatedly; refused launches. Error codes are an H100's.
// nvcc: -rdc=true -arch=sm_90 -std=c++17
// On a GPU: nvcc -rdc=true -arch=sm_90 -std=c++17 graph_device.cu -o t -lcudadevrt && ./t
#include "check.h"

struct state {
    int sum, turns, codes[4], n, log[32];
    bool inside;
};
__device__ state at;

__device__ void write(int what) { at.log[atomicAdd(&at.n, 1)] = what; }
__global__ void add(int what) { atomicAdd(&at.sum, what); }
__global__ void note(int what) { write(what); }
__global__ void launches(cudaGraphExec_t a, cudaGraphExec_t b, cudaStream_t s) {
    at.inside = cudaGetCurrentGraphExec() != nullptr;
    at.codes[0] = cudaGraphLaunch(a, s);
    if (b) at.codes[1] = cudaGraphLaunch(b, s);
}
__global__ void again(int turns) {
    if (++at.turns < turns) at.codes[0] = cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}

static cudaGraph_t graph() {
    cudaGraph_t g;
    CHECK(cudaGraphCreate(&g, 0));
    return g;
}
template <class... A> static cudaGraphNode_t kernel(cudaGraph_t g, const cudaGraphNode_t *after, void (*f)(A...), A... args) {
    void *pointers[] = {&args...};
    cudaKernelNodeParams p = {};
    cudaGraphNode_t node;
    p.func = (void *)f, p.gridDim = p.blockDim = dim3(1), p.kernelParams = pointers;
    CHECK(cudaGraphAddKernelNode(&node, g, after, after != nullptr, &p));
    return node;
}
// Instantiates for the device, and uploads.
static cudaGraphExec_t on_device(cudaGraph_t g, bool upload = true) {
    cudaGraphExec_t x;
    CHECK(cudaGraphInstantiate(&x, g, cudaGraphInstantiateFlagDeviceLaunch));
    if (upload) CHECK(cudaGraphUpload(x, 0));
    CHECK(cudaDeviceSynchronize());
    return x;
}
template <class... A> static cudaGraphExec_t one(void (*f)(A...), A... args) {
    cudaGraph_t g = graph();
    kernel(g, nullptr, f, args...);
    return on_device(g);
}
static void begin() {
    static state zero;
    CHECK(cudaMemcpyToSymbol(at, &zero, sizeof zero));
}
static void tell(const char *what) {
    state s;
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpyFromSymbol(&s, at, sizeof s));
    printf("%-28s sum %d, turns %d, codes %d %d, %s a graph for the device, log", what, s.sum, s.turns, s.codes[0], s.codes[1], s.inside ? "inside" : "outside");
    for (int i = 0; i < s.n; i++) printf(" %d", s.log[i]);
    printf("\n");
}
static void launch(const char *what, cudaGraphExec_t x, int times = 1) {
    begin();
    for (int i = 0; i < times; i++) CHECK(cudaGraphLaunch(x, 0));
    tell(what);
}

int main() {
    cudaGraphExec_t ten = one(add, 10), three = one(add, 3), first = one(note, 1), second = one(note, 2), none = nullptr;
    launch("beside it", one(launches, ten, three, (cudaStream_t)cudaStreamGraphFireAndForget), 2);
    launch("beside it, as a sibling", one(launches, ten, none, (cudaStream_t)cudaStreamGraphFireAndForgetAsSibling));
    launch("behind it, twice the same", one(launches, ten, ten, (cudaStream_t)cudaStreamGraphTailLaunch));

    cudaGraph_t g = graph();
    cudaGraphNode_t node = kernel(g, nullptr, launches, first, second, (cudaStream_t)cudaStreamGraphTailLaunch);
    kernel(g, &node, note, 0);
    launch("behind it", on_device(g));
    cudaGraphExec_t inner = one(launches, first, none, (cudaStream_t)cudaStreamGraphTailLaunch);
    launch("behind what is behind it", one(launches, inner, second, (cudaStream_t)cudaStreamGraphTailLaunch));
    launch("over and over", one(again, 5));
    launch("over and over, two launches", one(again, 5), 2);

    cudaGraphExec_t plain;
    g = graph();
    kernel(g, nullptr, launches, ten, none, (cudaStream_t)cudaStreamGraphFireAndForget);
    CHECK(cudaGraphInstantiate(&plain, g, 0));
    launch("from another graph", plain);
    g = graph();
    kernel(g, nullptr, add, 7);
    launch("not uploaded", one(launches, on_device(g, false), none, (cudaStream_t)cudaStreamGraphFireAndForget));
    launch("another stream", one(launches, ten, none, (cudaStream_t)0));

    cudaGraphExec_t x;
    cudaGraph_t host = graph();
    cudaHostNodeParams h = {[](void *) {}, nullptr};
    CHECK(cudaGraphAddHostNode(&node, host, nullptr, 0, &h));
    SHOW(cudaGraphInstantiate(&x, host, cudaGraphInstantiateFlagDeviceLaunch));
    SHOW(cudaGraphInstantiate(&x, graph(), cudaGraphInstantiateFlagDeviceLaunch));
    unsigned long long flags;
    CHECK(cudaGraphExecGetFlags(ten, &flags));
    printf("flags %llu\n", flags);
    cudaGetLastError();
    return 0;
}
