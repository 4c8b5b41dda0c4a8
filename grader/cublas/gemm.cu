/* gemm.cu — gemm of one type: of one product, of a batch by pointers, of a batch at strides. */
#include "grader/cublas/gemm.cuh"

extern "C" {

/* The const of an array of pointers differs from that of the memory that they point to. */
#define GEMM(L, T, I, suffix)                                                                      \
    cublasStatus_t cublas##L##gemm##suffix(cublasHandle_t h, cublasOperation_t op_a,               \
                                           cublasOperation_t op_b, I m, I n, I k, const T *alpha,  \
                                           const T *a, I lda, const T *b, I ldb, const T *beta,    \
                                           T *c, I ldc) {                                          \
        using N = std::remove_pointer_t<decltype(numbers(c))>;                                     \
        return gemm<typename number<N>::sum, N, N>(                                                \
            h, {op_a, op_b, m, n, k, lda, ldb, ldc, 1}, alpha, {numbers(a), nullptr, 0},           \
            {numbers(b), nullptr, 0}, beta, {numbers(c), nullptr, 0}, sizeof(N) == 2);             \
    }                                                                                              \
    cublasStatus_t cublas##L##gemmStridedBatched##suffix(                                          \
        cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, I m, I n, I k,           \
        const T *alpha, const T *a, I lda, long long stride_a, const T *b, I ldb,                  \
        long long stride_b, const T *beta, T *c, I ldc, long long stride_c, I batch) {             \
        using N = std::remove_pointer_t<decltype(numbers(c))>;                                     \
        return gemm<typename number<N>::sum, N, N>(                                                \
            h, {op_a, op_b, m, n, k, lda, ldb, ldc, batch}, alpha,                                 \
            {numbers(a), nullptr, stride_a}, {numbers(b), nullptr, stride_b}, beta,                \
            {numbers(c), nullptr, stride_c}, sizeof(N) == 2);                                      \
    }                                                                                              \
    cublasStatus_t cublas##L##gemmBatched##suffix(                                                 \
        cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, I m, I n, I k,           \
        const T *alpha, const T *const a[], I lda, const T *const b[], I ldb, const T *beta,       \
        T *const c[], I ldc, I batch) {                                                            \
        using N = std::remove_pointer_t<decltype(numbers((T *)nullptr))>;                          \
        return gemm<typename number<N>::sum, N, N>(                                                \
            h, {op_a, op_b, m, n, k, lda, ldb, ldc, batch}, alpha, {nullptr, numbers(a), 0},       \
            {nullptr, numbers(b), 0}, beta, {nullptr, numbers(c), 0}, sizeof(N) == 2);             \
    }
ALL_TYPES(GEMM)
BOTH_SIZES(GEMM, H, __half)
}
