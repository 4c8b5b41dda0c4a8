// expect: PART shared_bytes
// Tiles of 8 x 32 in rows of 36 words: below the limit, although padded.

__global__ void k(int *out, const int *in, int rows, int cols) {
    __shared__ int t[8][36];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
    if (r < rows && c < cols) t[threadIdx.y][threadIdx.x] = in[(size_t)r * cols + c];
    __syncthreads();
    int x = threadIdx.x % 8, y = threadIdx.y * 4 + threadIdx.x / 8;
    c = blockIdx.x * 32 + y, r = blockIdx.y * 8 + x;
    if (r < rows && c < cols) out[(size_t)c * rows + r] = t[x][y];
}
extern "C" void swizzle(int *out, const int *in, int rows, int cols) { if (rows && cols) k<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(out, in, rows, cols); }
