// The math library in float and double against the host in the next wider type: errors in units of the last
// place.
#include "check.h"
#include <cmath>
#include <cstring>

// ulp distance
static double ulpf(float a, double b) {
    if (std::isnan(a) && std::isnan(b)) return 0;
    if (std::isinf(b) || fabs(b) > 3.5e38) return (std::isinf(a) || fabs(a) > 3.4e38) ? 0 : 1e9;
    if (a == b) return 0;
    int e;
    frexp(b, &e);
    double u = ldexp(1.0, (e < -125 ? -125 : e) - 24);
    return fabs(a - b) / u;
}
static double ulpd(double a, long double b) {
    if (std::isnan(a) && std::isnan((double)b)) return 0;
    if (std::isinf((double)b)) return std::isinf(a) ? 0 : 1e9;
    if (a == (double)b) return 0;
    int e;
    frexpl(b, &e);
    long double u = ldexpl(1.0, (e < -1021 ? -1021 : e) - 53);
    return fabsl(a - b) / u;
}
#define F1(X)                                                                                                \
    X(sinf, sin)                                                                                             \
    X(cosf, cos) X(tanf, tan) X(expf, exp) X(exp2f, exp2) X(exp10f, exp10) X(expm1f, expm1) X(logf, log)     \
        X(log2f, log2) X(log10f, log10) X(log1pf, log1p) X(sqrtf, sqrt) X(cbrtf, cbrt) X(erff, erf)          \
            X(erfcf, erfc) X(tgammaf, tgamma) X(asinf, asin) X(acosf, acos) X(atanf, atan) X(sinhf, sinh)    \
                X(coshf, cosh) X(tanhf, tanh) X(asinhf, asinh) X(acoshf, acosh) X(atanhf, atanh)             \
                    X(floorf, floor) X(ceilf, ceil) X(roundf, round) X(truncf, trunc) X(rintf, rint)         \
                        X(fabsf, fabs)
#define D1(X)                                                                                                \
    X(sin, sinl)                                                                                             \
    X(cos, cosl) X(tan, tanl) X(exp, expl) X(exp2, exp2l) X(expm1, expm1l) X(log, logl) X(log2, log2l)       \
        X(log10, log10l) X(log1p, log1pl) X(sqrt, sqrtl) X(cbrt, cbrtl) X(erf, erfl) X(erfc, erfcl)          \
            X(tgamma, tgammal) X(asin, asinl) X(acos, acosl) X(atan, atanl) X(sinh, sinhl) X(cosh, coshl)    \
                X(tanh, tanhl) X(floor, floorl) X(ceil, ceill) X(round, roundl) X(trunc, truncl)             \
                    X(rint, rintl)
#define F2(X)                                                                                                \
    X(powf, pow)                                                                                             \
    X(fmodf, fmod) X(atan2f, atan2) X(hypotf, hypot) X(fdimf, fdim) X(fminf, fmin) X(fmaxf, fmax)            \
        X(remainderf, remainder) X(copysignf, copysign)
#define D2(X)                                                                                                \
    X(pow, powl) X(fmod, fmodl) X(atan2, atan2l) X(hypot, hypotl) X(remainder, remainderl) X(fmin, fminl)
#define K1(f, r)                                                                                             \
    __global__ void kf_##f(const float *x, float *y, int n) {                                                \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                       \
        if (i < n) y[i] = f(x[i]);                                                                           \
    }
F1(K1)
#define K1D(f, r)                                                                                            \
    __global__ void kd_##f(const double *x, double *y, int n) {                                              \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                       \
        if (i < n) y[i] = f(x[i]);                                                                           \
    }
D1(K1D)
#define K2(f, r)                                                                                             \
    __global__ void kf_##f(const float *x, float *y, int n) {                                                \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                       \
        if (i < n - 1) y[i] = f(x[i], x[i + 1]);                                                             \
    }
F2(K2)
#define K2D(f, r)                                                                                            \
    __global__ void kd_##f(const double *x, double *y, int n) {                                              \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                       \
        if (i < n - 1) y[i] = f(x[i], x[i + 1]);                                                             \
    }
D2(K2D)
/* The exponent is drawn first: which argument of a call is, C++ leaves open. */
static float of_any_size() {
    int exponent = rand() % 80 - 40;
    return ldexpf(rand() / (float)RAND_MAX - .5f, exponent);
}

int main() {
    const int n = 4096;
    static float x[n], y[n];
    static double xd[n], yd[n];
    srand(1);
    float sp[] = {0,    -0.f, 1,   -1,  0.5,  -0.5, INFINITY, -INFINITY, NAN, 1e-40, -1e-40, 3.4e38,
                  1e30, 1e5,  100, 0.1, -100, 88.7, -87.3,    -103,      2,   3,     10};
    for (int i = 0; i < n; i++) {
        x[i] = i < 23     ? sp[i]
               : i < 2000 ? (rand() / (float)RAND_MAX - .5f) * 20
               : i < 3000 ? (rand() / (float)RAND_MAX) * 1e5f
                          : of_any_size();
        xd[i] = i < 23 ? sp[i] : x[i] * (1 + rand() * 1e-12);
    }
    float *dx, *dy;
    double *ex, *ey;
    cudaMalloc(&dx, n * 4);
    cudaMalloc(&dy, n * 4);
    cudaMalloc(&ex, n * 8);
    cudaMalloc(&ey, n * 8);
    cudaMemcpy(dx, x, n * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(ex, xd, n * 8, cudaMemcpyHostToDevice);
    cudaMemset(dy, 0, n * 4);
    cudaMemset(ey, 0, n * 8);
#define T1(f, r)                                                                                             \
    {                                                                                                        \
        kf_##f<<<n / 256, 256>>>(dx, dy, n);                                                                 \
        cudaError_t e = cudaDeviceSynchronize();                                                             \
        if (e) printf("%s: %s\n", #f, cudaGetErrorString(e));                                                \
        cudaMemcpy(y, dy, n * 4, cudaMemcpyDeviceToHost);                                                    \
        double w = 0;                                                                                        \
        int wi = 0;                                                                                          \
        for (int i = 0; i < n; i++) {                                                                        \
            double u = ulpf(y[i], r((double)x[i]));                                                          \
            if (u > w) {                                                                                     \
                w = u;                                                                                       \
                wi = i;                                                                                      \
            }                                                                                                \
        }                                                                                                    \
        if (w > 4) printf("%-10s %g ulp at %g: %g want %g\n", #f, w, x[wi], y[wi], r((double)x[wi]));        \
    }
    F1(T1)
#define T2(f, r)                                                                                             \
    {                                                                                                        \
        kf_##f<<<n / 256, 256>>>(dx, dy, n);                                                                 \
        cudaDeviceSynchronize();                                                                             \
        cudaMemcpy(y, dy, n * 4, cudaMemcpyDeviceToHost);                                                    \
        double w = 0;                                                                                        \
        int wi = 0;                                                                                          \
        for (int i = 0; i < n - 1; i++) {                                                                    \
            double u = ulpf(y[i], r((double)x[i], (double)x[i + 1]));                                        \
            if (u > w) {                                                                                     \
                w = u;                                                                                       \
                wi = i;                                                                                      \
            }                                                                                                \
        }                                                                                                    \
        if (w > 5)                                                                                           \
            printf("%-10s %g ulp at %g,%g: %g want %g\n", #f, w, x[wi], x[wi + 1], y[wi],                    \
                   r((double)x[wi], (double)x[wi + 1]));                                                     \
    }
    F2(T2)
#define T1D(f, r)                                                                                            \
    {                                                                                                        \
        kd_##f<<<n / 256, 256>>>(ex, ey, n);                                                                 \
        cudaDeviceSynchronize();                                                                             \
        cudaMemcpy(yd, ey, n * 8, cudaMemcpyDeviceToHost);                                                   \
        double w = 0;                                                                                        \
        int wi = 0;                                                                                          \
        for (int i = 0; i < n; i++) {                                                                        \
            double u = ulpd(yd[i], r((long double)xd[i]));                                                   \
            if (u > w) {                                                                                     \
                w = u;                                                                                       \
                wi = i;                                                                                      \
            }                                                                                                \
        }                                                                                                    \
        if (w > 6)                                                                                           \
            printf("d %-10s %g ulp at %.17g: %.17g want %.17Lg\n", #f, w, xd[wi], yd[wi],                    \
                   r((long double)xd[wi]));                                                                  \
    }
    D1(T1D)
#define T2D(f, r)                                                                                            \
    {                                                                                                        \
        kd_##f<<<n / 256, 256>>>(ex, ey, n);                                                                 \
        cudaDeviceSynchronize();                                                                             \
        cudaMemcpy(yd, ey, n * 8, cudaMemcpyDeviceToHost);                                                   \
        double w = 0;                                                                                        \
        int wi = 0;                                                                                          \
        for (int i = 0; i < n - 1; i++) {                                                                    \
            double u = ulpd(yd[i], r((long double)xd[i], (long double)xd[i + 1]));                           \
            if (u > w) {                                                                                     \
                w = u;                                                                                       \
                wi = i;                                                                                      \
            }                                                                                                \
        }                                                                                                    \
        if (w > 6)                                                                                           \
            printf("d %-10s %g ulp at %.17g,%.17g: %.17g want %.17Lg\n", #f, w, xd[wi], xd[wi + 1], yd[wi],  \
                   r((long double)xd[wi], (long double)xd[wi + 1]));                                         \
    }
    D2(T2D)
    puts("done");
    return 0;
}
