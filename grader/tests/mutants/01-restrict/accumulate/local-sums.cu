// expect: PART
// Four partial sums in an array that the data indexes: it lives in local memory, and each step stores there.

__global__ void accumulate_kernel(int *__restrict__ c, const int *__restrict__ a, const int *__restrict__ b,
                                  int n, int k, int m) {
    int i = blockIdx.y * blockDim.x + threadIdx.x;
    int j = blockIdx.x;
    if (i >= n) return;

    const int *row = a + (size_t)i * k;
    int part[4] = {c[(size_t)i * m + j], 0, 0, 0};
    for (int l = 0; l < k; l++) part[row[l] & 3] += row[l] * b[(size_t)l * m + j];
    c[(size_t)i * m + j] = part[0] + part[1] + part[2] + part[3];
}

extern "C" void accumulate(int *c, const int *a, const int *b, int n, int k, int m) {
    if (n == 0 || m == 0) return;
    const int threads = 256;
    dim3 grid(m, (n + threads - 1) / threads);
    accumulate_kernel<<<grid, threads>>>(c, a, b, n, k, m);
}
