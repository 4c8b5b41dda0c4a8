// AC | - | few blocks in a grid-stride loop | 
__global__ void k(int *out, const int *in, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256 < 528 ? (n + 255) / 256 : 528, 256>>>(out, in, n);
}
