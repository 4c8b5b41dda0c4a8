/* max_plus_test.c — a matrix product of maxima and sums, in halves; graded on instructions per
 * term: one instruction for two halves. */
#include "common/exercise_limits.h"

#include <math.h>
#include <stdlib.h>

enum { N, K, M };
/* Variants: values of either sign; logarithms of probabilities; with many that are -infinity. */
enum { MIXED, NEGATIVE, SPARSE, LARGE };

static size_t out_count(const struct ex_case *c) { return (size_t)(c->dim[N] * c->dim[M]); }
static size_t a_count(const struct ex_case *c) { return (size_t)(c->dim[N] * c->dim[K]); }
static size_t b_count(const struct ex_case *c) { return (size_t)(c->dim[K] * c->dim[M]); }
static double terms_of(const struct ex_case *c) { return (double)out_count(c) * c->dim[K]; }

static double input(const struct ex_case *c, struct ex_rng *r) {
    switch (c->variant) {
    case NEGATIVE: return ex_uniform(r, -100, -50);
    case SPARSE: return ex_uniform_int(r, 0, 3) ? -INFINITY : ex_uniform(r, -10, 0);
    case LARGE: return ex_uniform(r, -32000, -30000);
    default: return ex_uniform(r, -8, 8);
    }
}

static void fill(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    for (size_t i = 0; i < count; i++) ((ex_half *)data)[i] = ex_half_from_double(input(c, r));
}

EX_VECTORIZED static void take_maxima(double *best, const double *b, double a, long m) {
    for (long j = 0; j < m; j++) best[j] = best[j] < a + b[j] ? a + b[j] : best[j];
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const ex_half *a = host[1], *b = host[2];
    double *out = expected[0];
    long k = c->dim[K], m = c->dim[M];
    double *wide = malloc((b_count(c) + 1) * sizeof *wide);
    if (!wide) abort();
    for (size_t i = 0; i < b_count(c); i++) wide[i] = ex_half_to_double(b[i]);
    for (long i = 0; i < c->dim[N]; i++) {
        for (long j = 0; j < m; j++) out[i * m + j] = -INFINITY;
        for (long l = 0; l < k; l++)
            take_maxima(out + i * m, wide + l * m, ex_half_to_double(a[i * k + l]), m);
    }
    free(wide);
}

/* The sum of two halves is rounded once, to a half, and a maximum isn't rounded. Rounding keeps the
 * order, so the largest of the rounded sums is the rounded largest sum. A sum in float, rounded
 * twice, may be one unit of the float further off. Below the smallest normal half, sums are exact,
 * and so is -infinity. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)c, (void)host, (void)arg, (void)index;
    if (isinf(expected)) return 0;
    return fabs(expected) * (EX_ROUNDOFF_F16 + 2 * EX_ROUNDOFF_F32);
}

static double bytes(const struct ex_case *c) {
    return 2.0 * (double)(out_count(c) + a_count(c) + b_count(c));
}
static double flops(const struct ex_case *c) { return 2 * terms_of(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F16, .count = out_count, .shape = {N + 1, M + 1}},
    {.name = "a",
     .role = EX_IN,
     .type = EX_F16,
     .count = a_count,
     .fill = fill,
     .shape = {N + 1, K + 1}},
    {.name = "b",
     .role = EX_IN,
     .type = EX_F16,
     .count = b_count,
     .fill = fill,
     .shape = {K + 1, M + 1}},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = N},
    {.name = "k", .role = EX_SCALAR, .type = EX_I32, .dim = K},
    {.name = "m", .role = EX_SCALAR, .type = EX_I32, .dim = M},
};

static const struct ex_case cases[] = {
    {{0, 16, 32}, .label = "no rows: nothing to launch"},
    {{5, 16, 0}, .label = "no columns: nothing to launch"},
    {{3, 0, 16}, .label = "k = 0: all results are -infinity"},
    {{1, 8, 8}, .label = "one row"},
    {{33, 8, 136}, NEGATIVE, "all sums negative"},
    {{64, 64, 128}, .label = "powers of two"},
    {{65, 72, 136}, SPARSE, "three of four inputs are -infinity"},
    {{63, 56, 120}, LARGE, "sums near the lowest half"},
    {{17, 1032, 24}, .label = "many terms"},
    {{200, 24, 8}, NEGATIVE, "tall"},
    {{2, 40, 1000}, SPARSE, "wide"},
    {{131, 104, 248}, .label = "no multiple of 16"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double terms(void) { return terms_of(&ex_current_exercise()->technique_case); }

/* One term at a time takes an addition and a maximum, 2 instructions, and loads: 3.5 with 4 x 4
 * results a thread. Two terms at a time take half of that. */
START_TEST(an_instruction_serves_two_terms) {
    ex_require_at_most_per("inst_executed", terms() / 32, "32 terms", 2,
                           "an instruction adds two halves, and another one compares two");
}
END_TEST

/* 4 x 4 results a thread take 8 loads of shared memory for 16 terms. */
START_TEST(values_are_reused) {
    ex_require_at_most_per("shared_read_requests_total", terms() / 32, "32 terms", 0.6,
                           "a number in a register serves several rows or columns");
    ex_require_at_most_per("device_read_sectors", terms(), "term", 1.0 / 400,
                           "a block of 64 rows and 64 columns shares what it reads");
    ex_require_at_most_per("local_requests", terms() / 32, "32 terms", 0.1,
                           "the largest sums so far stay in registers");
}
END_TEST

START_TEST(writes_are_coalesced) {
    ex_require_at_most("write_amplification", 1.125,
                       "neighbouring lanes write neighbouring columns");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(EX_MIN_BLOCKS); }
END_TEST

/* Ideas that separate the ladder's third step from the model solution. */
static void ideas(void) {
    ex_suggest(ex_metric_value("shared_read_requests_total") > 0.1 * terms() / 32,
               "load sixteen bytes at a time from shared memory, for 8 rows and 8 columns a thread",
               "14-tensor-cores", "By hand: max_plus");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, an_instruction_serves_two_terms);
    tcase_add_test(guards, values_are_reused);
    tcase_add_test(guards, writes_are_coalesced);
    tcase_add_test(guards, many_SMs_work);
}

/* Timed with 2147 million terms. */
EXERCISE(max_plus, .chapter = "14-tensor-cores", .title = "Two halves for one instruction",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 150}, {8, 400, .step = 8}, {8, 400, .step = 8}},
                  .max_product = 2000000,
                  .variants = {"values of either sign", "all sums negative",
                               "three of four inputs are -infinity", "sums near the lowest half"}},
         .technique_case = {{768, 64, 1536}}, .timed_case = {{2048, 256, 4096}},
         .reference = reference, .tolerance = tolerance, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 60, .speed = 40}, .tests = tests, .ideas = ideas,
         .baseline = "1-floats");
