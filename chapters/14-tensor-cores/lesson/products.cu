// What lesson 14 shows: the square of a matrix of 16 x 16, by lanes and by a fragment; rows that ldmatrix reads; the largest of
// many halves.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// One warp: a lane has half of a row of the square.
extern "C" __global__ void by_lanes(float *square, const half *a) {
    int row = threadIdx.x / 2, first = threadIdx.x % 2 * 8;
    for (int j = first; j < first + 8; j++) {                // 8 elements a lane
        float sum = 0.0f;
        for (int l = 0; l < 16; l++)                         // 16 products each
            sum += __half2float(a[row * 16 + l]) * __half2float(a[l * 16 + j]);
        square[row * 16 + j] = sum;
    }
}

extern "C" __global__ void by_fragments(float *square, const half *a) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, a, 16);                     // the whole warp, 256 halves
    wmma::load_matrix_sync(right, a, 16);
    wmma::mma_sync(sum, left, right, sum);                   // 4096 products and additions
    wmma::store_matrix_sync(square, sum, 16, wmma::mem_row_major);
}

__device__ unsigned matrix(const half *row) { // one matrix of 8 x 8, whose rows lanes 0 to 7 name
    unsigned r;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(r) : "r"((unsigned)__cvta_generic_to_shared(row)) : "memory");
    return r;
}

extern "C" __global__ void rows_of_128_bytes(unsigned *out) {
    __shared__ __align__(16) half tile[8][64];
    int lane = threadIdx.x;
    for (int i = lane; i < 8 * 64; i += 32) tile[i / 64][i % 64] = __float2half(0.0f);
    __syncwarp();
    out[lane] = matrix(&tile[lane % 8][0]);
}

extern "C" __global__ void rows_of_144_bytes(unsigned *out) {
    __shared__ __align__(16) half tile[8][64 + 8];
    int lane = threadIdx.x;
    for (int i = lane; i < 8 * 64; i += 32) tile[i / 64][i % 64] = __float2half(0.0f);
    __syncwarp();
    out[lane] = matrix(&tile[lane % 8][0]);
}

extern "C" __global__ void a_half_a_lane(float *largest, const half *x, int n) {
    float most = 0.0f;
    for (int i = threadIdx.x; i < n; i += 32) most = fmaxf(most, __half2float(x[i])); // picture: halves load
    atomicMax((int *)largest, __float_as_int(most));
}

extern "C" __global__ void eight_halves_a_lane(float *largest, const half *x, int n) {
    float most = 0.0f;
    for (int i = threadIdx.x; i < n / 8; i += 32) {
        uint4 v = reinterpret_cast<const uint4 *>(x)[i];     // sixteen bytes // picture: halves load
        for (unsigned word : {v.x, v.y, v.z, v.w}) {
            float2 two = __half22float2(*reinterpret_cast<half2 *>(&word));
            most = fmaxf(most, fmaxf(two.x, two.y));
        }
    }
    atomicMax((int *)largest, __float_as_int(most));
}

int main() {
    enum { N = 1 << 14 };
    half *a;
    float *out;
    cudaMalloc(&a, N * sizeof *a);
    cudaMalloc(&out, 256 * sizeof *out);
    cudaMemset(a, 0, N * sizeof *a);
    cudaMemset(out, 0, 256 * sizeof *out);
    by_lanes<<<1, 32>>>(out, a);
    by_fragments<<<1, 32>>>(out, a);
    rows_of_128_bytes<<<1, 32>>>((unsigned *)out);
    rows_of_144_bytes<<<1, 32>>>((unsigned *)out);
    a_half_a_lane<<<1, 32>>>(out, a, N);
    eight_halves_a_lane<<<1, 32>>>(out, a, N);
    return cudaDeviceSynchronize();
}
