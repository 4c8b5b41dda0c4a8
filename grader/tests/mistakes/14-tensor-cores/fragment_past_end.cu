// The matrix is not filled up to 16 rows, and a fragment reads behind it.
// lesson: chapters/14-tensor-cores/README.md, When it doesn't pay
// expect: out-of-bounds
#include "../mistake.h"
#include <cuda_fp16.h>
#include <mma.h>

__global__ void square(float *out, const half *a) {
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, a, 16); // reported
    wmma::load_matrix_sync(right, a, 16);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);
}

int main() {
#ifdef MISTAKE
    int rows = 12;
#else
    int rows = 16;
#endif
    half *a = zeros<half>(rows * 16);
    float *out = zeros<float>(256);
    square<<<1, 32>>>(out, a);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
