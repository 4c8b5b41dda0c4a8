// expect: RTE
// No kernel at all: the host reads and writes device memory.

__global__ void vector_add_kernel(float *__restrict__ out, const float *__restrict__ a,
                                  const float *__restrict__ b, int n) {
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) out[i] = a[i] + b[i];
}

extern "C" void vector_add(float *out, const float *a, const float *b, int n, int blocks) {
    for (int i = 0; i < n; i++) out[i] = a[i] + b[i];
}
