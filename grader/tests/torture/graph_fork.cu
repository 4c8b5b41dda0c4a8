// A capture that forks: the second branch reads what the first one still writes.
#include "../programs/check.h"

__global__ void set(int *p, int v) { p[threadIdx.x] = v; }

__global__ void use(const int *p, int *q) { q[threadIdx.x] = p[threadIdx.x]; } // reported

int main() {
    int *p, *q;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t runs;
    CHECK(cudaMalloc(&p, 128));
    CHECK(cudaMalloc(&q, 128));
    CHECK(cudaMemset(p, 0, 128));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));
    cudaStream_t one, two;
    CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
#ifndef FIXED
    CHECK(cudaEventRecord(fork, one));
    CHECK(cudaStreamWaitEvent(two, fork));
#endif
    set<<<1, 32, 0, one>>>(p, 1);
#ifdef FIXED
    CHECK(cudaEventRecord(fork, one));
    CHECK(cudaStreamWaitEvent(two, fork));
#endif
    use<<<1, 32, 0, two>>>(p, q);
    CHECK(cudaEventRecord(join, two));
    CHECK(cudaStreamWaitEvent(one, join));
    CHECK(cudaStreamEndCapture(one, &graph));
    CHECK(cudaGraphInstantiate(&runs, graph, 0));
    CHECK(cudaGraphLaunch(runs, one));
    SHOW(cudaDeviceSynchronize());
    return 0;
}
