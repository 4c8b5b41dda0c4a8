// Step 4: six buffers. One is multiplied, four are filled, and the one between them may still be read by products that are under way.
// Addresses that are the same for all pieces are computed once.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>

constexpr int BLOCK = 128, DEPTH = 64, THREADS = 256, BUFFERS = 6;
constexpr int ROWS = 64, COLS = 128;    // of a product: a warpgroup computes 64 rows of the tile, in all columns
constexpr int CHUNK = 8, CHUNKS = 8;    // halves in 16 bytes; 16-byte chunks in a row
constexpr int SUMS = ROWS * COLS / 128; // accumulators per thread
constexpr int APART = THREADS / CHUNKS, COPIES = BLOCK / APART; // a thread copies a chunk of every 32nd row of a piece

struct pieces {
    half a[BLOCK * DEPTH], b[BLOCK * DEPTH];
};
constexpr int BYTES = BUFFERS * sizeof(pieces);

// Rows of 128 bytes, eight rows in 1024 bytes, chunks swizzled: swizzle mode 1. Descriptors of addresses 16 bytes apart differ by one.
__device__ unsigned long long descriptor(const half *rows) {
    return (__cvta_generic_to_shared(rows) & 0x3ffff) >> 4 | 1ull << 16 | 1024ull / 16 << 32 | 1ull << 62;
}

#define FOUR(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)
// d += a * b: 64 x 16 by 16 x 128. The product reads both from shared memory, asynchronously.
__device__ void multiply(float (&d)[SUMS], unsigned long long a, unsigned long long b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, 1, 1, 1, 0, 0;"
                 : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)
                 : "l"(a), "l"(b));
}

__global__ void __launch_bounds__(THREADS)
    scores(float *c, const half *__restrict__ a, const half *__restrict__ b, int n, int m, int k) {
    extern __shared__ __align__(1024) unsigned char memory[]; // the swizzle's pattern repeats from each multiple of 1024
    pieces *buffer = reinterpret_cast<pieces *>(memory);
    int top = blockIdx.y * BLOCK, left = blockIdx.x * BLOCK, count = k / DEPTH, y = threadIdx.x / 128 * ROWS;
    float sum[SUMS] = {};

    // Computes once, for all pieces, the source and destination of the thread's chunks. Rows below the last one copy the last row
    // again, and nothing reads them.
    int from = threadIdx.x / CHUNKS, chunk = threadIdx.x % CHUNKS, to = from * DEPTH + (chunk ^ from % CHUNKS) * CHUNK;
    const half *rows_a[COPIES], *rows_b[COPIES];
#pragma unroll
    for (int i = 0; i < COPIES; i++) {
        rows_a[i] = a + (size_t)min(top + from + i * APART, n - 1) * k + chunk * CHUNK;
        rows_b[i] = b + (size_t)min(left + from + i * APART, m - 1) * k + chunk * CHUNK;
    }
    auto fetch = [&](int p) {
        pieces &next = buffer[p % BUFFERS];
#pragma unroll
        for (int i = 0; i < COPIES && p < count; i++) {
            __pipeline_memcpy_async(next.a + to + i * APART * DEPTH, rows_a[i] + p * DEPTH, 16);
            __pipeline_memcpy_async(next.b + to + i * APART * DEPTH, rows_b[i] + p * DEPTH, 16);
        }
        __pipeline_commit(); // one copy group per piece, empty after the last piece
    };
    for (int p = 0; p < BUFFERS - 2; p++) fetch(p);
    for (int p = 0; p < count; p++) {
        __pipeline_wait_prior(BUFFERS - 3); // piece p has arrived
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); // and makes it visible to products
        __syncthreads(); // all threads' copies have arrived, and no product reads piece p - 2 any more
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        unsigned long long da = descriptor(buffer[p % BUFFERS].a + y * DEPTH), db = descriptor(buffer[p % BUFFERS].b);
#pragma unroll
        for (int l = 0; l < CHUNKS; l += 2) multiply(sum, da + l, db + l); // 16 steps of k are two chunks
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        fetch(p + BUFFERS - 2); // in the buffer of piece p - 2
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory"); // the product of piece p - 1 is complete
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");

    int lane = threadIdx.x % 32, row = top + y + threadIdx.x / 32 % 4 * 16 + lane / 4, col = left + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < COLS / 8; j++)
#pragma unroll
        for (int h = 0; h < 2; h++)
            if (row + h * 8 < n && col + j * 8 < m)
                *reinterpret_cast<float2 *>(&c[(size_t)(row + h * 8) * m + col + j * 8]) =
                    make_float2(sum[4 * j + 2 * h], sum[4 * j + 2 * h + 1]);
}

extern "C" void warpgroup_tiles(float *c, const half *a, const half *b, int n, int m, int k) {
    if (n == 0 || m == 0) return;
    cudaFuncSetAttribute(scores, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES);
    dim3 grid((m + BLOCK - 1) / BLOCK, (n + BLOCK - 1) / BLOCK);
    scores<<<grid, THREADS, BYTES>>>(c, a, b, n, m, k);
}
