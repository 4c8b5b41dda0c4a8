// What lesson 14 shows of arithmetic in sixteen bits: the polynomial x * x * (3 - 2 x) of many halves.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

extern "C" __global__ void in_floats(half *y, const half *x, int n) {
    for (int i = threadIdx.x; i < n; i += 32) {
        float v = __half2float(x[i]);
        y[i] = __float2half(v * v * (3 - 2 * v));
    }
}

extern "C" __global__ void in_halves(half *y, const half *x, int n) {
    half two = __float2half(-2), three = __float2half(3);
    for (int i = threadIdx.x; i < n; i += 32) y[i] = __hmul(__hmul(x[i], x[i]), __hfma(two, x[i], three));
}

extern "C" __global__ void in_pairs(half2 *y, const half2 *x, int n) {
    half2 two = __float2half2_rn(-2), three = __float2half2_rn(3);   // each of them twice
    for (int i = threadIdx.x; i < n / 2; i += 32) {
        half2 v = x[i];                                              // numbers 2 i and 2 i + 1
        y[i] = __hmul2(__hmul2(v, v), __hfma2(two, v, three));
    }
}

extern "C" __global__ void in_bfloat16_pairs(__nv_bfloat162 *y, const __nv_bfloat162 *x, int n) {
    __nv_bfloat162 two = __float2bfloat162_rn(-2), three = __float2bfloat162_rn(3);
    for (int i = threadIdx.x; i < n / 2; i += 32) {
        __nv_bfloat162 v = x[i];
        y[i] = __hmul2(__hmul2(v, v), __hfma2(two, v, three));
    }
}

extern "C" __global__ void from_fp8(half2 *y, const __nv_fp8x2_e4m3 *x, int n) {
    half2 two = __float2half2_rn(-2), three = __float2half2_rn(3);
    for (int i = threadIdx.x; i < n / 2; i += 32) {
        half2 v = static_cast<half2>(x[i]);                          // one conversion for two numbers
        y[i] = __hmul2(__hmul2(v, v), __hfma2(two, v, three));
    }
}

int main() {
    enum { N = 1 << 14 };
    half2 *x, *y;
    cudaMalloc(&x, N * sizeof(half));
    cudaMalloc(&y, N * sizeof(half));
    cudaMemset(x, 0, N * sizeof(half));
    in_floats<<<1, 32>>>((half *)y, (const half *)x, N);
    in_halves<<<1, 32>>>((half *)y, (const half *)x, N);
    in_pairs<<<1, 32>>>(y, x, N);
    in_bfloat16_pairs<<<1, 32>>>((__nv_bfloat162 *)y, (const __nv_bfloat162 *)x, N);
    from_fp8<<<1, 32>>>(y, (const __nv_fp8x2_e4m3 *)x, N);
    return cudaDeviceSynchronize();
}
