// expect: WA
// The loop omits the last element.

__global__ void NAME_kernel(float *out, const float *in, int n) {
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n - 1; i += step) out[i] = 2 * in[i];
}

extern "C" void NAME(float *out, const float *in, int n) {
    if (n == 0) return;
    int blocks = (n + 256 * 16 - 1) / (256 * 16);
    NAME_kernel<<<blocks, 256>>>(out, in, n);
}
