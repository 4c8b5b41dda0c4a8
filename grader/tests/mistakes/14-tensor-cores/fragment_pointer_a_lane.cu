// Each lane passes the address of its own row; all lanes must pass that of the whole tile.
// lesson: chapters/14-tensor-cores/quiz.md, 5. Find the error: a fragment
// expect: all lanes must pass those of the whole tile
#include "../mistake.h"
#include <cuda_fp16.h>
#include <mma.h>

__global__ void square(float *out, const half *a) {
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
#ifdef MISTAKE
    wmma::load_matrix_sync(left, a + threadIdx.x / 2 * 16, 16); // reported
#else
    wmma::load_matrix_sync(left, a, 16);
#endif
    wmma::load_matrix_sync(right, a, 16);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);
}

int main() {
    half *a = zeros<half>(1024);
    float *out = zeros<float>(256);
    square<<<1, 32>>>(out, a);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
