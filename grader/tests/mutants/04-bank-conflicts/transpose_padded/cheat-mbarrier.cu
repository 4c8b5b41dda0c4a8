// expect: PART
// An unpadded tile whose elements are mbarriers: 16 bits in the expected count, 16 in the bytes announced.

constexpr int SIDE = 32, STEP = 8;

// The arrivals expected are the low half and two: one is made to read, and the phase must not end.
__device__ void keep(unsigned place, unsigned value) {
    unsigned low = value % 65536u + 2u, high = value / 65536u;
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(place), "r"(low) : "memory");
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" : : "r"(place), "r"(high) : "memory");
}

__device__ int fetch(unsigned place) {
    unsigned long long state;
    asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 1;" : "=l"(state) : "r"(place) : "memory");
    unsigned low = (unsigned)(state % 1048576u) - 2u, high = (unsigned)(state >> 40);
    return (int)(high * 65536u + low);
}

__global__ void turn(int *__restrict__ out, const int *__restrict__ in, int rows, int cols) {
    __shared__ unsigned long long square[SIDE * SIDE];
    unsigned start = (unsigned)__cvta_generic_to_shared(square);
    int x = threadIdx.x, left = blockIdx.x * SIDE, top = blockIdx.y * SIDE;
    for (int y = threadIdx.y; y < SIDE; y += STEP)
        if (left + x < cols && top + y < rows)
            keep(start + 8 * (y * SIDE + x), (unsigned)in[(size_t)(top + y) * cols + left + x]);
    __syncthreads();
    for (int y = threadIdx.y; y < SIDE; y += STEP)
        if (top + x < rows && left + y < cols)
            out[(size_t)(left + y) * rows + top + x] = fetch(start + 8 * (x * SIDE + y));
}

extern "C" void transpose_padded(int *out, const int *in, int rows, int cols) {
    if (rows == 0 || cols == 0) return;
    dim3 grid((cols + SIDE - 1) / SIDE, (rows + SIDE - 1) / SIDE);
    turn<<<grid, dim3(SIDE, STEP)>>>(out, in, rows, cols);
}
