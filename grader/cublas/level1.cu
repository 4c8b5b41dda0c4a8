/* level1.cu — BLAS level 1: vectors. */
#include "grader/cublas/handle.cuh"

enum { THREADS = 256, MAX_BLOCKS = 1024 };

/* Calls f(i) for each of n elements. */
template <typename F> __global__ void cublas_elements(long long n, F f) {
    long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) f(i);
}
template <typename F> static cublasStatus_t for_elements(cublasHandle_t h, long long n, F f) {
    if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;
    return launch(h, blocks_for(n, THREADS, MAX_BLOCKS), THREADS, cublas_elements<F>, n, f);
}

template <typename X, typename Y, typename S> struct axpy_element {
    scalar<S> alpha;
    strided<const X> x;
    strided<Y> y;
    __device__ void operator()(long long i) const {
        y[i] = convert<Y>(alpha.value() * convert<S>(x[i]) + convert<S>(y[i]));
    }
};
template <typename X, typename S> struct scale_element {
    scalar<S> alpha;
    strided<X> x;
    __device__ void operator()(long long i) const {
        x[i] = convert<X>(alpha.value() * convert<S>(x[i]));
    }
};
/* A complex vector times a real number, as twice as many real elements. */
template <typename R> struct scale_parts {
    scalar<R> alpha;
    strided<complex<R>> x;
    __device__ void operator()(long long i) const {
        complex<R> v = x[i];
        x[i] = {alpha.value() * v.re, alpha.value() * v.im};
    }
};
template <typename T> struct copy_element {
    strided<const T> x;
    strided<T> y;
    __device__ void operator()(long long i) const { y[i] = x[i]; }
};
template <typename T> struct swap_element {
    strided<T> x, y;
    __device__ void operator()(long long i) const {
        T first = x[i];
        x[i] = y[i], y[i] = first;
    }
};
template <typename T> struct rotate_element {
    strided<T> x, y;
    scalar<T> c, s;
    __device__ void operator()(long long i) const {
        T a = x[i], b = y[i];
        x[i] = c.value() * a + s.value() * b;
        y[i] = c.value() * b - s.value() * a;
    }
};

/* ---- reductions: one value for each block, then one block for all ---- */

template <typename V, typename Combine>
static __device__ V combine_block(V mine, Combine combine) {
    __shared__ V values[THREADS];
    values[threadIdx.x] = mine;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            values[threadIdx.x] = combine(values[threadIdx.x], values[threadIdx.x + half]);
    }
    return values[0]; /* thread 0's own */
}
template <typename R>
__global__ void cublas_partial(long long n, R reduction, typename R::value *partial) {
    typename R::value sum = R::identity();
    long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        sum = reduction.combine(sum, reduction.element(i));
    sum = combine_block(sum, [=](auto a, auto b) { return reduction.combine(a, b); });
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}
template <typename R, typename Result>
__global__ void cublas_total(int n, R reduction, const typename R::value *partial,
                             Result *result) {
    typename R::value sum = (int)threadIdx.x < n ? partial[threadIdx.x] : R::identity();
    sum = combine_block(sum, [=](auto a, auto b) { return reduction.combine(a, b); });
    if (threadIdx.x == 0) *result = convert<Result>(reduction.finish(sum));
}

/* Writes the result to the host or to the device, as the handle says. */
template <typename R, typename Result>
static cublasStatus_t reduce(cublasHandle_t h, long long n, R reduction, Result *result) {
    static_assert(sizeof(typename R::value) <= 16, "the workspace holds 16 bytes a block");
    static_assert((int)PARTIAL_SUMS == (int)THREADS, "one block adds up all partial sums");
    if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
    bool to_host = h->pointer_mode == CUBLAS_POINTER_MODE_HOST;
    auto *partial = (typename R::value *)h->workspace;
    auto *total = to_host ? (Result *)((char *)h->workspace + PARTIAL_SUMS * 16) : result;
    unsigned blocks = blocks_for(n, THREADS, PARTIAL_SUMS);
    cublasStatus_t status = launch(h, blocks, THREADS, cublas_partial<R>, n, reduction, partial);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = launch(h, 1, THREADS, cublas_total<R, Result>, (int)blocks, reduction, partial,
                        total);
    if (status != CUBLAS_STATUS_SUCCESS || !to_host) return status;
    bool copied = cudaMemcpyAsync(result, total, sizeof *result, cudaMemcpyDeviceToHost,
                                  h->stream) == cudaSuccess &&
                  cudaStreamSynchronize(h->stream) == cudaSuccess;
    return copied ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

template <typename V> struct sum_reduction {
    using value = V;
    static __device__ V identity() { return V(0); }
    __device__ V combine(V a, V b) const { return a + b; }
    __device__ V finish(V sum) const { return sum; }
};
template <typename X, typename Y, typename S> struct dot_reduction : sum_reduction<S> {
    strided<const X> x;
    strided<const Y> y;
    bool conjugates;
    __device__ S element(long long i) const {
        S a = convert<S>(x[i]);
        return (conjugates ? conjugate(a) : a) * convert<S>(y[i]);
    }
};
template <typename T> struct asum_reduction : sum_reduction<typename number<T>::real> {
    strided<const T> x;
    __device__ typename number<T>::real element(long long i) const { return magnitude(x[i]); }
};
/* Squares are added in f64: an f32 can't overflow it. */
template <typename T> struct norm_reduction : sum_reduction<double> {
    strided<const T> x;
    __device__ double element(long long i) const {
        return squared(convert<typename number<T>::sum>(x[i]));
    }
    __device__ double finish(double sum) const { return sqrt(sum); }
};

/* The first element with the greatest (or least) magnitude; its number counts from 1. */
template <typename R> struct indexed {
    R magnitude;
    long long index;
};
template <typename T, bool greatest> struct extreme_reduction {
    using real = typename number<T>::real;
    using value = indexed<real>;
    strided<const T> x;
    static __device__ value identity() { return {0, 0}; }
    __device__ value element(long long i) const { return {magnitude(x[i]), i + 1}; }
    __device__ value combine(value a, value b) const {
        if (!a.index || !b.index) return a.index ? a : b;
        if (a.magnitude == b.magnitude) return a.index < b.index ? a : b;
        return (a.magnitude > b.magnitude) == greatest ? a : b;
    }
    __device__ long long finish(value v) const { return v.index; }
};

template <typename S, typename X, typename Y, typename Result>
static cublasStatus_t dot(cublasHandle_t h, long long n, const X *x, long long incx, const Y *y,
                          long long incy, Result *result, bool conjugates) {
    dot_reduction<X, Y, S> r;
    r.x = make_strided(x, n, incx), r.y = make_strided(y, n, incy), r.conjugates = conjugates;
    return reduce(h, n, r, result);
}
template <typename T, typename Result>
static cublasStatus_t norm(cublasHandle_t h, long long n, const T *x, long long incx,
                           Result *result) {
    norm_reduction<T> r;
    r.x = {x, incx};
    return reduce(h, incx > 0 ? n : 0, r, result);
}
template <typename T, typename Result>
static cublasStatus_t asum(cublasHandle_t h, long long n, const T *x, long long incx,
                           Result *result) {
    asum_reduction<T> r;
    r.x = {x, incx};
    return reduce(h, incx > 0 ? n : 0, r, result);
}
template <bool greatest, typename T, typename Result>
static cublasStatus_t extreme(cublasHandle_t h, long long n, const T *x, long long incx,
                              Result *result) {
    return reduce(h, incx > 0 ? n : 0, extreme_reduction<T, greatest>{{x, incx}}, result);
}
template <typename S, typename X, typename Y>
static cublasStatus_t axpy(cublasHandle_t h, long long n, const S *alpha, const X *x,
                           long long incx, Y *y, long long incy) {
    if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
    return for_elements(h, n, axpy_element<X, Y, S>{make_scalar(h, alpha), make_strided(x, n, incx),
                                                    make_strided(y, n, incy)});
}
template <typename S, typename X>
static cublasStatus_t scale(cublasHandle_t h, long long n, const S *alpha, X *x, long long incx) {
    if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
    return for_elements(h, incx > 0 ? n : 0, scale_element<X, S>{make_scalar(h, alpha), {x, incx}});
}

extern "C" {

#define VECTORS(L, T, I, suffix)                                                                   \
    cublasStatus_t cublas##L##axpy##suffix(cublasHandle_t h, I n, const T *alpha, const T *x,      \
                                           I incx, T *y, I incy) {                                 \
        return axpy(h, n, numbers(alpha), numbers(x), incx, numbers(y), incy);                     \
    }                                                                                              \
    cublasStatus_t cublas##L##scal##suffix(cublasHandle_t h, I n, const T *alpha, T *x, I incx) {  \
        return scale(h, n, numbers(alpha), numbers(x), incx);                                      \
    }                                                                                              \
    cublasStatus_t cublas##L##copy##suffix(cublasHandle_t h, I n, const T *x, I incx, T *y,        \
                                           I incy) {                                               \
        return for_elements(h, n, copy_element<T>{make_strided(x, n, incx),                        \
                                                  make_strided(y, n, incy)});                      \
    }                                                                                              \
    cublasStatus_t cublas##L##swap##suffix(cublasHandle_t h, I n, T *x, I incx, T *y, I incy) {    \
        return for_elements(h, n, swap_element<T>{make_strided(x, n, incx),                        \
                                                  make_strided(y, n, incy)});                      \
    }
ALL_TYPES(VECTORS)

#define REAL_VECTORS(L, T, I, suffix)                                                              \
    cublasStatus_t cublas##L##dot##suffix(cublasHandle_t h, I n, const T *x, I incx, const T *y,   \
                                          I incy, T *result) {                                     \
        return dot<T>(h, n, x, incx, y, incy, result, false);                                      \
    }                                                                                              \
    cublasStatus_t cublas##L##rot##suffix(cublasHandle_t h, I n, T *x, I incx, T *y, I incy,       \
                                          const T *c, const T *s) {                                \
        if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;                                              \
        return for_elements(h, n, rotate_element<T>{make_strided(x, n, incx),                      \
                                                    make_strided(y, n, incy), make_scalar(h, c),   \
                                                    make_scalar(h, s)});                           \
    }
REAL_TYPES(REAL_VECTORS)

#define COMPLEX_VECTORS(L, T, I, suffix)                                                           \
    cublasStatus_t cublas##L##dotu##suffix(cublasHandle_t h, I n, const T *x, I incx, const T *y,  \
                                           I incy, T *result) {                                    \
        return dot<std::remove_pointer_t<decltype(numbers(result))>>(                              \
            h, n, numbers(x), incx, numbers(y), incy, numbers(result), false);                     \
    }                                                                                              \
    cublasStatus_t cublas##L##dotc##suffix(cublasHandle_t h, I n, const T *x, I incx, const T *y,  \
                                           I incy, T *result) {                                    \
        return dot<std::remove_pointer_t<decltype(numbers(result))>>(                              \
            h, n, numbers(x), incx, numbers(y), incy, numbers(result), true);                      \
    }
COMPLEX_TYPES(COMPLEX_VECTORS)

/* The result of these is real; letters of a complex vector and its result are together. */
#define NORMS(L, T, R, I, suffix)                                                                  \
    cublasStatus_t cublas##L##nrm2##suffix(cublasHandle_t h, I n, const T *x, I incx, R *result) { \
        return norm(h, n, numbers(x), incx, result);                                               \
    }                                                                                              \
    cublasStatus_t cublas##L##asum##suffix(cublasHandle_t h, I n, const T *x, I incx, R *result) { \
        return asum(h, n, numbers(x), incx, result);                                               \
    }
BOTH_SIZES(NORMS, S, float, float)
BOTH_SIZES(NORMS, D, double, double)
BOTH_SIZES(NORMS, Sc, cuComplex, float)
BOTH_SIZES(NORMS, Dz, cuDoubleComplex, double)

#define EXTREMES(l, T, I, suffix)                                                                \
    cublasStatus_t cublasI##l##amax##suffix(cublasHandle_t h, I n, const T *x, I incx,         \
                                            I *result) {                                         \
        return extreme<true>(h, n, numbers(x), incx, result);                                    \
    }                                                                                            \
    cublasStatus_t cublasI##l##amin##suffix(cublasHandle_t h, I n, const T *x, I incx,         \
                                            I *result) {                                         \
        return extreme<false>(h, n, numbers(x), incx, result);                                   \
    }
BOTH_SIZES(EXTREMES, s, float)
BOTH_SIZES(EXTREMES, d, double)
BOTH_SIZES(EXTREMES, c, cuComplex)
BOTH_SIZES(EXTREMES, z, cuDoubleComplex)

#define SCALE_PARTS(L, T, R, I, suffix)                                                           \
    cublasStatus_t cublas##L##scal##suffix(cublasHandle_t h, I n, const R *alpha, T *x, I incx) { \
        if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;                                             \
        return for_elements(h, incx > 0 ? n : 0,                                                  \
                            scale_parts<R>{make_scalar(h, alpha), {numbers(x), incx}});           \
    }
BOTH_SIZES(SCALE_PARTS, Cs, cuComplex, float)
BOTH_SIZES(SCALE_PARTS, Zd, cuDoubleComplex, double)

/* Vectors of any type whose x, y and result have the same one. */
static cublasStatus_t dot_any(cublasHandle_t h, long long n, const void *x, cudaDataType x_type,
                              long long incx, const void *y, cudaDataType y_type, long long incy,
                              void *result, cudaDataType result_type, cudaDataType sum_type,
                              bool conjugates) {
    if (x_type != y_type || x_type != result_type) return CUBLAS_STATUS_NOT_SUPPORTED;
#define DOT(data, total, T, S)                                                                  \
    if (x_type == data && sum_type == total)                                                    \
        return dot<S>(h, n, (const T *)x, incx, (const T *)y, incy, (T *)result, conjugates);
    DOT(CUDA_R_32F, CUDA_R_32F, float, float)
    DOT(CUDA_R_64F, CUDA_R_64F, double, double)
    DOT(CUDA_R_16F, CUDA_R_32F, __half, float)
    DOT(CUDA_R_16BF, CUDA_R_32F, __nv_bfloat16, float)
    DOT(CUDA_C_32F, CUDA_C_32F, complex<float>, complex<float>)
    DOT(CUDA_C_64F, CUDA_C_64F, complex<double>, complex<double>)
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

#define DOT_EX(Name, conjugates, I, suffix)                                                        \
    cublasStatus_t cublas##Name##suffix(cublasHandle_t h, I n, const void *x, cudaDataType xt,     \
                                        I incx, const void *y, cudaDataType yt, I incy,            \
                                        void *result, cudaDataType rt, cudaDataType total) {       \
        return dot_any(h, n, x, xt, incx, y, yt, incy, result, rt, total, conjugates);             \
    }
BOTH_SIZES(DOT_EX, DotEx, false)
BOTH_SIZES(DOT_EX, DotcEx, true)

#define NRM2_EX(Name, unused, I, suffix)                                                          \
    cublasStatus_t cublas##Name##suffix(cublasHandle_t h, I n, const void *x, cudaDataType xt,    \
                                        I incx, void *result, cudaDataType rt, cudaDataType) {    \
        if (xt == CUDA_R_32F && rt == xt)                                                         \
            return norm(h, n, (const float *)x, incx, (float *)result);                           \
        if (xt == CUDA_R_64F && rt == xt)                                                         \
            return norm(h, n, (const double *)x, incx, (double *)result);                         \
        return CUBLAS_STATUS_NOT_SUPPORTED;                                                       \
    }
BOTH_SIZES(NRM2_EX, Nrm2Ex, )

#define AXPY_EX(Name, unused, I, suffix)                                                          \
    cublasStatus_t cublas##Name##suffix(cublasHandle_t h, I n, const void *alpha, cudaDataType at, \
                                        const void *x, cudaDataType xt, I incx, void *y,          \
                                        cudaDataType yt, I incy, cudaDataType) {                  \
        if (xt != yt) return CUBLAS_STATUS_NOT_SUPPORTED;                                         \
        if (xt == CUDA_R_32F && at == xt)                                                         \
            return axpy(h, n, (const float *)alpha, (const float *)x, incx, (float *)y, incy);    \
        if (xt == CUDA_R_64F && at == xt)                                                         \
            return axpy(h, n, (const double *)alpha, (const double *)x, incx, (double *)y, incy); \
        if (xt == CUDA_R_16F && at == CUDA_R_32F)                                                 \
            return axpy(h, n, (const float *)alpha, (const __half *)x, incx, (__half *)y, incy);  \
        return CUBLAS_STATUS_NOT_SUPPORTED;                                                       \
    }
BOTH_SIZES(AXPY_EX, AxpyEx, )

#define SCAL_EX(Name, unused, I, suffix)                                                           \
    cublasStatus_t cublas##Name##suffix(cublasHandle_t h, I n, const void *alpha, cudaDataType at, \
                                        void *x, cudaDataType xt, I incx, cudaDataType) {          \
        if (xt == CUDA_R_32F && at == xt)                                                          \
            return scale(h, n, (const float *)alpha, (float *)x, incx);                            \
        if (xt == CUDA_R_64F && at == xt)                                                          \
            return scale(h, n, (const double *)alpha, (double *)x, incx);                          \
        if (xt == CUDA_R_16F && at == CUDA_R_32F)                                                  \
            return scale(h, n, (const float *)alpha, (__half *)x, incx);                           \
        return CUBLAS_STATUS_NOT_SUPPORTED;                                                        \
    }
BOTH_SIZES(SCAL_EX, ScalEx, )
}
