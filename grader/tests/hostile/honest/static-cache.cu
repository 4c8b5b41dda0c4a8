// AC | - | keeps a launch configuration between calls | 
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    static int blocks, last;
    if (n != last) blocks = (n + 255) / 256, last = n;
    if (n) k<<<blocks, 256>>>(out, in, n);
}
