// AC | own | lowers a kernel's limit after the launch that needed it, and requests more than the device has | 
#include <sys/mman.h>
#include "forge.cuh"
__global__ void k(int *out, const int *in, int n) {
    extern __shared__ int s[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[20000 + threadIdx.x] = in[i < n ? i : 0];
    if (i < n) out[i] = s[20000 + threadIdx.x] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    uint64_t q[] = {1, 0}, most[] = {1, ~0ull};
    if (!n) return;
    cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 90000);
    k<<<(n + 255) / 256, 256, 90000>>>(out, in, n);
    ask(OP_kernel_limit, q, 16), ask(OP_kernel_limit, most, 16);
}
