// Rows of a tile are padded by 4 halves: the distance must be a multiple of 16 bytes.
// lesson: chapters/14-tensor-cores/README.md, What the hardware does
// expect: misaligned
#include "../mistake.h"
#include <cuda_fp16.h>
#include <mma.h>

#ifdef MISTAKE
constexpr int ROW = 16 + 4;
#else
constexpr int ROW = 16 + 8;
#endif
__global__ void square(float *out, const half *a) {
    using namespace nvcuda;
    __shared__ __align__(32) half tile[16 * ROW];
    for (int i = threadIdx.x; i < 256; i += 32) tile[i / 16 * ROW + i % 16] = a[i];
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, tile, ROW); // reported
    wmma::load_matrix_sync(right, tile, ROW);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);
}

int main() {
    half *a = zeros<half>(256);
    float *out = zeros<float>(256);
    square<<<1, 32>>>(out, a);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
