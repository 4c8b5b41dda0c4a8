// CE/RTE/WA/AC | own | inline assembly that ends the kernel and begins another of the same name | 
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
    asm volatile("ret; }\n.visible .entry fewer() {\n ret;");
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
