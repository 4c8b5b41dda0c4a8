// How far fast functions are from the true value: the largest error in a range, in units of 2^-23 relative to the value, or
// absolute. Prints a table.
#include <cmath>
#include <cstdio>
constexpr int N = 1 << 16;

#define KERNEL(name, value)                                              \
    __global__ void name(float *out, const float *in) {                  \
        float x = in[blockIdx.x * 256 + threadIdx.x];                    \
        out[blockIdx.x * 256 + threadIdx.x] = value;                     \
    }

__device__ float hardware_tangent(float x) {
    float y;
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

KERNEL(exponential, expf(x))
KERNEL(fast_exponential, __expf(x))
KERNEL(logarithm, logf(x))
KERNEL(fast_logarithm, __logf(x))
KERNEL(sine, sinf(x))
KERNEL(fast_sine, __sinf(x))
KERNEL(tangent, tanhf(x))
KERNEL(fast_tangent, 1 - __fdividef(2, __expf(2 * x) + 1))
KERNEL(approximate_tangent, hardware_tangent(x))
KERNEL(root, rsqrtf(x))

static void show(const char *name, void (*kernel)(float *, const float *), double (*f)(double), double low, double high) {
    float *out, *in;
    double absolute = 0, relative = 0;
    cudaMallocManaged(&out, N * sizeof *out), cudaMallocManaged(&in, N * sizeof *in);
    for (int i = 0; i < N; i++) in[i] = low + (high - low) * (i + 0.5) / N;
    kernel<<<N / 256, 256>>>(out, in);
    cudaDeviceSynchronize();
    for (int i = 0; i < N; i++) {
        double error = std::fabs(out[i] - f(in[i]));
        absolute = std::fmax(absolute, error), relative = std::fmax(relative, error / std::fabs(f(in[i])));
    }
    printf("%-20s %8g to %5g: %8.1f x 2^-23 absolute, %10.1f x 2^-23 relative\n", name, low, high, absolute * (1 << 23), relative * (1 << 23));
    cudaFree(out), cudaFree(in);
}

int main() {
    show("expf", exponential, std::exp, 0, 20);
    show("__expf", fast_exponential, std::exp, 0, 20);
    show("__expf", fast_exponential, std::exp, 0, 80);
    show("logf", logarithm, std::log, 0.9, 1.1);
    show("__logf", fast_logarithm, std::log, 0.9, 1.1);
    show("sinf", sine, std::sin, -3, 3);
    show("__sinf", fast_sine, std::sin, -3, 3);
    show("sinf", sine, std::sin, 0, 1000);
    show("__sinf", fast_sine, std::sin, 0, 1000);
    show("tanhf", tangent, std::tanh, -4, 4);
    show("1 - 2 / (e + 1)", fast_tangent, std::tanh, -4, 4);
    show("tanh.approx", approximate_tangent, std::tanh, -4, 4);
    show("rsqrtf", root, [](double x) { return 1 / std::sqrt(x); }, 0.01, 100);
    return 0;
}
