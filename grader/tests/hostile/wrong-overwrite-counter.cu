// RTE* | 19 | writes past the output, where an error counter might lie | past the end of `out`
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 0;
    if (!i) for (int j = n; j < n + 64; j++) out[j] = 0;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
