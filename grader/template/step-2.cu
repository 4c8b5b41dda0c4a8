// NAME, step 2: one thread for each element. The accesses are coalesced, but each thread computes
// its index for a single element.

__global__ void NAME_kernel(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * in[i];
}

extern "C" void NAME(float *out, const float *in, int n) {
    if (n == 0) return;
    NAME_kernel<<<(n + 255) / 256, 256>>>(out, in, n);
}
