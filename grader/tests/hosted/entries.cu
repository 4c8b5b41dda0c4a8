// Entries for test_hostproc.c: what a student's file may export, and what it may try.
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

__device__ int calls = 0;
__constant__ double scale = 1;

__global__ void keep(double *out, double a, double b, double c, double d, double e, double f, double g, double h,
                     double i, double j) {
    double values[] = {a, b, c, d, e, f, g, h, i, j};
    for (int n = 0; n < 10; n++) out[n] = values[n] * scale;
    out[10] = ++calls;
}

__global__ void through(const double *in, double *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * in[i];
}
__global__ void wild(double *out) { out[1000000] = 1; }

struct before_main {
    before_main() { setenv("CONSTRUCTED", "yes", 1); }
} constructed;

extern "C" {
void all_types(double *out, signed char a, unsigned char b, short c, unsigned short d, int e, unsigned f, long long g,
               unsigned long long h, float i, double j) {
    double two = 2;
    cudaMemcpyToSymbol(scale, &two, sizeof two);
    keep<<<1, 1>>>(out, a, b, c, d, e, f, (double)g, (double)h, i, j);
}

// Through a temporary, with a copy on the device, and a constructor that must have run.
void temporaries(const double *in, double *out, int n) {
    double *t;
    if (!getenv("CONSTRUCTED")) return;
    cudaMalloc(&t, n * sizeof *t);
    through<<<(n + 31) / 32, 32>>>(in, t, n);
    cudaMemcpyAsync(out, t, n * sizeof *t, cudaMemcpyDeviceToDevice);
    cudaFree(t);
}

void reads_back(const double *in, double *out, int n) {
    double x = 77;
    cudaError_t error = cudaMemcpy(&x, in, sizeof x, cudaMemcpyDeviceToHost);
    if (error == cudaErrorNotPermitted && x == 77) through<<<1, 32>>>(in, out, n);
}
void too_many_threads(const double *in, double *out, int n) { through<<<1, 2048>>>(in, out, n); }
void out_of_bounds(const double *, double *out, int) { wild<<<1, 1>>>(out); }
void crashes(const double *in, double *, int) { printf("%g\n", in[0]); }
void exits(const double *, double *, int) { exit(0); }
void hangs(const double *, double *, int) { for (;;) pause(); }
}

void mangled(double *, int) {}
