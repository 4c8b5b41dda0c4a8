// Only the rows with an element wait at a second barrier.
// at first: not graded
// expect: RTE 0 0
// says: barrier
constexpr int TILE = 32;

__global__ void matmul(float *__restrict__ c, const float *__restrict__ a, const float *__restrict__ b, int n,
                       int k, int m) {
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
        if (row < n) __syncthreads(); // no thread may refill the tiles while another one reads them
    }
    if (row < n && col < m) c[(size_t)row * m + col] = sum;
}

extern "C" void matmul_tiled(float *c, const float *a, const float *b, int n, int k, int m) {
    if (n == 0 || m == 0) return;
    dim3 block(TILE, TILE);
    dim3 grid((m + TILE - 1) / TILE, (n + TILE - 1) / TILE);
    matmul<<<grid, block>>>(c, a, b, n, k, m);
}
