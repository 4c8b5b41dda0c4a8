/* operations.cu — products of sparse and dense operands, conversions, sparse vectors. */
#include "grader/cusparse/sparse.cuh"

/* ---- products ---- */

template <typename T> __device__ void add_atomically(T *p, T x) { atomicAdd(p, x); }
template <typename R> __device__ void add_atomically(complex<R> *p, complex<R> x) {
    atomicAdd(&p->re, x.re), atomicAdd(&p->im, x.im);
}

/* With beta = 0, the old values don't count, even if they are no numbers. */
template <typename T> __device__ T scaled(scalar<T> beta, const T &old) {
    T b = beta.value();
    return b == T(0) ? T(0) : b * old;
}

template <typename T> struct scale_entry {
    dense<T> c;
    scalar<T> beta;
    __device__ void operator()(long long i) const {
        T &entry = c.at(i / c.columns, i % c.columns);
        entry = scaled(beta, entry);
    }
};

/* Entry i of the result, if the sparse operand's majors are its rows. */
template <typename T> struct gather_entry {
    sparse<T> a;
    dense<T> b, c;
    scalar<T> alpha, beta;
    __device__ void operator()(long long i) const {
        long long row = i / c.columns, column = i % c.columns;
        T sum = T(0);
        for (long long k = a.major[row]; k < a.major[row + 1]; k++)
            sum = sum + a.value(k) * b(a.minor[k], column);
        T &entry = c.at(row, column);
        entry = alpha.value() * sum + scaled(beta, entry);
    }
};

/* Adds one element's products with a row of b, of which i is a column, to the result. */
template <typename T> struct scatter_element {
    sparse<T> a;
    dense<T> b, c;
    scalar<T> alpha;
    __device__ void operator()(long long i) const {
        long long k = i / c.columns, column = i % c.columns, major = a.major_of(k),
                  minor = a.minor[k], row = a.swaps ? minor : major,
                  inner = a.swaps ? major : minor;
        add_atomically(&c.at(row, column), alpha.value() * a.value(k) * b(inner, column));
    }
};

/* A warp for each row of a matrix that is multiplied by a vector. */
template <typename T> struct row_product {
    sparse<T> a;
    const T *x;
    T *y;
    scalar<T> alpha, beta;
    __device__ void operator()(long long i) const {
        long long row = i / 32;
        T sum = T(0);
        for (long long k = a.major[row] + i % 32; k < a.major[row + 1]; k += 32)
            sum = sum + a.value(k) * x[a.minor[k]];
        for (int distance = 16; distance; distance /= 2) sum = sum + shifted(sum, distance);
        if (i % 32 == 0) y[row] = alpha.value() * sum + scaled(beta, y[row]);
    }
    template <typename R> __device__ static R shifted(R v, int distance) {
        return __shfl_down_sync(~0u, v, distance);
    }
    template <typename R> __device__ static complex<R> shifted(complex<R> v, int distance) {
        return {shifted(v.re, distance), shifted(v.im, distance)};
    }
};

template <typename T>
static cusparseStatus_t multiply(cusparseHandle_t h, sparse<T> a, dense<T> b, dense<T> c,
                                 scalar<T> alpha, scalar<T> beta) {
    if (!a.is_coo && !a.swaps)
        return for_items(h, c.rows * c.columns, gather_entry<T>{a, b, c, alpha, beta});
    cusparseStatus_t status = for_items(h, c.rows * c.columns, scale_entry<T>{c, beta});
    if (status) return status;
    return for_items(h, a.nnz * c.columns, scatter_element<T>{a, b, c, alpha});
}

template <typename T>
static cusparseStatus_t multiply_vector(cusparseHandle_t h, sparse<T> a, const cusparseDnVecDescr *x,
                                        const cusparseDnVecDescr *y, scalar<T> alpha,
                                        scalar<T> beta) {
    if (!a.is_coo && !a.swaps)
        return for_items(h, 32 * y->size,
                         row_product<T>{a, (const T *)x->values, (T *)y->values, alpha, beta});
    return multiply(h, a, dense<T>{(T *)x->values, x->size, 1, 1, 1, false},
                    dense<T>{(T *)y->values, y->size, 1, 1, 1, false}, alpha, beta);
}

/* An entry of a sampled product: only the elements of a sparse matrix are computed. */
template <typename T> struct sampled_element {
    sparse<T> c;
    dense<T> a, b;
    scalar<T> alpha, beta;
    __device__ void operator()(long long k) const {
        long long major = c.major_of(k), minor = c.minor[k], row = c.swaps ? minor : major,
                  column = c.swaps ? major : minor;
        T sum = T(0);
        for (long long i = 0; i < a.columns; i++) sum = sum + a(row, i) * b(i, column);
        c.values[k] = alpha.value() * sum + scaled(beta, c.values[k]);
    }
};

static bool has_sizes(const cusparseSpMatDescr *a, cusparseOperation_t op, int64_t rows,
                      int64_t inner) {
    bool is_plain = op == CUSPARSE_OPERATION_NON_TRANSPOSE;
    return rows == (is_plain ? a->rows : a->columns) && inner == (is_plain ? a->columns : a->rows);
}

/* ---- conversions ---- */

template <typename T> struct store_element {
    sparse<T> a;
    dense<T> b;
    __device__ void operator()(long long k) const {
        long long major = a.major_of(k), minor = a.minor[k];
        b.at(a.swaps ? minor : major, a.swaps ? major : minor) = a.values[k];
    }
};
template <typename T> struct clear_entry {
    dense<T> b;
    __device__ void operator()(long long i) const { b.at(i / b.columns, i % b.columns) = T(0); }
};

/* A dense matrix whose rows are the majors of the sparse one. */
template <typename T>
static dense<T> by_majors(const cusparseDnMatDescr *a, const cusparseSpMatDescr *b) {
    return make_dense<T>(a,
                         b->format == CUSPARSE_FORMAT_CSC ? CUSPARSE_OPERATION_TRANSPOSE
                                                          : CUSPARSE_OPERATION_NON_TRANSPOSE,
                         0);
}

/* One thread adds up the counts, since they depend on each other. */
template <typename T> struct count_elements {
    dense<T> a;
    index_array offsets;
    __device__ void operator()(long long) const {
        long long n = 0;
        for (long long i = 0; i < a.rows; i++) {
            offsets.set(i, n);
            for (long long j = 0; j < a.columns; j++) n += !(a.at(i, j) == T(0));
        }
        offsets.set(a.rows, n);
    }
};
template <typename T> struct store_major {
    dense<T> a;
    sparse<T> b;
    __device__ void operator()(long long i) const {
        long long k = b.major[i];
        for (long long j = 0; j < a.columns; j++) {
            if (a.at(i, j) == T(0)) continue;
            b.minor.set(k, j);
            b.values[k++] = a.at(i, j);
        }
    }
};

/* ---- sparse vectors ---- */

template <typename T> struct scale_value {
    T *y;
    scalar<T> beta;
    __device__ void operator()(long long i) const { y[i] = scaled(beta, y[i]); }
};
template <typename T> struct add_element {
    index_array indices;
    const T *x;
    T *y;
    scalar<T> alpha;
    __device__ void operator()(long long k) const {
        y[indices[k]] = y[indices[k]] + alpha.value() * x[k];
    }
};
template <typename T> struct gather_value {
    index_array indices;
    T *x;
    const T *y;
    __device__ void operator()(long long k) const { x[k] = y[indices[k]]; }
};
template <typename T> struct scatter_value {
    index_array indices;
    const T *x;
    T *y;
    __device__ void operator()(long long k) const { y[indices[k]] = x[k]; }
};
static index_array indices_of(const cusparseSpVecDescr *x) {
    return make_indices(x->indices, x->index_type, x->base);
}

/* ---- the calls ---- */

extern "C" {

/* Ours need no buffer; a size of 0 would make programs allocate nothing and then fail. */
static cusparseStatus_t return_buffer(size_t *bytes) {
    if (!bytes) return CUSPARSE_STATUS_INVALID_VALUE;
    *bytes = 4;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t, cusparseOperation_t, const void *,
                                         cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t,
                                         const void *, cusparseDnVecDescr_t, cudaDataType,
                                         cusparseSpMVAlg_t, size_t *bytes) {
    return return_buffer(bytes);
}
cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t h, cusparseOperation_t, const void *,
                                         cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t,
                                         const void *, cusparseDnVecDescr_t, cudaDataType,
                                         cusparseSpMVAlg_t, void *) {
    return h ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED;
}
cusparseStatus_t cusparseSpMV(cusparseHandle_t h, cusparseOperation_t op, const void *alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x,
                              const void *beta, cusparseDnVecDescr_t y, cudaDataType type,
                              cusparseSpMVAlg_t, void *) {
    if (!h) return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!a || !x || !y || !has_sizes(a, op, y->size, x->size)) return CUSPARSE_STATUS_INVALID_VALUE;
    if (a->type != type || x->type != type || y->type != type) return CUSPARSE_STATUS_NOT_SUPPORTED;
    return for_type(type, [&](auto zero) {
        using T = decltype(zero);
        return multiply_vector(h, make_sparse<T>(a, op, 0), x, y, make_scalar<T>(h, alpha),
                               make_scalar<T>(h, beta));
    });
}

cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t, cusparseOperation_t, cusparseOperation_t,
                                         const void *, cusparseConstSpMatDescr_t,
                                         cusparseConstDnMatDescr_t, const void *,
                                         cusparseDnMatDescr_t, cudaDataType, cusparseSpMMAlg_t,
                                         size_t *bytes) {
    return return_buffer(bytes);
}
cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t h, cusparseOperation_t,
                                         cusparseOperation_t, const void *,
                                         cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t,
                                         const void *, cusparseDnMatDescr_t, cudaDataType,
                                         cusparseSpMMAlg_t, void *) {
    return h ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED;
}
cusparseStatus_t cusparseSpMM(cusparseHandle_t h, cusparseOperation_t op_a,
                              cusparseOperation_t op_b, const void *alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                              const void *beta, cusparseDnMatDescr_t c, cudaDataType type,
                              cusparseSpMMAlg_t, void *) {
    if (!h) return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!a || !b || !c) return CUSPARSE_STATUS_INVALID_VALUE;
    if (a->type != type || b->type != type || c->type != type) return CUSPARSE_STATUS_NOT_SUPPORTED;
    bool is_plain = op_b == CUSPARSE_OPERATION_NON_TRANSPOSE;
    if (!has_sizes(a, op_a, c->rows, is_plain ? b->rows : b->columns) ||
        c->columns != (is_plain ? b->columns : b->rows))
        return CUSPARSE_STATUS_INVALID_VALUE;
    return for_type(type, [&](auto zero) {
        using T = decltype(zero);
        cusparseStatus_t status = CUSPARSE_STATUS_SUCCESS;
        for (int i = 0; i < c->batches && !status; i++)
            status = multiply(h, make_sparse<T>(a, op_a, i), make_dense<T>(b, op_b, i),
                              make_dense<T>(c, CUSPARSE_OPERATION_NON_TRANSPOSE, i),
                              make_scalar<T>(h, alpha), make_scalar<T>(h, beta));
        return status;
    });
}

cusparseStatus_t cusparseSDDMM_bufferSize(cusparseHandle_t, cusparseOperation_t,
                                          cusparseOperation_t, const void *,
                                          cusparseConstDnMatDescr_t, cusparseConstDnMatDescr_t,
                                          const void *, cusparseSpMatDescr_t, cudaDataType,
                                          cusparseSDDMMAlg_t, size_t *bytes) {
    return return_buffer(bytes);
}
cusparseStatus_t cusparseSDDMM_preprocess(cusparseHandle_t h, cusparseOperation_t,
                                          cusparseOperation_t, const void *,
                                          cusparseConstDnMatDescr_t, cusparseConstDnMatDescr_t,
                                          const void *, cusparseSpMatDescr_t, cudaDataType,
                                          cusparseSDDMMAlg_t, void *) {
    return h ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED;
}
cusparseStatus_t cusparseSDDMM(cusparseHandle_t h, cusparseOperation_t op_a,
                               cusparseOperation_t op_b, const void *alpha,
                               cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                               const void *beta, cusparseSpMatDescr_t c, cudaDataType type,
                               cusparseSDDMMAlg_t, void *) {
    if (!h) return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!a || !b || !c) return CUSPARSE_STATUS_INVALID_VALUE;
    if (a->type != type || b->type != type || c->type != type) return CUSPARSE_STATUS_NOT_SUPPORTED;
    return for_type(type, [&](auto zero) {
        using T = decltype(zero);
        cusparseStatus_t status = CUSPARSE_STATUS_SUCCESS;
        for (int i = 0; i < c->batches && !status; i++) {
            sparse<T> sampled = make_sparse<T>(c, CUSPARSE_OPERATION_NON_TRANSPOSE, i);
            status = for_items(h, c->nnz,
                               sampled_element<T>{sampled, make_dense<T>(a, op_a, i),
                                                  make_dense<T>(b, op_b, i),
                                                  make_scalar<T>(h, alpha),
                                                  make_scalar<T>(h, beta)});
        }
        return status;
    });
}

cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t, cusparseConstSpMatDescr_t,
                                                  cusparseDnMatDescr_t, cusparseSparseToDenseAlg_t,
                                                  size_t *bytes) {
    return return_buffer(bytes);
}
cusparseStatus_t cusparseSparseToDense(cusparseHandle_t h, cusparseConstSpMatDescr_t a,
                                       cusparseDnMatDescr_t b, cusparseSparseToDenseAlg_t, void *) {
    if (!h) return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!a || !b || a->rows != b->rows || a->columns != b->columns || a->type != b->type)
        return CUSPARSE_STATUS_INVALID_VALUE;
    return for_type(a->type, [&](auto zero) {
        using T = decltype(zero);
        dense<T> to = make_dense<T>(b, CUSPARSE_OPERATION_NON_TRANSPOSE, 0);
        sparse<T> from = make_sparse<T>(a, CUSPARSE_OPERATION_NON_TRANSPOSE, 0);
        cusparseStatus_t status = for_items(h, b->rows * b->columns, clear_entry<T>{to});
        return status ? status : for_items(h, a->nnz, store_element<T>{from, to});
    });
}

cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t, cusparseConstDnMatDescr_t,
                                                  cusparseSpMatDescr_t, cusparseDenseToSparseAlg_t,
                                                  size_t *bytes) {
    return return_buffer(bytes);
}
/* Computes the offsets, and the number of elements, which the host needs to allocate the rest. */
cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t h, cusparseConstDnMatDescr_t a,
                                                cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t,
                                                void *) {
    if (!h) return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!a || !b || a->rows != b->rows || a->columns != b->columns || a->type != b->type)
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (b->format == CUSPARSE_FORMAT_COO) return CUSPARSE_STATUS_NOT_SUPPORTED;
    index_array offsets = make_indices(b->major, b->major_type, b->base);
    cusparseStatus_t status = for_type(a->type, [&](auto zero) {
        using T = decltype(zero);
        return for_items(h, 1, count_elements<T>{by_majors<T>(a, b), offsets});
    });
    if (status) return status;
    size_t width = offsets.is_wide ? 8 : 4;
    long long count = 0; /* little-endian: the low bytes of either width */
    if (cudaMemcpyAsync(&count, (char *)b->major + b->majors() * width, width,
                        cudaMemcpyDeviceToHost, h->stream) != cudaSuccess ||
        cudaStreamSynchronize(h->stream) != cudaSuccess)
        return CUSPARSE_STATUS_EXECUTION_FAILED;
    b->nnz = count - b->base;
    return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t h, cusparseConstDnMatDescr_t a,
                                               cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t,
                                               void *) {
    if (!h) return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!a || !b) return CUSPARSE_STATUS_INVALID_VALUE;
    return for_type(a->type, [&](auto zero) {
        using T = decltype(zero);
        sparse<T> to = make_sparse<T>(b, CUSPARSE_OPERATION_NON_TRANSPOSE, 0);
        return for_items(h, to.majors, store_major<T>{by_majors<T>(a, b), to});
    });
}

cusparseStatus_t cusparseAxpby(cusparseHandle_t h, const void *alpha, cusparseConstSpVecDescr_t x,
                               const void *beta, cusparseDnVecDescr_t y) {
    if (!h) return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!x || !y || x->type != y->type) return CUSPARSE_STATUS_INVALID_VALUE;
    return for_type(x->type, [&](auto zero) {
        using T = decltype(zero);
        T *values = (T *)y->values;
        cusparseStatus_t status =
            for_items(h, y->size, scale_value<T>{values, make_scalar<T>(h, beta)});
        if (status) return status;
        return for_items(h, x->nnz,
                         add_element<T>{indices_of(x), (const T *)x->values, values,
                                        make_scalar<T>(h, alpha)});
    });
}
cusparseStatus_t cusparseGather(cusparseHandle_t h, cusparseConstDnVecDescr_t y,
                                cusparseSpVecDescr_t x) {
    if (!h) return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!x || !y || x->type != y->type) return CUSPARSE_STATUS_INVALID_VALUE;
    return for_type(x->type, [&](auto zero) {
        using T = decltype(zero);
        return for_items(h, x->nnz,
                         gather_value<T>{indices_of(x), (T *)x->values, (const T *)y->values});
    });
}
cusparseStatus_t cusparseScatter(cusparseHandle_t h, cusparseConstSpVecDescr_t x,
                                 cusparseDnVecDescr_t y) {
    if (!h) return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!x || !y || x->type != y->type) return CUSPARSE_STATUS_INVALID_VALUE;
    return for_type(x->type, [&](auto zero) {
        using T = decltype(zero);
        return for_items(h, x->nnz,
                         scatter_value<T>{indices_of(x), (const T *)x->values, (T *)y->values});
    });
}
}
