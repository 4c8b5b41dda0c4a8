// What lesson 13 shows of tensor maps: the sum of each row of a tile of 32 x 32 floats, a lane a row. The tiles begin four
// elements to the left of and two above the image, so some lie partly outside.
// nvcc: -arch=sm_90 -std=c++17
#include <cstdio>
#include <cuda.h>
#include <cuda/ptx>

namespace ptx = cuda::ptx;
constexpr int SIDE = 32, HEIGHT = 120, WIDTH = 248;

extern "C" __global__ void by_lanes(float *out, const float *in) {
    __shared__ float tile[SIDE][SIDE + 1];
    int left = blockIdx.x * SIDE - 4, top = blockIdx.y * SIDE - 2, x = left + threadIdx.x;
    for (int r = 0; r < SIDE; r++) {
        int y = top + r;
        tile[r][threadIdx.x] = y >= 0 && y < HEIGHT && x >= 0 && x < WIDTH ? in[y * WIDTH + x] : 0;
    }
    __syncwarp();
    float sum = 0;
    for (int c = 0; c < SIDE; c++) sum += tile[threadIdx.x][c];
    out[(blockIdx.y * gridDim.x + blockIdx.x) * SIDE + threadIdx.x] = sum;
}

__device__ void bring(void *tile, const CUtensorMap &map, uint64_t &bar) {
    if (threadIdx.x == 0) {
        int at[] = {(int)blockIdx.x * SIDE - 4, (int)blockIdx.y * SIDE - 2}; // x first; it may lie outside
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, SIDE * SIDE * sizeof(float));
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &map, at, &bar);
    }
    __syncwarp();
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {
    }
}

extern "C" __global__ void in_a_box(float *out, const __grid_constant__ CUtensorMap map) {
    __shared__ alignas(1024) float4 tile[SIDE][SIDE / 4];
    __shared__ uint64_t bar;
    bring(tile, map, bar);
    float sum = 0;
    for (int c = 0; c < SIDE / 4; c++) {
        float4 v = tile[threadIdx.x][c]; // all rows begin in bank 0
        sum += v.x + v.y + v.z + v.w;
    }
    out[(blockIdx.y * gridDim.x + blockIdx.x) * SIDE + threadIdx.x] = sum;
}

extern "C" __global__ void swizzled(float *out, const __grid_constant__ CUtensorMap map) {
    __shared__ alignas(1024) float4 tile[SIDE][SIDE / 4];
    __shared__ uint64_t bar;
    bring(tile, map, bar);
    float sum = 0;
    for (int c = 0; c < SIDE / 4; c++) {
        float4 v = tile[threadIdx.x][c ^ threadIdx.x % 8]; // chunk c of this row
        sum += v.x + v.y + v.z + v.w;
    }
    out[(blockIdx.y * gridDim.x + blockIdx.x) * SIDE + threadIdx.x] = sum;
}

static CUtensorMap map_of(float *image, CUtensorMapSwizzle swizzle) {
    alignas(64) CUtensorMap map;
    void *encode;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found);
    cuuint64_t size[] = {WIDTH, HEIGHT};             // elements, the innermost dimension first
    cuuint64_t pitch[] = {WIDTH * sizeof(float)};    // bytes from row to row, a multiple of 16
    cuuint32_t box[] = {SIDE, SIDE}, every[] = {1, 1};
    CUresult r = ((decltype(&cuTensorMapEncodeTiled))encode)(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, image, size, pitch, box, every, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
        CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (r != CUDA_SUCCESS) printf("the driver refuses the map: error %d\n", r);
    return map;
}

int main() {
    float *out, *in;
    dim3 blocks(8, 4);
    cudaMalloc(&out, 8 * 4 * SIDE * sizeof *out), cudaMalloc(&in, WIDTH * HEIGHT * sizeof *in);
    cudaMemset(in, 0, WIDTH * HEIGHT * sizeof *in);
    by_lanes<<<blocks, SIDE>>>(out, in);
    in_a_box<<<blocks, SIDE>>>(out, map_of(in, CU_TENSOR_MAP_SWIZZLE_NONE));
    swizzled<<<blocks, SIDE>>>(out, map_of(in, CU_TENSOR_MAP_SWIZZLE_128B));
    return cudaDeviceSynchronize();
}
