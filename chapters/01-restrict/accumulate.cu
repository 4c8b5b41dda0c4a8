// accumulate: C += A * B with integers; A is n x k, B is k x m, C is n x m, all row by row.
// One block per column j of C, one thread per row i.

__global__ void accumulate_kernel(int *c, const int *a, const int *b, int n, int k, int m) {
    int i = blockIdx.y * blockDim.x + threadIdx.x;
    int j = blockIdx.x;
    if (i >= n) return;

    // TODO: every turn of this loop sends the running sum to global memory. Let it do so once.
    for (int l = 0; l < k; l++) c[(size_t)i * m + j] += a[(size_t)i * k + l] * b[(size_t)l * m + j];
}

extern "C" void accumulate(int *c, const int *a, const int *b, int n, int k, int m) {
    if (n == 0 || m == 0) return; // an empty grid is a launch error
    const int threads = 256;
    dim3 grid(m, (n + threads - 1) / threads);
    accumulate_kernel<<<grid, threads>>>(c, a, b, n, k, m);
}
