// expect: WA
// One element a thread in a grid of the given size: the rest stays unwritten.

__global__ void vector_add_kernel(float *__restrict__ out, const float *__restrict__ a,
                                  const float *__restrict__ b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

extern "C" void vector_add(float *out, const float *a, const float *b, int n, int blocks) {
    vector_add_kernel<<<blocks, 256>>>(out, a, b, n);
}
