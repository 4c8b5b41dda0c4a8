// expect: WA
// exp(x) in place of exp(2 x).

constexpr int THREADS = 128; // keys of a block, one a thread
constexpr int QUERIES = 16;  // queries of a block
constexpr int DEPTH = 32;    // features in shared memory at a time; even

// Returns 1 / x with an error of one unit in the last place: one instruction, for x from 2^-126 to 2^126.
__device__ float reciprocal(float x) {
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

__global__ void compare(float *__restrict__ score, const float *__restrict__ query, const float *__restrict__ key,
                        const float *__restrict__ v, int n, int m, int d) {
    __shared__ float tile[DEPTH][QUERIES]; // a row: exp(2 x) of one feature of the block's queries
    __shared__ float2 weight[DEPTH / 2];
    int j = blockIdx.x * THREADS + threadIdx.x, first = blockIdx.y * QUERIES;
    float sum[QUERIES] = {}, all = 0; // the sums of v / (exp(2 x) + 1), and of v
    for (int from = 0; from < d; from += DEPTH) {
        int depth = min(DEPTH, d - from);
        for (int i = threadIdx.x; i < DEPTH * QUERIES; i += THREADS) {
            int q = i / DEPTH, k = i % DEPTH; // neighbouring threads read neighbouring features
            bool is_there = first + q < n && k < depth;
            tile[k][q] = is_there ? __expf(query[(size_t)(first + q) * d + from + k]) : 0;
        }
        if (threadIdx.x < DEPTH)
            reinterpret_cast<float *>(weight)[threadIdx.x] = threadIdx.x < depth ? v[from + threadIdx.x] : 0;
        __syncthreads();
        const float *row = key + (size_t)from * m + j;
        for (int k = 0; k < depth && j < m; k += 2, row += 2 * m) {
            float mine = __expf(row[0]), next = k + 1 < depth ? __expf(row[m]) : 0; // an odd last one has weight 0
            float2 w = weight[k / 2];
            all += w.x + w.y;
#pragma unroll
            for (int q = 0; q < QUERIES; q++) {
                float x = tile[k][q] * mine + 1, y = tile[k + 1][q] * next + 1;
                sum[q] += (w.x * y + w.y * x) * reciprocal(x * y); // w.x / x + w.y / y; x * y is below exp(80)
            }
        }
        __syncthreads();
    }
    for (int q = 0; q < QUERIES && j < m; q++)
        if (first + q < n) score[(size_t)(first + q) * m + j] = all - 2 * sum[q];
}

extern "C" void fast_math(float *score, const float *query, const float *key, const float *v, int n, int m, int d) {
    dim3 blocks((m + THREADS - 1) / THREADS, (n + QUERIES - 1) / QUERIES);
    if (n > 0 && m > 0) compare<<<blocks, THREADS>>>(score, query, key, v, n, m, d);
}
