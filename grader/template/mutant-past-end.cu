// expect: RTE
// The loop reads and writes one element past the end.

__global__ void NAME_kernel(float *out, const float *in, int n) {
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i <= n; i += step) out[i] = 2 * in[i];
}

extern "C" void NAME(float *out, const float *in, int n) {
    if (n == 0) return;
    int blocks = (n + 256 * 16 - 1) / (256 * 16);
    NAME_kernel<<<blocks, 256>>>(out, in, n);
}
