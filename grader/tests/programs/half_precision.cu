// f16, bf16 and 8-bit arithmetic against the host, which computes in double and rounds once.
// nvcc: -std=c++17
#include "expect.h"
#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

template <class H> __device__ __host__ H mk(float f);
template <> __device__ __host__ __half mk(float f) {
    return __float2half_rn(f);
}
template <> __device__ __host__ __nv_bfloat16 mk(float f) {
    return __float2bfloat16_rn(f);
}
__global__ void kh(const float *x, float *y, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n - 2) return;
    __half a = mk<__half>(x[i]), b = mk<__half>(x[i + 1]), c = mk<__half>(x[i + 2]);
    float *o = y + i * 16;
    o[0] = __half2float(__hadd(a, b));
    o[1] = __half2float(__hsub(a, b));
    o[2] = __half2float(__hmul(a, b));
    o[3] = __half2float(__hfma(a, b, c));
    o[4] = __half2float(__hdiv(a, b));
    o[5] = __half2float(hsqrt(__habs(a)));
    o[6] = __hlt(a, b);
    o[7] = __hgeu(a, b);
    o[8] = __half2float(__hmin(a, b));
    o[9] = __half2float(__hmax_nan(a, b));
    o[10] = __half2int_rz(a);
    o[11] = __half2float(__int2half_rn(i * 37));
    o[12] = __half2float(hexp(a));
    o[13] = __half2float(hlog(__habs(a)));
    o[14] = __half2float(hrint(a));
    o[15] = __half2float(hsin(a));
}
__global__ void kh2(const float *x, float *y, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n - 2) return;
    __half2 a = __floats2half2_rn(x[i], x[i + 1]), b = __floats2half2_rn(x[i + 1], x[i + 2]);
    float *o = y + i * 16;
    auto put = [&](int k, __half2 v) {
        o[2 * k] = __low2float(v);
        o[2 * k + 1] = __high2float(v);
    };
    put(0, __hadd2(a, b));
    put(1, __hmul2(a, b));
    put(2, __hfma2(a, b, a));
    put(3, __h2div(a, b));
    put(4, __hmin2(a, b));
    put(5, __hadd2_sat(a, b));
    put(6, __heq2(a, b));
    put(7, h2rcp(b));
}
__global__ void kb(const float *x, float *y, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n - 2) return;
    __nv_bfloat16 a = mk<__nv_bfloat16>(x[i]), b = mk<__nv_bfloat16>(x[i + 1]),
                  c = mk<__nv_bfloat16>(x[i + 2]);
    float *o = y + i * 16;
    o[0] = __bfloat162float(__hadd(a, b));
    o[1] = __bfloat162float(__hsub(a, b));
    o[2] = __bfloat162float(__hmul(a, b));
    o[3] = __bfloat162float(__hfma(a, b, c));
    o[4] = __bfloat162float(__hdiv(a, b));
    o[5] = __bfloat162float(hsqrt(__habs(a)));
    o[6] = __hlt(a, b);
    o[7] = __hgeu(a, b);
    o[8] = __bfloat162float(__hmin(a, b));
    o[9] = __bfloat162float(__hmax_nan(a, b));
    o[10] = __bfloat162int_rz(a);
    o[11] = __bfloat162float(__int2bfloat16_rn(i * 37));
    o[12] = __bfloat162float(hexp(a));
    o[13] = __bfloat162float(hlog(__habs(a)));
    o[14] = __bfloat162float(hrint(a));
    o[15] = __bfloat162float(htanh(a));
}
__global__ void k8(const float *x, float *y, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    __nv_fp8_e4m3 a(x[i]);
    __nv_fp8_e5m2 b(x[i]);
    y[2 * i] = float(a);
    y[2 * i + 1] = float(b);
}
static float rh(double v) {
    return __half2float(__double2half(v));
}
static float rb(double v) {
    return __bfloat162float(__double2bfloat16(v));
}
static bool eq(float a, float b, float tol = 0) {
    if (std::isnan(a) && std::isnan(b)) return true;
    if (a == b) return true;
    return fabsf(a - b) <= tol * fabsf(b);
}
int main() {
    const int n = 2048;
    static float x[n], y[n * 16];
    for (int i = 0; i < n; i++) {
        x[i] = i % 97 == 0    ? 70000.f
               : i % 101 == 0 ? INFINITY
               : i % 103 == 0 ? NAN
               : i % 7 == 0   ? ldexpf(rand() / (float)RAND_MAX, -20)
                              : (rand() / (float)RAND_MAX - .5f) * 64;
    }
    float *dx, *dy;
    cudaMalloc(&dx, n * 4);
    cudaMalloc(&dy, n * 64);
    cudaMemcpy(dx, x, n * 4, cudaMemcpyHostToDevice);

    kh<<<n / 128, 128>>>(dx, dy, n);
    CHECK(cudaDeviceSynchronize());
    cudaMemcpy(y, dy, n * 64, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n - 2; i++) {
        double a = __half2float(__float2half_rn(x[i])), b = __half2float(__float2half_rn(x[i + 1])),
               c = __half2float(__float2half_rn(x[i + 2]));
        float *o = y + i * 16;
        float w[16] = {rh(a + b),
                       rh(a - b),
                       rh(a * b),
                       rh(fma(a, b, c)),
                       rh(a / b),
                       rh(sqrt(fabs(a))),
                       (float)(a < b),
                       (float)!(a < b),
                       rh(fmin(a, b)),
                       (std::isnan(a) || std::isnan(b)) ? NAN : rh(fmax(a, b)),
                       0,
                       rh(i * 37.),
                       rh(exp(a)),
                       rh(log(fabs(a))),
                       rh(rint(a)),
                       rh(sin(a))};
        for (int k = 0; k < 16; k++) {
            if (k == 10) continue;
            if (!eq(o[k], w[k], k == 4 || k >= 12 ? 2e-3 : 0) && wrong++ < 10)
                printf("half op %d: a=%g b=%g c=%g got %g want %g\n", k, a, b, c, o[k], w[k]);
        }
    }
    kh2<<<n / 128, 128>>>(dx, dy, n);
    CHECK(cudaDeviceSynchronize());
    cudaMemcpy(y, dy, n * 64, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n - 2; i++)
        for (int h = 0; h < 2; h++) {
            double a = __half2float(__float2half_rn(x[i + h])),
                   b = __half2float(__float2half_rn(x[i + 1 + h]));
            if (h == 1 && i + 2 >= n) continue;
            float *o = y + i * 16;
            double s = a + b;
            float w[8] = {rh(a + b),       rh(a * b),      rh(fma(a, b, a)),
                          rh(a / b),       rh(fmin(a, b)), rh(std::isnan(s) ? 0 : s < 0 ? 0 : s > 1 ? 1 : s),
                          (float)(a == b), rh(1 / b)};
            for (int k = 0; k < 8; k++)
                if (!eq(o[2 * k + h], w[k], k == 3 || k == 7 ? 2e-3 : 0) && wrong++ < 10)
                    printf("half2 op %d: a=%g b=%g got %g want %g\n", k, a, b, o[2 * k + h], w[k]);
        }
    kb<<<n / 128, 128>>>(dx, dy, n);
    CHECK(cudaDeviceSynchronize());
    cudaMemcpy(y, dy, n * 64, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n - 2; i++) {
        double a = __bfloat162float(__float2bfloat16_rn(x[i])),
               b = __bfloat162float(__float2bfloat16_rn(x[i + 1])),
               c = __bfloat162float(__float2bfloat16_rn(x[i + 2]));
        float *o = y + i * 16;
        float w[16] = {rb(a + b),
                       rb(a - b),
                       rb(a * b),
                       rb(fma(a, b, c)),
                       rb(a / b),
                       rb(sqrt(fabs(a))),
                       (float)(a < b),
                       (float)!(a < b),
                       rb(fmin(a, b)),
                       (std::isnan(a) || std::isnan(b)) ? NAN : rb(fmax(a, b)),
                       0,
                       rb(i * 37.),
                       rb(exp(a)),
                       rb(log(fabs(a))),
                       rb(rint(a)),
                       rb(tanh(a))};
        for (int k = 0; k < 16; k++) {
            if (k == 10) continue;
            if (!eq(o[k], w[k], k == 4 || k >= 12 ? 1e-2 : 0) && wrong++ < 10)
                printf("bf16 op %d: a=%g b=%g c=%g got %g want %g\n", k, a, b, c, o[k], w[k]);
        }
    }
    k8<<<n / 128, 128>>>(dx, dy, n);
    CHECK(cudaDeviceSynchronize());
    cudaMemcpy(y, dy, n * 8, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) {
        float a = float(__nv_fp8_e4m3(x[i])), b = float(__nv_fp8_e5m2(x[i]));
        if (!eq(y[2 * i], a) || !eq(y[2 * i + 1], b))
            if (wrong++ < 10) printf("fp8 %g: %g %g want %g %g\n", x[i], y[2 * i], y[2 * i + 1], a, b);
    }
    printf("%d wrong\n", wrong);
    return 0;
}
