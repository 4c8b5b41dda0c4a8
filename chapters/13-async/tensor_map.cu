// tensor_map: blurs each row of an image, with zeros around it, and writes the transpose: out[x][y] = the sum over k from
// -4 to 4 of weight[|k|] * in[y][x + k].

#include <cstdio>
#include <cuda.h>

constexpr int RADIUS = 4;

// Returns the map of an image of height x width floats, whose boxes are `rows` x `cols`. The driver encodes it, and the
// runtime knows the driver's function.
[[maybe_unused]] static CUtensorMap map_of(const float *image, int height, int width, unsigned rows, unsigned cols,
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

constexpr int ROWS = 64;               // rows of a block, one a thread
constexpr int COLS = 128;              // columns that a block reads
constexpr int OUT = COLS - 2 * RADIUS; // columns that it writes

__global__ void blur(float *__restrict__ out, const float *__restrict__ in, int height, int width) {
    __shared__ float tile[ROWS][COLS + 1]; // odd rows: neighbouring lanes read neighbouring rows
    int first = blockIdx.x * OUT, top = blockIdx.y * ROWS, y = top + threadIdx.x;
    // TODO: how many instructions bring an element here? Could one request bring all of them?
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
