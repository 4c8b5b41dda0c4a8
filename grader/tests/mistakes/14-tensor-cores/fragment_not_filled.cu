// The fragment of sums is added to before it is filled with zeros.
// lesson: chapters/14-tensor-cores/README.md, What the hardware does
// missed: the compiler chooses a value for the variable, and PTX shows no read of it
#include "../mistake.h"
#include <cuda_fp16.h>
#include <mma.h>

__global__ void square(float *out, const half *a) {
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
#ifndef MISTAKE
    wmma::fill_fragment(sum, 0.0f);
#endif
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, a, 16);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);
}

int main() {
    half *a = zeros<half>(256);
    float *out = zeros<float>(256), host[256];
    square<<<1, 32>>>(out, a);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    return 0;
}
