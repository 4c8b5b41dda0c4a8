// PART | own | waits for a stream that isn't the one of its last command | synchronizing_calls is 1: not reached
__global__ void k(int *out, const int *in, int from, int n) {
    int i = from + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    cudaStream_t first, second;
    if (!n) return;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    k<<<(n + 511) / 512, 256, 0, first>>>(out, in, 0, n / 2);
    k<<<(n + 511) / 512, 256, 0, second>>>(out, in, n / 2, n);
    cudaStreamSynchronize(first);
}
