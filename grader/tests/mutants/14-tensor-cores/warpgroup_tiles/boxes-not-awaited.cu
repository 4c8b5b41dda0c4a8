// expect: RTE|WA
// Multiplies pieces without waiting for their bytes.

#include <cstdio>
#include <cuda.h>
#include <cuda_fp16.h>

constexpr int BLOCK = 128, DEPTH = 64, THREADS = 256, BUFFERS = 6;
constexpr int ROWS = 64, COLS = 128;    // of a product: a warpgroup computes 64 rows of the tile, in all columns
constexpr int SUMS = ROWS * COLS / 128; // accumulators per thread

struct pieces {
    half a[BLOCK * DEPTH], b[BLOCK * DEPTH];
};
constexpr int BYTES = BUFFERS * sizeof(pieces);

// Returns the map of a matrix of rows x k halves. Its boxes are 128 rows of 128 bytes, the longest that the swizzle allows.
static CUtensorMap map_of(const half *matrix, int rows, int k) {
    alignas(64) CUtensorMap map;
    void *found = nullptr;
    cudaDriverEntryPointQueryResult result;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
    cuuint64_t size[] = {(cuuint64_t)k, (cuuint64_t)rows}, pitch[] = {k * sizeof(half)};
    cuuint32_t box[] = {DEPTH, BLOCK}, every[] = {1, 1};
    CUresult encoded = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found)(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, const_cast<half *>(matrix), size, pitch, box, every, CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
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
    scores(float *c, const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, int n, int m, int k) {
    extern __shared__ __align__(1024) unsigned char memory[]; // the swizzle's pattern repeats from each multiple of 1024
    __shared__ unsigned long long arrived[BUFFERS];
    pieces *buffer = reinterpret_cast<pieces *>(memory);
    int top = blockIdx.y * BLOCK, left = blockIdx.x * BLOCK, count = k / DEPTH, y = threadIdx.x / 128 * ROWS;
    float sum[SUMS] = {};

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
        wait(&arrived[0], 0);
    }
    __syncthreads(); // piece 0 is there
    for (int p = 0; p < count; p++) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        unsigned long long da = descriptor(buffer[p % BUFFERS].a + y * DEPTH), db = descriptor(buffer[p % BUFFERS].b);
#pragma unroll
        for (int l = 0; l < 8; l += 2) multiply(sum, da + l, db + l); // 16 steps of k are two chunks of 16 bytes
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory"); // the product of piece p - 1 is complete
        __syncthreads(); // piece p + 1 is there, and all warps have waited for the product of piece p - 1
        if (threadIdx.x == 0 && p > 0 && p - 1 + BUFFERS < count) fetch(p - 1 + BUFFERS);
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
    if (k == 0) { // a map can't describe an empty matrix
        cudaMemsetAsync(c, 0, sizeof(float) * n * m);
        return;
    }
    cudaFuncSetAttribute(scores, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES);
    dim3 grid((m + BLOCK - 1) / BLOCK, (n + BLOCK - 1) / BLOCK);
    scores<<<grid, THREADS, BYTES>>>(c, map_of(a, n, k), map_of(b, m, k), n, m, k);
}
