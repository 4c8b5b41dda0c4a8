/* sparse.cuh — the handle and the descriptors of our cuSPARSE, and how its kernels see matrices.
 *
 * As cuBLAS (grader/cublas/handle.cuh), NVIDIA's cuSPARSE contains only machine code, so `simgpu
 * nvcc` replaces it by this library, whose calls launch kernels of their own. Their results equal
 * cuSPARSE's within rounding, not bit by bit, and their times are not cuSPARSE's. */
#pragma once
#include "grader/cublas/numbers.cuh"
#include <cusparse.h>

struct cusparseContext {
    cudaStream_t stream;
    cusparsePointerMode_t pointer_mode;
};

struct cusparseMatDescr {
    cusparseMatrixType_t type;
    cusparseFillMode_t fill_mode;
    cusparseDiagType_t diagonal;
    cusparseIndexBase_t base;
};

struct cusparseDnVecDescr {
    int64_t size;
    void *values;
    cudaDataType type;
};

struct cusparseSpVecDescr {
    int64_t size, nnz;
    void *indices, *values;
    cusparseIndexType_t index_type;
    cusparseIndexBase_t base;
    cudaDataType type;
};

struct cusparseDnMatDescr {
    int64_t rows, columns, ld;
    void *values;
    cudaDataType type;
    cusparseOrder_t order;
    int batches;
    int64_t batch_stride;
};

/* The majors of a matrix are the rows of CSR and COO, and the columns of CSC. */
struct cusparseSpMatDescr {
    cusparseFormat_t format;
    int64_t rows, columns, nnz;
    void *major; /* offsets of the majors; each element's row in COO */
    void *minor, *values;
    cusparseIndexType_t major_type, minor_type;
    cusparseIndexBase_t base;
    cudaDataType type;
    cusparseFillMode_t fill_mode;
    cusparseDiagType_t diagonal;
    int batches;
    int64_t offsets_stride, elements_stride; /* from one batch to the next */
    int64_t majors() const { return format == CUSPARSE_FORMAT_CSC ? columns : rows; }
};

/* ---- as kernels see them ---- */

/* Indices of 4 or 8 bytes. */
struct index_array {
    void *p;
    bool is_wide;
    int base;
    __device__ long long operator[](long long i) const {
        return (is_wide ? ((const long long *)p)[i] : ((const int *)p)[i]) - base;
    }
    __device__ void set(long long i, long long value) const {
        if (is_wide) ((long long *)p)[i] = value + base;
        else ((int *)p)[i] = (int)(value + base);
    }
};
inline index_array make_indices(const void *p, cusparseIndexType_t type, int base) {
    return {(void *)p, type == CUSPARSE_INDEX_64I, base};
}

template <typename T> struct sparse {
    index_array major, minor;
    T *values;
    long long majors, nnz;
    bool is_coo;
    bool swaps; /* element (major, minor) is in row `minor` of the operand */
    bool conjugates;
    __device__ T value(long long k) const {
        return conjugates ? conjugate(values[k]) : values[k];
    }
    __device__ long long major_of(long long k) const {
        if (is_coo) return major[k];
        long long low = 0, high = majors;
        while (high - low > 1) {
            long long mid = (low + high) / 2;
            if (major[mid] <= k) low = mid;
            else high = mid;
        }
        return low;
    }
};

template <typename T> struct dense {
    T *p;
    long long rows, columns, row_stride, column_stride;
    bool conjugates;
    __device__ T &at(long long i, long long j) const {
        return p[i * row_stride + j * column_stride];
    }
    __device__ T operator()(long long i, long long j) const {
        return conjugates ? conjugate(at(i, j)) : at(i, j);
    }
};

template <typename T>
sparse<T> make_sparse(const cusparseSpMatDescr *a, cusparseOperation_t op, int batch) {
    int64_t index_bytes = a->major_type == CUSPARSE_INDEX_64I ? 8 : 4,
            minor_bytes = a->minor_type == CUSPARSE_INDEX_64I ? 8 : 4;
    bool is_coo = a->format == CUSPARSE_FORMAT_COO, is_csc = a->format == CUSPARSE_FORMAT_CSC;
    int64_t elements = batch * a->elements_stride,
            offsets = is_coo ? elements : batch * a->offsets_stride;
    return {make_indices((char *)a->major + offsets * index_bytes, a->major_type, a->base),
            make_indices((char *)a->minor + elements * minor_bytes, a->minor_type, a->base),
            (T *)a->values + elements,
            a->majors(),
            a->nnz,
            is_coo,
            is_csc != (op != CUSPARSE_OPERATION_NON_TRANSPOSE),
            op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE};
}

template <typename T>
dense<T> make_dense(const cusparseDnMatDescr *m, cusparseOperation_t op, int batch) {
    bool by_columns = m->order == CUSPARSE_ORDER_COL,
         is_plain = op == CUSPARSE_OPERATION_NON_TRANSPOSE;
    dense<T> d = {(T *)m->values + batch * m->batch_stride, m->rows, m->columns,
                  by_columns ? 1 : m->ld,                   by_columns ? m->ld : 1,
                  op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE};
    if (is_plain) return d;
    return {d.p, d.columns, d.rows, d.column_stride, d.row_stride, d.conjugates};
}

/* ---- scalars, types, launches ---- */

/* A factor such as alpha. In device pointer mode the kernel reads it. */
template <typename T> struct scalar {
    const T *device;
    T host;
    __device__ T value() const { return device ? *device : host; }
};
template <typename T> scalar<T> make_scalar(cusparseHandle_t h, const void *p) {
    if (h->pointer_mode == CUSPARSE_POINTER_MODE_DEVICE) return {(const T *)p, T()};
    return {nullptr, *(const T *)p};
}

/* Calls f with a value of the type. */
template <typename F> cusparseStatus_t for_type(cudaDataType type, F f) {
    switch (type) {
    case CUDA_R_32F: return f(float());
    case CUDA_R_64F: return f(double());
    case CUDA_C_32F: return f(complex<float>());
    case CUDA_C_64F: return f(complex<double>());
    default: return CUSPARSE_STATUS_NOT_SUPPORTED;
    }
}

enum { THREADS = 256 };

/* Runs f(i) for each i below n. */
template <typename F> __global__ void cusparse_items(long long n, F f) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f(i);
}
template <typename F> cusparseStatus_t for_items(cusparseHandle_t h, long long n, F f) {
    if (n <= 0) return CUSPARSE_STATUS_SUCCESS;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)((n + THREADS - 1) / THREADS));
    config.blockDim = dim3(THREADS), config.stream = h->stream;
    return cudaLaunchKernelEx(&config, cusparse_items<F>, n, f) == cudaSuccess
               ? CUSPARSE_STATUS_SUCCESS
               : CUSPARSE_STATUS_EXECUTION_FAILED;
}
