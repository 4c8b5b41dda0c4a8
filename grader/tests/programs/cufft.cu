// nvcc: -std=c++17 -lcufft
// cuFFT's calls, compared with sums of the definition in f64: lengths with every kind of factor,
// all types, both directions, in place, one to three dimensions, batches, strides, streams, and
// the caller's work area.
#include <cufftXt.h>
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

using wide = std::complex<double>;
static int failures;
static void expect(bool ok, const char *what) {
    if (!ok) printf("%s: FAILED\n", what), failures++;
}
#define OK(call) expect((call) == CUFFT_SUCCESS, #call)

static double number(size_t i) { return std::sin(i * 12.9898 + 1) * 43758.5453 - std::floor(std::sin(i * 12.9898 + 1) * 43758.5453) - 0.5; }

/* The transform of lines along one dimension: `n` elements `stride` apart, by the definition. */
static void transform_line(wide *x, int n, size_t stride, int sign) {
    std::vector<wide> y(n);
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++) y[k] += x[j * stride] * std::polar(1.0, sign * 2 * M_PI * ((long long)j * k % n) / n);
    for (int k = 0; k < n; k++) x[k * stride] = y[k];
}
static void transform(std::vector<wide> &x, const std::vector<int> &n, int sign) {
    size_t inner = 1;
    for (int d = (int)n.size() - 1; d >= 0; inner *= n[d], d--)
        for (size_t i = 0; i < x.size(); i++)
            if (i / inner % n[d] == 0) transform_line(&x[i], n[d], inner, sign);
}

struct place { /* of an element: strides as cufftPlanMany takes them */
    std::vector<int> embed;
    int stride, dist;
    size_t operator()(int batch, const std::vector<int> &n, size_t i) const {
        size_t at = 0, unit = 1;
        for (int d = (int)n.size() - 1; d >= 0; i /= n[d], unit *= embed[d], d--) at += i % n[d] * unit;
        return batch * (size_t)dist + at * stride;
    }
};

template <cufftType T> struct traits;
template <> struct traits<CUFFT_C2C> { using real = float; static cufftResult run(cufftHandle p, void *in, void *out, int s) { return cufftExecC2C(p, (cufftComplex *)in, (cufftComplex *)out, s); } };
template <> struct traits<CUFFT_R2C> { using real = float; static cufftResult run(cufftHandle p, void *in, void *out, int) { return cufftExecR2C(p, (float *)in, (cufftComplex *)out); } };
template <> struct traits<CUFFT_C2R> { using real = float; static cufftResult run(cufftHandle p, void *in, void *out, int) { return cufftExecC2R(p, (cufftComplex *)in, (float *)out); } };
template <> struct traits<CUFFT_Z2Z> { using real = double; static cufftResult run(cufftHandle p, void *in, void *out, int s) { return cufftExecZ2Z(p, (cufftDoubleComplex *)in, (cufftDoubleComplex *)out, s); } };
template <> struct traits<CUFFT_D2Z> { using real = double; static cufftResult run(cufftHandle p, void *in, void *out, int) { return cufftExecD2Z(p, (double *)in, (cufftDoubleComplex *)out); } };
template <> struct traits<CUFFT_Z2D> { using real = double; static cufftResult run(cufftHandle p, void *in, void *out, int) { return cufftExecZ2D(p, (cufftDoubleComplex *)in, (double *)out); } };

static std::vector<int> halved(std::vector<int> n) { return n.back() = n.back() / 2 + 1, n; }

/* Runs a plan on numbers at the places `from`, and compares what it writes at `to`. */
template <cufftType T>
static void check(const char *name, cufftHandle plan, const std::vector<int> &n, int batch, const place &from, const place &to, int sign, bool in_place = false) {
    using R = typename traits<T>::real;
    const bool reads = T == CUFFT_R2C || T == CUFFT_D2Z, writes = T == CUFFT_C2R || T == CUFFT_Z2D;
    const std::vector<int> in_n = writes ? halved(n) : n, out_n = reads ? halved(n) : n;
    size_t total = 1, in_total = 1, out_total = 1, bytes = 1 << 16;
    for (size_t d = 0; d < n.size(); d++) total *= n[d], in_total *= in_n[d], out_total *= out_n[d];
    for (const place *p : {&from, &to}) bytes = std::max(bytes, (size_t)2 * sizeof(R) * ((*p)(batch, n, total - 1) + 1));
    std::vector<R> memory(bytes / sizeof(R), R(0));
    std::vector<std::vector<wide>> all(batch);
    for (int b = 0; b < batch; b++) {
        std::vector<wide> &x = all[b];
        x.resize(total);
        for (size_t i = 0; i < total; i++) x[i] = wide(number(i + b * 7919), writes || reads ? 0 : number(i + b * 7919 + 100000));
        if (writes) { /* a spectrum of reals */
            transform(x, n, CUFFT_FORWARD);
            for (wide &v : x) v = wide((R)v.real(), (R)v.imag());
        } else for (wide &v : x) v = wide((R)v.real(), (R)v.imag());
        for (size_t i = 0; i < in_total; i++) {
            size_t row = i / in_n.back(), at = from(b, in_n, i), source = row * n.back() + i % in_n.back();
            if (reads) memory[at] = (R)x[source].real();
            else memory[2 * at] = (R)x[source].real(), memory[2 * at + 1] = (R)x[source].imag();
        }
        transform(x, n, sign);
    }
    R *in, *out;
    cudaMalloc(&in, bytes), cudaMalloc(&out, bytes);
    cudaMemcpy(in, memory.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, bytes);
    if (in_place) cudaFree(out), out = in;
    OK(traits<T>::run(plan, in, out, sign));
    cudaMemcpy(memory.data(), out, bytes, cudaMemcpyDeviceToHost);
    double worst = 0, scale = 1;
    for (int b = 0; b < batch; b++)
        for (size_t i = 0; i < out_total; i++) {
            size_t row = i / out_n.back(), at = to(b, out_n, i);
            wide want = all[b][row * n.back() + i % out_n.back()];
            wide got = writes ? wide(memory[at], want.imag()) : wide(memory[2 * at], memory[2 * at + 1]);
            scale = std::max(scale, std::abs(want)), worst = std::max(worst, std::abs(want - got));
        }
    bool ok = worst <= scale * (sizeof(R) == 4 ? 2e-6 : 4e-15);
    if (!ok) printf("%s: type %x, n = %d, error %g of %g: FAILED\n", name, T, n.back(), worst, scale), failures++;
    cudaFree(in);
    if (!in_place) cudaFree(out);
}

static int product(const std::vector<int> &n) {
    int p = 1;
    for (int x : n) p *= x;
    return p;
}
static place contiguous(const std::vector<int> &n) { return {n, 1, product(n)}; }

/* The layouts that a plan without embeddings has, out of place and in place. */
template <cufftType T> static void check_basic(const char *name, cufftHandle plan, const std::vector<int> &n, int batch, int sign) {
    const bool reads = T == CUFFT_R2C || T == CUFFT_D2Z, writes = T == CUFFT_C2R || T == CUFFT_Z2D;
    std::vector<int> padded = n;
    padded.back() = 2 * (n.back() / 2 + 1);
    check<T>(name, plan, n, batch, contiguous(writes ? halved(n) : n), contiguous(reads ? halved(n) : n), sign);
    check<T>(name, plan, n, batch, contiguous(reads ? padded : writes ? halved(n) : n), contiguous(writes ? padded : reads ? halved(n) : n), sign, true);
}

template <cufftType T> static void lines() {
    const bool writes = T == CUFFT_C2R || T == CUFFT_Z2D, complex = T == CUFFT_C2C || T == CUFFT_Z2Z;
    for (int n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 30, 49, 64, 77, 113, 121, 128, 131, 210, 254, 262, 512, 625}) {
        cufftHandle plan;
        OK(cufftPlan1d(&plan, n, T, 3));
        for (int sign : {CUFFT_FORWARD, CUFFT_INVERSE})
            if (complex || sign == (writes ? CUFFT_INVERSE : CUFFT_FORWARD)) check_basic<T>("line", plan, {n}, 3, sign);
        OK(cufftDestroy(plan));
    }
}

template <cufftType T> static void dimensions() {
    const bool writes = T == CUFFT_C2R || T == CUFFT_Z2D;
    int sign = writes ? CUFFT_INVERSE : CUFFT_FORWARD;
    cufftHandle plan;
    for (int ny : {1, 6, 21}) {
        OK(cufftPlan2d(&plan, 12, ny, T));
        check_basic<T>("2D", plan, {12, ny}, 1, sign);
        OK(cufftDestroy(plan));
    }
    OK(cufftPlan3d(&plan, 6, 10, 9, T));
    check_basic<T>("3D", plan, {6, 10, 9}, 1, sign);
    OK(cufftDestroy(plan));
}

template <cufftType T> static void strides() {
    const bool writes = T == CUFFT_C2R || T == CUFFT_Z2D;
    int n[] = {8, 6, 10}, in[] = {9, 7, 13}, out[] = {8, 8, 12};
    for (int rank = 1; rank <= 3; rank++) {
        int *sizes = n + 3 - rank, *in_sizes = in + 3 - rank, *out_sizes = out + 3 - rank;
        std::vector<int> shape(sizes, sizes + rank), in_embed(in_sizes, in_sizes + rank), out_embed(out_sizes, out_sizes + rank);
        cufftHandle plan;
        OK(cufftPlanMany(&plan, rank, sizes, in_sizes, 2, 2000, out_sizes, 3, 3000, T, 4));
        check<T>("strides", plan, shape, 4, {in_embed, 2, 2000}, {out_embed, 3, 3000}, writes ? CUFFT_INVERSE : CUFFT_FORWARD);
        OK(cufftDestroy(plan));
        OK(cufftPlanMany(&plan, rank, sizes, in_sizes, 4, 1, out_sizes, 4, 1, T, 4));
        check<T>("interleaved batches", plan, shape, 4, {in_embed, 4, 1}, {out_embed, 4, 1}, writes ? CUFFT_INVERSE : CUFFT_FORWARD);
        OK(cufftDestroy(plan));
    }
}

template <cufftType T> static void all_of() { lines<T>(), dimensions<T>(), strides<T>(); }

static void settings() {
    cufftHandle plan;
    cudaStream_t stream;
    size_t size = 0, again = 0;
    long long n[] = {300};
    int embed[] = {8};
    OK(cufftCreate(&plan));
    expect(cufftExecC2C(plan, nullptr, nullptr, CUFFT_FORWARD) == CUFFT_INVALID_PLAN, "exec before make");
    OK(cufftSetAutoAllocation(plan, 0));
    OK(cufftXtMakePlanMany(plan, 1, n, nullptr, 1, 1, CUDA_C_64F, nullptr, 1, 1, CUDA_C_64F, 1, &size, CUDA_C_64F));
    OK(cufftGetSize(plan, &again));
    expect(size > 0 && size == again, "the size of the work area");
    cudaStreamCreate(&stream);
    OK(cufftSetStream(plan, stream));
    void *area;
    cudaMalloc(&area, size);
    OK(cufftSetWorkArea(plan, area));
    check_basic<CUFFT_Z2Z>("the caller's work area", plan, {300}, 1, CUFFT_INVERSE);
    expect(cufftExecC2C(plan, (cufftComplex *)area, (cufftComplex *)area, CUFFT_FORWARD) == CUFFT_INVALID_TYPE, "another type");
    OK(cufftDestroy(plan));
    expect(cufftDestroy(plan) == CUFFT_INVALID_PLAN, "destroyed twice");
    expect(cufftPlan1d(&plan, 0, CUFFT_C2C, 1) == CUFFT_INVALID_SIZE, "no elements");
    expect(cufftPlan1d(&plan, 8, CUFFT_C2C, 0) == CUFFT_INVALID_SIZE, "no batch");
    expect(cufftPlanMany(&plan, 1, embed, embed, 1, 8, nullptr, 1, 8, CUFFT_C2C, 1) == CUFFT_INVALID_VALUE, "one embedding");
    printf("settings done\n");
}

int main() {
    all_of<CUFFT_C2C>(), all_of<CUFFT_R2C>(), all_of<CUFFT_C2R>();
    printf("single precision done\n");
    all_of<CUFFT_Z2Z>(), all_of<CUFFT_D2Z>(), all_of<CUFFT_Z2D>();
    printf("double precision done\n");
    settings();
    printf("%s\n", failures ? "FAILED" : "passed");
    return failures != 0;
}
