/* passes.cu — the kernels of our cuFFT, and the execution of a plan (plan.cuh). */
#include "grader/cufft/plan.cuh"

/* ---- transforms of a few elements ---- */

/* cos(2πk / N) and sin(2πk / N) for odd N and k up to N / 2. */
template <int N> __device__ double cosine(int k) {
    if (N == 3) return -0.5;
    if (N == 5) return k == 1 ? 0.30901699437494742410 : -0.80901699437494742410;
    if (N == 7)
        return k == 1 ? 0.62348980185873353053 : k == 2 ? -0.22252093395631440429
                                                        : -0.90096886790241912624;
    return 0;
}
template <int N> __device__ double sine(int k) {
    if (N == 3) return 0.86602540378443864676;
    if (N == 5) return k == 1 ? 0.95105651629515357212 : 0.58778525229247312917;
    if (N == 7)
        return k == 1 ? 0.78183148246802980871 : k == 2 ? 0.97492791218182360702
                                                        : 0.43388373911755812048;
    return 0;
}

/* Returns sign * i * x. */
template <typename R> __device__ complex<R> turned(complex<R> x, R sign) {
    return {-sign * x.im, sign * x.re};
}

/* The transform of N elements for an odd N, by the symmetry of elements m and N - m. */
template <int N, typename R> struct butterfly {
    static __device__ void apply(complex<R> *x, R sign) {
        complex<R> first = x[0], sums[N / 2], differences[N / 2];
#pragma unroll
        for (int m = 1; m <= N / 2; m++) {
            sums[m - 1] = x[m] + x[N - m], differences[m - 1] = x[m] - x[N - m];
            x[0] = x[0] + sums[m - 1];
        }
#pragma unroll
        for (int k = 1; k <= N / 2; k++) {
            complex<R> even = first, odd = {0, 0};
#pragma unroll
            for (int m = 1; m <= N / 2; m++) {
                int turn = k * m % N, near = turn <= N / 2 ? turn : N - turn;
                R c = (R)cosine<N>(near), s = (R)(turn <= N / 2 ? sine<N>(near) : -sine<N>(near));
                even = even + complex<R>(c * sums[m - 1].re, c * sums[m - 1].im);
                odd = odd + complex<R>(s * differences[m - 1].re, s * differences[m - 1].im);
            }
            x[k] = even + turned(odd, sign), x[N - k] = even - turned(odd, sign);
        }
    }
};
template <typename R> struct butterfly<2, R> {
    static __device__ void apply(complex<R> *x, R) {
        complex<R> a = x[0];
        x[0] = a + x[1], x[1] = a - x[1];
    }
};
template <typename R> struct butterfly<4, R> {
    static __device__ void apply(complex<R> *x, R sign) {
        complex<R> a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3],
                   d = turned(x[1] - x[3], sign);
        x[0] = a + c, x[1] = b + d, x[2] = a - c, x[3] = b - d;
    }
};
template <typename R> struct butterfly<8, R> {
    static __device__ void apply(complex<R> *x, R sign) {
        const R h = (R)0.70710678118654752440;
        complex<R> even[4] = {x[0], x[2], x[4], x[6]}, odd[4] = {x[1], x[3], x[5], x[7]};
        butterfly<4, R>::apply(even, sign), butterfly<4, R>::apply(odd, sign);
        odd[1] = odd[1] * complex<R>(h, sign * h);
        odd[2] = turned(odd[2], sign);
        odd[3] = odd[3] * complex<R>(-h, sign * h);
#pragma unroll
        for (int k = 0; k < 4; k++) x[k] = even[k] + odd[k], x[k + 4] = even[k] - odd[k];
    }
};

/* ---- passes ---- */

template <typename R> __device__ complex<R> load(const pass &p, const void *in, unsigned line,
                                                 unsigned k) {
    const complex<R> *spectrum = (const complex<R> *)in + p.from.line(line);
    if (p.load == COMPLEX) return spectrum[k * p.from.stride];
    if (p.load == REAL) return ((const R *)in)[p.from.line(line) + k * p.from.stride];
    return k <= p.n / 2 ? spectrum[k * p.from.stride]
                        : conjugate(spectrum[(p.n - k) * p.from.stride]);
}
template <typename R>
__device__ void store(const pass &p, void *out, unsigned line, unsigned k, complex<R> value) {
    long long i = p.to.line(line) + k * p.to.stride;
    if (p.store == REAL) ((R *)out)[i] = value.re;
    else if (p.store == COMPLEX || k <= p.n / 2) ((complex<R> *)out)[i] = value;
}

/* The root of unity, or another factor, for the direction: tables are those of the forward one. */
template <typename R> __device__ complex<R> factor(const pass &p, unsigned i, int sign) {
    complex<R> w = ((const complex<R> *)p.table)[i];
    return sign == CUFFT_FORWARD ? w : conjugate(w);
}

/* Item i of `count` in a line is which item of which line? */
struct place {
    unsigned line, item;
    __device__ place(const pass &p, unsigned i, unsigned count)
        : line(p.lines_first ? i % p.lines : i / count),
          item(p.lines_first ? i / p.lines : i % count) {}
};

#define FOR_EACH(i, total)                                               \
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < (total); \
         i += gridDim.x * blockDim.x)

template <typename R, int N>
__global__ void cufft_butterflies(pass p, int sign, const void *in, void *out) {
    unsigned count = p.n / N;
    FOR_EACH(i, count * p.lines) {
        place at(p, i, count);
        unsigned k = at.item % p.done, first = (at.item - k) * N + k;
        complex<R> x[N];
#pragma unroll
        for (int t = 0; t < N; t++) x[t] = load<R>(p, in, at.line, at.item + t * count);
        if (p.done > 1) {
            unsigned step = k * (count / p.done);
#pragma unroll
            for (int t = 1; t < N; t++) x[t] = x[t] * factor<R>(p, step * t, sign);
        }
        butterfly<N, R>::apply(x, (R)sign);
#pragma unroll
        for (int t = 0; t < N; t++) store(p, out, at.line, first + t * p.done, x[t]);
    }
}

/* The same for a prime that has no code of its own: a thread computes one element. */
template <typename R>
__global__ void cufft_prime_factor(pass p, int sign, const void *in, void *out) {
    unsigned count = p.n / p.radix;
    FOR_EACH(i, p.n * p.lines) {
        place at(p, i, p.n);
        unsigned t = at.item / count, j = at.item % count, k = j % p.done;
        unsigned step = k * (count / p.done) + t * count, turn = 0;
        complex<R> sum = {0, 0};
        for (unsigned q = 0; q < p.radix; q++) {
            sum = sum + load<R>(p, in, at.line, j + q * count) * factor<R>(p, turn, sign);
            turn += step;
            if (turn >= p.n) turn -= p.n;
        }
        store(p, out, at.line, (j - k) * p.radix + k + t * p.done, sum);
    }
}

/* Multiplies elements by a table, and extends a line by zeros, or cuts it. */
template <typename R>
__global__ void cufft_product(pass p, int sign, const void *in, void *out) {
    FOR_EACH(i, p.write_count * p.lines) {
        place at(p, i, p.write_count);
        complex<R> x = {0, 0};
        if (at.item < p.read_count) {
            x = load<R>(p, in, at.line, at.item);
            if (p.table) x = x * factor<R>(p, at.item, sign);
        }
        store(p, out, at.line, at.item, x);
    }
}

/* ---- execution ---- */

enum { THREADS = 256, MAX_BLOCKS = 1 << 20 };

template <typename... Parameters, typename... Arguments>
static bool launch(cudaStream_t stream, unsigned items, void (*kernel)(Parameters...),
                   Arguments... arguments) {
    unsigned blocks = (items + THREADS - 1) / THREADS;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks < MAX_BLOCKS ? blocks : MAX_BLOCKS, config.blockDim = THREADS;
    config.stream = stream;
    return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...) == cudaSuccess;
}

template <typename R>
static bool run_pass(cudaStream_t stream, const pass &p, int sign, const void *in, void *out) {
    unsigned elements = p.n * p.lines;
    if (p.kind == PRODUCT)
        return launch(stream, p.write_count * p.lines, cufft_product<R>, p, sign, in, out);
    switch (p.radix) {
    case 2: return launch(stream, elements / 2, cufft_butterflies<R, 2>, p, sign, in, out);
    case 3: return launch(stream, elements / 3, cufft_butterflies<R, 3>, p, sign, in, out);
    case 4: return launch(stream, elements / 4, cufft_butterflies<R, 4>, p, sign, in, out);
    case 5: return launch(stream, elements / 5, cufft_butterflies<R, 5>, p, sign, in, out);
    case 7: return launch(stream, elements / 7, cufft_butterflies<R, 7>, p, sign, in, out);
    case 8: return launch(stream, elements / 8, cufft_butterflies<R, 8>, p, sign, in, out);
    default: return launch(stream, elements, cufft_prime_factor<R>, p, sign, in, out);
    }
}

cufftResult run_passes(const fft_plan *plan, const void *in, void *out, int direction) {
    size_t last = plan->passes.size() - 1, half = plan->work_bytes / (last > 1 ? 2 : 1);
    bool in_place = in == out && plan->is_basic;
    const void *source = in;
    for (size_t i = 0; i <= last; i++) {
        pass p = plan->passes[i];
        if (in_place && i == 0 && reads_reals(plan->type)) p.from = plan->real_in_place;
        if (in_place && i == last && writes_reals(plan->type)) p.to = plan->real_in_place;
        void *target = i == last ? out : (char *)plan->work + (i % 2 ? half : 0);
        int sign = p.sign == SIGN_OF_CALL ? direction : p.sign;
        bool ok = is_double(plan->type) ? run_pass<double>(plan->stream, p, sign, source, target)
                                        : run_pass<float>(plan->stream, p, sign, source, target);
        if (!ok) return CUFFT_EXEC_FAILED;
        source = target;
    }
    return CUFFT_SUCCESS;
}
