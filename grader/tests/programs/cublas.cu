// nvcc: -std=c++17 -lcublas
// cuBLAS's calls, compared with plain loops of the host: every transposition, strides, leading
// dimensions longer than the matrix, sizes that aren't multiples of a tile, both pointer modes,
// streams, batches, types.
#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cmath>
#include <complex>

using complexf = std::complex<float>;
using complexd = std::complex<double>;

static cublasHandle_t handle;
static int failures;

static void expect(bool ok, const char *what) {
    if (!ok) printf("%s: FAILED\n", what), failures++;
}
#define OK(call) expect((call) == CUBLAS_STATUS_SUCCESS, #call)

static unsigned state = 1;
static double draw() {
    state = state * 1664525 + 1013904223;
    return (state >> 8) / double(1 << 23) - 1;
}
template <typename T> static T number() { return T(draw()); }
template <> complexf number() { return complexf(draw(), draw()); }
template <> complexd number() { return complexd(draw(), draw()); }
template <typename T> static std::vector<T> numbers(size_t n) {
    std::vector<T> v(n);
    for (T &x : v) x = number<T>();
    return v;
}

/* A copy on the device. */
template <typename T> struct on_device {
    T *p;
    size_t n;
    explicit on_device(const std::vector<T> &v) : n(v.size()) {
        cudaMalloc(&p, n * sizeof(T));
        cudaMemcpy(p, v.data(), n * sizeof(T), cudaMemcpyHostToDevice);
    }
    std::vector<T> back() const {
        std::vector<T> v(n);
        cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
        return v;
    }
    ~on_device() { cudaFree(p); }
};

static double conj_of(double x) { return x; }
static complexd conj_of(complexd x) { return std::conj(x); }
template <typename T> struct wide { using type = double; };
template <> struct wide<complexf> { using type = complexd; };
template <> struct wide<complexd> { using type = complexd; };

template <typename T> static bool is_near(const std::vector<T> &a, const std::vector<T> &b, double e) {
    for (size_t i = 0; i < a.size(); i++)
        if (!(std::abs(typename wide<T>::type(a[i]) - typename wide<T>::type(b[i])) <= e)) return false;
    return true;
}

/* op(a)(i, j) */
template <typename T>
static typename wide<T>::type element(const std::vector<T> &a, int ld, cublasOperation_t op, int i, int j) {
    typename wide<T>::type x = op == CUBLAS_OP_N ? a[i + (size_t)j * ld] : a[j + (size_t)i * ld];
    return op == CUBLAS_OP_C ? conj_of(x) : x;
}

static cublasStatus_t call_gemm(cublasOperation_t p, cublasOperation_t q, int m, int n, int k, const float *al, const float *a, int lda, const float *b, int ldb, const float *be, float *c, int ldc) { return cublasSgemm(handle, p, q, m, n, k, al, a, lda, b, ldb, be, c, ldc); }
static cublasStatus_t call_gemm(cublasOperation_t p, cublasOperation_t q, int m, int n, int k, const double *al, const double *a, int lda, const double *b, int ldb, const double *be, double *c, int ldc) { return cublasDgemm(handle, p, q, m, n, k, al, a, lda, b, ldb, be, c, ldc); }
static cublasStatus_t call_gemm(cublasOperation_t p, cublasOperation_t q, int m, int n, int k, const complexf *al, const complexf *a, int lda, const complexf *b, int ldb, const complexf *be, complexf *c, int ldc) { return cublasCgemm(handle, p, q, m, n, k, (const cuComplex *)al, (const cuComplex *)a, lda, (const cuComplex *)b, ldb, (const cuComplex *)be, (cuComplex *)c, ldc); }
static cublasStatus_t call_gemm(cublasOperation_t p, cublasOperation_t q, int m, int n, int k, const complexd *al, const complexd *a, int lda, const complexd *b, int ldb, const complexd *be, complexd *c, int ldc) { return cublasZgemm(handle, p, q, m, n, k, (const cuDoubleComplex *)al, (const cuDoubleComplex *)a, lda, (const cuDoubleComplex *)b, ldb, (const cuDoubleComplex *)be, (cuDoubleComplex *)c, ldc); }

template <typename T> static void gemm_of(const char *name, double tolerance) {
    using W = typename wide<T>::type;
    const cublasOperation_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
    int m = 67, n = 33, k = 19, ldc = 70;
    for (auto p : ops)
        for (auto q : ops) {
            int lda = (p == CUBLAS_OP_N ? m : k) + 3, ldb = (q == CUBLAS_OP_N ? k : n) + 1;
            auto a = numbers<T>(lda * (p == CUBLAS_OP_N ? k : m)), b = numbers<T>(ldb * (q == CUBLAS_OP_N ? n : k)), c = numbers<T>(ldc * n);
            T alpha = number<T>(), beta = number<T>();
            on_device<T> da(a), db(b), dc(c);
            OK(call_gemm(p, q, m, n, k, &alpha, da.p, lda, db.p, ldb, &beta, dc.p, ldc));
            for (int j = 0; j < n; j++)
                for (int i = 0; i < m; i++) {
                    W sum = 0;
                    for (int l = 0; l < k; l++) sum += element(a, lda, p, i, l) * element(b, ldb, q, l, j);
                    c[i + j * ldc] = T(W(alpha) * sum + W(beta) * W(c[i + j * ldc]));
                }
            expect(is_near(c, dc.back(), tolerance), name);
        }
    printf("%s done\n", name);
}

static void vectors() {
    const int n = 1001, incx = 2, incy = -3;
    auto x = numbers<float>(n * incx), y = numbers<float>(n * 3);
    on_device<float> dx(x), dy(y);
    float alpha = 0.75f, result = 0;
    double dot = 0, sum = 0, squares = 0;
    int best = 0, least = 0;
    for (int i = 0; i < n; i++) {
        float v = x[i * incx], w = y[(n - 1 - i) * 3];
        dot += double(v) * w, sum += std::fabs(v), squares += double(v) * v;
        if (std::fabs(v) > std::fabs(x[best * incx])) best = i;
        if (std::fabs(v) < std::fabs(x[least * incx])) least = i;
    }
    OK(cublasSdot(handle, n, dx.p, incx, dy.p, incy, &result));
    expect(std::fabs(result - dot) < 1e-3, "Sdot");
    OK(cublasSasum(handle, n, dx.p, incx, &result));
    expect(std::fabs(result - sum) < 1e-3, "Sasum");
    OK(cublasSnrm2(handle, n, dx.p, incx, &result));
    expect(std::fabs(result - std::sqrt(squares)) < 1e-4, "Snrm2");
    int index = 0;
    OK(cublasIsamax(handle, n, dx.p, incx, &index));
    expect(index == best + 1, "Isamax");
    OK(cublasIsamin(handle, n, dx.p, incx, &index));
    expect(index == least + 1, "Isamin");
    OK(cublasSaxpy(handle, n, &alpha, dx.p, incx, dy.p, incy));
    for (int i = 0; i < n; i++) y[(n - 1 - i) * 3] += alpha * x[i * incx];
    expect(is_near(y, dy.back(), 1e-6), "Saxpy");
    OK(cublasSscal_64(handle, n, &alpha, dx.p, incx));
    for (int i = 0; i < n; i++) x[i * incx] *= alpha;
    expect(is_near(x, dx.back(), 1e-6), "Sscal");
    OK(cublasSswap(handle, n, dx.p, incx, dy.p, incy));
    for (int i = 0; i < n; i++) std::swap(x[i * incx], y[(n - 1 - i) * 3]);
    expect(is_near(x, dx.back(), 1e-6) && is_near(y, dy.back(), 1e-6), "Sswap");
    OK(cublasScopy(handle, n, dx.p, incx, dy.p, incy));
    for (int i = 0; i < n; i++) y[(n - 1 - i) * 3] = x[i * incx];
    expect(is_near(y, dy.back(), 1e-6), "Scopy");
    printf("vectors done\n");
}

/* A dot product of complex numbers whose result stays on the device, then scales a vector there. */
static void pointers_on_the_device() {
    const int n = 300;
    auto x = numbers<complexf>(n), y = numbers<complexf>(n);
    on_device<complexf> dx(x), dy(y), dr(std::vector<complexf>(1));
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    OK(cublasSetStream(handle, stream));
    OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    OK(cublasCdotc(handle, n, (cuComplex *)dx.p, 1, (cuComplex *)dy.p, 1, (cuComplex *)dr.p));
    OK(cublasCscal(handle, n, (cuComplex *)dr.p, (cuComplex *)dx.p, 1));
    OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    OK(cublasSetStream(handle, 0));
    cudaStreamSynchronize(stream);
    complexd sum = 0;
    for (int i = 0; i < n; i++) sum += std::conj(complexd(x[i])) * complexd(y[i]);
    for (auto &v : x) v = complexf(complexd(v) * sum);
    expect(is_near(x, dx.back(), 1e-3), "Cdotc and Cscal");
    cudaStreamDestroy(stream);
    printf("pointers on the device done\n");
}

static void matrices_and_vectors() {
    const int m = 150, n = 37, lda = 153;
    auto a = numbers<double>(lda * n), x = numbers<double>(m), y = numbers<double>(m);
    double alpha = 1.5, beta = -0.5;
    for (auto op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
        on_device<double> da(a), dx(x), dy(y);
        auto want = y;
        int rows = op == CUBLAS_OP_N ? m : n, columns = m + n - rows;
        OK(cublasDgemv(handle, op, m, n, &alpha, da.p, lda, dx.p, 1, &beta, dy.p, 1));
        for (int i = 0; i < rows; i++) {
            double sum = 0;
            for (int j = 0; j < columns; j++) sum += element(a, lda, op, i, j) * x[j];
            want[i] = alpha * sum + beta * y[i];
        }
        expect(is_near(want, dy.back(), 1e-12), "Dgemv");
    }
    on_device<double> da(a), dx(x), dy(y);
    OK(cublasDger(handle, m, n, &alpha, dx.p, 1, dy.p, 1, da.p, lda));
    auto want = a;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) want[i + j * lda] += alpha * x[i] * y[j];
    expect(is_near(want, da.back(), 1e-12), "Dger");
    printf("matrices and vectors done\n");
}

/* Solves a system of every form, and multiplies back. */
static void triangular_systems() {
    const int m = 21, n = 9;
    double alpha = 2, one = 1, zero = 0;
    for (auto side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT})
        for (auto uplo : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER})
            for (auto op : {CUBLAS_OP_N, CUBLAS_OP_T})
                for (auto diag : {CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT}) {
                    int size = side == CUBLAS_SIDE_LEFT ? m : n;
                    auto a = numbers<double>(size * size), b = numbers<double>(m * n);
                    auto full = a; /* what the call means by its triangle */
                    for (int j = 0; j < size; j++)
                        for (int i = 0; i < size; i++) {
                            double &x = full[i + j * size];
                            if (uplo == CUBLAS_FILL_MODE_LOWER ? i < j : i > j) x = 0;
                            else if (i != j) x = a[i + j * size] *= 0.1;
                            else a[i + j * size] += 3, x = diag == CUBLAS_DIAG_UNIT ? 1 : a[i + j * size];
                        }
                    on_device<double> da(a), db(b), dfull(full), dback(b);
                    OK(cublasDtrsm(handle, side, uplo, op, diag, m, n, &alpha, da.p, size, db.p, m));
                    if (side == CUBLAS_SIDE_LEFT) OK(cublasDgemm(handle, op, CUBLAS_OP_N, m, n, m, &one, dfull.p, m, db.p, m, &zero, dback.p, m));
                    else OK(cublasDgemm(handle, CUBLAS_OP_N, op, m, n, n, &one, db.p, m, dfull.p, n, &zero, dback.p, m));
                    for (double &x : b) x *= alpha;
                    expect(is_near(b, dback.back(), 1e-10), "Dtrsm");
                }
    printf("triangular systems done\n");
}

static void symmetric_matrices() {
    const int n = 70, k = 11;
    auto a = numbers<float>(n * k), c = numbers<float>(n * n);
    float alpha = 1, beta = 0.5f;
    on_device<float> da(a), dc(c);
    OK(cublasSsyrk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, n, k, &alpha, da.p, n, &beta, dc.p, n));
    auto want = c;
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double sum = 0;
            for (int l = 0; l < k; l++) sum += double(a[i + l * n]) * a[j + l * n];
            want[i + j * n] = float(sum + beta * c[i + j * n]);
        }
    expect(is_near(want, dc.back(), 1e-5), "Ssyrk");
    /* The symmetric product with the lower triangle equals the general one with both. */
    auto both = want;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < j; i++) both[i + j * n] = want[j + i * n];
    on_device<float> dw(want), dboth(both), r1(a), r2(a);
    OK(cublasSsymm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, n, k, &alpha, dw.p, n, da.p, n, &beta, r1.p, n));
    OK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, k, n, &alpha, dboth.p, n, da.p, n, &beta, r2.p, n));
    expect(is_near(r1.back(), r2.back(), 1e-4), "Ssymm");
    OK(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, k, n, &alpha, da.p, n, &beta, dw.p, k, dboth.p, k));
    auto got = dboth.back();
    for (int j = 0; j < n; j++)
        for (int i = 0; i < k; i++)
            expect(std::fabs(got[i + j * k] - (a[j + i * n] + beta * want[i + j * k])) < 1e-5, "Sgeam");
    printf("symmetric matrices done\n");
}

static void batches() {
    const int n = 20, batch = 3;
    auto a = numbers<float>(n * n * batch);
    on_device<float> da(a), db(a), dc(a), dd(a);
    std::vector<float *> pa, pb, pc;
    for (int i = 0; i < batch; i++) pa.push_back(da.p + i * n * n), pb.push_back(db.p + i * n * n), pc.push_back(dc.p + i * n * n);
    on_device<float *> qa(pa), qb(pb), qc(pc);
    float alpha = 1, beta = 0;
    OK(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &alpha, qa.p, n, qb.p, n, &beta, qc.p, n, batch));
    OK(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &alpha, da.p, n, n * n, db.p, n, n * n, &beta, dd.p, n, n * n, batch));
    auto c = dc.back();
    expect(c == dd.back(), "batches by pointers and at strides");
    double sum = 0;
    for (int l = 0; l < n; l++) sum += double(a[2 * n * n + 5 + l * n]) * a[2 * n * n + 7 + l * n];
    expect(std::fabs(c[2 * n * n + 5 + 7 * n] - sum) < 1e-5, "SgemmBatched");
    /* P * A = L * U */
    on_device<int> pivots(std::vector<int>(n * batch)), info(std::vector<int>(batch, -1));
    OK(cublasSgetrfBatched(handle, n, qa.p, n, pivots.p, info.p, batch));
    auto lu = da.back();
    auto p = pivots.back();
    for (int z = 0; z < batch; z++) {
        std::vector<float> left(a.begin() + z * n * n, a.begin() + (z + 1) * n * n), right(n * n);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) std::swap(left[i + j * n], left[p[z * n + i] - 1 + j * n]);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double s = 0;
                for (int l = 0; l <= i && l <= j; l++) s += (l == i ? 1 : lu[z * n * n + i + l * n]) * double(lu[z * n * n + l + j * n]);
                right[i + j * n] = float(s);
            }
        expect(is_near(left, right, 1e-4) && info.back()[z] == 0, "SgetrfBatched");
    }
    printf("batches done\n");
}

static void types() {
    const int n = 40;
    std::vector<__half> a(n * n), b(n * n);
    std::vector<signed char> bytes(n * n);
    for (int i = 0; i < n * n; i++) a[i] = __float2half(float(draw())), b[i] = __float2half(float(draw())), bytes[i] = (signed char)(draw() * 127);
    on_device<__half> da(a), db(b);
    on_device<float> dc(std::vector<float>(n * n, 0));
    on_device<signed char> dbytes(bytes);
    on_device<int> dsums(std::vector<int>(n * n, 0));
    float one = 1, zero = 0;
    int ione = 1, izero = 0;
    OK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, da.p, CUDA_R_16F, n, db.p, CUDA_R_16F, n, &zero, dc.p, CUDA_R_32F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    OK(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, n, n, &ione, dbytes.p, CUDA_R_8I, n, dbytes.p, CUDA_R_8I, n, &izero, dsums.p, CUDA_R_32I, n, CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT));
    auto c = dc.back();
    auto sums = dsums.back();
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            double sum = 0;
            int exact = 0;
            for (int l = 0; l < n; l++) sum += double(__half2float(a[i + l * n])) * __half2float(b[l + j * n]), exact += bytes[l + i * n] * bytes[l + j * n];
            expect(std::fabs(c[i + j * n] - sum) < 1e-4, "GemmEx of halves");
            expect(sums[i + j * n] == exact, "GemmEx of bytes");
        }
    expect(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, da.p, CUDA_R_16F, n, db.p, CUDA_R_16F, n, &zero, dc.p, CUDA_R_64F, n, CUBLAS_COMPUTE_64F, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_NOT_SUPPORTED, "halves to f64");
    expect(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, dc.p, n - 1, dc.p, n, &zero, dc.p, n) == CUBLAS_STATUS_INVALID_VALUE, "lda too small");
    printf("types done\n");
}

static void copies() {
    const int rows = 5, columns = 3;
    auto a = numbers<double>(7 * columns);
    std::vector<double> b(rows * columns);
    on_device<double> d(std::vector<double>(6 * columns, 0));
    OK(cublasSetMatrix(rows, columns, sizeof(double), a.data(), 7, d.p, 6));
    OK(cublasGetMatrix(rows, columns, sizeof(double), d.p, 6, b.data(), rows));
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++) expect(b[i + j * rows] == a[i + j * 7], "matrices");
    OK(cublasSetVector(columns, sizeof(double), a.data(), 2, d.p, 1));
    OK(cublasGetVector(columns, sizeof(double), d.p, 1, b.data(), 3));
    for (int i = 0; i < columns; i++) expect(b[i * 3] == a[i * 2], "vectors");
    printf("copies done\n");
}

int main() {
    OK(cublasCreate(&handle));
    vectors();
    pointers_on_the_device();
    matrices_and_vectors();
    gemm_of<float>("Sgemm", 1e-4);
    gemm_of<double>("Dgemm", 1e-12);
    gemm_of<complexf>("Cgemm", 1e-4);
    gemm_of<complexd>("Zgemm", 1e-12);
    triangular_systems();
    symmetric_matrices();
    batches();
    types();
    copies();
    OK(cublasDestroy(handle));
    printf("%s\n", failures ? "FAILED" : cublasGetStatusString(CUBLAS_STATUS_SUCCESS));
    return failures != 0;
}
