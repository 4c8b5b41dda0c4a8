// Our cuSPARSE: products of sparse matrices in all formats, samples, conversions, sparse vectors.
// The matrix and the first results are those of NVIDIA's samples of SpMV and SpMM.
// nvcc: -lcusparse -Xcompiler -Wno-deprecated-declarations
// stderr: cusparseSpGEMM_createDescr
#include <cstdio>
#include <cuComplex.h>
#include <cusparse.h>

#define CHECK(call)                                                                           \
    do {                                                                                      \
        cusparseStatus_t s_ = (call);                                                         \
        if (s_) return printf("line %d: %s\n", __LINE__, cusparseGetErrorString(s_)), 1;      \
    } while (0)

/* 1 . 2 3
 * . 4 . .
 * 5 . 6 7
 * . 8 . 9 */
constexpr int N = 4, NNZ = 9;
static const int offsets[N + 1] = {0, 3, 4, 7, 9}, columns[NNZ] = {0, 2, 3, 1, 0, 2, 3, 1, 3},
                 rows[NNZ] = {0, 0, 0, 1, 2, 2, 2, 3, 3};
static const float values[NNZ] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

template <typename T> static T *on_device(const T *host, size_t n) {
    T *p;
    cudaMalloc(&p, n * sizeof(T));
    cudaMemcpy(p, host, n * sizeof(T), cudaMemcpyHostToDevice);
    return p;
}
template <typename T> static void print(const char *name, const T *device, int n) {
    T host[32];
    cudaMemcpy(host, device, n * sizeof(T), cudaMemcpyDeviceToHost);
    printf("%s:", name);
    for (int i = 0; i < n; i++) printf(" %g", double(host[i]));
    printf("\n");
}

static cusparseHandle_t h;
static void *buffer;
static const float one = 1, zero = 0;

static int vectors(const char *name, cusparseSpMatDescr_t a, cusparseOperation_t op) {
    float x[N] = {1, 2, 3, 4}, y[N] = {-1, -1, -1, -1}, *dx = on_device(x, N), *dy = on_device(y, N);
    cusparseDnVecDescr_t vx, vy;
    size_t bytes;
    CHECK(cusparseCreateDnVec(&vx, N, dx, CUDA_R_32F));
    CHECK(cusparseCreateDnVec(&vy, N, dy, CUDA_R_32F));
    CHECK(cusparseSpMV_bufferSize(h, op, &one, a, vx, &zero, vy, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
    CHECK(cusparseSpMV(h, op, &one, a, vx, &zero, vy, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, buffer));
    print(name, dy, N);
    CHECK(cusparseDestroyDnVec(vx));
    CHECK(cusparseDestroyDnVec(vy));
    return 0;
}

static int matrices(const char *name, cusparseSpMatDescr_t a, cusparseOrder_t order) {
    float b[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, c[12] = {}, by_rows[12];
    bool rows_first = order == CUSPARSE_ORDER_ROW;
    for (int i = 0; i < 12; i++) by_rows[i % 4 * 3 + i / 4] = b[i];
    float *db = on_device(rows_first ? by_rows : b, 12), *dc = on_device(c, 12);
    cusparseDnMatDescr_t mb, mc;
    CHECK(cusparseCreateDnMat(&mb, 4, 3, rows_first ? 3 : 4, db, CUDA_R_32F, order));
    CHECK(cusparseCreateDnMat(&mc, 4, 3, rows_first ? 3 : 4, dc, CUDA_R_32F, order));
    CHECK(cusparseSpMM(h, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, mb, &zero, mc,
                       CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, buffer));
    print(name, dc, 12);
    return 0;
}

/* Entry (i, j) of the product is (i + 1) * (j + 1) + 1. */
static int samples() {
    float a[8] = {1, 2, 3, 4, 1, 1, 1, 1}, b[8] = {1, 1, 2, 1, 3, 1, 4, 1}, c[NNZ] = {};
    float *da = on_device(a, 8), *db = on_device(b, 8), *dc = on_device(c, NNZ);
    cusparseDnMatDescr_t ma, mb;
    cusparseSpMatDescr_t mc;
    CHECK(cusparseCreateDnMat(&ma, 4, 2, 4, da, CUDA_R_32F, CUSPARSE_ORDER_COL));
    CHECK(cusparseCreateDnMat(&mb, 2, 4, 2, db, CUDA_R_32F, CUSPARSE_ORDER_COL));
    CHECK(cusparseCreateCsr(&mc, N, N, NNZ, on_device(offsets, N + 1), on_device(columns, NNZ), dc, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    CHECK(cusparseSDDMM(h, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, ma, mb, &zero, mc,
                        CUDA_R_32F, CUSPARSE_SDDMM_ALG_DEFAULT, buffer));
    print("sampled", dc, NNZ);
    return 0;
}

/* To dense and back, with 8-byte indices from 1 on. */
static int conversions(cusparseSpMatDescr_t a) {
    float d[16] = {};
    float *dd = on_device(d, 16), *dv = on_device(d, NNZ);
    long long wide[NNZ] = {}, *doffsets = on_device(wide, N + 1), *dcolumns = on_device(wide, NNZ);
    int64_t r, c, nnz;
    cusparseDnMatDescr_t m;
    cusparseSpMatDescr_t back;
    CHECK(cusparseCreateDnMat(&m, 4, 4, 4, dd, CUDA_R_32F, CUSPARSE_ORDER_ROW));
    CHECK(cusparseSparseToDense(h, a, m, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, buffer));
    print("dense", dd, 16);
    CHECK(cusparseCreateCsr(&back, N, N, 0, doffsets, nullptr, nullptr, CUSPARSE_INDEX_64I, CUSPARSE_INDEX_64I,
                            CUSPARSE_INDEX_BASE_ONE, CUDA_R_32F));
    CHECK(cusparseDenseToSparse_analysis(h, m, back, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer));
    CHECK(cusparseSpMatGetSize(back, &r, &c, &nnz));
    printf("%d elements\n", int(nnz));
    CHECK(cusparseCsrSetPointers(back, doffsets, dcolumns, dv));
    CHECK(cusparseDenseToSparse_convert(h, m, back, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer));
    print("offsets", doffsets, N + 1), print("columns", dcolumns, NNZ), print("values", dv, NNZ);
    return vectors("and back", back, CUSPARSE_OPERATION_NON_TRANSPOSE);
}

static int sparse_vectors() {
    double x[2] = {10, 20}, y[4] = {1, 2, 3, 4}, alpha = 2, beta = 3, *dy = on_device(y, 4), *dx = on_device(x, 2);
    int indices[2] = {1, 3};
    cusparseSpVecDescr_t vx;
    cusparseDnVecDescr_t vy;
    CHECK(cusparseCreateSpVec(&vx, 4, 2, on_device(indices, 2), dx, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    CHECK(cusparseCreateDnVec(&vy, 4, dy, CUDA_R_64F));
    CHECK(cusparseAxpby(h, &alpha, vx, &beta, vy));
    print("axpby", dy, 4);
    CHECK(cusparseGather(h, vy, vx));
    print("gathered", dx, 2);
    return 0;
}

/* The conjugate of i, times 2 + i. */
static int complex_numbers() {
    int o[2] = {0, 1}, c[1] = {0};
    cuComplex a = {0, 1}, x = {2, 1}, y = {0, 0}, alpha = {1, 0}, beta = {0, 0}, *dy = on_device(&y, 1);
    cusparseSpMatDescr_t m;
    cusparseDnVecDescr_t vx, vy;
    CHECK(cusparseCreateCsr(&m, 1, 1, 1, on_device(o, 2), on_device(c, 1), on_device(&a, 1), CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_C_32F));
    CHECK(cusparseCreateDnVec(&vx, 1, on_device(&x, 1), CUDA_C_32F));
    CHECK(cusparseCreateDnVec(&vy, 1, dy, CUDA_C_32F));
    CHECK(cusparseSpMV(h, CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE, &alpha, m, vx, &beta, vy, CUDA_C_32F,
                       CUSPARSE_SPMV_ALG_DEFAULT, buffer));
    cudaMemcpy(&y, dy, sizeof y, cudaMemcpyDeviceToHost);
    printf("complex: %g %g\n", y.x, y.y);
    return 0;
}

int main() {
    cusparseSpMatDescr_t csr, csc, coo;
    int *dr = on_device(rows, NNZ), *dc = on_device(columns, NNZ), *doff = on_device(offsets, N + 1);
    float *dv = on_device(values, NNZ);
    auto n = CUSPARSE_OPERATION_NON_TRANSPOSE, t = CUSPARSE_OPERATION_TRANSPOSE;
    cudaMalloc(&buffer, 4);
    CHECK(cusparseCreate(&h));
    CHECK(cusparseCreateCsr(&csr, N, N, NNZ, doff, dc, dv, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    CHECK(cusparseCreateCsc(&csc, N, N, NNZ, doff, dc, dv, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F)); /* the same arrays: the transposed matrix */
    CHECK(cusparseCreateCoo(&coo, N, N, NNZ, dr, dc, dv, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    if (vectors("csr", csr, n) || vectors("csr t", csr, t) || vectors("csc", csc, n) || vectors("csc t", csc, t) ||
        vectors("coo", coo, n) || vectors("coo t", coo, t))
        return 1;
    if (matrices("by columns", csr, CUSPARSE_ORDER_COL) || matrices("by rows", csr, CUSPARSE_ORDER_ROW) ||
        matrices("coo", coo, CUSPARSE_ORDER_COL))
        return 1;
    if (samples() || conversions(csr) || sparse_vectors() || complex_numbers()) return 1;
    cusparseSpGEMMDescr_t none;
    printf("%s\n", cusparseGetErrorName(cusparseSpGEMM_createDescr(&none)));
    CHECK(cusparseDestroy(h));
    return 0;
}
