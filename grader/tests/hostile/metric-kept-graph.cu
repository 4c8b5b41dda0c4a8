// PART | own | instantiates a graph of eight nodes in its first call, and gives it other arguments in each later one | instantiated_nodes is 8: not reached
__global__ void k(int *out, const int *in, int from, int n) {
    int i = from + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    static cudaGraphExec_t exec;
    static cudaGraphNode_t nodes[8];
    if (!n) return;
    int from[8], end[8], part = (n + 7) / 8;
    cudaGraph_t graph;
    if (!exec) cudaGraphCreate(&graph, 0);
    for (int i = 0; i < 8; i++) {
        from[i] = i * part, end[i] = from[i] + part < n ? from[i] + part : n;
        void *params[] = {&out, &in, &from[i], &end[i]};
        cudaKernelNodeParams p = {.func = (void *)k, .gridDim = dim3((part + 255) / 256), .blockDim = dim3(256), .kernelParams = params};
        if (exec) cudaGraphExecKernelNodeSetParams(exec, nodes[i], &p);
        else cudaGraphAddKernelNode(&nodes[i], graph, i ? &nodes[i - 1] : nullptr, i > 0, &p);
    }
    if (!exec) cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, 0);
}
