// sparse.cu — chapter 12's answers and steps on a GPU at their timed sizes, and cuSPARSE beside them. Cold caches, medians of 21; a line a version.
//
//   nvcc -O3 -std=c++17 -arch=native -I. grader/tests/timing/sparse.cu -o sparse -lcusparse; ./sparse
//
// Run from the top of the tree. Figures in docs/results/h100/sparse.tsv are of an earlier form of it (docs/results/README.md). The matrix is drawn as spmv_test.c does it.
#include "grader/tests/timing/cold.cuh"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cusparse.h>
#include <random>
#include <vector>
namespace spmv1 {
#define spmv spmv_1
#include "solutions/12-sparse-and-stencil/spmv-1-row-a-thread.cu"
#undef spmv
}
namespace spmv2 {
#define spmv spmv_2
#include "solutions/12-sparse-and-stencil/spmv-2-row-a-warp.cu"
#undef spmv
}
namespace spmv3 {
#define spmv spmv_3
#include "solutions/12-sparse-and-stencil/spmv-3-products-first.cu"
#undef spmv
}
namespace spmv4 {
#define spmv spmv_solution
#include "solutions/12-sparse-and-stencil/spmv.cu"
#undef spmv
}
namespace star1 {
#define stencil_planes stencil_planes_1
#include "solutions/12-sparse-and-stencil/stencil_planes-1-all-from-memory.cu"
#undef stencil_planes
}
namespace star2 {
#define stencil_planes stencil_planes_2
#include "solutions/12-sparse-and-stencil/stencil_planes-2-block-of-space.cu"
#undef stencil_planes
}
namespace star3 {
#define stencil_planes stencil_planes_3
#include "solutions/12-sparse-and-stencil/stencil_planes-3-planes.cu"
#undef stencil_planes
}
namespace star4 {
#define stencil_planes stencil_planes_solution
#include "solutions/12-sparse-and-stencil/stencil_planes.cu"
#undef stencil_planes
}
namespace nbody1 {
#define nbody nbody_1
#include "solutions/12-sparse-and-stencil/nbody-1-all-from-memory.cu"
#undef nbody
}
namespace nbody2 {
#define nbody nbody_2
#include "solutions/12-sparse-and-stencil/nbody-2-tile.cu"
#undef nbody
}
namespace nbody3 {
#define nbody nbody_3
#include "solutions/12-sparse-and-stencil/nbody-3-cheap-pairs.cu"
#undef nbody
}
namespace nbody4 {
#define nbody nbody_solution
#include "solutions/12-sparse-and-stencil/nbody.cu"
#undef nbody
}
static std::mt19937 engine(1);
static long whole(long low, long high) { return std::uniform_int_distribution<long>(low, high)(engine); }
static float eighth() { return whole(-8, 8) / 8.0f; }
static void must(int error, const char *what) {
    if (error) fprintf(stderr, "%s: error %d\n", what, error), exit(1);
}
template <class T> static T *on_device(const std::vector<T> &from) {
    T *to;
    must(cudaMalloc(&to, from.size() * sizeof(T)), "memory");
    must(cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice), "copy");
    return to;
}
// Right: as the first version of the exercise, up to `tolerance`.
template <class F> static void version(const char *name, float *out, size_t n, double tolerance, std::vector<float> &first, F f) {
    std::vector<float> got(n);
    cudaMemset(out, 0xff, n * 4), f();
    must(cudaMemcpy(got.data(), out, n * 4, cudaMemcpyDeviceToHost), name);
    if (first.empty()) first = got;
    bool right = true;
    for (size_t i = 0; i < n; i++) right = right && fabs(got[i] - first[i]) <= tolerance;
    printf("%s\t%.2f\t%s\n", name, cold_median(f), right ? "right" : "WRONG");
    fflush(stdout);
}
static void sparse() {
    const int rows = 1 << 20, n = 1 << 24;
    std::vector<int> offsets(rows + 1), columns(n);
    std::vector<float> values(n), xs(rows), first;
    std::vector<double> before(rows + 1);
    long column = 0, left = 0, longest = 0;
    for (int r = 0; r < rows; r++) {
        if (r % 256 == 0) longest = r + whole(0, 255);
        before[r + 1] = before[r] + (r == longest ? 128 : whole(0, 1000) / 500.0);
    }
    for (int r = 0; r <= rows; r++) offsets[r] = r < rows ? (int)(before[r] / before[rows] * n) : n;
    for (long i = 0; i < n; i++, left--) {
        if (!left) left = whole(8, 32), column = i * rows / n + whole(0, 1023);
        columns[i] = (column += whole(1, 3)) % rows, values[i] = eighth();
    }
    for (float &x : xs) x = eighth();
    int *o = on_device(offsets), *c = on_device(columns);
    float *v = on_device(values), *x = on_device(xs), *y = on_device(xs);
    version("spmv 1-row-a-thread", y, rows, 0, first, [=] { spmv1::spmv_1(y, o, c, v, x, rows, rows, n); });
    version("spmv 2-row-a-warp", y, rows, 0, first, [=] { spmv2::spmv_2(y, o, c, v, x, rows, rows, n); });
    version("spmv 3-products-first", y, rows, 0, first, [=] { spmv3::spmv_3(y, o, c, v, x, rows, rows, n); });
    version("spmv solution", y, rows, 0, first, [=] { spmv4::spmv_solution(y, o, c, v, x, rows, rows, n); });

    cusparseHandle_t h;
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t in, out;
    static const float one = 1, zero = 0;
    void *room;
    size_t size;
    const auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    const auto how = CUSPARSE_SPMV_CSR_ALG1;
    must(cusparseCreate(&h), "cuSPARSE");
    cusparseCreateCsr(&matrix, rows, rows, n, o, c, v, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
    cusparseCreateDnVec(&in, rows, x, CUDA_R_32F), cusparseCreateDnVec(&out, rows, y, CUDA_R_32F);
    must(cusparseSpMV_bufferSize(h, plain, &one, matrix, in, &zero, out, CUDA_R_32F, how, &size), "size");
    must(cudaMalloc(&room, size + 1), "room");
    auto call = [=] { cusparseSpMV(h, plain, &one, matrix, in, &zero, out, CUDA_R_32F, how, room); };
    version("spmv cuSPARSE", y, rows, 0, first, call);
    must(cusparseSpMV_preprocess(h, plain, &one, matrix, in, &zero, out, CUDA_R_32F, how, room), "preprocess");
    version("spmv cuSPARSE, preprocessed", y, rows, 0, first, call);
}
static void stencil() {
    const int n = 256;
    std::vector<float> values((size_t)n * n * n), first;
    for (float &v : values) v = whole(-1000, 1000) / 1000.0f;
    float *in = on_device(values), *out = on_device(values);
    size_t all = values.size();
    version("stencil_planes 1-all-from-memory", out, all, 1e-4, first, [=] { star1::stencil_planes_1(out, in, n, n, n); });
    version("stencil_planes 2-block-of-space", out, all, 1e-4, first, [=] { star2::stencil_planes_2(out, in, n, n, n); });
    version("stencil_planes 3-planes", out, all, 1e-4, first, [=] { star3::stencil_planes_3(out, in, n, n, n); });
    version("stencil_planes solution", out, all, 1e-4, first, [=] { star4::stencil_planes_solution(out, in, n, n, n); });
    version("copy of as many bytes", out, all, 1e9, first, [=] { cudaMemcpyAsync(out, in, all * 4, cudaMemcpyDeviceToDevice); });
}
static void bodies() {
    const int n = 8192;
    std::vector<float> values(4 * n), first;
    for (int i = 0; i < 4 * n; i++) values[i] = whole(i % 4 == 3 ? 0 : -1000, 1000) / 1000.0f;
    float *in = on_device(values), *out = on_device(values);
    version("nbody 1-all-from-memory", out, 4 * n, 2, first, [=] { nbody1::nbody_1(out, in, n); });
    version("nbody 2-tile", out, 4 * n, 2, first, [=] { nbody2::nbody_2(out, in, n); });
    version("nbody 3-shared-out", out, 4 * n, 2, first, [=] { nbody3::nbody_3(out, in, n); });
    version("nbody solution", out, 4 * n, 2, first, [=] { nbody4::nbody_solution(out, in, n); });
}
int main() {
    printf("variant\tus\tright\n");
    sparse(), stencil(), bodies();
}
