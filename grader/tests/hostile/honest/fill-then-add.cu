// AC | - | fills the output, then adds to it | 
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] += in[i];
}
__global__ void ones(int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) ones<<<(n + 255) / 256, 256>>>(out, n);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
