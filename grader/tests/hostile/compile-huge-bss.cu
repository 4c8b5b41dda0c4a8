// CE/RTE/MLE/AC | 38 | an array of a terabyte | 
char big[1ul << 40];
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    big[n] = 1;
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
