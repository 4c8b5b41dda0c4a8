// expect: CE
// Uses an undeclared variable.
__global__ void accumulate_kernel(int *__restrict__ c, const int *__restrict__ a, const int *__restrict__ b,
                                  int n, int k, int m) {
    int i = blockIdx.y * blockDim.x + threadIdx.x;
    int j = blockIdx.x;
    if (i >= n) return;

    const int *row = a + (size_t)i * k;
    int sum = c[(size_t)i * m + j];
    for (int l = 0; l < k; l++) sum += row[l] * b[(size_t)l * m + j];
    c[(size_t)i * m + j] = total;
}

extern "C" void accumulate(int *c, const int *a, const int *b, int n, int k, int m) {
    if (n == 0 || m == 0) return;
    const int threads = 256;
    dim3 grid(m, (n + threads - 1) / threads);
    accumulate_kernel<<<grid, threads>>>(c, a, b, n, k, m);
}
