/* The integer product of the published RTX 4090 rows: block j computes column j, thread i row i; straight to global
 * memory, with __restrict__, with a register, and with 32 × 32 tiles. */
extern "C" __global__ void gemm_plain(int *c, int *a, int *b, int n, int m, int k) {
    int i = threadIdx.x, j = blockIdx.x;
    for (int l = 0; l < k; l++) c[i * m + j] += a[i * k + l] * b[l * m + j];
}

/* The same as the published text describes its machine code: stored and loaded again at each step. Newer compilers
 * remember the value that they have just stored. */
extern "C" __global__ void gemm_reload(int *c, int *a, int *b, int n, int m, int k) {
    int i = threadIdx.x, j = blockIdx.x;
    for (int l = 0; l < k; l++) {
        c[i * m + j] += a[i * k + l] * b[l * m + j];
        asm volatile("" ::: "memory");
    }
}

extern "C" __global__ void gemm_restrict(int *__restrict__ c, const int *__restrict__ a, const int *__restrict__ b, int n, int m, int k) {
    int i = threadIdx.x, j = blockIdx.x;
    for (int l = 0; l < k; l++) c[i * m + j] += a[i * k + l] * b[l * m + j];
}

extern "C" __global__ void gemm_register(int *c, int *a, int *b, int n, int m, int k) {
    int i = threadIdx.x, j = blockIdx.x, sum = 0;
    for (int l = 0; l < k; l++) sum += a[i * k + l] * b[l * m + j];
    c[i * m + j] += sum;
}

extern "C" __global__ void gemm_tiled(int *c, const int *a, const int *b, int n, int m, int k) {
    __shared__ int as[32][32], bs[32][32];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 32 + y, column = blockIdx.x * 32 + x, sum = 0;
    for (int t = 0; t < k; t += 32) {
        as[y][x] = a[row * k + t + x];
        bs[y][x] = b[(t + y) * m + column];
        __syncthreads();
        for (int l = 0; l < 32; l++) sum += as[y][l] * bs[l][x];
        __syncthreads();
    }
    c[row * m + column] += sum;
}
