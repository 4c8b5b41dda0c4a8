// Step 2: a thread for each element. All SMs work; the grid depends on n, and each thread is set up for one
// addition.

__global__ void vector_add_kernel(float *out, const float *a, const float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

extern "C" void vector_add(float *out, const float *a, const float *b, int n, int blocks) {
    if (n == 0) return;                                        // an empty grid is a launch error
    vector_add_kernel<<<(n + 255) / 256, 256>>>(out, a, b, n); // not yet: `blocks` is ignored
}
