// A graph in the default stream has two nodes for the same words, and the program has no other stream.
// lesson: chapters/13-async/README.md, Streams and graphs
// expect: stream race
#include "../mistake.h"

__global__ void doubled(int *words) {
    words[threadIdx.x] *= 2; // reported
}

int main() {
    int *words = counting(64);
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaGraphNode_t first, second;
    void *arguments[] = {&words};
    cudaKernelNodeParams node = {};
    node.func = (void *)doubled;
    node.gridDim = dim3(1), node.blockDim = dim3(64), node.kernelParams = arguments;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddKernelNode(&first, graph, NULL, 0, &node));
#ifdef MISTAKE
    CHECK(cudaGraphAddKernelNode(&second, graph, NULL, 0, &node));
#else
    CHECK(cudaGraphAddKernelNode(&second, graph, &first, 1, &node));
#endif
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    CHECK(cudaGraphLaunch(ready, 0));
    CHECK(cudaDeviceSynchronize());
    EXPECT(element(words, 5) == 20);
    return 0;
}
