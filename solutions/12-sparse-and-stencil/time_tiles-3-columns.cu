// Step 3: a larger tile, 64 x 64, of which each thread has sixteen rows of a column in registers. Shared memory serves only neighbours in other threads.

constexpr int STEPS = 4, SIDE = 64, INNER = SIDE - 2 * STEPS; // of a launch; of a tile; of its part that is right at the end
constexpr int COLUMN = 16;                                    // rows of a thread

// An element after one step. Products by powers of two are exact, so only the order of the sums decides how it is rounded.
__device__ float flow(float here, float up, float down, float left, float right) {
    return here + 0.125f * ((up + down) + (left + right) - 4.0f * here);
}

__global__ void __launch_bounds__(SIDE *SIDE / COLUMN) several(float *__restrict__ next, const float *__restrict__ now, int rows, int cols,
                                                               int steps) {
    __shared__ float tile[2][SIDE][SIDE]; // before and after a step, in turn: one barrier for each step
    int tx = threadIdx.x, ty = threadIdx.y * COLUMN, x = blockIdx.x * INNER + tx - STEPS, y = blockIdx.y * INNER + ty - STEPS;
    bool flows = x > 0 && x < cols - 1 && tx > 0 && tx < SIDE - 1;
    float column[COLUMN];
#pragma unroll
    for (int k = 0; k < COLUMN; k++) {
        bool inside = x >= 0 && x < cols && y + k >= 0 && y + k < rows;
        column[k] = inside ? now[(size_t)(y + k) * cols + x] : 0.0f;
        tile[0][ty + k][tx] = column[k];
    }
    __syncthreads();
    for (int s = 0; s < steps; s++) {
        float(*t)[SIDE] = tile[s % 2], (*after)[SIDE] = tile[(s + 1) % 2];
        float up = ty > 0 ? t[ty - 1][tx] : 0.0f, below = ty + COLUMN < SIDE ? t[ty + COLUMN][tx] : 0.0f;
#pragma unroll
        for (int k = 0; k < COLUMN; k++) {
            float here = column[k], down = k + 1 < COLUMN ? column[k + 1] : below;
            if (flows && y + k > 0 && y + k < rows - 1) column[k] = flow(here, up, down, t[ty + k][tx - 1], t[ty + k][tx + 1]);
            after[ty + k][tx] = column[k];
            up = here;
        }
        __syncthreads();
    }
#pragma unroll
    for (int k = 0; k < COLUMN; k++) {
        bool right = tx >= STEPS && tx < SIDE - STEPS && ty + k >= STEPS && ty + k < SIDE - STEPS;
        if (right && x < cols && y + k < rows) next[(size_t)(y + k) * cols + x] = column[k];
    }
}

extern "C" void time_tiles(float *out, const float *in, int rows, int cols, int steps) {
    if (rows == 0 || cols == 0) return;
    dim3 blocks((cols + INNER - 1) / INNER, (rows + INNER - 1) / INNER), threads(SIDE, SIDE / COLUMN);
    float *other = nullptr;
    if (steps > STEPS) cudaMalloc(&other, (size_t)rows * cols * sizeof *other);
    const float *now = in;
    for (int left = (steps + STEPS - 1) / STEPS; left > 0; left--) { // launches; the last one writes to out
        float *next = left % 2 ? out : other;
        int some = min(STEPS, steps);
        several<<<blocks, threads>>>(next, now, rows, cols, some);
        now = next, steps -= some;
    }
    cudaFree(other);
}
