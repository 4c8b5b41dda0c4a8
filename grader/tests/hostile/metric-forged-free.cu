// RTE/WA | own | tells the device server that its temporary is free, and goes on using it | 
#include "forge.cuh"
__global__ void k(int *out, const int *in, int from, int n) {
    int i = from + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    struct {
        uint64_t address;
        uint32_t is_ordered, is_node;
    } q = {0, 1, 1};
    int *temporary;
    if (!n) return;
    cudaMallocAsync(&temporary, n * sizeof(int), 0);
    q.address = (uint64_t)temporary;
    ask(OP_free, &q, sizeof q);
    k<<<(n + 255) / 256, 256>>>(temporary, in, 0, n);
    cudaMemcpyAsync(out, temporary, n * sizeof(int), cudaMemcpyDeviceToDevice, 0);
}
