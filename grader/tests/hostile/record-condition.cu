// RTE | - | stores by cudaGraphSetConditional, which no limit on stores counts | cudaGraphConditionalHandleCreate did not return
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) cudaGraphSetConditional((cudaGraphConditionalHandle)(out + i), in[i] + 1);
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
