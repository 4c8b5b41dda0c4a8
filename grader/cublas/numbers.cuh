/* numbers.cuh — the types of elements in cuBLAS's calls, and the arithmetic that its kernels need.
 *
 * cuComplex and cuDoubleComplex have no operators, so kernels see their memory as complex<R>.
 * Halves and bytes are converted when a kernel loads them; sums are f32 (i32 for bytes). */
#pragma once
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <typename R> struct alignas(2 * sizeof(R)) complex {
    R re, im;
    complex() = default;
    __host__ __device__ complex(R real, R imaginary = 0) : re(real), im(imaginary) {}
};
template <typename R>
__host__ __device__ complex<R> operator+(complex<R> a, complex<R> b) {
    return {a.re + b.re, a.im + b.im};
}
template <typename R>
__host__ __device__ complex<R> operator-(complex<R> a, complex<R> b) {
    return {a.re - b.re, a.im - b.im};
}
template <typename R>
__host__ __device__ complex<R> operator*(complex<R> a, complex<R> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
/* Divides by the larger part first (Smith's method), so that squares don't overflow. */
template <typename R>
__host__ __device__ complex<R> operator/(complex<R> a, complex<R> b) {
    if (fabs(b.re) >= fabs(b.im)) {
        R q = b.im / b.re, d = b.re + b.im * q;
        return {(a.re + a.im * q) / d, (a.im - a.re * q) / d};
    }
    R q = b.re / b.im, d = b.re * q + b.im;
    return {(a.re * q + a.im) / d, (a.im * q - a.re) / d};
}
template <typename R> __host__ __device__ bool operator==(complex<R> a, complex<R> b) {
    return a.re == b.re && a.im == b.im;
}

/* The real type of a number, and the type in which kernels add it up. */
template <typename T> struct number { using real = T; using sum = T; };
template <typename R> struct number<complex<R>> { using real = R; using sum = complex<R>; };
template <> struct number<__half> { using real = __half; using sum = float; };
template <> struct number<__nv_bfloat16> { using real = __nv_bfloat16; using sum = float; };
template <> struct number<signed char> { using real = signed char; using sum = int; };

template <typename To, typename From> __host__ __device__ To convert(From x) { return To(x); }
template <> __host__ __device__ inline float convert(__half x) { return __half2float(x); }
template <> __host__ __device__ inline float convert(__nv_bfloat16 x) {
    return __bfloat162float(x);
}
template <> __host__ __device__ inline __half convert(float x) { return __float2half_rn(x); }
template <> __host__ __device__ inline __nv_bfloat16 convert(float x) {
    return __float2bfloat16_rn(x);
}

template <typename T> __host__ __device__ T conjugate(T x) { return x; }
template <typename R> __host__ __device__ complex<R> conjugate(complex<R> x) {
    return {x.re, -x.im};
}
/* |x|, or |re| + |im|, which BLAS uses for sums and maxima of complex numbers. */
template <typename T> __device__ T magnitude(T x) { return x < 0 ? -x : x; }
template <typename R> __device__ R magnitude(complex<R> x) {
    return magnitude(x.re) + magnitude(x.im);
}
template <typename T> __device__ double squared(T x) { return (double)x * (double)x; }
template <typename R> __device__ double squared(complex<R> x) {
    return squared(x.re) + squared(x.im);
}

/* The same memory as the type that kernels use. */
template <typename T> T *numbers(T *p) { return p; }
inline complex<float> *numbers(cuComplex *p) { return (complex<float> *)p; }
inline const complex<float> *numbers(const cuComplex *p) { return (const complex<float> *)p; }
inline complex<double> *numbers(cuDoubleComplex *p) { return (complex<double> *)p; }
inline const complex<double> *numbers(const cuDoubleComplex *p) {
    return (const complex<double> *)p;
}
inline complex<float> *const *numbers(cuComplex *const *p) { return (complex<float> *const *)p; }
inline const complex<float> *const *numbers(const cuComplex *const *p) {
    return (const complex<float> *const *)p;
}
inline complex<double> *const *numbers(cuDoubleComplex *const *p) {
    return (complex<double> *const *)p;
}
inline const complex<double> *const *numbers(const cuDoubleComplex *const *p) {
    return (const complex<double> *const *)p;
}
