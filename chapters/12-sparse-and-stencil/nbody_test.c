/* nbody_test.c — forces between all pairs of bodies; graded on how many pairs one read of a body
 * serves. */
#include "common/exercise_limits.h"

static const double softening = 1.0 / 64; /* added to each squared distance: no division by 0 */

static size_t bodies(const struct ex_case *c) { return 4 * (size_t)c->dim[0]; }

/* Positions are between -1 and 1, masses between 0 and 1. */
static void fill_bodies(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    (void)c;
    for (size_t i = 0; i < n; i++)
        ((float *)data)[i] = (float)ex_uniform(r, i % 4 == 3 ? 0 : -1, 1);
}

enum { CHUNK = 512 };

/* Computes the effects of `n` bodies from j on body i: three forces and a potential of each. */
EX_VECTORIZED
static void compute_terms(const float *b, long i, long j, long n, double t[4][CHUNK]) {
    for (long k = 0; k < n; k++) {
        const float *other = b + 4 * (j + k);
        double d0 = (double)other[0] - b[4 * i], d1 = (double)other[1] - b[4 * i + 1],
               d2 = (double)other[2] - b[4 * i + 2],
               square = softening + d0 * d0 + d1 * d1 + d2 * d2, p = other[3] / sqrt(square);
        t[0][k] = p / square * d0, t[1][k] = p / square * d1, t[2][k] = p / square * d2;
        t[3][k] = p;
    }
}

/* Sums the effects of n bodies on body i, and their magnitudes. */
static void sum_terms(const float *b, long i, long n, double sum[4], double magnitude[4]) {
    static double t[4][CHUNK];
    for (int a = 0; a < 4; a++) sum[a] = magnitude[a] = 0;
    for (long j = 0; j < n; j += CHUNK) {
        long count = n - j < CHUNK ? n - j : CHUNK;
        compute_terms(b, i, j, count, t);
        for (long k = 0; k < count; k++)
            for (int a = 0; a < 4; a++) sum[a] += t[a][k], magnitude[a] += fabs(t[a][k]);
    }
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    double *out = expected[0], magnitude[4];
    for (long i = 0; i < c->dim[0]; i++) sum_terms(host[1], i, c->dim[0], out + 4 * i, magnitude);
}

/* A sum of n terms in any order errs by n u sum |t| (Higham, Accuracy and Stability, 4.2). A term
 * takes a few more rounded operations, and the third power of a reciprocal square root with an
 * error of two units in the last place (CUDA Programming Guide): 3 * 4 + 12 = 24 u. Differences of
 * positions have a relative error of u. The grader calls this for all four values of a body in a
 * row, so their sums are kept. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    static const void *of;
    static size_t body;
    static double magnitude[4];
    (void)arg, (void)expected;
    if (of != host[1] || body != index / 4 || index % 4 == 0) {
        double sum[4];
        of = host[1], body = index / 4;
        sum_terms(host[1], (long)body, c->dim[0], sum, magnitude);
    }
    return (c->dim[0] + 24.0) * EX_ROUNDOFF_F32 * magnitude[index % 4];
}

static double pairs_of(const struct ex_case *c) { return (double)c->dim[0] * c->dim[0]; }
static double bytes(const struct ex_case *c) { return 8.0 * bodies(c); }
/* Three differences, 6 for the sum of their squares and the softening, a root, three products, an
 * addition, three products and additions. */
static double flops(const struct ex_case *c) { return 20 * pairs_of(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F32, .count = bodies},
    {.name = "bodies", .role = EX_IN, .type = EX_F32, .count = bodies, .fill = fill_bodies},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
};

static const struct ex_case cases[] = {
    {{0}, .label = "no bodies"},
    {{1}, .label = "one body, which does not move itself"},
    {{2}, .label = "two bodies"},
    {{31}, .label = "one less than a warp"},
    {{33}, .label = "one more than a warp"},
    {{64}, .label = "a block of 64"},
    {{257}, .label = "one more than a block of 256"},
    {{513}, .label = "one more than 512"},
    {{1009}, .label = "a prime"},
    {{1500}, .label = "no power of two"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double pairs(void) { return pairs_of(&ex_current_exercise()->technique_case); }

/* If each thread has a body and reads all others word by word, 32 pairs take 4 requests. With a
 * tile in shared memory, it is 1/32 for a block of one warp, and less for larger blocks. From
 * shared memory, a body is read once as a vector for 32 pairs; 0.5 times if a thread has two
 * bodies. */
START_TEST(loaded_bodies_are_reused) {
    ex_require_at_most_per("device_read_requests", pairs() / 32, "32 pairs", 0.1,
                           "a block's threads need the same bodies: one of them can bring each");
    ex_require_at_most_per("shared_requests_total", pairs() / 32, "32 pairs", 1.25,
                           "a body is one vector");
    ex_require_at_most_per("const_requests", pairs() / 32, "32 pairs", 0.5,
                           "a body read as a constant still costs a request");
    ex_require_at_most_per("local_requests", pairs() / 32, "32 pairs", 0.1,
                           "local memory doesn't replace registers");
    ex_require_at_most_per("inst_executed", pairs() / 32, "32 pairs", 32,
                           "a pair is 14 operations, which leaves 18 for the loop around them");
    ex_require_at_most_per("shuffles", pairs() / 32, "32 pairs", 1, "a shuffle isn't free either");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(16); }
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(ex_metric_value("inst_executed") > 26 * pairs() / 32,
               "compute 1/r by one reciprocal square root, without a root and divisions",
               "12-sparse-and-stencil", "By hand: nbody");
    ex_suggest(true,
               "divide the other bodies between blocks, so that every scheduler has several warps",
               "12-sparse-and-stencil", "By hand: nbody");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, loaded_bodies_are_reused);
    tcase_add_test(guards, many_SMs_work);
}

/* Timed with 67 million pairs. */
EXERCISE(nbody, .chapter = "12-sparse-and-stencil", .title = "All pairs of bodies", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 1600}}}, .technique_case = {{2048}}, .timed_case = {{8192}},
         .reference = reference, .tolerance = tolerance, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 50, .speed = 50}, .tests = tests, .ideas = ideas,
         .baseline = "1-all-from-memory");
