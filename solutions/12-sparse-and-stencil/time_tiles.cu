// time_tiles: the model solution. A warp has a strip of 128 columns, four for each lane, and slides down. When it has loaded a row, it can take the
// row above it one step further, with that the row above that one two steps, and so on: eight steps after a row is loaded, the row eight above is
// done. Two rows of each step are in registers, and shuffles bring the neighbours left and right: no shared memory, no barrier.

constexpr int STEPS = 8;                                    // of a launch, at most
constexpr int WIDTH = 32 * 4, INNER = WIDTH - 2 * STEPS;    // columns of a strip, and those that are right at the end
constexpr int WARPS = 4, MIN_ROWS = 32, BLOCKS = 132 * 5;   // of a block; of a stretch; that run at the same time on an H100 or H200
constexpr unsigned ALL = 0xffffffff;

// An element after one step, if `part` is 1/8, or unchanged, if it is 0. Products by these are exact, so only the order of the sums decides how the
// result is rounded.
__device__ float flow(float part, float here, float up, float down, float left, float right) {
    return here + part * ((up + down) + (left + right) - 4.0f * here);
}

__device__ float4 flow4(float4 part, float4 here, float4 up, float4 down) {
    float left = __shfl_up_sync(ALL, here.w, 1), right = __shfl_down_sync(ALL, here.x, 1);
    return {flow(part.x, here.x, up.x, down.x, left, here.y), flow(part.y, here.y, up.y, down.y, here.x, here.z),
            flow(part.z, here.z, up.z, down.z, here.y, here.w), flow(part.w, here.w, up.w, down.w, here.z, right)};
}

// `cols` is in groups of four. Beyond `steps`, rows pass through unchanged.
__global__ void __launch_bounds__(32 * WARPS) several(float4 *__restrict__ next, const float4 *__restrict__ now, int rows, int cols, int stretch,
                                                      int steps) {
    int lane = threadIdx.x % 32, strip = blockIdx.x * WARPS + threadIdx.x / 32;
    int x = strip * (INNER / 4) - STEPS / 4 + lane, begin = blockIdx.y * stretch, end = min(begin + stretch, rows);
    if (strip * (INNER / 4) >= cols) return;
    bool inside = x >= 0 && x < cols, mine = inside && lane >= STEPS / 4 && lane < 32 - STEPS / 4;
    float part = inside ? 0.125f : 0.0f;
    float4 parts = {x == 0 ? 0.0f : part, part, part, x == cols - 1 ? 0.0f : part}; // elements at the edge don't change
    auto load = [&](int y) { return inside && y >= 0 && y < rows ? now[(size_t)y * cols + x] : float4{0.0f, 0.0f, 0.0f, 0.0f}; };

    float4 row[STEPS][2] = {}; // after k steps: the last two rows, at even and odd places
    float4 coming = load(begin - STEPS);
    for (int base = begin - STEPS; base < end + STEPS; base += 2) {
#pragma unroll
        for (int p = 0; p < 2; p++) { // two rows, so that the places have names
            float4 below = coming;
            coming = load(base + p + 1);
#pragma unroll
            for (int k = 0; k < STEPS; k++) { // `below` is row base + p - k, after k steps; the row above it takes one more
                int y = base + p - k - 1;
                float4 here = row[k][1 - p], after = here;
                if (k < steps && y > 0 && y < rows - 1) after = flow4(parts, here, row[k][p], below);
                row[k][p] = below, below = after;
            }
            int y = base + p - STEPS;
            if (mine && y >= begin && y < end) next[(size_t)y * cols + x] = below;
        }
    }
}

extern "C" void time_tiles(float *out, const float *in, int rows, int cols, int steps) {
    if (rows == 0 || cols == 0) return;
    int across = (cols + WARPS * INNER - 1) / (WARPS * INNER), down = max(1, BLOCKS / across);
    int stretch = max(MIN_ROWS, (rows + down - 1) / down); // each stretch loads 16 more rows
    dim3 blocks(across, (rows + stretch - 1) / stretch);
    float4 *other = nullptr;
    if (steps > STEPS) cudaMalloc(&other, (size_t)rows * cols * sizeof(float));
    const float4 *now = reinterpret_cast<const float4 *>(in);
    for (int left = (steps + STEPS - 1) / STEPS; left > 0; left--) { // launches; the last one writes to out
        float4 *next = left % 2 ? reinterpret_cast<float4 *>(out) : other;
        int some = min(STEPS, steps);
        several<<<blocks, 32 * WARPS>>>(next, now, rows, cols / 4, stretch, some);
        now = next, steps -= some;
    }
    cudaFree(other);
}
