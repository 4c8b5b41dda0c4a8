// expect: WA
// The copies of the last key beyond the end have a weight.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>

constexpr int DIM = 64, CHUNK = 8, CHUNKS = DIM / CHUNK; // halves in 16 bytes
constexpr int WARPS = 4, QUERIES = 16 * WARPS, THREADS = 32 * WARPS, KEYS = 64, BUFFERS = 2;
constexpr unsigned ALL = 0xffffffff;

struct tiles {
    half keys[KEYS * DIM], values[KEYS * DIM];
};

// Returns the swizzled index of a 16-byte chunk of a row (see mma_swizzle).
__device__ int place(int row, int chunk) { return row * DIM + (chunk ^ row % CHUNKS) * CHUNK; }

__device__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ void load4(unsigned (&r)[4], const half *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((unsigned)__cvta_generic_to_shared(row))
                 : "memory");
}

// Loads each matrix transposed: values are stored by rows, and the product needs them by columns.
__device__ void load4_turned(unsigned (&r)[4], const half *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((unsigned)__cvta_generic_to_shared(row))
                 : "memory");
}

__device__ unsigned pack(float low, float high) {
    half2 both = __floats2half2_rn(low, high);
    return *reinterpret_cast<unsigned *>(&both);
}

// Starts copying the thread's part of a tile. Rows below the last one copy the last row again, and nothing reads them.
template <int ROWS> __device__ void send(half *tile, const half *from, int top, int n) {
#pragma unroll
    for (int i = 0; i < ROWS * CHUNKS / THREADS; i++) {
        int e = threadIdx.x + i * THREADS, row = e / CHUNKS, chunk = e % CHUNKS;
        __pipeline_memcpy_async(tile + place(row, chunk), from + (size_t)min(top + row, n - 1) * DIM + chunk * CHUNK, 16);
    }
}

// Turns the scores of a lane's two rows, h = 0 and 1, into weights. `out` and `sum` are relative to the maximum so far.
__device__ void weigh(float (&score)[KEYS / 8][4], float (&out)[DIM / 8][4], float (&most)[2], float (&sum)[2]) {
    const float SCALE = 0.125f * 1.44269504f; // 1 / 8, times log2(e), for exp2f
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float now = most[h];
#pragma unroll
        for (int j = 0; j < KEYS / 8; j++) now = fmaxf(now, fmaxf(score[j][2 * h], score[j][2 * h + 1]));
        now = fmaxf(now, __shfl_xor_sync(ALL, now, 1)); // four lanes hold a row
        now = fmaxf(now, __shfl_xor_sync(ALL, now, 2));
        float keep = exp2f((most[h] - now) * SCALE), shift = now * SCALE;
        most[h] = now;
        sum[h] *= keep;
#pragma unroll
        for (int j = 0; j < DIM / 8; j++) out[j][2 * h] *= keep, out[j][2 * h + 1] *= keep;
#pragma unroll
        for (int j = 0; j < KEYS / 8; j++)
#pragma unroll
            for (int e = 2 * h; e < 2 * h + 2; e++) {
                score[j][e] = exp2f(score[j][e] * SCALE - shift);
                sum[h] += score[j][e];
            }
    }
}

__global__ void __launch_bounds__(THREADS)
    attend(float *__restrict__ out, const half *__restrict__ q, const half *__restrict__ k,
           const half *__restrict__ v, int n) {
    __shared__ __align__(128) half queries[QUERIES * DIM];
    __shared__ __align__(128) tiles buffer[BUFFERS];
    size_t head = (size_t)blockIdx.y * n * DIM;
    int top = blockIdx.x * QUERIES, warp = threadIdx.x / 32, lane = threadIdx.x % 32, count = (n + KEYS - 1) / KEYS;
    auto fetch = [&](int t) {
        if (t < count) {
            send<KEYS>(buffer[t % BUFFERS].keys, k + head, t * KEYS, n);
            send<KEYS>(buffer[t % BUFFERS].values, v + head, t * KEYS, n);
        }
        __pipeline_commit(); // one copy group per tile, empty after the last tile
    };
    send<QUERIES>(queries, q + head, top, n);
    for (int t = 0; t < BUFFERS - 1; t++) fetch(t);

    unsigned query[DIM / 16][4];
    float sums[DIM / 8][4] = {}, most[2] = {-INFINITY, -INFINITY}, sum[2] = {};
    for (int t = 0; t < count; t++) {
        __pipeline_wait_prior(BUFFERS - 2); // tile t has arrived
        __syncthreads();                    // all threads' copies have arrived, and no thread reads tile t - 1 any more
        fetch(t + BUFFERS - 1);
        if (t == 0)
#pragma unroll
            for (int l = 0; l < DIM / 16; l++) load4(query[l], queries + place(warp * 16 + lane % 16, 2 * l + lane / 16));
        const tiles &now = buffer[t % BUFFERS];
        float score[KEYS / 8][4] = {};
#pragma unroll
        for (int l = 0; l < DIM / 16; l++)
#pragma unroll
            for (int j = 0; j < KEYS / 8; j += 2) {
                unsigned b[4];
                load4(b, now.keys + place(j * 8 + lane / 16 * 8 + lane % 8, 2 * l + lane / 8 % 2));
                multiply(score[j], query[l], b[0], b[1]);
                multiply(score[j + 1], query[l], b[2], b[3]);
            }
        if ((t + 1) * KEYS > n + KEYS) // keys past the end have weight 0
#pragma unroll
            for (int j = 0; j < KEYS / 8; j++)
#pragma unroll
                for (int e = 0; e < 4; e++)
                    if (t * KEYS + j * 8 + lane % 4 * 2 + e % 2 >= n) score[j][e] = -INFINITY;
        weigh(score, sums, most, sum);
#pragma unroll
        for (int l = 0; l < KEYS / 16; l++) { // 16 keys: two accumulator tiles form one 16 x 16 tile of the left matrix
            unsigned weight[4] = {pack(score[2 * l][0], score[2 * l][1]), pack(score[2 * l][2], score[2 * l][3]),
                                  pack(score[2 * l + 1][0], score[2 * l + 1][1]),
                                  pack(score[2 * l + 1][2], score[2 * l + 1][3])};
#pragma unroll
            for (int j = 0; j < DIM / 8; j += 2) {
                unsigned b[4];
                load4_turned(b, now.values + place(l * 16 + lane % 16, j + lane / 16));
                multiply(sums[j], weight, b[0], b[1]);
                multiply(sums[j + 1], weight, b[2], b[3]);
            }
        }
    }

#pragma unroll
    for (int h = 0; h < 2; h++) {
        sum[h] += __shfl_xor_sync(ALL, sum[h], 1);
        sum[h] += __shfl_xor_sync(ALL, sum[h], 2);
        float scale = 1.0f / sum[h];
        int row = top + warp * 16 + h * 8 + lane / 4;
        if (row < n)
#pragma unroll
            for (int j = 0; j < DIM / 8; j++)
                *reinterpret_cast<float2 *>(&out[head + (size_t)row * DIM + j * 8 + lane % 4 * 2]) =
                    make_float2(sums[j][2 * h] * scale, sums[j][2 * h + 1] * scale);
    }
}

extern "C" void attention(float *out, const half *q, const half *k, const half *v, int heads, int n) {
    if (heads == 0 || n == 0) return;
    attend<<<dim3((n + QUERIES - 1) / QUERIES, heads), THREADS>>>(out, q, k, v, n);
}
