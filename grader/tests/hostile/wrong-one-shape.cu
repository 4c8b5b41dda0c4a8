// WA | 24 | right only for multiples of the block size | are wrong
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<n / 256 + !(n / 256), 256>>>(out, in, n / 256 * 256);
}
