// Two nodes of a graph work on the same words, and nothing makes the second depend on the first.
// lesson: chapters/13-async/README.md, Streams and graphs
// expect: stream race
#include "../mistake.h"

__global__ void make(int *p) { p[threadIdx.x] = threadIdx.x; }
__global__ void use(int *q, const int *p) { q[threadIdx.x] = 2 * p[threadIdx.x]; } // reported

int main() {
    int *p = zeros(64), *q = zeros(64);
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaGraphNode_t first, second;
    void *make_arguments[] = {&p}, *use_arguments[] = {&q, &p};
    cudaKernelNodeParams node = {};
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaGraphCreate(&graph, 0));
    node.gridDim = 1, node.blockDim = 64;
    node.func = (void *)make, node.kernelParams = make_arguments;
    CHECK(cudaGraphAddKernelNode(&first, graph, NULL, 0, &node));
    node.func = (void *)use, node.kernelParams = use_arguments;
#ifdef MISTAKE
    CHECK(cudaGraphAddKernelNode(&second, graph, NULL, 0, &node));
#else
    CHECK(cudaGraphAddKernelNode(&second, graph, &first, 1, &node));
#endif
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    CHECK(cudaGraphLaunch(ready, s));
    CHECK(cudaStreamSynchronize(s));
    EXPECT(element(q, 9) == 18);
    return 0;
}
