/* plan.cuh — the plans of our cuFFT: a transform as a list of passes over memory.
 *
 * As cuBLAS (grader/cublas/handle.cuh), NVIDIA's cuFFT contains only machine code, so `simgpu nvcc`
 * replaces it by this library, whose calls launch kernels of their own. Their results equal cuFFT's
 * within rounding, not bit by bit, and their times are not cuFFT's.
 *
 * A transform of several dimensions is one of lines along each dimension. A line of length n is
 * transformed by Stockham's algorithm: a pass for each factor r of n, in which a thread reads r
 * elements n / r apart, multiplies them by powers of the n-th root of unity, transforms these r
 * elements, and writes them where the next pass needs them. So the result has natural order
 * without a permutation.
 *
 * Bluestein's algorithm transforms lengths with a prime factor above 127. Because
 * 2jk = j² + k² - (k - j)², the transform is a convolution with the chirp exp(πi k² / n), which
 * transforms of a power of two m >= 2n - 1 compute.
 *
 * Each pass reads one buffer and writes another: the caller's input, two halves of the work area in
 * turn, the caller's output. Real lines are transformed as complex ones; the first pass of a line
 * reads reals or completes the half of a spectrum by its symmetry, and the last one writes half of
 * a spectrum or reals. */
#pragma once
#include "grader/cublas/numbers.cuh"
#include <cufft.h>
#include <vector>

enum { MAX_RANK = 3, MAX_DIRECT_PRIME = 127 };

/* Where the elements of lines are, in elements of the buffer's type. Lines are numbered along two
 * other dimensions, the inner one first, then along the batch. */
struct layout {
    long long stride;
    unsigned inner_count, outer_count;
    long long inner_stride, outer_stride, batch_stride;
    __device__ long long line(unsigned i) const {
        unsigned outer = i / inner_count;
        return i % inner_count * inner_stride + outer % outer_count * outer_stride +
               outer / outer_count * batch_stride;
    }
};

enum element_kind {
    COMPLEX,
    REAL,
    HALF, /* elements 0 to n / 2 of a spectrum with element n - k = conj(element k) */
};

enum pass_kind {
    BUTTERFLIES, /* a pass of Stockham's algorithm */
    PRODUCT,     /* multiplies by a table, or copies if there is none */
};

/* The sign of the exponents: the caller's direction, or a fixed one. */
enum pass_sign { SIGN_OF_CALL = 0, SIGN_FORWARD = CUFFT_FORWARD, SIGN_INVERSE = CUFFT_INVERSE };

struct pass {
    pass_kind kind;
    pass_sign sign;
    unsigned n, lines;
    unsigned radix, done; /* of BUTTERFLIES: the factor, and the product of earlier factors */
    unsigned read_count, write_count; /* of PRODUCT: elements read, and written; others are 0 */
    element_kind load, store;
    layout from, to;
    bool lines_first;  /* neighbouring threads take neighbouring lines */
    const void *table; /* on the device */
};

struct fft_request {
    int rank;
    long long n[MAX_RANK], batch;
    bool is_basic; /* no embedding given: contiguous, and padded if a real transform is in place */
    long long in_embed[MAX_RANK], in_stride, in_dist, out_embed[MAX_RANK], out_stride, out_dist;
    cufftType type;
};

struct fft_plan {
    bool is_made, allocates_work;
    cufftType type;
    bool is_basic;
    std::vector<pass> passes;
    layout real_in_place; /* of the reals, if input and output are the same and the plan is basic */
    std::vector<void *> tables;
    size_t work_bytes;
    void *work, *own_work;
    cudaStream_t stream;
};

inline bool is_double(cufftType t) { return t == CUFFT_Z2Z || t == CUFFT_D2Z || t == CUFFT_Z2D; }
inline bool reads_reals(cufftType t) { return t == CUFFT_R2C || t == CUFFT_D2Z; }
inline bool writes_reals(cufftType t) { return t == CUFFT_C2R || t == CUFFT_Z2D; }

/* Fills the plan's passes and tables; with `measures`, only work_bytes. */
cufftResult make_passes(fft_plan *plan, const fft_request *request, bool measures);
cufftResult run_passes(const fft_plan *plan, const void *in, void *out, int direction);
