// wmma in all shapes and layouts, mma.sync with ldmatrix, on operands whose products are exact.
// nvcc: -std=c++17
#include "expect.h"
#include <cmath>
#include <cstdlib>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

template <class T> struct Acc { typedef float t; };
template <> struct Acc<signed char> { typedef int t; };
template <> struct Acc<unsigned char> { typedef int t; };
template <> struct Acc<double> { typedef double t; };
template <class T, class S, int M, int N, int K, class LA, class LB>
__global__ void wm(const S *a, const S *b, typename Acc<T>::t *c, int lda, int ldb, int ldc, bool col) {
    wmma::fragment<wmma::matrix_a, M, N, K, T, LA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, LB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, typename Acc<T>::t> fc;
    auto lay = col ? wmma::mem_col_major : wmma::mem_row_major;
    wmma::load_matrix_sync(fc, c, ldc, lay);
    for (int i = 0; i < 2; i++) {
        wmma::load_matrix_sync(fa, a, lda);
        wmma::load_matrix_sync(fb, b, ldb);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    for (int i = 0; i < fc.num_elements; i++) fc.x[i] = fc.x[i] + fc.x[i];
    wmma::store_matrix_sync(c, fc, ldc, lay);
}
template <class S> double val(S v) {
    return (double)v;
}
template <> double val(half v) {
    return __half2float(v);
}
template <> double val(__nv_bfloat16 v) {
    return __bfloat162float(v);
}
template <class T, class S, int M, int N, int K, class LA, class LB>
void run(const char *name, bool ar, bool br, int pad = 0) {
    for (int col = 0; col < 2; col++) {
        int lda = (ar ? K : M) + pad, ldb = (br ? N : K) + pad, ldc = (col ? M : N) + pad;
        typedef typename Acc<T>::t C;
        static S a[64 * 64], b[64 * 64];
        static C c[64 * 64], o[64 * 64];
        for (int i = 0; i < 64 * 64; i++) {
            a[i] = S((float)(rand() % 17) - 8);
            b[i] = S((float)(rand() % 13) - 6);
            c[i] = C(rand() % 9 - 4);
        }
        S *da, *db;
        C *dc;
        CHECK(cudaMalloc(&da, sizeof a));
        CHECK(cudaMalloc(&db, sizeof b));
        CHECK(cudaMalloc(&dc, sizeof c));
        CHECK(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(dc, c, sizeof c, cudaMemcpyHostToDevice));
        wm<T, S, M, N, K, LA, LB><<<1, 32>>>(da, db, dc, lda, ldb, ldc, col);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(o, dc, sizeof o, cudaMemcpyDeviceToHost));
        int w = 0;
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) {
                double s = val(c[col ? j * ldc + i : i * ldc + j]);
                for (int k = 0; k < K; k++)
                    s += 2 * val(a[ar ? i * lda + k : k * lda + i]) * val(b[br ? k * ldb + j : j * ldb + k]);
                s *= 2;
                if (fabs(s - (double)o[col ? j * ldc + i : i * ldc + j]) > 1e-3 * fabs(s)) w++;
            }
        if (w) {
            wrong++;
            printf("%s ar%d br%d col%d: %d wrong\n", name, ar, br, col, w);
        }
        cudaFree(da);
        cudaFree(db);
        cudaFree(dc);
    }
}
#define ALL(T, S, M, N, K)                                                                                   \
    run<T, S, M, N, K, wmma::row_major, wmma::row_major>(#T #M, 1, 1);                                       \
    run<T, S, M, N, K, wmma::row_major, wmma::col_major>(#T #M, 1, 0, 16);                                   \
    run<T, S, M, N, K, wmma::col_major, wmma::row_major>(#T #M, 0, 1);                                       \
    run<T, S, M, N, K, wmma::col_major, wmma::col_major>(#T #M, 0, 0, 32);
// mma.sync with ldmatrix GEMM: C[16x8] over K=64
__global__ void gemm(const half *A, const half *B, float *C, int K) {
    __shared__ half sa[16 * 64], sb[64 * 8];
    int l = threadIdx.x;
    for (int i = l; i < 16 * K; i += 32) sa[i] = A[i];
    for (int i = l; i < K * 8; i += 32) sb[i] = B[i];
    __syncwarp();
    float c[4] = {0, 0, 0, 0};
    for (int k0 = 0; k0 < K; k0 += 16) {
        unsigned a[4], b[2];
        unsigned pa = __cvta_generic_to_shared(&sa[(l % 16) * K + k0 + (l / 16) * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                     : "r"(pa));
        unsigned pb = __cvta_generic_to_shared(&sb[(k0 + l % 16) * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                     : "=r"(b[0]), "=r"(b[1])
                     : "r"(pb));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                     "{%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
    int g = l / 4, t = l % 4;
    C[g * 8 + t * 2] = c[0];
    C[g * 8 + t * 2 + 1] = c[1];
    C[(g + 8) * 8 + t * 2] = c[2];
    C[(g + 8) * 8 + t * 2 + 1] = c[3];
}
__global__ void tf(const float *A, const float *B, float *C) {
    int l = threadIdx.x, g = l / 4, t = l % 4;
    unsigned a[4], b[2];
    auto cv = [](float x) {
        unsigned r;
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
        return r;
    };
    a[0] = cv(A[g * 8 + t]);
    a[1] = cv(A[(g + 8) * 8 + t]);
    a[2] = cv(A[g * 8 + t + 4]);
    a[3] = cv(A[(g + 8) * 8 + t + 4]);
    b[0] = cv(B[t * 8 + g]);
    b[1] = cv(B[(t + 4) * 8 + g]);
    float c[4] = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                 "{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    C[g * 8 + t * 2] = c[0];
    C[g * 8 + t * 2 + 1] = c[1];
    C[(g + 8) * 8 + t * 2] = c[2];
    C[(g + 8) * 8 + t * 2 + 1] = c[3];
}
__global__ void i8(const signed char *A, const signed char *B, int *C) {
    int l = threadIdx.x, g = l / 4, t = l % 4;
    const int *A4 = (const int *)A;
    int a[4] = {A4[g * 8 + t], A4[(g + 8) * 8 + t], A4[g * 8 + t + 4], A4[(g + 8) * 8 + t + 4]};
    int b[2];
    for (int i = 0; i < 2; i++) {
        unsigned v = 0;
        for (int e = 0; e < 4; e++) v |= (unsigned)(unsigned char)B[(t * 4 + e + 16 * i) * 8 + g] << 8 * e;
        b[i] = v;
    }
    int c[4] = {1, 2, 3, 4};
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                 "{%0,%1,%2,%3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    C[g * 8 + t * 2] = c[0] - 1;
    C[g * 8 + t * 2 + 1] = c[1] - 2;
    C[(g + 8) * 8 + t * 2] = c[2] - 3;
    C[(g + 8) * 8 + t * 2 + 1] = c[3] - 4;
}
int main() {
    ALL(half, half, 16, 16, 16)
    ALL(half, half, 32, 8, 16) ALL(half, half, 8, 32, 16) ALL(__nv_bfloat16, __nv_bfloat16, 16, 16, 16)
        ALL(__nv_bfloat16, __nv_bfloat16, 32, 8, 16) ALL(signed char, signed char, 16, 16, 16)
            ALL(signed char, signed char, 8, 32, 16) ALL(unsigned char, unsigned char, 32, 8, 16)
                run<wmma::precision::tf32, float, 16, 16, 8, wmma::row_major, wmma::col_major>("tf32", 1, 0);
    run<wmma::precision::tf32, float, 16, 16, 8, wmma::col_major, wmma::row_major>("tf32", 0, 1, 4);
    run<double, double, 8, 8, 4, wmma::row_major, wmma::col_major>("f64", 1, 0);
    run<double, double, 8, 8, 4, wmma::col_major, wmma::row_major>("f64", 0, 1);
    {
        const int K = 64;
        half A[16 * K], B[K * 8];
        float C[128];
        for (auto &x : A) x = __float2half(rand() % 11 - 5);
        for (auto &x : B) x = __float2half(rand() % 9 - 4);
        half *a, *b;
        float *c;
        cudaMalloc(&a, sizeof A);
        cudaMalloc(&b, sizeof B);
        cudaMalloc(&c, sizeof C);
        cudaMemcpy(a, A, sizeof A, cudaMemcpyHostToDevice);
        cudaMemcpy(b, B, sizeof B, cudaMemcpyHostToDevice);
        gemm<<<1, 32>>>(a, b, c, K);
        CHECK(cudaDeviceSynchronize());
        cudaMemcpy(C, c, sizeof C, cudaMemcpyDeviceToHost);
        int w = 0;
        for (int i = 0; i < 16; i++)
            for (int j = 0; j < 8; j++) {
                float s = 0;
                for (int k = 0; k < K; k++) s += __half2float(A[i * K + k]) * __half2float(B[k * 8 + j]);
                w += s != C[i * 8 + j];
            }
        if (w) {
            wrong++;
            printf("mma f16: %d wrong\n", w);
        }
    }
    {
        float A[128], B[64], C[128];
        for (auto &x : A) x = (rand() % 1000) / 7.f;
        for (auto &x : B) x = (rand() % 1000) / 9.f;
        float *a, *b, *c;
        cudaMalloc(&a, 512);
        cudaMalloc(&b, 256);
        cudaMalloc(&c, 512);
        cudaMemcpy(a, A, 512, cudaMemcpyHostToDevice);
        cudaMemcpy(b, B, 256, cudaMemcpyHostToDevice);
        tf<<<1, 32>>>(a, b, c);
        CHECK(cudaDeviceSynchronize());
        cudaMemcpy(C, c, 512, cudaMemcpyDeviceToHost);
        int w = 0;
        for (int i = 0; i < 16; i++)
            for (int j = 0; j < 8; j++) {
                float s = 0;
                for (int k = 0; k < 8; k++) s += A[i * 8 + k] * B[k * 8 + j];
                w += fabsf(s - C[i * 8 + j]) > 2e-3 * s;
            }
        if (w) {
            wrong++;
            printf("tf32: %d wrong\n", w);
        }
    }
    {
        signed char A[512], B[256];
        int C[128];
        for (auto &x : A) x = rand();
        for (auto &x : B) x = rand();
        signed char *a, *b;
        int *c;
        cudaMalloc(&a, 512);
        cudaMalloc(&b, 256);
        cudaMalloc(&c, 512);
        cudaMemcpy(a, A, 512, cudaMemcpyHostToDevice);
        cudaMemcpy(b, B, 256, cudaMemcpyHostToDevice);
        i8<<<1, 32>>>(a, b, c);
        CHECK(cudaDeviceSynchronize());
        cudaMemcpy(C, c, 512, cudaMemcpyDeviceToHost);
        int w = 0;
        for (int i = 0; i < 16; i++)
            for (int j = 0; j < 8; j++) {
                int s = 0;
                for (int k = 0; k < 32; k++) s += A[i * 32 + k] * B[k * 8 + j];
                w += s != C[i * 8 + j];
            }
        if (w) {
            wrong++;
            printf("s8: %d wrong\n", w);
        }
    }
    printf("%d wrong\n", wrong);
    return 0;
}
