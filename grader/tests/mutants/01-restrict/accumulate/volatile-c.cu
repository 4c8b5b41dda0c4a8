// expect: PART
// C is volatile, so each step loads and stores it, with any qualifier.
__global__ void accumulate_kernel(volatile int *c, const int *a, const int *b, int n, int k, int m) {
    int i = blockIdx.y * blockDim.x + threadIdx.x;
    int j = blockIdx.x;
    if (i >= n) return;

    for (int l = 0; l < k; l++)
        c[(size_t)i * m + j] = c[(size_t)i * m + j] + a[(size_t)i * k + l] * b[(size_t)l * m + j];
}

extern "C" void accumulate(volatile int *c, const int *a, const int *b, int n, int k, int m) {
    if (n == 0 || m == 0) return;
    const int threads = 256;
    dim3 grid(m, (n + threads - 1) / threads);
    accumulate_kernel<<<grid, threads>>>(c, a, b, n, k, m);
}
