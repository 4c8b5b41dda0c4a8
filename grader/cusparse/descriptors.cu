/* descriptors.cu — the handle, and descriptors of vectors and matrices. */
#include "grader/cusparse/sparse.cuh"
#include <new>

template <typename D> static cusparseStatus_t store(const D **out, const D &value) {
    if (!out) return CUSPARSE_STATUS_INVALID_VALUE;
    *out = new (std::nothrow) D(value);
    return *out ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ALLOC_FAILED;
}
template <typename D> static cusparseStatus_t store(D **out, const D &value) {
    return store((const D **)out, value);
}

static bool is_index(cusparseIndexType_t t) {
    return t == CUSPARSE_INDEX_32I || t == CUSPARSE_INDEX_64I;
}

extern "C" {

/* ---- the handle ---- */

cusparseStatus_t cusparseCreate(cusparseHandle_t *h) { return store(h, cusparseContext()); }
cusparseStatus_t cusparseDestroy(cusparseHandle_t h) {
    delete h;
    return h ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED;
}
cusparseStatus_t cusparseGetVersion(cusparseHandle_t h, int *version) {
    if (!h) return CUSPARSE_STATUS_NOT_INITIALIZED;
    *version = CUSPARSE_VERSION;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSetStream(cusparseHandle_t h, cudaStream_t stream) {
    if (!h) return CUSPARSE_STATUS_NOT_INITIALIZED;
    h->stream = stream;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseGetStream(cusparseHandle_t h, cudaStream_t *stream) {
    if (!h) return CUSPARSE_STATUS_NOT_INITIALIZED;
    *stream = h->stream;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t h, cusparsePointerMode_t mode) {
    if (!h) return CUSPARSE_STATUS_NOT_INITIALIZED;
    h->pointer_mode = mode;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t h, cusparsePointerMode_t *mode) {
    if (!h) return CUSPARSE_STATUS_NOT_INITIALIZED;
    *mode = h->pointer_mode;
    return CUSPARSE_STATUS_SUCCESS;
}

/* status, text of cusparseGetErrorString */
#define STATUSES(S)                                                                         \
    S(CUSPARSE_STATUS_SUCCESS, "success")                                                   \
    S(CUSPARSE_STATUS_NOT_INITIALIZED, "initialization error")                              \
    S(CUSPARSE_STATUS_ALLOC_FAILED, "out of memory")                                        \
    S(CUSPARSE_STATUS_INVALID_VALUE, "invalid value")                                       \
    S(CUSPARSE_STATUS_ARCH_MISMATCH, "architecture mismatch")                               \
    S(CUSPARSE_STATUS_MAPPING_ERROR, "texture memory mapping error")                        \
    S(CUSPARSE_STATUS_EXECUTION_FAILED, "kernel launch failure")                            \
    S(CUSPARSE_STATUS_INTERNAL_ERROR, "internal error")                                     \
    S(CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED, "matrix type not supported")               \
    S(CUSPARSE_STATUS_ZERO_PIVOT, "zero pivot")                                             \
    S(CUSPARSE_STATUS_NOT_SUPPORTED, "operation not supported")                             \
    S(CUSPARSE_STATUS_INSUFFICIENT_RESOURCES, "insufficient resources")

const char *cusparseGetErrorName(cusparseStatus_t status) {
#define NAME(value, text) \
    if (status == value) return #value;
    STATUSES(NAME)
    return "unrecognized error code";
}
const char *cusparseGetErrorString(cusparseStatus_t status) {
#define TEXT(value, text) \
    if (status == value) return text;
    STATUSES(TEXT)
    return "unrecognized error code";
}

/* ---- what the older interface says of a matrix ---- */

cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t *d) {
    return store(d, cusparseMatDescr());
}
cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t d) {
    delete d;
    return CUSPARSE_STATUS_SUCCESS;
}
#define PROPERTY(Name, type, field)                                      \
    cusparseStatus_t cusparseSet##Name(cusparseMatDescr_t d, type value) { \
        if (!d) return CUSPARSE_STATUS_INVALID_VALUE;                    \
        d->field = value;                                                \
        return CUSPARSE_STATUS_SUCCESS;                                  \
    }                                                                    \
    type cusparseGet##Name(const cusparseMatDescr_t d) { return d->field; }
PROPERTY(MatType, cusparseMatrixType_t, type)
PROPERTY(MatFillMode, cusparseFillMode_t, fill_mode)
PROPERTY(MatDiagType, cusparseDiagType_t, diagonal)
PROPERTY(MatIndexBase, cusparseIndexBase_t, base)

/* ---- vectors ---- */

cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t *d, int64_t size, void *values,
                                     cudaDataType type) {
    return store(d, cusparseDnVecDescr{size, values, type});
}
cusparseStatus_t cusparseCreateConstDnVec(cusparseConstDnVecDescr_t *d, int64_t size,
                                          const void *values, cudaDataType type) {
    return store(d, cusparseDnVecDescr{size, (void *)values, type});
}
cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t d) {
    delete d;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t d, void *values) {
    if (!d) return CUSPARSE_STATUS_INVALID_VALUE;
    d->values = values;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDnVecGetValues(cusparseDnVecDescr_t d, void **values) {
    if (!d || !values) return CUSPARSE_STATUS_INVALID_VALUE;
    *values = d->values;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCreateSpVec(cusparseSpVecDescr_t *d, int64_t size, int64_t nnz,
                                     void *indices, void *values, cusparseIndexType_t index_type,
                                     cusparseIndexBase_t base, cudaDataType type) {
    if (!is_index(index_type)) return CUSPARSE_STATUS_NOT_SUPPORTED;
    return store(d, cusparseSpVecDescr{size, nnz, indices, values, index_type, base, type});
}
cusparseStatus_t cusparseDestroySpVec(cusparseConstSpVecDescr_t d) {
    delete d;
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- dense matrices ---- */

cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t *d, int64_t rows, int64_t columns,
                                     int64_t ld, void *values, cudaDataType type,
                                     cusparseOrder_t order) {
    if (ld < (order == CUSPARSE_ORDER_COL ? rows : columns)) return CUSPARSE_STATUS_INVALID_VALUE;
    return store(d, cusparseDnMatDescr{rows, columns, ld, values, type, order, 1, 0});
}
cusparseStatus_t cusparseCreateConstDnMat(cusparseConstDnMatDescr_t *d, int64_t rows,
                                          int64_t columns, int64_t ld, const void *values,
                                          cudaDataType type, cusparseOrder_t order) {
    return cusparseCreateDnMat((cusparseDnMatDescr_t *)d, rows, columns, ld, (void *)values, type,
                               order);
}
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t d) {
    delete d;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDnMatSetValues(cusparseDnMatDescr_t d, void *values) {
    if (!d) return CUSPARSE_STATUS_INVALID_VALUE;
    d->values = values;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDnMatGetValues(cusparseDnMatDescr_t d, void **values) {
    if (!d || !values) return CUSPARSE_STATUS_INVALID_VALUE;
    *values = d->values;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t d, int count, int64_t stride) {
    if (!d || count < 1) return CUSPARSE_STATUS_INVALID_VALUE;
    d->batches = count, d->batch_stride = stride;
    return CUSPARSE_STATUS_SUCCESS;
}

/* ---- sparse matrices ---- */

static cusparseStatus_t create_sparse(cusparseConstSpMatDescr_t *d, cusparseSpMatDescr value) {
    if (!is_index(value.major_type) || !is_index(value.minor_type))
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    value.batches = 1;
    return store(d, value);
}
cusparseStatus_t cusparseCreateConstCsr(cusparseConstSpMatDescr_t *d, int64_t rows, int64_t columns,
                                        int64_t nnz, const void *offsets, const void *indices,
                                        const void *values, cusparseIndexType_t offsets_type,
                                        cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                        cudaDataType type) {
    return create_sparse(d, {CUSPARSE_FORMAT_CSR, rows, columns, nnz, (void *)offsets,
                             (void *)indices, (void *)values, offsets_type, index_type, base,
                             type});
}
cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t *d, int64_t rows, int64_t columns,
                                   int64_t nnz, void *offsets, void *indices, void *values,
                                   cusparseIndexType_t offsets_type, cusparseIndexType_t index_type,
                                   cusparseIndexBase_t base, cudaDataType type) {
    return cusparseCreateConstCsr((cusparseConstSpMatDescr_t *)d, rows, columns, nnz, offsets,
                                  indices, values, offsets_type, index_type, base, type);
}
cusparseStatus_t cusparseCreateConstCsc(cusparseConstSpMatDescr_t *d, int64_t rows, int64_t columns,
                                        int64_t nnz, const void *offsets, const void *indices,
                                        const void *values, cusparseIndexType_t offsets_type,
                                        cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                        cudaDataType type) {
    return create_sparse(d, {CUSPARSE_FORMAT_CSC, rows, columns, nnz, (void *)offsets,
                             (void *)indices, (void *)values, offsets_type, index_type, base,
                             type});
}
cusparseStatus_t cusparseCreateCsc(cusparseSpMatDescr_t *d, int64_t rows, int64_t columns,
                                   int64_t nnz, void *offsets, void *indices, void *values,
                                   cusparseIndexType_t offsets_type, cusparseIndexType_t index_type,
                                   cusparseIndexBase_t base, cudaDataType type) {
    return cusparseCreateConstCsc((cusparseConstSpMatDescr_t *)d, rows, columns, nnz, offsets,
                                  indices, values, offsets_type, index_type, base, type);
}
cusparseStatus_t cusparseCreateConstCoo(cusparseConstSpMatDescr_t *d, int64_t rows, int64_t columns,
                                        int64_t nnz, const void *row_indices,
                                        const void *column_indices, const void *values,
                                        cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                        cudaDataType type) {
    return create_sparse(d, {CUSPARSE_FORMAT_COO, rows, columns, nnz, (void *)row_indices,
                             (void *)column_indices, (void *)values, index_type, index_type, base,
                             type});
}
cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t *d, int64_t rows, int64_t columns,
                                   int64_t nnz, void *row_indices, void *column_indices,
                                   void *values, cusparseIndexType_t index_type,
                                   cusparseIndexBase_t base, cudaDataType type) {
    return cusparseCreateConstCoo((cusparseConstSpMatDescr_t *)d, rows, columns, nnz, row_indices,
                                  column_indices, values, index_type, base, type);
}
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t d) {
    delete d;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t d, int64_t *rows, int64_t *columns,
                                      int64_t *nnz) {
    if (!d || !rows || !columns || !nnz) return CUSPARSE_STATUS_INVALID_VALUE;
    *rows = d->rows, *columns = d->columns, *nnz = d->nnz;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t d, void *values) {
    if (!d) return CUSPARSE_STATUS_INVALID_VALUE;
    d->values = values;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMatGetValues(cusparseSpMatDescr_t d, void **values) {
    if (!d || !values) return CUSPARSE_STATUS_INVALID_VALUE;
    *values = d->values;
    return CUSPARSE_STATUS_SUCCESS;
}
static cusparseStatus_t set_pointers(cusparseSpMatDescr_t d, void *major, void *minor,
                                     void *values) {
    if (!d) return CUSPARSE_STATUS_INVALID_VALUE;
    d->major = major, d->minor = minor, d->values = values;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t d, void *offsets, void *indices,
                                        void *values) {
    return set_pointers(d, offsets, indices, values);
}
cusparseStatus_t cusparseCscSetPointers(cusparseSpMatDescr_t d, void *offsets, void *indices,
                                        void *values) {
    return set_pointers(d, offsets, indices, values);
}
cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t d, void *rows, void *columns,
                                        void *values) {
    return set_pointers(d, rows, columns, values);
}
cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t d, int count,
                                            int64_t offsets_stride, int64_t elements_stride) {
    if (!d || count < 1) return CUSPARSE_STATUS_INVALID_VALUE;
    d->batches = count, d->offsets_stride = offsets_stride, d->elements_stride = elements_stride;
    return CUSPARSE_STATUS_SUCCESS;
}
}
