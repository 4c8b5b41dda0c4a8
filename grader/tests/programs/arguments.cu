// Kernel arguments of all sizes, structs by value, templates, lambdas, pointers to kernels.
// nvcc: --extended-lambda
#include "check.h"

struct odd { char c; double d; short s; };
struct large { int values[900]; };

__global__ void many(char a, short b, int c, long long d, float e, double f, odd g, bool h, double *out) {
    out[0] = a, out[1] = b, out[2] = c, out[3] = (double)d, out[4] = e, out[5] = f;
    out[6] = g.c, out[7] = g.d, out[8] = g.s, out[9] = h;
}
__global__ void sum(large l, int *out) {
    int s = 0;
    for (int v : l.values) s += v;
    *out = s;
}
template <class T, int N> __global__ void fill(T *p, T value) {
    if (threadIdx.x < N) p[threadIdx.x] = value;
}
template <class F> __global__ void apply(F f, int *out) { out[threadIdx.x] = f(threadIdx.x); }
__global__ void plus(int *p) { *p += 3; }
__global__ void times(int *p) { *p *= 3; }

int main() {
    double *out, host[10];
    int *p, value;
    CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMalloc(&p, 4096));
    many<<<1, 1>>>(-1, -2, -3, -4000000000ll, 0.5f, 0.25, odd{7, 8.5, -9}, true, out);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (double x : host) printf("%.10g ", x);
    large l;
    for (int i = 0; i < 900; i++) l.values[i] = i;
    sum<<<1, 1>>>(l, p);
    CHECK(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost));
    printf("\nsum %d\n", value);
    fill<float, 4><<<1, 32>>>((float *)p, 1.5f);
    fill<short, 2><<<1, 32>>>((short *)p + 8, (short)-3);
    float f[4];
    short s[2];
    CHECK(cudaMemcpy(f, p, sizeof f, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(s, (short *)p + 8, sizeof s, cudaMemcpyDeviceToHost));
    printf("%g %g %d %d\n", f[0], f[3], s[0], s[1]);
    int step = 11;
    apply<<<1, 8>>>([=] __device__(int i) { return i * step; }, p);
    CHECK(cudaMemcpy(&value, p + 7, 4, cudaMemcpyDeviceToHost));
    printf("lambda %d\n", value);
    void (*chain[])(int *) = {plus, times, plus};
    CHECK(cudaMemset(p, 0, 4));
    for (auto kernel : chain) kernel<<<1, 1>>>(p);
    CHECK(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost));
    printf("chain %d\n", value);
    void *args[] = {&p};
    CHECK(cudaLaunchKernel((const void *)times, dim3(1), dim3(1), args, 0, nullptr));
    CHECK(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost));
    printf("cudaLaunchKernel %d\n", value);
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = dim3(1);
    CHECK(cudaLaunchKernelEx(&config, plus, p));
    CHECK(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost));
    printf("cudaLaunchKernelEx %d\n", value);
    return 0;
}
