// expect: PART
// Each thread takes neighbouring elements for itself: a warp strides through memory.

__global__ void vector_add_kernel(float *__restrict__ out, const float *__restrict__ a,
                                  const float *__restrict__ b, int n) {
    int threads = gridDim.x * blockDim.x, t = blockIdx.x * blockDim.x + threadIdx.x;
    int chunk = (n + threads - 1) / threads;
    for (int i = t * chunk; i < n && i < (t + 1) * chunk; i++) out[i] = a[i] + b[i];
}

extern "C" void vector_add(float *out, const float *a, const float *b, int n, int blocks) {
    vector_add_kernel<<<blocks, 256>>>(out, a, b, n);
}
