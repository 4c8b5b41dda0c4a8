// cp.async stores the tile with bank conflicts.
// at first: modelled at less than half of the baseline's time
// expect: PART 0 20
// says: no bank conflicts
constexpr int TILE = 32, R = 8;
__global__ void t(int *out, const int *in, int rows, int cols) {
    __shared__ int tile[TILE][TILE];
    int c = blockIdx.x * TILE + threadIdx.x, r = blockIdx.y * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += R)
        if (r + k < rows && c < cols) {
            unsigned a = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x][threadIdx.y + k]);
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(a), "l"(in + (size_t)(r + k) * cols + c) : "memory");
        }
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    int oc = blockIdx.y * TILE + threadIdx.x, orow = blockIdx.x * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += R)
        if (oc < rows && orow + k < cols) out[(size_t)(orow + k) * rows + oc] = tile[threadIdx.y + k][threadIdx.x];
}
extern "C" void transpose_padded(int *out, const int *in, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    dim3 b(TILE, R), g((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    t<<<g, b>>>(out, in, rows, cols);
}
