// What lesson 12 shows of steps in time: a row of cells that change by a rule, with a launch for each step, and with four steps for a launch.
constexpr int CELLS = 248 * 256; // in a ring
constexpr int THREADS = 256, STEPS = 4, INNER = THREADS - 2 * STEPS;

__device__ int rule(int left, int cell, int right) { return left ^ (cell | right); }

extern "C" __global__ void one_step(int *next, const int *now) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    next[i] = rule(now[(i + CELLS - 1) % CELLS], now[i], now[(i + 1) % CELLS]);
}

extern "C" __global__ void four_steps(int *next, const int *now) {
    __shared__ int tile[2][THREADS];
    int t = threadIdx.x, i = (blockIdx.x * INNER + t - STEPS + CELLS) % CELLS;
    tile[0][t] = now[i]; // 248 cells, and four more on each side
    __syncthreads();
    for (int s = 1; s <= STEPS; s++) {
        int *before = tile[(s + 1) % 2], *after = tile[s % 2];
        if (t >= s && t < THREADS - s) after[t] = rule(before[t - 1], before[t], before[t + 1]);
        __syncthreads();
    }
    if (t >= STEPS && t < THREADS - STEPS) next[i] = tile[STEPS % 2][t]; // the 248 that are right
}

int main() {
    int *cells, *other;
    cudaMalloc(&cells, CELLS * sizeof *cells), cudaMalloc(&other, CELLS * sizeof *other);
    cudaMemset(cells, 0, CELLS * sizeof *cells);
    for (int s = 0; s < STEPS; s += 2) {
        one_step<<<CELLS / THREADS, THREADS>>>(other, cells);
        one_step<<<CELLS / THREADS, THREADS>>>(cells, other);
    }
    four_steps<<<CELLS / INNER, THREADS>>>(other, cells);
    return cudaDeviceSynchronize();
}
