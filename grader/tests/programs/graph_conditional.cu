// Conditional nodes of graphs: while, if with and without else, switch; conditions with and without a default, in the body
// of another; two launches of the same graph; another graph's kernels for the same nodes.
// stderr: the program never called cudaGetLastError()
#include "check.h"

#include <cstdio>

__global__ void add(int *at, int what) { *at += what; }
__global__ void go_on(cudaGraphConditionalHandle h, int *count, int until) {
    cudaGraphSetConditional(h, ++*count < until);
}
__global__ void choose(cudaGraphConditionalHandle h, unsigned what) { cudaGraphSetConditional(h, what); }

static cudaGraphConditionalHandle condition(cudaGraph_t g, unsigned initial, unsigned flags) {
    cudaGraphConditionalHandle h;
    CHECK(cudaGraphConditionalHandleCreate(&h, g, initial, flags));
    return h;
}

static cudaGraph_t *conditional(cudaGraph_t g, const cudaGraphNode_t *after, cudaGraphConditionalHandle h,
                                cudaGraphConditionalNodeType type, unsigned size) {
    cudaGraphNodeParams p = {};
    cudaGraphNode_t node;
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.handle = h, p.conditional.type = type, p.conditional.size = size;
    CHECK(cudaGraphAddNode(&node, g, after, nullptr, after != nullptr, &p));
    cudaGraphNodeType is;
    CHECK(cudaGraphNodeGetType(node, &is));
    if (is != cudaGraphNodeTypeConditional) printf("another type: %d\n", (int)is);
    return p.conditional.phGraph_out;
}

static cudaGraphNode_t kernel(cudaGraph_t g, const cudaGraphNode_t *after, void *f, void **args) {
    cudaKernelNodeParams p = {};
    cudaGraphNode_t node;
    p.func = f, p.gridDim = p.blockDim = dim3(1), p.kernelParams = args;
    CHECK(cudaGraphAddKernelNode(&node, g, after, after != nullptr, &p));
    return node;
}

static void adds(cudaGraph_t g, int *at, int what) {
    void *args[] = {&at, &what};
    kernel(g, nullptr, (void *)add, args);
}

static void launch(cudaGraphExec_t x, const char *what, const int *at) {
    int v[2];
    CHECK(cudaGraphLaunch(x, 0));
    CHECK(cudaMemcpy(v, at, sizeof v, cudaMemcpyDeviceToHost));
    printf("%s: %d %d\n", what, v[0], v[1]);
}

static cudaGraphExec_t ready(cudaGraph_t g, int *at) {
    cudaGraphExec_t x;
    CHECK(cudaMemset(at, 0, 8));
    CHECK(cudaGraphInstantiate(&x, g, 0));
    return x;
}

// The body adds 10 and counts up to five; the second launch finds the count at five, so its body runs once.
static void loop(int *at, int step, cudaGraphExec_t update) {
    cudaGraph_t g;
    CHECK(cudaGraphCreate(&g, 0));
    cudaGraphConditionalHandle h = condition(g, 1, cudaGraphCondAssignDefault);
    cudaGraph_t body = conditional(g, nullptr, h, cudaGraphCondTypeWhile, 1)[0];
    int *count = at + 1, until = 5;
    void *first[] = {&at, &step}, *second[] = {&h, &count, &until};
    cudaGraphNode_t before = kernel(body, nullptr, (void *)add, first);
    kernel(body, &before, (void *)go_on, second);
    cudaGraphExecUpdateResultInfo info;
    cudaGraphExec_t x = update;
    if (update) CHECK(cudaGraphExecUpdate(update, g, &info));
    else x = ready(g, at);
    launch(x, "while", at), launch(x, "again", at);
    if (!update) loop(at, 100, x);
    if (!update) CHECK(cudaGraphExecDestroy(x));
    CHECK(cudaGraphDestroy(g));
}

// A kernel before the node chooses; `value` picks what is added to the first number.
static void branch(int *at, cudaGraphConditionalNodeType type, unsigned size, unsigned value) {
    cudaGraph_t g;
    CHECK(cudaGraphCreate(&g, 0));
    cudaGraphConditionalHandle h = condition(g, 0, 0);
    void *args[] = {&h, &value};
    cudaGraphNode_t before = kernel(g, nullptr, (void *)choose, args);
    cudaGraph_t *bodies = conditional(g, &before, h, type, size);
    for (unsigned i = 0; i < size; i++) adds(bodies[i], at, 1 + i);
    cudaGraphExec_t x = ready(g, at);
    CHECK(cudaGraphDestroy(g)); // what is executable stays
    launch(x, type == cudaGraphCondTypeIf ? "if" : "switch", at);
    CHECK(cudaGraphExecDestroy(x));
}

// An if inside a while, whose condition has a default: 1 for each launch, so it adds each time.
static void nested(int *at) {
    cudaGraph_t g;
    CHECK(cudaGraphCreate(&g, 0));
    cudaGraphConditionalHandle outer = condition(g, 1, cudaGraphCondAssignDefault);
    cudaGraph_t body = conditional(g, nullptr, outer, cudaGraphCondTypeWhile, 1)[0];
    cudaGraphConditionalHandle inner = condition(body, 1, cudaGraphCondAssignDefault);
    adds(conditional(body, nullptr, inner, cudaGraphCondTypeIf, 1)[0], at, 7);
    int *count = at + 1, until = 3;
    void *args[] = {&outer, &count, &until};
    kernel(body, nullptr, (void *)go_on, args);
    cudaGraphExec_t x = ready(g, at);
    launch(x, "nested", at);
    CHECK(cudaGraphExecDestroy(x));
    CHECK(cudaGraphDestroy(g));
}

// The body by capture, and no graph handed back.
static void captured(int *at) {
    cudaGraph_t g;
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaGraphCreate(&g, 0));
    cudaGraphConditionalHandle h = condition(g, 1, cudaGraphCondAssignDefault);
    cudaGraph_t body = conditional(g, nullptr, h, cudaGraphCondTypeWhile, 1)[0];
    CHECK(cudaStreamBeginCaptureToGraph(s, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, s>>>(at, 2);
    go_on<<<1, 1, 0, s>>>(h, at + 1, 4);
    CHECK(cudaStreamEndCapture(s, nullptr));
    cudaGraphExec_t x = ready(g, at);
    launch(x, "captured", at);
    CHECK(cudaGraphExecDestroy(x));
    CHECK(cudaGraphDestroy(g));
    CHECK(cudaStreamDestroy(s));
}

int main() {
    int *at;
    CHECK(cudaMalloc(&at, 8));
    loop(at, 10, nullptr);
    branch(at, cudaGraphCondTypeIf, 1, 0), branch(at, cudaGraphCondTypeIf, 1, 9);
    branch(at, cudaGraphCondTypeIf, 2, 0), branch(at, cudaGraphCondTypeIf, 2, 1);
    for (unsigned v = 0; v < 4; v++) branch(at, cudaGraphCondTypeSwitch, 3, v);
    nested(at);
    captured(at);
    cudaGraph_t g;
    cudaGraphNode_t node;
    cudaGraphNodeParams p = {};
    CHECK(cudaGraphCreate(&g, 0));
    p.type = cudaGraphNodeTypeConditional, p.conditional.handle = 12345, p.conditional.size = 1;
    printf("no handle: %s\n", cudaGetErrorName(cudaGraphAddNode(&node, g, nullptr, nullptr, 0, &p)));
    p.conditional.handle = condition(g, 0, 0), p.conditional.type = cudaGraphCondTypeWhile, p.conditional.size = 2;
    printf("a while of two bodies: %s\n", cudaGetErrorName(cudaGraphAddNode(&node, g, nullptr, nullptr, 0, &p)));
    CHECK(cudaGraphDestroy(g));
    CHECK(cudaFree(at));
}
