/* plan.cu — makes the passes of a transform (plan.cuh), and their tables. */
#include "grader/cufft/plan.cuh"
#include <cmath>
#include <complex>

using wide = std::complex<double>;
static const double pi = 3.14159265358979323846;

/* What make_passes needs besides the plan. */
struct maker {
    fft_plan *plan;
    bool measures; /* no tables are made */
    size_t buffer_bytes; /* of the larger of the two halves of the work area */
    bool failed;
};

/* ---- tables ---- */

template <typename R>
static void *copy_table(maker *m, const std::vector<wide> &values) {
    std::vector<complex<R>> rounded(values.size());
    for (size_t i = 0; i < values.size(); i++)
        rounded[i] = {(R)values[i].real(), (R)values[i].imag()};
    size_t bytes = rounded.size() * sizeof rounded[0];
    void *p = nullptr;
    if (cudaMalloc(&p, bytes) != cudaSuccess ||
        cudaMemcpy(p, rounded.data(), bytes, cudaMemcpyHostToDevice) != cudaSuccess)
        m->failed = true;
    if (p) m->plan->tables.push_back(p);
    return p;
}

static void *make_table(maker *m, const std::vector<wide> &values) {
    if (m->measures) return nullptr;
    return is_double(m->plan->type) ? copy_table<double>(m, values) : copy_table<float>(m, values);
}

/* Returns exp(-2πi k / n) for all k below `count`. */
static std::vector<wide> roots(long long n, long long count) {
    std::vector<wide> w(count);
    for (long long k = 0; k < count; k++) w[k] = std::polar(1.0, -2 * pi * (double)k / (double)n);
    return w;
}

static void *make_roots(maker *m, long long n) {
    return m->measures ? nullptr : make_table(m, roots(n, n));
}

/* Transforms a power of two, in place. */
static void transform(std::vector<wide> &x) {
    size_t n = x.size();
    if (n == 1) return;
    std::vector<wide> even(n / 2), odd(n / 2), w = roots((long long)n, (long long)n / 2);
    for (size_t i = 0; i < n / 2; i++) even[i] = x[2 * i], odd[i] = x[2 * i + 1];
    transform(even), transform(odd);
    for (size_t k = 0; k < n / 2; k++) {
        wide t = w[k] * odd[k];
        x[k] = even[k] + t, x[k + n / 2] = even[k] - t;
    }
}

/* Returns exp(-πi k² / n); k² modulo 2n keeps the argument exact. */
static std::vector<wide> chirp(long long n) {
    std::vector<wide> w(n);
    for (long long k = 0; k < n; k++)
        w[k] = std::polar(1.0, -pi * (double)((unsigned long long)k * k % (2 * n)) / (double)n);
    return w;
}

/* Returns the transform of the chirp's conjugate, wrapped around m, with the factor 1 / m of the
 * inverse transform. */
static std::vector<wide> chirp_spectrum(const std::vector<wide> &w, size_t m) {
    std::vector<wide> x(m);
    for (size_t k = 0; k < w.size(); k++) x[k] = x[(m - k) % m] = std::conj(w[k]) / (double)m;
    transform(x);
    return x;
}

/* ---- passes of lines ---- */

/* A transform of lines: where the elements come from, where they go, and the layout in between. */
struct line_job {
    long long n, lines;
    layout from, to;
    element_kind load, store;
    bool is_contiguous; /* the elements of a line are neighbours, not those of different lines */
    pass_sign sign;
};

static layout work_layout(const line_job *j, long long n) {
    layout l = {1, (unsigned)j->lines, 1, n, 0, 0};
    if (!j->is_contiguous) l.stride = j->lines, l.inner_stride = 1;
    return l;
}

/* Appends a pass that reads what the last one of the job wrote. */
static pass *add_pass(maker *m, const line_job *j, pass_kind kind, long long n) {
    pass p = {};
    p.kind = kind, p.sign = j->sign;
    p.n = (unsigned)n, p.lines = (unsigned)j->lines, p.lines_first = !j->is_contiguous;
    p.load = p.store = COMPLEX;
    p.read_count = p.write_count = p.n, p.done = 1;
    p.from = p.to = work_layout(j, n);
    size_t element = is_double(m->plan->type) ? 2 * sizeof(double) : 2 * sizeof(float);
    size_t bytes = (size_t)n * j->lines * element;
    if (bytes > m->buffer_bytes) m->buffer_bytes = bytes;
    m->plan->passes.push_back(p);
    return &m->plan->passes.back();
}

/* Divides n by the factors that have a kernel, and the rest by its primes. Returns the largest. */
static long long factorize(long long n, std::vector<unsigned> *factors) {
    static const unsigned preferred[] = {8, 4, 2, 3, 5, 7};
    factors->clear();
    for (unsigned r : preferred)
        for (; n % r == 0; n /= r) factors->push_back(r);
    for (long long r = 11; n > 1; r += 2) {
        if (r * r > n) r = n;
        for (; n % r == 0; n /= r) factors->push_back((unsigned)r);
    }
    return factors->empty() ? 1 : factors->back();
}

static void add_butterflies(maker *m, const line_job *j, long long n, const void *table) {
    std::vector<unsigned> factors;
    unsigned done = 1;
    factorize(n, &factors);
    for (unsigned r : factors) {
        pass *p = add_pass(m, j, BUTTERFLIES, n);
        p->radix = r, p->done = done, p->table = table;
        done *= r;
    }
}

/* A kernel reads a whole line before it writes it only if one thread has the line. */
static bool needs_copy(const std::vector<unsigned> &factors, const line_job *j) {
    bool is_real = j->load != COMPLEX || j->store != COMPLEX;
    return factors.empty() || (factors.size() == 1 && (factors[0] > 8 || is_real));
}

static void add_direct(maker *m, const line_job *j) {
    std::vector<unsigned> factors;
    factorize(j->n, &factors);
    if (needs_copy(factors, j)) add_pass(m, j, PRODUCT, j->n);
    if (!factors.empty()) add_butterflies(m, j, j->n, make_roots(m, j->n));
}

static void add_bluestein(maker *m, const line_job *j) {
    long long longer = 1;
    while (longer < 2 * j->n - 1) longer *= 2;
    std::vector<wide> w, spectrum;
    if (!m->measures) w = chirp(j->n), spectrum = chirp_spectrum(w, longer);
    const void *chirp_table = make_table(m, w), *spectrum_table = make_table(m, spectrum);
    const void *root_table = make_roots(m, longer);
    line_job forward = *j, inverse = *j;
    forward.sign = SIGN_FORWARD, inverse.sign = SIGN_INVERSE;

    pass *p = add_pass(m, j, PRODUCT, j->n);
    p->to = work_layout(j, longer), p->write_count = (unsigned)longer, p->table = chirp_table;
    add_butterflies(m, &forward, longer, root_table);
    add_pass(m, j, PRODUCT, longer)->table = spectrum_table;
    add_butterflies(m, &inverse, longer, root_table);
    p = add_pass(m, j, PRODUCT, j->n);
    p->from = work_layout(j, longer), p->table = chirp_table;
}

static void add_lines(maker *m, const line_job *j) {
    std::vector<unsigned> factors;
    size_t first = m->plan->passes.size();
    if (factorize(j->n, &factors) > MAX_DIRECT_PRIME) add_bluestein(m, j);
    else add_direct(m, j);
    std::vector<pass> &passes = m->plan->passes;
    passes[first].from = j->from, passes[first].load = j->load;
    passes.back().to = j->to, passes.back().store = j->store;
}

/* ---- dimensions ---- */

/* The layout of lines along dimension `along` of an array of `rank` dimensions whose allocated
 * sizes are `embed`. */
static layout lines_along(int along, int rank, const long long *count, const long long *embed,
                          long long stride, long long dist) {
    long long strides[MAX_RANK], others[2] = {0, 0}, counts[2] = {1, 1};
    strides[rank - 1] = stride;
    for (int d = rank - 1; d > 0; d--) strides[d - 1] = strides[d] * embed[d];
    for (int d = rank - 1, i = 0; d >= 0; d--)
        if (d != along) others[i] = strides[d], counts[i] = count[d], i++;
    return {strides[along], (unsigned)counts[0], (unsigned)counts[1], others[0], others[1], dist};
}

static long long product(const long long *n, int rank) {
    long long p = 1;
    for (int d = 0; d < rank; d++) p *= n[d];
    return p;
}

/* Adds the transforms of all dimensions, the contiguous one first; last, if it becomes real. */
static void add_dimensions(maker *m, const fft_request *r) {
    long long half[MAX_RANK] = {r->n[0], r->n[1], r->n[2]};
    bool from_reals = reads_reals(r->type), to_reals = writes_reals(r->type);
    int rank = r->rank;
    if (from_reals || to_reals) half[rank - 1] = half[rank - 1] / 2 + 1;
    for (int i = 0; i < rank; i++) {
        int along = to_reals ? i : rank - 1 - i;
        bool is_first = i == 0, is_last = i == rank - 1, is_contiguous = along == rank - 1;
        const long long *count = is_contiguous ? r->n : half;
        layout between = lines_along(along, rank, half, half, 1, product(half, rank));
        line_job j = {r->n[along], r->batch * product(half, rank) / half[along], between, between,
                      COMPLEX, COMPLEX, is_contiguous, SIGN_OF_CALL};
        if (is_first)
            j.from = lines_along(along, rank, count, r->in_embed, r->in_stride, r->in_dist);
        if (is_last)
            j.to = lines_along(along, rank, count, r->out_embed, r->out_stride, r->out_dist);
        if (from_reals && is_contiguous) j.load = REAL, j.store = HALF;
        if (to_reals && is_contiguous) j.load = HALF, j.store = REAL;
        add_lines(m, &j);
    }
}

static bool is_too_large(const fft_plan *plan) {
    for (const pass &p : plan->passes)
        if ((unsigned long long)p.n * p.lines >= 1ull << 31) return true;
    return false;
}

cufftResult make_passes(fft_plan *plan, const fft_request *r, bool measures) {
    maker m = {plan, measures, 0, false};
    plan->type = r->type, plan->is_basic = r->is_basic;
    add_dimensions(&m, r);
    if (is_too_large(plan)) return CUFFT_INVALID_SIZE;
    long long padded[MAX_RANK] = {r->n[0], r->n[1], r->n[2]};
    padded[r->rank - 1] = 2 * (padded[r->rank - 1] / 2 + 1);
    plan->real_in_place =
        lines_along(r->rank - 1, r->rank, r->n, padded, 1, product(padded, r->rank));
    size_t buffers = plan->passes.size() - 1;
    plan->work_bytes = m.buffer_bytes * (buffers > 2 ? 2 : buffers);
    return m.failed ? CUFFT_ALLOC_FAILED : CUFFT_SUCCESS;
}
