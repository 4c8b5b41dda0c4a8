// AC | - | a graph of all kinds of nodes: a copy from the host, fills of words and bytes, a child graph, memory, a node left out | 
__global__ void add(int *out, const int *in, const int *value, const int *zero, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + *value + zero[0] + zero[1];
}
__global__ void spoil(int *out) { *out = 77; }

extern "C" void plus_one(int *out, const int *in, int n) {
    static const int values[2] = {5, 1};
    if (!n) return;
    int *value, *zero;
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaMallocAsync(&value, sizeof *value, s);
    cudaMallocAsync(&zero, 2 * sizeof *zero, s);
    cudaGraph_t graph, child, other;
    cudaGraphExec_t exec;
    cudaGraphCreate(&graph, 0);
    cudaGraphCreate(&child, 0);
    cudaGraphCreate(&other, 0);
    void *params[] = {&out, &in, &value, &zero, &n}, *spoiled[] = {&out};
    cudaKernelNodeParams p = {.func = (void *)add, .gridDim = dim3((n + 255) / 256), .blockDim = dim3(256), .kernelParams = params};
    cudaKernelNodeParams q = {.func = (void *)spoil, .gridDim = dim3(1), .blockDim = dim3(1), .kernelParams = spoiled};
    cudaMemsetParams words = {.dst = zero, .pitch = 4, .value = 0, .elementSize = 4, .width = 1, .height = 1};
    cudaMemsetParams bytes = {.dst = zero + 1, .pitch = 4, .value = 0, .elementSize = 1, .width = 4, .height = 1};
    cudaGraphNode_t copy, fill, fill_bytes, inner, last, out_of_it;
    cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, value, values, sizeof *value, cudaMemcpyHostToDevice);
    cudaGraphAddMemsetNode(&fill, graph, &copy, 1, &words);
    cudaGraphAddMemsetNode(&fill_bytes, graph, &fill, 1, &bytes);
    cudaGraphAddKernelNode(&inner, child, nullptr, 0, &q);
    cudaGraphAddChildGraphNode(&last, graph, &fill_bytes, 1, child);
    cudaGraphAddKernelNode(&out_of_it, graph, &last, 1, &q);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphNodeSetEnabled(exec, out_of_it, 0);
    cudaGraphExecMemcpyNodeSetParams1D(exec, copy, value, values + 1, sizeof *value, cudaMemcpyHostToDevice);
    cudaGraphAddKernelNode(&inner, other, nullptr, 0, &p);
    cudaGraphExecChildGraphNodeSetParams(exec, last, other);
    cudaGraphLaunch(exec, s);
    cudaGraphLaunch(exec, s);
    cudaGraphExecDestroy(exec);
    cudaFreeAsync(value, s);
    cudaFreeAsync(zero, s);
}
