// Step 3: tiles of 32 x 32 in shared memory, a thread an element: two shared loads a product.

constexpr int TILE = 32;

__device__ float blend(float sum, const float *old, float alpha, float beta) {
    return beta == 0.0f ? alpha * sum : alpha * sum + beta * *old; // if beta is 0, C is not read
}

__global__ void sgemm_kernel(float *c, const float *__restrict__ a, const float *__restrict__ b, int n, int k,
                             int m, float alpha, float beta) {
    __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int col = blockIdx.x * TILE + x;
    int row = blockIdx.y * TILE + y;

    float sum = 0.0f;
    for (int start = 0; start < k; start += TILE) {
        a_tile[y][x] = row < n && start + x < k ? a[(size_t)row * k + start + x] : 0.0f;
        b_tile[y][x] = start + y < k && col < m ? b[(size_t)(start + y) * m + col] : 0.0f;
        __syncthreads();
        for (int l = 0; l < TILE; l++) sum += a_tile[y][l] * b_tile[l][x];
        __syncthreads(); // no thread may refill the tiles while another one reads them
    }
    float *out = &c[(size_t)row * m + col];
    if (row < n && col < m) *out = blend(sum, out, alpha, beta);
}

extern "C" void sgemm(float *c, const float *a, const float *b, int n, int k, int m, float alpha,
                      float beta) {
    if (n == 0 || m == 0) return;
    dim3 block(TILE, TILE);
    dim3 grid((m + TILE - 1) / TILE, (n + TILE - 1) / TILE);
    sgemm_kernel<<<grid, block>>>(c, a, b, n, k, m, alpha, beta);
}
