/* gemm_ex.cu — gemm with types that the caller names. f16 sums are added in f32 and rounded once,
 * as tensor cores' results are more exact than f16; TF32 and emulated types compute in f32. */
#include "grader/cublas/gemm.cuh"

struct gemm_types {
    cudaDataType in, out;
    cublasComputeType_t sum;
};

static bool is_f32(cublasComputeType_t t) {
    return t == CUBLAS_COMPUTE_32F || t == CUBLAS_COMPUTE_32F_PEDANTIC ||
           t == CUBLAS_COMPUTE_32F_FAST_16F || t == CUBLAS_COMPUTE_32F_FAST_16BF ||
           t == CUBLAS_COMPUTE_32F_FAST_TF32;
}
static bool is_f16(cublasComputeType_t t) {
    return t == CUBLAS_COMPUTE_16F || t == CUBLAS_COMPUTE_16F_PEDANTIC;
}
static bool is_f64(cublasComputeType_t t) {
    return t == CUBLAS_COMPUTE_64F || t == CUBLAS_COMPUTE_64F_PEDANTIC;
}
static bool is_i32(cublasComputeType_t t) {
    return t == CUBLAS_COMPUTE_32I || t == CUBLAS_COMPUTE_32I_PEDANTIC;
}

/* One matrix of unknown type, or a batch of them. */
struct any_memory {
    const void *first;
    const void *const *array;
    long long stride;
    template <typename T> batch_pointer<T> as() const {
        return {(T *)const_cast<void *>(first), (T *const *)array, stride};
    }
};

static cublasStatus_t gemm_any(cublasHandle_t h, const gemm_shape &s, gemm_types t,
                               const void *alpha, any_memory a, any_memory b, const void *beta,
                               any_memory c) {
#define GEMM_OF(in_type, out_type, is_sum, In, Out, Sum)                                 \
    if (t.in == in_type && t.out == out_type && is_sum(t.sum))                           \
        return gemm<Sum>(h, s, alpha, a.as<const In>(), b.as<const In>(), beta, c.as<Out>(), \
                         is_f16(t.sum));
    GEMM_OF(CUDA_R_32F, CUDA_R_32F, is_f32, float, float, float)
    GEMM_OF(CUDA_R_64F, CUDA_R_64F, is_f64, double, double, double)
    GEMM_OF(CUDA_C_32F, CUDA_C_32F, is_f32, complex<float>, complex<float>, complex<float>)
    GEMM_OF(CUDA_C_64F, CUDA_C_64F, is_f64, complex<double>, complex<double>, complex<double>)
    GEMM_OF(CUDA_R_16F, CUDA_R_16F, is_f16, __half, __half, float)
    GEMM_OF(CUDA_R_16F, CUDA_R_16F, is_f32, __half, __half, float)
    GEMM_OF(CUDA_R_16F, CUDA_R_32F, is_f32, __half, float, float)
    GEMM_OF(CUDA_R_16BF, CUDA_R_16BF, is_f32, __nv_bfloat16, __nv_bfloat16, float)
    GEMM_OF(CUDA_R_16BF, CUDA_R_32F, is_f32, __nv_bfloat16, float, float)
    GEMM_OF(CUDA_R_8I, CUDA_R_32I, is_i32, signed char, int, int)
    GEMM_OF(CUDA_R_8I, CUDA_R_32F, is_f32, signed char, float, float)
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

extern "C" {

#define GEMM_EX(Name, unused, I, suffix)                                                          \
    cublasStatus_t cublas##Name##suffix(                                                          \
        cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, I m, I n, I k,          \
        const void *alpha, const void *a, cudaDataType a_type, I lda, const void *b,              \
        cudaDataType b_type, I ldb, const void *beta, void *c, cudaDataType c_type, I ldc,        \
        cublasComputeType_t sum, cublasGemmAlgo_t) {                                              \
        if (a_type != b_type) return CUBLAS_STATUS_NOT_SUPPORTED;                                 \
        return gemm_any(h, {op_a, op_b, m, n, k, lda, ldb, ldc, 1}, {a_type, c_type, sum}, alpha, \
                        {a, nullptr, 0}, {b, nullptr, 0}, beta, {c, nullptr, 0});                 \
    }
BOTH_SIZES(GEMM_EX, GemmEx, )

#define STRIDED_EX(Name, unused, I, suffix)                                                       \
    cublasStatus_t cublas##Name##suffix(                                                          \
        cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, I m, I n, I k,          \
        const void *alpha, const void *a, cudaDataType a_type, I lda, long long stride_a,         \
        const void *b, cudaDataType b_type, I ldb, long long stride_b, const void *beta, void *c, \
        cudaDataType c_type, I ldc, long long stride_c, I batch, cublasComputeType_t sum,         \
        cublasGemmAlgo_t) {                                                                       \
        if (a_type != b_type) return CUBLAS_STATUS_NOT_SUPPORTED;                                 \
        return gemm_any(h, {op_a, op_b, m, n, k, lda, ldb, ldc, batch}, {a_type, c_type, sum},    \
                        alpha, {a, nullptr, stride_a}, {b, nullptr, stride_b}, beta,              \
                        {c, nullptr, stride_c});                                                  \
    }
BOTH_SIZES(STRIDED_EX, GemmStridedBatchedEx, )

#define BATCHED_EX(Name, unused, I, suffix)                                                        \
    cublasStatus_t cublas##Name##suffix(                                                           \
        cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, I m, I n, I k,           \
        const void *alpha, const void *const a[], cudaDataType a_type, I lda,                      \
        const void *const b[], cudaDataType b_type, I ldb, const void *beta, void *const c[],      \
        cudaDataType c_type, I ldc, I batch, cublasComputeType_t sum, cublasGemmAlgo_t) {          \
        if (a_type != b_type) return CUBLAS_STATUS_NOT_SUPPORTED;                                  \
        return gemm_any(h, {op_a, op_b, m, n, k, lda, ldb, ldc, batch}, {a_type, c_type, sum},     \
                        alpha, {nullptr, a, 0}, {nullptr, b, 0}, beta, {nullptr, c, 0});           \
    }
BOTH_SIZES(BATCHED_EX, GemmBatchedEx, )
}
