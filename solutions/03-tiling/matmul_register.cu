// matmul_register: the model solution. A block owns 128 x 64 elements of C, a thread 8 x 8 of them in registers.
// Tiles 8 deep are loaded with four floats per lane. The tile of A is stored transposed, so that a step of k
// reads vectors of both. While one pair of tiles is multiplied, the next one is loaded into registers.

constexpr int ROWS = 128, COLS = 64, DEPTH = 8, THREADS = 128;
constexpr int PAD = 4; // shifts each row of the transposed tile by 4 banks, which avoids bank conflicts of its stores

// WHOLE: all tiles lie inside the matrices, and rows are aligned. Otherwise each access is tested, and elements outside
// are zero.
template <bool WHOLE> __device__ float4 fetch(const float *matrix, int row, int col, int rows, int cols) {
    size_t at = (size_t)row * cols + col;
    if (WHOLE || (row < rows && col + 3 < cols && cols % 4 == 0)) return *reinterpret_cast<const float4 *>(matrix + at);
    float4 v = {0.0f, 0.0f, 0.0f, 0.0f};
    if (row >= rows) return v;
    if (col < cols) v.x = matrix[at];
    if (col + 1 < cols) v.y = matrix[at + 1];
    if (col + 2 < cols) v.z = matrix[at + 2];
    if (col + 3 < cols) v.w = matrix[at + 3];
    return v;
}

struct tiles {
    float a[DEPTH][ROWS + PAD], b[DEPTH][COLS]; // a is transposed: a[l] is a column
};

struct piece { // vectors that a thread loads of both
    float4 a[2], b;
};

// Two vectors are a row of A's tile, 16 a row of B's.
template <bool WHOLE>
__device__ piece fetch_piece(const float *a, const float *b, int start, int n, int k, int m) {
    int t = threadIdx.x, top = blockIdx.y * ROWS, left = blockIdx.x * COLS;
    piece p;
    p.a[0] = fetch<WHOLE>(a, top + t / 2, start + t % 2 * 4, n, k);
    p.a[1] = fetch<WHOLE>(a, top + t / 2 + ROWS / 2, start + t % 2 * 4, n, k);
    p.b = fetch<WHOLE>(b, start + t / 16, left + t % 16 * 4, k, m);
    return p;
}

__device__ void load8(float (&to)[8], const float *low, const float *high) {
    float4 l = *reinterpret_cast<const float4 *>(low), h = *reinterpret_cast<const float4 *>(high);
    to[0] = l.x, to[1] = l.y, to[2] = l.z, to[3] = l.w;
    to[4] = h.x, to[5] = h.y, to[6] = h.z, to[7] = h.w;
}

template <bool WHOLE> __device__ void store(float *matrix, int row, int col, int rows, int cols, float4 v) {
    float *p = matrix + (size_t)row * cols + col;
    if (!WHOLE && row >= rows) return;
    if (WHOLE || (col + 3 < cols && cols % 4 == 0)) {
        *reinterpret_cast<float4 *>(p) = v;
        return;
    }
    if (col < cols) p[0] = v.x;
    if (col + 1 < cols) p[1] = v.y;
    if (col + 2 < cols) p[2] = v.z;
    if (col + 3 < cols) p[3] = v.w;
}

__device__ void put(tiles &to, const piece &p) {
    int t = threadIdx.x, row = t / 2, col = t % 2 * 4;
#pragma unroll
    for (int i = 0; i < 2; i++, row += ROWS / 2) {
        to.a[col][row] = p.a[i].x;
        to.a[col + 1][row] = p.a[i].y;
        to.a[col + 2][row] = p.a[i].z;
        to.a[col + 3][row] = p.a[i].w;
    }
    *reinterpret_cast<float4 *>(&to.b[t / 16][t % 16 * 4]) = p.b;
}

// The bounds tests leave no registers for prefetching, so tiles are loaded when they are needed.
template <bool WHOLE>
__global__ void __launch_bounds__(THREADS, 4)
    matmul(float *__restrict__ c, const float *__restrict__ a, const float *__restrict__ b, int n, int k, int m) {
    __shared__ tiles tile;
    // A warp's 32 x 8 x 8 elements are 64 x 32 of the tile. Its lanes lie 8 x 4, in groups of 2 x 2 that share vectors.
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int down = lane / 8 * 2 + lane / 2 % 2, across = lane / 4 % 2 * 2 + lane % 2;
    int y = warp / 2 * 64 + down * 4, x = warp % 2 * 32 + across * 4; // and 32 rows, 16 columns further on
    int row = blockIdx.y * ROWS + y, col = blockIdx.x * COLS + x;

    float sum[8][8] = {};
    piece next;
    if (WHOLE && k > 0) next = fetch_piece<WHOLE>(a, b, 0, n, k, m);
    for (int start = 0; start < k; start += DEPTH) {
        if (!WHOLE) next = fetch_piece<WHOLE>(a, b, start, n, k, m);
        put(tile, next);
        __syncthreads();
        if (WHOLE && start + DEPTH < k) next = fetch_piece<WHOLE>(a, b, start + DEPTH, n, k, m);
#pragma unroll
        for (int l = 0; l < DEPTH; l++) {
            float column[8], line[8];
            load8(column, &tile.a[l][y], &tile.a[l][y + 32]);
            load8(line, &tile.b[l][x], &tile.b[l][x + 16]);
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) sum[i][j] += column[i] * line[j];
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < 8; i++) {
        int down = row + i % 4 + i / 4 * 32;
        store<WHOLE>(c, down, col, n, m, make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]));
        store<WHOLE>(c, down, col + 16, n, m, make_float4(sum[i][4], sum[i][5], sum[i][6], sum[i][7]));
    }
}

extern "C" void matmul_register(float *c, const float *a, const float *b, int n, int k, int m) {
    if (n == 0 || m == 0) return;
    dim3 grid((m + COLS - 1) / COLS, (n + ROWS - 1) / ROWS);
    if (n % ROWS == 0 && m % COLS == 0 && k % DEPTH == 0)
        matmul<true><<<grid, THREADS>>>(c, a, b, n, k, m);
    else
        matmul<false><<<grid, THREADS>>>(c, a, b, n, k, m);
}
