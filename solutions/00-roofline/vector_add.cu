// vector_add: the model solution. A grid-stride loop: any n, any grid; adjacent threads access adjacent elements.

__global__ void vector_add_kernel(float *__restrict__ out, const float *__restrict__ a,
                                  const float *__restrict__ b, int n) {
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) out[i] = a[i] + b[i];
}

extern "C" void vector_add(float *out, const float *a, const float *b, int n, int blocks) {
    vector_add_kernel<<<blocks, 256>>>(out, a, b, n);
}
