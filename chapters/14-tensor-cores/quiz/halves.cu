// What the questions of chapter 14 count.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void one_product(float *c, const half *a) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, a, 16);
    wmma::mma_sync(sum, fa, fb, sum);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

__device__ unsigned matrices(const half *row) { // four of 8 x 8
    unsigned r0, r1, r2, r3;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
                 : "r"((unsigned)__cvta_generic_to_shared(row))
                 : "memory");
    return r0 + r1 + r2 + r3;
}

extern "C" __global__ void rows_of_64(unsigned *out) {
    __shared__ __align__(16) half tile[32][32]; // rows of 64 bytes
    for (int i = threadIdx.x; i < 32 * 32; i += 32) tile[i / 32][i % 32] = __float2half(0.0f);
    __syncwarp();
    out[threadIdx.x] = matrices(&tile[threadIdx.x][0]);
}

extern "C" __global__ void a_half_a_lane(float *out, const half *x) { out[threadIdx.x] = __half2float(x[threadIdx.x]); }

int main() {
    half *a;
    float *c;
    cudaMalloc(&a, 512);
    cudaMalloc(&c, 1024);
    cudaMemset(a, 0, 512);
    one_product<<<1, 32>>>(c, a);
    rows_of_64<<<1, 32>>>((unsigned *)c);
    a_half_a_lane<<<1, 32>>>(c, a);
    return cudaDeviceSynchronize();
}
