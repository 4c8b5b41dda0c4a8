// A fragment begins at an address that is not a multiple of 32 bytes.
// lesson: chapters/14-tensor-cores/README.md, What the hardware does
// expect: misaligned
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
    half *a = zeros<half>(512);
    float *out = zeros<float>(256);
#ifdef MISTAKE
    a += 8;
#else
    a += 16;
#endif
    square<<<1, 32>>>(out, a);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
