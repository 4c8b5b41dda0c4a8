// AC | own | .incbin of the files that nvcc keeps beside its output | 
#ifndef __CUDA_ARCH__
asm(".pushsection .rodata\nkept: .incbin \"plus_one.ptx\"\n.incbin \"plus_one.fatbin\"\n.byte 0\n.popsection");
#endif
extern "C" const char kept[];
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (kept[0])    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
