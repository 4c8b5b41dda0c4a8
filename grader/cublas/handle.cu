/* handle.cu — handles and their modes, and copies of vectors and matrices. */
#include "grader/cublas/handle.cuh"
#include <new>

extern "C" {

cublasStatus_t cublasCreate(cublasHandle_t *h) {
    if (!h) return CUBLAS_STATUS_INVALID_VALUE;
    *h = new (std::nothrow) cublasContext();
    if (!*h) return CUBLAS_STATUS_ALLOC_FAILED;
    if (cudaMalloc(&(*h)->workspace, WORKSPACE_BYTES) == cudaSuccess) return CUBLAS_STATUS_SUCCESS;
    delete *h;
    *h = nullptr;
    return CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasDestroy(cublasHandle_t h) {
    if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
    cudaFree(h->workspace);
    delete h;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion(cublasHandle_t, int *version) {
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value) {
    if (!value) return CUBLAS_STATUS_INVALID_VALUE;
    switch (type) {
    case MAJOR_VERSION: *value = CUBLAS_VER_MAJOR; return CUBLAS_STATUS_SUCCESS;
    case MINOR_VERSION: *value = CUBLAS_VER_MINOR; return CUBLAS_STATUS_SUCCESS;
    case PATCH_LEVEL: *value = CUBLAS_VER_PATCH; return CUBLAS_STATUS_SUCCESS;
    default: return CUBLAS_STATUS_INVALID_VALUE;
    }
}

size_t cublasGetCudartVersion(void) { return CUDART_VERSION; }

/* Our kernels need no workspace of the caller's. */
cublasStatus_t cublasSetWorkspace(cublasHandle_t h, void *, size_t) {
    return h ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

#define MODE(Name, type, field)                                    \
    cublasStatus_t cublasSet##Name(cublasHandle_t h, type value) { \
        if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;              \
        h->field = value;                                          \
        return CUBLAS_STATUS_SUCCESS;                              \
    }                                                              \
    cublasStatus_t cublasGet##Name(cublasHandle_t h, type *value) { \
        if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;              \
        *value = h->field;                                         \
        return CUBLAS_STATUS_SUCCESS;                              \
    }
MODE(Stream, cudaStream_t, stream)
MODE(PointerMode, cublasPointerMode_t, pointer_mode)
MODE(AtomicsMode, cublasAtomicsMode_t, atomics_mode)
MODE(MathMode, cublasMath_t, math_mode)
MODE(SmCountTarget, int, sm_count_target)

/* status, name, text of cublasGetStatusString */
#define STATUSES(S)                                                              \
    S(CUBLAS_STATUS_SUCCESS, "success")                                          \
    S(CUBLAS_STATUS_NOT_INITIALIZED, "the library was not initialized")          \
    S(CUBLAS_STATUS_ALLOC_FAILED, "the resource allocation failed")              \
    S(CUBLAS_STATUS_INVALID_VALUE, "an invalid value was used as a parameter")   \
    S(CUBLAS_STATUS_ARCH_MISMATCH, "an absent device architectural feature is required") \
    S(CUBLAS_STATUS_MAPPING_ERROR, "an access to GPU memory space failed")       \
    S(CUBLAS_STATUS_EXECUTION_FAILED, "the GPU program failed to execute")       \
    S(CUBLAS_STATUS_INTERNAL_ERROR, "an internal operation failed")              \
    S(CUBLAS_STATUS_NOT_SUPPORTED, "the requested functionality is not supported") \
    S(CUBLAS_STATUS_LICENSE_ERROR, "the functionality requires a license")

const char *cublasGetStatusName(cublasStatus_t status) {
#define NAME(value, text) \
    if (status == value) return #value;
    STATUSES(NAME)
    return "<unknown>";
}

const char *cublasGetStatusString(cublasStatus_t status) {
#define TEXT(value, text) \
    if (status == value) return text;
    STATUSES(TEXT)
    return "<unknown>";
}

/* Copies n elements between two strides, on `stream` if `waits` is false. */
static cublasStatus_t copy_rows(size_t width, size_t rows, const void *from, size_t from_pitch,
                                void *to, size_t to_pitch, cudaStream_t stream, bool waits) {
    if (!width || !rows) return CUBLAS_STATUS_SUCCESS;
    if (from_pitch < width || to_pitch < width) return CUBLAS_STATUS_INVALID_VALUE;
    cudaError_t error =
        waits ? cudaMemcpy2D(to, to_pitch, from, from_pitch, width, rows, cudaMemcpyDefault)
              : cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, rows, cudaMemcpyDefault,
                                  stream);
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

#define COPIES(Direction, I, suffix)                                                              \
    cublasStatus_t cublas##Direction##Vector##suffix(I n, I size, const void *x, I incx, void *y, \
                                                     I incy) {                                    \
        return copy_rows(size, n, x, incx * size, y, incy * size, 0, true);                       \
    }                                                                                             \
    cublasStatus_t cublas##Direction##VectorAsync##suffix(I n, I size, const void *x, I incx,     \
                                                          void *y, I incy, cudaStream_t stream) { \
        return copy_rows(size, n, x, incx * size, y, incy * size, stream, false);                 \
    }                                                                                             \
    cublasStatus_t cublas##Direction##Matrix##suffix(I rows, I columns, I size, const void *a,    \
                                                     I lda, void *b, I ldb) {                     \
        return copy_rows(rows * size, columns, a, lda * size, b, ldb * size, 0, true);            \
    }                                                                                             \
    cublasStatus_t cublas##Direction##MatrixAsync##suffix(I rows, I columns, I size,              \
                                                          const void *a, I lda, void *b, I ldb,   \
                                                          cudaStream_t stream) {                  \
        return copy_rows(rows * size, columns, a, lda * size, b, ldb * size, stream, false);      \
    }
BOTH_SIZES(COPIES, Set)
BOTH_SIZES(COPIES, Get)
}
