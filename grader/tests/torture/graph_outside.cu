// A kernel that belongs to no graph launches one. (On an H100 the call succeeds, and the graph never runs.)
// nvcc: -rdc=true -arch=sm_90
#include "../programs/check.h"

__global__ void inner(int *p) { *p = 1; }
__global__ void outer(cudaGraphExec_t x) { cudaGraphLaunch(x, cudaStreamGraphFireAndForget); }

int main() {
    int *p, host = 0;
    CHECK(cudaMalloc(&p, sizeof *p));
    CHECK(cudaMemset(p, 0, sizeof *p));
    cudaGraph_t g;
    cudaGraphNode_t node;
    cudaGraphExec_t x;
    void *args[] = {&p};
    cudaKernelNodeParams k = {};
    k.func = (void *)inner, k.gridDim = k.blockDim = dim3(1), k.kernelParams = args;
    CHECK(cudaGraphCreate(&g, 0));
    CHECK(cudaGraphAddKernelNode(&node, g, nullptr, 0, &k));
    CHECK(cudaGraphInstantiate(&x, g, cudaGraphInstantiateFlagDeviceLaunch));
    CHECK(cudaGraphUpload(x, 0));
    outer<<<1, 1>>>(x);
    SHOW(cudaMemcpy(&host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d\n", host);
    return 0;
}
