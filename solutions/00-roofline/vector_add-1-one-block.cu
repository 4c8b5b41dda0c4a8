// Step 1: one block, whose threads go through all elements. Right for any n, and one SM works while all
// others rest.

__global__ void vector_add_kernel(float *out, const float *a, const float *b, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = a[i] + b[i];
}

extern "C" void vector_add(float *out, const float *a, const float *b, int n, int blocks) {
    vector_add_kernel<<<1, 256>>>(out, a, b, n); // not yet: `blocks` is ignored
}
