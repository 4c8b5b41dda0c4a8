// Step 1: a kernel for the totals of each band, and one that reads each band again and adds what lies above it.

// A block has a band of 256 rows of 32 columns. Thread (x, y) has column x of it, in the 32 rows of slice y.
constexpr int COLS = 32, SLICES = 8, EACH = 32, ROWS = SLICES * EACH;

__device__ void load_rows(unsigned (&x)[EACH], const unsigned *in, int first, int col, int rows, int cols) {
#pragma unroll
    for (int k = 0; k < EACH; k++) x[k] = first + k < rows && col < cols ? in[(first + k) * cols + col] : 0;
}

// Stores the running totals of the thread's rows: those above them are `above`.
__device__ void store_rows(const unsigned (&x)[EACH], unsigned *out, int first, int col, int rows, int cols, unsigned above) {
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        above += x[k];
        if (first + k < rows && col < cols) out[(first + k) * cols + col] = above;
    }
}

// Returns the total of the thread's column in the slices above, and sets `total` to that of the whole band.
__device__ unsigned total_above(const unsigned (&x)[EACH], unsigned &total) {
    __shared__ unsigned sums[SLICES][COLS];
    unsigned sum = 0, above = 0;
#pragma unroll
    for (int k = 0; k < EACH; k++) sum += x[k];
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    total = 0;
    for (int y = 0; y < SLICES; y++) above += y < threadIdx.y ? sums[y][threadIdx.x] : 0, total += sums[y][threadIdx.x];
    return above;
}

constexpr int MAX_BLOCKS = 1 << 16;
__device__ unsigned totals[MAX_BLOCKS][COLS]; // by block: the total of each column of its band

__global__ void band_totals(const unsigned *__restrict__ in, int rows, int cols) {
    int first = blockIdx.y * ROWS + threadIdx.y * EACH, col = blockIdx.x * COLS + threadIdx.x;
    unsigned x[EACH], total;
    load_rows(x, in, first, col, rows, cols);
    total_above(x, total);
    if (threadIdx.y == 0) totals[blockIdx.y * gridDim.x + blockIdx.x][threadIdx.x] = total;
}

__global__ void add_up(unsigned *__restrict__ out, const unsigned *__restrict__ in, int rows, int cols) {
    int first = blockIdx.y * ROWS + threadIdx.y * EACH, col = blockIdx.x * COLS + threadIdx.x;
    unsigned x[EACH], total, sum = 0;
    for (int band = 0; band < blockIdx.y; band++) sum += totals[band * gridDim.x + blockIdx.x][threadIdx.x];
    load_rows(x, in, first, col, rows, cols);
    unsigned above = total_above(x, total);
    store_rows(x, out, first, col, rows, cols, sum + above);
}

extern "C" void flag_order(unsigned *out, const unsigned *in, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    dim3 grid((cols + COLS - 1) / COLS, (rows + ROWS - 1) / ROWS), block(COLS, SLICES);
    band_totals<<<grid, block>>>(in, rows, cols);
    add_up<<<grid, block>>>(out, in, rows, cols);
}
