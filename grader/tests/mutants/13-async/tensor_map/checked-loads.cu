// expect: PART
// Each thread computes addresses and checks them.

constexpr int RADIUS = 4;

// Returns the blurred value of the element at w[RADIUS].
__device__ float blurred(const float *w) {
    constexpr float weight[] = {0.2041632f, 0.1801738f, 0.1238315f, 0.0662825f, 0.0276306f};
    float sum = weight[0] * w[RADIUS];
#pragma unroll
    for (int k = 1; k <= RADIUS; k++) sum += weight[k] * (w[RADIUS - k] + w[RADIUS + k]);
    return sum;
}

constexpr int ROWS = 64;               // rows of a block, one a thread
constexpr int COLS = 128;              // columns that a block reads
constexpr int OUT = COLS - 2 * RADIUS; // columns that it writes

__global__ void blur(float *__restrict__ out, const float *__restrict__ in, int height, int width) {
    __shared__ float tile[ROWS][COLS + 1]; // odd rows: neighbouring lanes read neighbouring rows
    int first = blockIdx.x * OUT, top = blockIdx.y * ROWS, y = top + threadIdx.x;
    for (int i = threadIdx.x; i < ROWS * COLS; i += ROWS) {
        int r = i / COLS, c = i % COLS, from = first - RADIUS + c;
        bool is_inside = top + r < height && from >= 0 && from < width;
        tile[r][c] = is_inside ? in[(size_t)(top + r) * width + from] : 0;
    }
    __syncthreads();
    if (y >= height) return;
    float window[2 * RADIUS + 1];
    for (int k = 0; k < 2 * RADIUS; k++) window[k] = tile[threadIdx.x][k];
#pragma unroll 9
    for (int c = 0; c < OUT; c++) {
        window[2 * RADIUS] = tile[threadIdx.x][c + 2 * RADIUS];
        if (first + c < width) out[(size_t)(first + c) * height + y] = blurred(window);
        for (int k = 0; k < 2 * RADIUS; k++) window[k] = window[k + 1];
    }
}

extern "C" void tensor_map(float *out, const float *in, int height, int width) {
    dim3 blocks((width + OUT - 1) / OUT, (height + ROWS - 1) / ROWS);
    if (width > 0 && height > 0) blur<<<blocks, ROWS>>>(out, in, height, width);
}
