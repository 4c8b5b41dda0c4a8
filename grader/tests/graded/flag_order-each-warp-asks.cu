// Lane 0 of each warp acquires the flag, and the other lanes read without a __syncwarp().
// at first: AC: order followed warps, not lanes
// expect: RTE 0 0
// says: no __syncwarp() between line
#include <cuda/atomic>

// A block has a band of 256 rows of 32 columns. Thread (x, y) has column x of it, in the 32 rows of slice y.
constexpr int COLS = 32, SLICES = 8, EACH = 32, ROWS = SLICES * EACH;
constexpr int MAX_BLOCKS = 1 << 16;

using device_word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

__device__ unsigned ticket;              // how many blocks have started
__device__ unsigned is_full[MAX_BLOCKS]; // by block: 1 while its totals wait for the block below
__device__ unsigned totals[MAX_BLOCKS][COLS];

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

__device__ bool is_first_thread() { return threadIdx.x == 0 && threadIdx.y == 0; }

// Returns the block's number in the order of their starts: a block waits only for one that runs already, or has ended. The last
// one clears the ticket for the next call.
__device__ unsigned next_block() {
    __shared__ unsigned number;
    if (is_first_thread()) {
        number = device_word(ticket).fetch_add(1, cuda::memory_order_relaxed); // a number, and no message: no order is needed
        if (number == gridDim.x - 1) device_word(ticket).store(0, cuda::memory_order_relaxed);
    }
    __syncthreads();
    return number;
}

// Each warp waits for the message by its lane 0.
__device__ unsigned receive(unsigned block) {
    if (threadIdx.x == 0)
        while (!device_word(is_full[block]).load(cuda::memory_order_acquire)) {}
    unsigned word = totals[block][threadIdx.x];
    __syncthreads(); // all warps have seen the flag
    if (is_first_thread()) device_word(is_full[block]).store(0, cuda::memory_order_relaxed);
    return word;
}

__device__ void send(unsigned block, unsigned total) {
    if (threadIdx.y == SLICES - 1) totals[block][threadIdx.x] = total;
    __syncthreads(); // all words are written before the first thread releases
    if (is_first_thread()) device_word(is_full[block]).store(1, cuda::memory_order_release);
}

__global__ void add_up(unsigned *__restrict__ out, const unsigned *__restrict__ in, int rows, int cols, int groups) {
    int block = next_block(), band = block / groups;
    int first = band * ROWS + threadIdx.y * EACH, col = block % groups * COLS + threadIdx.x;
    unsigned x[EACH], total, sum = 0;
    load_rows(x, in, first, col, rows, cols);
    unsigned above = total_above(x, total);
    if (band > 0) sum = receive(block - groups);
    if ((band + 1) * ROWS < rows) send(block, sum + total);
    store_rows(x, out, first, col, rows, cols, sum + above);
}

extern "C" void flag_order(unsigned *out, const unsigned *in, int rows, int cols) {
    int groups = (cols + COLS - 1) / COLS, bands = (rows + ROWS - 1) / ROWS;
    if (groups * bands > 0) add_up<<<groups * bands, dim3(COLS, SLICES)>>>(out, in, rows, cols, groups);
}
