// expect: PART
// The structure is padded to five words, the rows are not: 160 words from row to row.

constexpr int TILE = 32, ROWS_AT_ONCE = 8;

struct pixel {
    float r, g, b, a, pad;
};

__global__ void transpose_kernel(float4 *__restrict__ out, const float4 *__restrict__ in, int rows,
                                 int cols) {
    __shared__ pixel tile[TILE][TILE];

    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += ROWS_AT_ONCE)
        if (col < cols && row + k < rows) {
            float4 v = in[(size_t)(row + k) * cols + col];
            pixel *p = &tile[threadIdx.y + k][threadIdx.x];
            p->r = v.x, p->g = v.y, p->b = v.z, p->a = v.w;
        }
    __syncthreads();

    int out_col = blockIdx.y * TILE + threadIdx.x;
    int out_row = blockIdx.x * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += ROWS_AT_ONCE)
        if (out_col < rows && out_row + k < cols) {
            const pixel *p = &tile[threadIdx.x][threadIdx.y + k];
            out[(size_t)(out_row + k) * rows + out_col] = make_float4(p->r, p->g, p->b, p->a);
        }
}

extern "C" void wide_types(float *out, const float *in, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    dim3 block(TILE, ROWS_AT_ONCE);
    dim3 grid((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    transpose_kernel<<<grid, block>>>((float4 *)out, (const float4 *)in, rows, cols);
}
