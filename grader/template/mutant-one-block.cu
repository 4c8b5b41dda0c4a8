// expect: WA
// It computes only the first block's elements, because it ignores blockIdx and has no loop.

__global__ void NAME_kernel(float *out, const float *in, int n) {
    int step = gridDim.x * blockDim.x;
    int i = threadIdx.x;
    if (i < n && step) out[i] = 2 * in[i];
}

extern "C" void NAME(float *out, const float *in, int n) {
    if (n == 0) return;
    int blocks = (n + 256 * 16 - 1) / (256 * 16);
    NAME_kernel<<<blocks, 256>>>(out, in, n);
}
