// expect: RTE|WA
// A warpgroup writes results where the other one's last products may still read.

#include <cstdio>
#include <cuda.h>
#include <cuda_fp16.h>

constexpr int BLOCK = 128, DEPTH = 64, THREADS = 256, BUFFERS = 6;
constexpr int ROWS = 64, COLS = 128;    // of a product: a warpgroup computes 64 rows of the tile, in all columns
constexpr int SUMS = ROWS * COLS / 128; // accumulators per thread

constexpr int WIDE = 32; // columns of a box of results: 128 bytes

struct pieces {
    half a[BLOCK * DEPTH], b[BLOCK * DEPTH];
};
static_assert(sizeof(pieces) == ROWS * COLS * sizeof(float), "a warpgroup's results take the place of a piece");
constexpr int BYTES = BUFFERS * sizeof(pieces);

// Returns the map of a matrix of rows x columns. Its boxes have rows of 128 bytes, the longest that the swizzle allows.
static CUtensorMap map_of(const void *matrix, CUtensorMapDataType type, unsigned bytes, int rows, int columns, unsigned tall) {
    alignas(64) CUtensorMap map;
    void *found = nullptr;
    cudaDriverEntryPointQueryResult result;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
    cuuint64_t size[] = {(cuuint64_t)columns, (cuuint64_t)rows}, pitch[] = {(cuuint64_t)columns * bytes};
    cuuint32_t box[] = {128 / bytes, tall}, every[] = {1, 1};
    CUresult encoded = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found)(
        &map, type, 2, const_cast<void *>(matrix), size, pitch, box, every, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
        CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (encoded != CUDA_SUCCESS) fprintf(stderr, "the driver refuses the map: error %d\n", encoded);
    return map;
}

__device__ unsigned place(const void *shared) { return (unsigned)__cvta_generic_to_shared(shared); }

// Requests the box that begins at (row, l). Rows below the last one arrive as zeros.
__device__ void copy(half *to, const CUtensorMap *map, int l, int row, unsigned long long *bar) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(place(to)),
                 "l"(map), "r"(l), "r"(row), "r"(place(bar))
                 : "memory");
}

// Stores the box that begins at (row, column). Rows and columns beyond the last ones stay away.
__device__ void store(const CUtensorMap *map, int column, int row, const float *from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(column), "r"(row),
                 "r"(place(from))
                 : "memory");
}

// Waits until the phase of this parity has ended.
__device__ void wait(unsigned long long *bar, int parity) {
    asm volatile("{\n.reg .pred ended;\nagain: mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n@!ended bra again;\n}" ::"r"(place(bar)),
                 "r"(parity)
                 : "memory");
}

// Rows of 128 bytes, eight rows in 1024 bytes, chunks swizzled: swizzle mode 1. Descriptors of addresses 16 bytes apart differ by one.
__device__ unsigned long long descriptor(const half *rows) {
    return (__cvta_generic_to_shared(rows) & 0x3ffff) >> 4 | 1ull << 16 | 1024ull / 16 << 32 | 1ull << 62;
}

#define FOUR(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)
// d += a * b, or d = a * b for the first product: 64 x 16 by 16 x 128. It reads both from shared memory, asynchronously.
__device__ void multiply(float (&d)[SUMS], unsigned long long a, unsigned long long b, int add) {
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, add, 1, 1, 0, 0;\n}"
                 : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)
                 : "l"(a), "l"(b), "r"(add));
}

// Waits for all products. It names the sums, so that the compiler uses none of them before.
__device__ void wait_for_products(float (&d)[SUMS]) {
    asm volatile("wgmma.wait_group.sync.aligned 0;" : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)::"memory");
}

// Writes a warpgroup's results as the copy unit reads boxes of 64 x 32: in rows of 128 bytes, swizzled. Lanes with an
// odd row write their columns in another order, so that the four rows that half a warp writes at once lie in different banks.
__device__ void write(float *results, const float (&sum)[SUMS]) {
    int lane = threadIdx.x % 32, row = threadIdx.x / 32 % 4 * 16 + lane / 4, odd = row % 2;
#pragma unroll
    for (int j = 0; j < COLS / 8; j++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float2 pair = odd ? make_float2(sum[4 * (j ^ 2) + 2 * h], sum[4 * (j ^ 2) + 2 * h + 1])
                              : make_float2(sum[4 * j + 2 * h], sum[4 * j + 2 * h + 1]);
            int col = (j ^ 2 * odd) * 8 + lane % 4 * 2, chunk = col % WIDE / 4 ^ row % 8; // 4 floats are a chunk
            *reinterpret_cast<float2 *>(&results[col / WIDE * ROWS * WIDE + (row + 8 * h) * WIDE + chunk * 4 + col % 4]) = pair;
        }
}

__global__ void __launch_bounds__(THREADS) scores(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
                                                  const __grid_constant__ CUtensorMap map_c, int count) {
    extern __shared__ __align__(1024) unsigned char memory[]; // the swizzle's pattern repeats from each multiple of 1024
    __shared__ unsigned long long arrived[BUFFERS];
    pieces *buffer = reinterpret_cast<pieces *>(memory);
    int top = blockIdx.y * BLOCK, left = blockIdx.x * BLOCK, group = threadIdx.x / 128, y = group * ROWS;
    float sum[SUMS];

    auto fetch = [&](int p) { // of one thread: announces the bytes, then requests both boxes
        unsigned long long *bar = &arrived[p % BUFFERS];
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(bar)), "n"(sizeof(pieces)) : "memory");
        copy(buffer[p % BUFFERS].a, &map_a, p * DEPTH, top, bar);
        copy(buffer[p % BUFFERS].b, &map_b, p * DEPTH, left, bar);
    };
    if (threadIdx.x == 0) {
        for (int p = 0; p < BUFFERS; p++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(place(&arrived[p])) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); // the copy unit sees them
        for (int p = 0; p < BUFFERS && p < count; p++) fetch(p);
    }
    for (int p = 0; p < count; p++) {
        if (threadIdx.x == 0) wait(&arrived[p % BUFFERS], p / BUFFERS % 2);
        __syncthreads(); // piece p is there, and all warps have waited for the product of piece p - 2
        if (threadIdx.x == 0 && p > 1 && p - 2 + BUFFERS < count) fetch(p - 2 + BUFFERS);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        unsigned long long da = descriptor(buffer[p % BUFFERS].a + y * DEPTH), db = descriptor(buffer[p % BUFFERS].b);
#pragma unroll
        for (int l = 0; l < 8; l += 2) multiply(sum, da + l, db + l, p > 0 || l > 0); // 16 steps of k are two chunks of 16 bytes
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory"); // the product of piece p - 1 is complete
    }
    wait_for_products(sum);

    float *results = reinterpret_cast<float *>(&buffer[(count + BUFFERS - 1 - group) % BUFFERS]);
    write(results, sum);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); // makes what the thread wrote visible to the copy unit
    asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory"); // the warpgroup's four warps have written
    if (threadIdx.x % 128 == 0) {
        for (int x = 0; x < COLS; x += WIDE) store(&map_c, left + x, top + y, results + x * ROWS);
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory"); // shared memory is needed until then
    }
}

extern "C" void warpgroup_tiles(float *c, const half *a, const half *b, int n, int m, int k) {
    if (n == 0 || m == 0) return;
    if (k == 0) { // a map can't describe an empty matrix
        cudaMemsetAsync(c, 0, sizeof(float) * n * m);
        return;
    }
    cudaFuncSetAttribute(scores, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES);
    dim3 grid((m + BLOCK - 1) / BLOCK, (n + BLOCK - 1) / BLOCK);
    scores<<<grid, THREADS, BYTES>>>(map_of(a, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, n, k, BLOCK),
                                     map_of(b, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, m, k, BLOCK),
                                     map_of(c, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, n, m, ROWS), k / DEPTH);
}
