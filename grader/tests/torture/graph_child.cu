// A node beside a child graph writes what a node of the child writes.
#include "../programs/check.h"

__global__ void set(int *p, int v) { p[threadIdx.x] = v; } // reported

int main() {
    int *p;
    int one = 1, two = 2;
    cudaGraph_t graph;
    cudaGraphExec_t runs;
    cudaGraphNode_t first, second;
    cudaStream_t stream;
    CHECK(cudaMalloc(&p, 128));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaGraphCreate(&graph, 0));
    void *arguments[] = {&p, &one}, *others[] = {&p, &two};
    cudaKernelNodeParams k = {};
    k.func = (void *)set, k.gridDim = dim3(1), k.blockDim = dim3(32), k.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&first, graph, NULL, 0, &k));
    k.kernelParams = others;
    cudaGraph_t outer;
    cudaGraphNode_t child;
    CHECK(cudaGraphCreate(&outer, 0));
    CHECK(cudaGraphAddChildGraphNode(&child, outer, NULL, 0, graph));
#ifdef FIXED
    CHECK(cudaGraphAddKernelNode(&second, outer, &child, 1, &k));
#else
    CHECK(cudaGraphAddKernelNode(&second, outer, NULL, 0, &k));
#endif
    CHECK(cudaGraphInstantiate(&runs, outer, 0));
    CHECK(cudaGraphLaunch(runs, stream));
    SHOW(cudaDeviceSynchronize());
    return 0;
}
