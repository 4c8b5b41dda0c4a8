// contracted.cu: FMA contraction: products and sums that ptxas fuses, and others, which the last bits of the results show. The
// expected output is an H100's.
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum { FORMS = 22, VALUES = 64 };

// One kernel per form, so that the compiler can't share products between forms. The last kernel has many forms, which share products.
template <int FORM> __global__ void form(float *out, const float *in, int n) {
    int i = threadIdx.x;
    float a = in[i], b = in[VALUES + i], c = in[2 * VALUES + i], d = in[3 * VALUES + i], m = a * b, s = a, *o = out + 4 * i;
    if (FORM == 0) o[0] = a * b - c;
    if (FORM == 1) o[0] = c - a * b;
    if (FORM == 2) o[0] = a * b - c * d;
    if (FORM == 3) o[0] = a * b + c * d;
    if (FORM == 4) o[0] = a * a - b * b;
    if (FORM == 5) o[0] = m - c, o[1] = c - m, o[2] = m + d;
    if (FORM == 6) o[0] = m, o[1] = m - c;
    if (FORM == 7) o[0] = m - c * d, o[1] = m - c, o[2] = d - m;
    if (FORM == 8) o[0] = m - c * d, o[1] = c * d - a;
    if (FORM == 9) o[0] = m - c * d, o[1] = c * d - a, o[2] = m - d;
    if (FORM == 10) for (int r = 0; r < n; r++) s = s * b - c;
    if (FORM == 10) o[0] = s;
    if (FORM == 11) o[0] = a * 0.3f - b;
    if (FORM == 12 && n > 3) o[0] = m - c, o[1] = a;
    if (FORM == 12 && n <= 3) o[0] = m - d, o[1] = b;
    if (FORM == 13) o[0] = __fmul_rn(a, b) - c;
    if (FORM == 14) o[0] = __fsub_rn(a * b, c);
    if (FORM == 15) o[0] = fmaxf(m, c) - m;
    if (FORM == 16) o[0] = (a * c - b * d) * (a * d + b * c);
    if (FORM == 17) o[0] = (a - b * c) * (a + b * c);
    if (FORM == 18) o[0] = sqrtf(fabsf(b * b - a * c));
    if (FORM == 19) for (int r = 0; r < 4; r++) o[r] = a * o[r] - b;
    if (FORM == 20) o[0] = fabsf(a * b - c), o[1] = a * b > c ? a * b - c : c - a * b;
    if (FORM == 21) o[0] = a * b - c, o[1] = a * b - d, o[2] = c * d - a * b, o[3] = __fadd_rn(c * d, a);
}

__global__ void doubles(double *out, const float *in) {
    int i = threadIdx.x;
    double a = in[i] / 3.0, b = in[VALUES + i] / 7.0, c = in[2 * VALUES + i] / 11.0, d = in[3 * VALUES + i] / 13.0;
    out[4 * i] = a * b - c;
    out[4 * i + 1] = c * d - a * b;
    out[4 * i + 2] = d - a * a;
    out[4 * i + 3] = (a * b - c) * d - b;
}

template <class H> __global__ void halves(H *out, const float *in) {
    int i = threadIdx.x;
    H a = H(in[i]), b = H(in[VALUES + i]), c = H(in[2 * VALUES + i]), d = H(in[3 * VALUES + i]);
    out[5 * i] = a * b - c;
    out[5 * i + 1] = a * b + c;
    out[5 * i + 2] = c - a * d;
    H m = b * d;
    out[5 * i + 3] = m, out[5 * i + 4] = m - a;
}

static unsigned long long digest(const void *p, size_t bytes) {
    unsigned long long h = 14695981039346656037ull;
    for (size_t i = 0; i < bytes; i++) h = (h ^ ((const unsigned char *)p)[i]) * 1099511628211ull;
    return h;
}

template <int FORM> static void all(float *out, const float *in) {
    if constexpr (FORM >= 0) {
        all<FORM - 1>(out, in);
        for (int i = 0; i < 4 * VALUES; i++) out[i] = i % 5;
        form<FORM><<<1, VALUES>>>(out, in, 3);
        cudaDeviceSynchronize();
        unsigned bits[4 * VALUES];
        memcpy(bits, out, sizeof bits);
        printf("form %2d: %08x %016llx\n", FORM, bits[20], digest(bits, sizeof bits));
    }
}

int main() {
    float *in, *out;
    unsigned state = 1;
    cudaMallocManaged(&in, 4 * VALUES * sizeof *in), cudaMallocManaged(&out, 4 * VALUES * sizeof(double));
    for (int i = 0; i < 4 * VALUES; i++) state = state * 1664525 + 1013904223, in[i] = 1 + (float)(state >> 9) / 8388608.0f;
    all<FORMS - 1>(out, in);
    doubles<<<1, VALUES>>>((double *)out, in);
    cudaDeviceSynchronize();
    printf("doubles: %016llx\n", digest(out, VALUES * 4 * sizeof(double)));
    halves<<<1, VALUES>>>((__half *)out, in);
    cudaDeviceSynchronize();
    printf("halves: %016llx\n", digest(out, VALUES * 5 * 2));
    halves<<<1, VALUES>>>((__nv_bfloat16 *)out, in);
    cudaDeviceSynchronize();
    printf("bfloat16: %016llx\n", digest(out, VALUES * 5 * 2));
    return cudaGetLastError() != cudaSuccess;
}
