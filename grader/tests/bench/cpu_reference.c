/* cpu_reference.c — implements bench.h with straightforward loops; the buffers are in the
 * kernels' order. */
#include "grader/tests/bench/bench.h"

#include <string.h>

void cpu_vector_add(void *const *p, int n) {
    const float *a = p[0], *b = p[1];
    float *c = p[2];
    for (int i = 0; i < n; i++) c[i] = a[i] + b[i];
}

void cpu_sgemm(void *const *p, int n) {
    const float *a = p[0], *b = p[1];
    float *c = p[2];
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float sum = 0;
            for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
            c[y * n + x] = sum;
        }
}

void cpu_transpose(void *const *p, int n) {
    const float *in = p[0];
    float *out = p[1];
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) out[x * n + y] = in[y * n + x];
}

void cpu_reduce(void *const *p, int n) {
    const int *in = p[0];
    unsigned sum = 0;
    for (int i = 0; i < n; i++) sum += (unsigned)in[i];
    *(unsigned *)p[1] += sum;
}

void cpu_histogram(void *const *p, int n) {
    const unsigned *in = p[0];
    unsigned *bins = p[1];
    for (int i = 0; i < n; i++) {
        bins[in[i] & 255]++;
        bins[in[i] >> 8 & 255]++;
        bins[in[i] >> 16 & 255]++;
        bins[in[i] >> 24]++;
    }
}

void cpu_nbody(void *const *p, int n) {
    const float(*body)[4] = p[0];
    float(*force)[4] = p[1];
    for (int i = 0; i < n; i++) {
        float f[3] = {0, 0, 0};
        for (int j = 0; j < n; j++) {
            float d[3], r2 = 0;
            for (int k = 0; k < 3; k++) d[k] = body[j][k] - body[i][k], r2 += d[k] * d[k];
            if (r2 > 0.4f || j == i) continue;
            float s = body[j][3] / (r2 + 0.01f);
            if (r2 < 0.1f) s = s * s;
            for (int k = 0; k < 3; k++) f[k] += d[k] * s;
        }
        memcpy(force[i], f, sizeof f);
        force[i][3] = 0;
    }
}

void cpu_stencil(void *const *p, int n) {
    const double *in = p[0];
    double *out = p[1];
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            int i = y * n + x, border = x == 0 || y == 0 || x == n - 1 || y == n - 1;
            out[i] = border ? in[i]
                            : 0.5 * in[i] + 0.125 * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
        }
}
