/* fast_math_test.c — additive attention, a hyperbolic tangent for each term; graded on double
 * precision and on the instructions for each term. */
#include "common/exercise_limits.h"

#include <math.h>

enum { N, M, D };
/* Variants: where the inputs lie. */
enum { MODERATE, WIDE, OPPOSITE, LARGEST, SMALL };

static size_t scores(const struct ex_case *c) { return (size_t)(c->dim[N] * c->dim[M]); }
static size_t queries(const struct ex_case *c) { return (size_t)(c->dim[N] * c->dim[D]); }
static size_t keys(const struct ex_case *c) { return (size_t)(c->dim[M] * c->dim[D]); }
static size_t features(const struct ex_case *c) { return (size_t)c->dim[D]; }
static double terms_of(const struct ex_case *c) { return (double)scores(c) * c->dim[D]; }

/* `sign` is 1 for queries and -1 for keys: with OPPOSITE, large inputs have small sums. */
static double input(const struct ex_case *c, struct ex_rng *r, int sign) {
    switch (c->variant) {
    case WIDE: return ex_uniform(r, -10, 10);
    case OPPOSITE: return sign * ex_uniform(r, 9, 10);
    case LARGEST: return ex_uniform_int(r, 0, 1) ? 10 : -10;
    case SMALL: return ex_uniform(r, -0.002, 0.002);
    default: return ex_uniform(r, -2, 2);
    }
}

static void fill_queries(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    for (size_t i = 0; i < n; i++) ((float *)data)[i] = (float)input(c, r, 1);
}

static void fill_keys(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    for (size_t i = 0; i < n; i++) ((float *)data)[i] = (float)input(c, r, -1);
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const float *query = host[1], *key = host[2], *v = host[3];
    double *score = expected[0];
    long m = c->dim[M], d = c->dim[D];
    for (long i = 0; i < c->dim[N]; i++)
        for (long j = 0; j < m; j++) {
            double sum = 0;
            for (long k = 0; k < d; k++)
                sum += v[k] * tanh((double)query[i * d + k] + key[k * m + j]);
            score[i * m + j] = sum;
        }
}

/* Derived for the most compact formula, v - 2 v / (1 + E) with E = exp(2 a) exp(2 b) and |a|, |b|
 * at most 10. The exponentials of the CUDA guide's __expf have 2 + 1.173 * 20 units in the last
 * place each, so E has a relative error of 51 * 2^-23. It takes part in a term by its derivative,
 * 2 v E / (1 + E)^2, at most v / 2: 51 * 2^-24 * v. The sum 1 + E, the reciprocal and three
 * products take 12 more. In the sums, each of d terms is rounded d times at most, for v by 2^-24 of
 * the sum of all |v|, for 2 v / (1 + E) by twice that. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)arg, (void)index, (void)expected;
    const float *v = host[3];
    double magnitude = 0;
    for (long k = 0; k < c->dim[D]; k++) magnitude += fabs(v[k]);
    return (3.0 * c->dim[D] + 64) * EX_ROUNDOFF_F32 * magnitude;
}

static double bytes(const struct ex_case *c) {
    return 4.0 * (scores(c) + queries(c) + keys(c) + features(c));
}
/* An addition, a function, a product and its addition. */
static double flops(const struct ex_case *c) { return 4 * terms_of(c); }

static const struct ex_arg args[] = {
    {.name = "score", .role = EX_OUT, .type = EX_F32, .count = scores, .shape = {N + 1, M + 1}},
    {.name = "query",
     .role = EX_IN,
     .type = EX_F32,
     .count = queries,
     .fill = fill_queries,
     .shape = {N + 1, D + 1}},
    {.name = "key",
     .role = EX_IN,
     .type = EX_F32,
     .count = keys,
     .fill = fill_keys,
     .shape = {D + 1, M + 1}},
    {.name = "v", .role = EX_IN, .type = EX_F32, .count = features},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = N},
    {.name = "m", .role = EX_SCALAR, .type = EX_I32, .dim = M},
    {.name = "d", .role = EX_SCALAR, .type = EX_I32, .dim = D},
};

static const struct ex_case cases[] = {
    {{0, 40, 8}, .label = "no queries"},
    {{7, 0, 8}, .label = "no keys"},
    {{9, 130, 0}, .label = "no features: all scores are 0"},
    {{33, 31, 1}, .label = "one feature"},
    {{33, 127, 1}, WIDE, "one feature, wide"},
    {{8, 129, 2}, LARGEST, "two features, all inputs 10 or -10"},
    {{5, 1, 3}, OPPOSITE, "one key"},
    {{1, 257, 33}, LARGEST, "one query, features past a tile"},
    {{31, 128, 32}, SMALL, "small inputs"},
    {{17, 300, 64}, WIDE, "wide inputs"},
    {{16, 384, 31}, OPPOSITE, "large inputs with small sums"},
    {{65, 97, 100}, .label = "many features"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double terms(void) { return terms_of(&ex_current_exercise()->technique_case); }

/* With double constants, a term is an exponential in double precision of 11 multiply-adds or more,
 * a division and two sums. */
START_TEST(single_precision) {
    ex_require_at_most_per("flops_f64", terms(), "term", 0,
                           "the error that the task allows needs no double precision, and one "
                           "constant without an f makes its whole expression double");
}
END_TEST

/* Without double precision, the library's tanhf takes 19 instructions. A fast exponential and a
 * fast quotient take 8 with the addition and the product by v, and the loads and loops around them
 * 4. */
START_TEST(few_instructions_per_term) {
    ex_require_at_most_per("inst_executed", terms() / 32, "32 terms", 13,
                           "the error that the task allows is far above that of a fast "
                           "exponential and a fast quotient");
}
END_TEST

START_TEST(keys_serve_eight_queries) {
    ex_require_at_most_per("device_read_requests", terms() / 32, "32 terms", 0.2,
                           "a key in a register serves several queries");
    ex_require_at_most_per("local_requests", terms() / 32, "32 terms", 0.1,
                           "eight sums fit into registers");
}
END_TEST

START_TEST(writes_are_coalesced) {
    ex_require_coalesced_stores(1.125, "neighbouring lanes write neighbouring scores");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(EX_MIN_BLOCKS); }
END_TEST

/* Ideas that separate the ladder's third step from the model solution. */
static void ideas(void) {
    ex_suggest(ex_metric_value("inst_executed") > 9 * terms() / 32,
               "compute an exponential for each input instead of one for each pair",
               "12-sparse-and-stencil", "By hand: fast_math");
    ex_suggest(true, "let two quotients share one reciprocal", "12-sparse-and-stencil",
               "By hand: fast_math");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, single_precision);
    tcase_add_test(goals, few_instructions_per_term);
    tcase_add_test(guards, keys_serve_eight_queries);
    tcase_add_test(guards, writes_are_coalesced);
    tcase_add_test(guards, many_SMs_work);
}

/* Timed with 134 million terms. */
EXERCISE(fast_math, .chapter = "12-sparse-and-stencil", .title = "What a function costs",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 80}, {1, 500}, {1, 120}},
                  .max_product = 400000,
                  .variants = {"moderate inputs", "wide inputs", "large inputs with small sums",
                               "all inputs 10 or -10", "small inputs"}},
         .technique_case = {{128, 2304, 32}}, .timed_case = {{512, 4096, 64}},
         .reference = reference, .tolerance = tolerance, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 50, .speed = 50}, .tests = tests, .ideas = ideas,
         .baseline = "1-double-by-mistake");
