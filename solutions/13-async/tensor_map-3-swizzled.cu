// Step 3: four boxes side by side, each as narrow as the swizzle of 128 bytes allows: no bank conflicts.

#include <cstdio>
#include <cuda.h>

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

__device__ unsigned place(const void *shared) { return (unsigned)__cvta_generic_to_shared(shared); }

// The thread that calls it prepares the mbarrier for some arrivals a phase, and makes it visible to the copy unit.
__device__ void init(unsigned long long *bar, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place(bar)), "r"(arrivals) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Arrives and announces the bytes, then requests the box at (x, y), which may lie outside of the image.
__device__ void request(void *to, const CUtensorMap *map, int x, int y, unsigned long long *bar, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(bar)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(place(to)),
                 "l"(map), "r"(x), "r"(y), "r"(place(bar))
                 : "memory");
}

// Waits until the first phase of the mbarrier has ended.
__device__ void wait(unsigned long long *bar) {
    asm volatile("{\n.reg .pred ended;\nagain: mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], 0;\n@!ended bra again;\n}" ::"r"(place(bar)) : "memory");
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
constexpr int OUT = BOXES * COLS - 2 * RADIUS; // columns that a block writes

__global__ void blur(float *__restrict__ out, const __grid_constant__ CUtensorMap map, int height, int width) {
    __shared__ alignas(1024) float4 box[BOXES][ROWS][COLS / 4]; // the swizzle repeats each 1024 bytes
    __shared__ unsigned long long bar;
    int first = blockIdx.x * OUT, top = blockIdx.y * ROWS, y = top + threadIdx.x;
    if (threadIdx.x == 0) {
        init(&bar, BOXES);
        for (int b = 0; b < BOXES; b++) request(box[b], &map, first - RADIUS + b * COLS, top, &bar, sizeof box[b]);
    }
    __syncthreads(); // the mbarrier is initialized
    wait(&bar);
    float window[4 + 2 * RADIUS] = {};
    for (int b = 0; b < BOXES; b++) {
#pragma unroll
        for (int c = 0; c < COLS / 4; c++) {
            float4 four = box[b][threadIdx.x][c ^ threadIdx.x % 8]; // the copy unit exchanges chunks of 16 bytes like this
            window[8] = four.x, window[9] = four.y, window[10] = four.z, window[11] = four.w;
            int x = first - 2 * RADIUS + b * COLS + 4 * c; // the column of the first result that these four complete
            if (x >= first && x < width && y < height) store(out, height, x, y, window);
            for (int k = 0; k < 2 * RADIUS; k++) window[k] = window[k + 4];
        }
    }
}

extern "C" void tensor_map(float *out, const float *in, int height, int width) {
    dim3 blocks((width + OUT - 1) / OUT, (height + ROWS - 1) / ROWS);
    if (width > 0 && height > 0)
        blur<<<blocks, ROWS>>>(out, map_of(in, height, width, ROWS, COLS, CU_TENSOR_MAP_SWIZZLE_128B), height, width);
}
