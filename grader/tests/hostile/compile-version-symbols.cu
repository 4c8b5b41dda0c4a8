// AC/CE/RTE/WA | own | symbol versions and aliases over the runtime | 
extern "C" int mine(...) { return 0; }
#ifndef __CUDA_ARCH__
asm(".globl cudaMallocAsync_own\n.set cudaMallocAsync_own, mine\n.symver mine, cudaLaunchKernel@@V1, remove");
#endif
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
