// CE/WA/RTE | 39 | #define away what the toolchain's headers use | 
#define cudaLaunchKernel(...) cudaSuccess
#define __cudaRegisterFatBinary(x) ((void **)0)
#define __global__
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    k(out, in, n);
}
