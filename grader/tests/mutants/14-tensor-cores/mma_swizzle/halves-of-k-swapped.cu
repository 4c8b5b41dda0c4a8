// expect: WA
// The second and third matrix of a fragment of a are swapped.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>

constexpr int BLOCK = 128, DEPTH = 64, THREADS = 128, BUFFERS = 2;
constexpr int DOWN = 4, ACROSS = 8;  // a warp computes 64 x 64 elements: 4 x 8 tiles of 16 x 8
constexpr int CHUNK = 8, CHUNKS = 8; // halves in 16 bytes; 16-byte chunks in a row

struct pieces {
    half a[BLOCK * DEPTH], b[BLOCK * DEPTH];
};
constexpr int BYTES = BUFFERS * sizeof(pieces);

// Returns the index of a 16-byte chunk of a row.
__device__ int place(int row, int chunk) { return row * DEPTH + (chunk ^ row % CHUNKS) * CHUNK; }

// d += a * b on tensor cores: a is 16 x 16, b is 16 x 8, d is 16 x 8.
__device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Loads four 8 x 8 matrices: lane l supplies the address of row l % 8 of matrix l / 8 and receives its two elements of each.
__device__ void load4(unsigned &r0, unsigned &r1, unsigned &r2, unsigned &r3, const half *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
                 : "r"((unsigned)__cvta_generic_to_shared(row))
                 : "memory");
}

// Starts copying the thread's part of a piece. Rows below the last one copy the last row again, and nothing reads them.
__device__ void send(half *piece, const half *matrix, int top, int start, int rows, int k) {
#pragma unroll
    for (int i = 0; i < BLOCK * CHUNKS / THREADS; i++) {
        int e = threadIdx.x + i * THREADS, row = e / CHUNKS, chunk = e % CHUNKS;
        const half *from = matrix + (size_t)min(top + row, rows - 1) * k + start + chunk * CHUNK;
        __pipeline_memcpy_async(piece + place(row, chunk), from, 16);
    }
}

__global__ void __launch_bounds__(THREADS)
    scores(float *c, const half *__restrict__ a, const half *__restrict__ b, int n, int m, int k) {
    extern __shared__ __align__(128) unsigned char memory[];
    pieces *buffer = reinterpret_cast<pieces *>(memory);
    int top = blockIdx.y * BLOCK, left = blockIdx.x * BLOCK, warp = threadIdx.x / 32, count = k / DEPTH;
    int lane = threadIdx.x % 32, group = lane / 4, two = lane % 4 * 2; // a lane's row and its two columns in an 8 x 8 matrix
    int y = warp / 2 * DOWN * 16, x = warp % 2 * ACROSS * 8;
    float sum[DOWN][ACROSS][4] = {};

    auto fetch = [&](int p) {
        if (p < count) {
            send(buffer[p % BUFFERS].a, a, top, p * DEPTH, n, k);
            send(buffer[p % BUFFERS].b, b, left, p * DEPTH, m, k);
        }
        __pipeline_commit(); // one copy group per piece, empty after the last piece
    };
    for (int p = 0; p < BUFFERS - 1; p++) fetch(p);
    for (int p = 0; p < count; p++) {
        __pipeline_wait_prior(BUFFERS - 2); // piece p has arrived
        __syncthreads();                    // all threads' copies have arrived, and no thread reads piece p - 1 any more
        fetch(p + BUFFERS - 1);
        const pieces &now = buffer[p % BUFFERS];
#pragma unroll
        for (int l = 0; l < CHUNKS; l += 2) { // 16 steps of k are two chunks
            unsigned fa[DOWN][4], fb[ACROSS][2];
#pragma unroll
            for (int i = 0; i < DOWN; i++)
                load4(fa[i][0], fa[i][1], fa[i][2], fa[i][3], now.a + place(y + i * 16 + lane / 16 * 8 + lane % 8, l + lane / 8 % 2));
#pragma unroll
            for (int j = 0; j < ACROSS; j += 2)
                load4(fb[j][0], fb[j][1], fb[j + 1][0], fb[j + 1][1],
                      now.b + place(x + j * 8 + lane / 16 * 8 + lane % 8, l + lane / 8 % 2));
#pragma unroll
            for (int i = 0; i < DOWN; i++)
#pragma unroll
                for (int j = 0; j < ACROSS; j++) multiply(sum[i][j], fa[i], fb[j]);
        }
    }

#pragma unroll
    for (int i = 0; i < DOWN; i++)
#pragma unroll
        for (int j = 0; j < ACROSS; j++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                int row = top + y + i * 16 + h * 8 + group, col = left + x + j * 8 + two;
                if (row < n && col < m)
                    *reinterpret_cast<float2 *>(&c[(size_t)row * m + col]) =
                        make_float2(sum[i][j][2 * h], sum[i][j][2 * h + 1]);
            }
}

extern "C" void mma_swizzle(float *c, const half *a, const half *b, int n, int m, int k) {
    if (n == 0 || m == 0) return;
    cudaFuncSetAttribute(scores, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES);
    dim3 grid((m + BLOCK - 1) / BLOCK, (n + BLOCK - 1) / BLOCK);
    scores<<<grid, THREADS, BYTES>>>(c, a, b, n, m, k);
}
