// A graph in one stream and a kernel in another, on the same memory; a graph that records an event.
#include "../programs/check.h"

__global__ void add(int *p, int x) { p[threadIdx.x] += x; } // reported once: the kernel beside the graph

int main() {
    int *p;
    cudaStream_t one, two;
    cudaGraph_t graph;
    cudaGraphExec_t runs;
    CHECK(cudaMalloc(&p, 128));
    CHECK(cudaMemset(p, 0, 128));
    CHECK(cudaStreamCreate(&one));
    CHECK(cudaStreamCreate(&two));
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    add<<<1, 32, 0, one>>>(p, 1);
    add<<<1, 32, 0, one>>>(p, 2);
    CHECK(cudaStreamEndCapture(one, &graph));
    CHECK(cudaGraphInstantiate(&runs, graph, 0));
    CHECK(cudaGraphLaunch(runs, one));
    CHECK(cudaStreamSynchronize(one));
    add<<<1, 32, 0, two>>>(p, 4); // in order
    CHECK(cudaGraphLaunch(runs, two)); // in order
    CHECK(cudaStreamSynchronize(two));
    CHECK(cudaGraphLaunch(runs, one));
    add<<<1, 32, 0, two>>>(p, 8);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
