// expect: PART
// The full grid is launched, and one block, most likely none of the sampled ones, does all of the work.

__global__ void k(float *o, const float *x, float a, float b, int n) {
    if (blockIdx.x != gridDim.x / 3 + 1 && gridDim.x > 2) return;
    for (int i = threadIdx.x; i < n; i += blockDim.x) o[i] = fmaxf(a * x[i] + b, 0.0f);
}

extern "C" void axpb_relu(float *out, const float *x, float a, float b, int n) {
    if (n > 0) k<<<(n + 1023) / 1024, 1024>>>(out, x, a, b, n);
}
