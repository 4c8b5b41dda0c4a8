// expect: PART
// A thread for each column: nothing to pass on, and as few threads as columns.

constexpr int THREADS = 32;

__global__ void add_up(unsigned *__restrict__ out, const unsigned *__restrict__ in, int rows, int cols) {
    int col = blockIdx.x * THREADS + threadIdx.x;
    if (col >= cols) return;
    unsigned sum = 0;
#pragma unroll 32
    for (int r = 0; r < rows; r++) out[r * cols + col] = sum += in[r * cols + col];
}

extern "C" void flag_order(unsigned *out, const unsigned *in, int rows, int cols) {
    if (rows > 0 && cols > 0) add_up<<<(cols + THREADS - 1) / THREADS, THREADS>>>(out, in, rows, cols);
}
