// A warp loads a fragment of a tile before the other warps have stored their rows.
// lesson: chapters/14-tensor-cores/wmma_gemm.md, Hint 2
// expect: data race in shared memory
#include "../mistake.h"
#include <cuda_fp16.h>
#include <mma.h>

__global__ void square(float *out, const half *a) {
    using namespace nvcuda;
    __shared__ __align__(32) half tile[256];
    for (int i = threadIdx.x; i < 256; i += 64) tile[i] = a[i];
#ifndef MISTAKE
    __syncthreads();
#endif
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, tile, 16); // reported
    wmma::load_matrix_sync(right, tile, 16);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(out + 256 * (threadIdx.x / 32), sum, 16, wmma::mem_row_major);
}

int main() {
    half *a = zeros<half>(256);
    float *out = zeros<float>(512);
    square<<<1, 64>>>(out, a);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
