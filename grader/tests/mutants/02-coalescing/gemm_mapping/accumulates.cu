// expect: RTE
// Adds to C, which was never initialized.

__global__ void gemm_kernel(float *__restrict__ c, const float *__restrict__ a, const float *__restrict__ b,
                            int n, int k, int m) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= m) return;

    float sum = 0.0f;
    for (int l = 0; l < k; l++) sum += a[(size_t)i * k + l] * b[(size_t)l * m + j];
    c[(size_t)i * m + j] += sum;
}

extern "C" void gemm_mapping(float *c, const float *a, const float *b, int n, int k, int m) {
    if (n == 0 || m == 0) return;
    dim3 block(32, 8);
    dim3 grid((m + block.x - 1) / block.x, (n + block.y - 1) / block.y);
    gemm_kernel<<<grid, block>>>(c, a, b, n, k, m);
}
