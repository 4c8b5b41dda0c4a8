// By the functions of libcu++, cuda::ptx, in place of inline PTX.

#include <cstdio>
#include <cuda.h>
#include <cuda/ptx>

namespace ptx = cuda::ptx;

constexpr int RADIUS = 4;

// Returns the map of an image of height x width floats, whose boxes are `rows` x `cols`. The driver encodes it, and the
// runtime knows the driver's function.
static CUtensorMap map_of(const float *image, int height, int width, unsigned rows, unsigned cols,
                          CUtensorMapSwizzle swizzle) {
    alignas(64) CUtensorMap map;
    void *found = nullptr;
    cudaDriverEntryPointQueryResult result;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
    cuuint64_t size[] = {(cuuint64_t)width, (cuuint64_t)height}; // the innermost dimension comes first
    cuuint64_t pitch[] = {width * sizeof(float)};                // bytes from row to row: a multiple of 16
    cuuint32_t box[] = {cols, rows}, every[] = {1, 1};
    CUresult encoded = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found)(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, const_cast<float *>(image), size, pitch, box, every,
        CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (encoded != CUDA_SUCCESS) fprintf(stderr, "the driver refuses the map: error %d\n", encoded);
    return map;
}

// Returns the blurred value of the element at w[RADIUS].
__device__ float blurred(const float *w) {
    constexpr float weight[] = {0.2041632f, 0.1801738f, 0.1238315f, 0.0662825f, 0.0276306f};
    float sum = weight[0] * w[RADIUS];
#pragma unroll
    for (int k = 1; k <= RADIUS; k++) sum += weight[k] * (w[RADIUS - k] + w[RADIUS + k]);
    return sum;
}

// Stores the four results whose windows end at the last four elements of `window`, the first in column x.
__device__ void store(float *out, int height, int x, int y, const float *window) {
#pragma unroll
    for (int i = 0; i < 4; i++) out[(size_t)(x + i) * height + y] = blurred(window + i);
}

constexpr int ROWS = 64;                       // rows of a block, one a thread
constexpr int COLS = 32;                       // columns of a box: 128 bytes, as long as the swizzle allows
constexpr int BOXES = 4;                       // boxes of a block, side by side
constexpr int LEAD = 8;                        // columns before the first result: the radius, rounded up to a sector
constexpr int OUT = BOXES * COLS - 2 * LEAD;   // columns that a block writes

__global__ void blur(float *__restrict__ out, const __grid_constant__ CUtensorMap map, int height, int width) {
    __shared__ alignas(1024) float4 box[BOXES][ROWS][COLS / 4]; // the swizzle repeats each 1024 bytes
    __shared__ uint64_t bar[BOXES];
    int first = blockIdx.x * OUT, top = blockIdx.y * ROWS, y = top + threadIdx.x;
    int last = min(first + OUT, width);
    if (threadIdx.x == 0) {
        for (int b = 0; b < BOXES; b++) {
            int at[] = {first - LEAD + b * COLS, top};
            ptx::mbarrier_init(&bar[b], 1);
            ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar[b], sizeof box[b]);
            ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, box[b], &map, at, &bar[b]);
        }
    }
    __syncthreads(); // the mbarriers are initialized
    float window[4 + 2 * RADIUS] = {};
    for (int b = 0; b < BOXES; b++) {
        while (!ptx::mbarrier_try_wait_parity(&bar[b], 0)) {
        } // the other boxes are still in flight
#pragma unroll
        for (int c = 0; c < COLS / 4; c++) {
            float4 four = box[b][threadIdx.x][c ^ threadIdx.x % 8]; // the copy unit exchanges chunks of 16 bytes like this
            window[8] = four.x, window[9] = four.y, window[10] = four.z, window[11] = four.w;
            int x = first - LEAD - RADIUS + b * COLS + 4 * c; // the column of the first result that these four complete
            if (x >= first && x < last && y < height) store(out, height, x, y, window);
            for (int k = 0; k < 2 * RADIUS; k++) window[k] = window[k + 4];
        }
    }
}

extern "C" void tensor_map(float *out, const float *in, int height, int width) {
    dim3 blocks((width + OUT - 1) / OUT, (height + ROWS - 1) / ROWS);
    if (width > 0 && height > 0)
        blur<<<blocks, ROWS>>>(out, map_of(in, height, width, ROWS, COLS, CU_TENSOR_MAP_SWIZZLE_128B), height, width);
}
