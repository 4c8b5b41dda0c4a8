/* gemm.cuh — products of matrices: c = alpha * op(a) * op(b) + beta * c, one for each of a batch.
 *
 * A block of 256 threads computes a tile of 64 × 64, 4 × 4 a thread, and reads both operands
 * through shared memory, 8 columns of a at a time. */
#pragma once
#include "grader/cublas/matrix.cuh"

/* The matrices of a batch: at a stride, or by an array of pointers on the device. */
template <typename T> struct batch_pointer {
    T *first;
    T *const *array;
    long long stride;
    __device__ T *at(unsigned i) const { return array ? array[i] : first + i * stride; }
};
template <typename T> struct batch_operand {
    batch_pointer<const T> memory;
    long long row_stride, column_stride;
    bool conjugates;
    __device__ matrix<T> at(unsigned i) const {
        return {memory.at(i), row_stride, column_stride, conjugates};
    }
};

/* A factor of a type that follows from the product's, such as half for sums in f32. */
template <typename S> struct gemm_factor {
    const void *device;
    S host;
    bool is_half;
    __device__ S value() const {
        if (!device) return host;
        return is_half ? convert<S>(*(const __half *)device) : *(const S *)device;
    }
};
template <> inline __device__ complex<float> gemm_factor<complex<float>>::value() const {
    return device ? *(const complex<float> *)device : host;
}
template <> inline __device__ complex<double> gemm_factor<complex<double>>::value() const {
    return device ? *(const complex<double> *)device : host;
}

template <typename In, typename Out, typename Sum> struct gemm_problem {
    long long m, n, k;
    unsigned batch;
    gemm_factor<Sum> alpha, beta;
    batch_operand<In> a, b;
    batch_pointer<Out> c;
    long long ldc;
    triangle stored;
};

enum { TILE = 64, DEPTH = 8, PER_THREAD = 4, TILE_THREADS = 256, PAD = 4 };

/* Reads DEPTH × TILE elements of op(a) (or of op(b), with rows for columns), zeros outside. Threads
 * that follow each other read in the direction that is contiguous in memory. */
template <typename In, typename Sum>
static __device__ void read_tile(Sum (*tile)[TILE + PAD], const matrix<In> &source, long long first,
                                 long long rows, long long depth, long long k) {
    bool along_rows = source.row_stride == 1;
    for (unsigned t = threadIdx.x; t < TILE * DEPTH; t += TILE_THREADS) {
        unsigned i = along_rows ? t % TILE : t / DEPTH, d = along_rows ? t / TILE : t % DEPTH;
        bool inside = first + i < rows && depth + d < k;
        tile[d][i] = inside ? convert<Sum>(source(first + i, depth + d)) : Sum(0);
    }
}

template <typename In, typename Out, typename Sum>
static __device__ void write_tile(const gemm_problem<In, Out, Sum> &g, Out *c, long long row,
                                  long long column, const Sum (&sums)[PER_THREAD][PER_THREAD]) {
    Sum alpha = g.alpha.value(), beta = g.beta.value();
#pragma unroll
    for (unsigned j = 0; j < PER_THREAD; j++)
#pragma unroll
        for (unsigned i = 0; i < PER_THREAD; i++) {
            long long r = row + i, q = column + j;
            if (r >= g.m || q >= g.n || !g.stored.contains(r, q)) continue;
            Out &out = c[r + q * g.ldc];
            Sum scaled = alpha * sums[i][j];
            out = convert<Out>(beta == Sum(0) ? scaled : scaled + beta * convert<Sum>(out));
        }
}

template <typename In, typename Out, typename Sum>
__global__ void __launch_bounds__(TILE_THREADS)
    cublas_gemm(const __grid_constant__ gemm_problem<In, Out, Sum> g) {
    __shared__ Sum as[DEPTH][TILE + PAD], bs[DEPTH][TILE + PAD];
    long long row = (long long)blockIdx.x * TILE, column = (long long)blockIdx.y * TILE;
    unsigned x = threadIdx.x % 16 * PER_THREAD, y = threadIdx.x / 16 * PER_THREAD;
    for (unsigned z = blockIdx.z; z < g.batch; z += gridDim.z) {
        matrix<In> a = g.a.at(z), b = g.b.at(z);
        matrix<In> columns_of_b = {b.p, b.column_stride, b.row_stride, b.conjugates};
        Sum sums[PER_THREAD][PER_THREAD] = {};
        for (long long depth = 0; depth < g.k; depth += DEPTH) {
            __syncthreads();
            read_tile(as, a, row, g.m, depth, g.k);
            read_tile(bs, columns_of_b, column, g.n, depth, g.k);
            __syncthreads();
#pragma unroll
            for (unsigned d = 0; d < DEPTH; d++)
#pragma unroll
                for (unsigned i = 0; i < PER_THREAD; i++)
#pragma unroll
                    for (unsigned j = 0; j < PER_THREAD; j++)
                        sums[i][j] = sums[i][j] + as[d][x + i] * bs[d][y + j];
        }
        write_tile(g, g.c.at(z), row + x, column + y, sums);
    }
}

template <typename In, typename Out, typename Sum>
cublasStatus_t launch_gemm(cublasHandle_t h, const gemm_problem<In, Out, Sum> &g) {
    if (!g.m || !g.n || !g.batch) return CUBLAS_STATUS_SUCCESS;
    long long columns = (g.n + TILE - 1) / TILE;
    if (columns > 65535) return CUBLAS_STATUS_NOT_SUPPORTED;
    dim3 grid((unsigned)((g.m + TILE - 1) / TILE), (unsigned)columns,
              g.batch < 65535 ? g.batch : 65535);
    return launch(h, grid, TILE_THREADS, cublas_gemm<In, Out, Sum>, g);
}

/* The arguments that all forms of gemm share. */
struct gemm_shape {
    cublasOperation_t op_a, op_b;
    long long m, n, k, lda, ldb, ldc, batch;
};
inline bool gemm_shape_is_valid(const gemm_shape &s) {
    long long rows_a = s.op_a == CUBLAS_OP_N ? s.m : s.k;
    long long rows_b = s.op_b == CUBLAS_OP_N ? s.k : s.n;
    return s.m >= 0 && s.n >= 0 && s.k >= 0 && s.batch >= 0 && s.lda >= (rows_a > 1 ? rows_a : 1) &&
           s.ldb >= (rows_b > 1 ? rows_b : 1) && s.ldc >= (s.m > 1 ? s.m : 1);
}
template <typename T>
batch_operand<T> make_operand(batch_pointer<const T> memory, long long ld, cublasOperation_t op) {
    matrix<T> m = make_matrix((const T *)nullptr, ld, op);
    return {memory, m.row_stride, m.column_stride, m.conjugates};
}
/* `is_half`: both factors are halves, though sums are f32. */
template <typename Sum>
gemm_factor<Sum> make_factor(cublasHandle_t h, const void *p, bool is_half) {
    if (h->pointer_mode == CUBLAS_POINTER_MODE_DEVICE) return {p, Sum(), is_half};
    if (is_half) return {nullptr, Sum(__half2float(*(const __half *)p)), false};
    return {nullptr, *(const Sum *)p, false};
}
template <> inline gemm_factor<int> make_factor<int>(cublasHandle_t h, const void *p, bool) {
    if (h->pointer_mode == CUBLAS_POINTER_MODE_DEVICE) return {p, 0, false};
    return {nullptr, *(const int *)p, false};
}

template <typename Sum, typename In, typename Out>
cublasStatus_t gemm(cublasHandle_t h, const gemm_shape &s, const void *alpha,
                    batch_pointer<const In> a, batch_pointer<const In> b, const void *beta,
                    batch_pointer<Out> c, bool half_factors = false) {
    if (!h) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!gemm_shape_is_valid(s)) return CUBLAS_STATUS_INVALID_VALUE;
    return launch_gemm(h, gemm_problem<In, Out, Sum>{
                              s.m, s.n, s.k, (unsigned)s.batch,
                              make_factor<Sum>(h, alpha, half_factors),
                              make_factor<Sum>(h, beta, half_factors),
                              make_operand(a, s.lda, s.op_a), make_operand(b, s.ldb, s.op_b), c,
                              s.ldc, triangle{CUBLAS_FILL_MODE_FULL}});
}
