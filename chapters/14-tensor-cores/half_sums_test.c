/* half_sums_test.c — sums of rows of halves; graded on loads of sixteen bytes and sums in float. */
#include "common/exercise_limits.h"

enum { ROWS, COLS };
enum { POSITIVE, MIXED }; /* variants: values in [0, 1), whose sums grow; in [-1, 1) */

static size_t rows(const struct ex_case *c) { return (size_t)c->dim[ROWS]; }
static size_t elements(const struct ex_case *c) {
    return (size_t)c->dim[ROWS] * (size_t)c->dim[COLS];
}

static void fill(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    double low = c->variant == MIXED ? -1 : 0;
    for (size_t i = 0; i < count; i++)
        ((ex_half *)data)[i] = ex_half_from_double(ex_uniform(r, low, 1));
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const ex_half *x = host[1];
    double *sums = expected[0];
    long cols = c->dim[COLS];
    for (long i = 0; i < c->dim[ROWS]; i++) {
        sums[i] = 0;
        for (long j = 0; j < cols; j++) sums[i] += ex_half_to_double(x[i * cols + j]);
    }
}

/* n values in any order: |error| <= (n - 1) u sum |x| to first order (Higham, Accuracy and
 * Stability, 4.2). As roundings go up as often as down, it is of the order of sqrt(n) u sum |x|
 * (Higham and Mary, SIAM J. Sci. Comput. 41(5), 2019); the tolerance is eight times that. Halves
 * convert to float exactly. A sum in halves has u = 2^-11: 8192 times as much. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)arg, (void)expected;
    const ex_half *x = host[1];
    size_t n = (size_t)c->dim[COLS];
    double size = 0;
    for (size_t j = 0; j < n; j++) size += fabs(ex_half_to_double(x[index * n + j]));
    return fmin((double)n, 8 * sqrt((double)n)) * EX_ROUNDOFF_F32 * size;
}

static double bytes(const struct ex_case *c) {
    return 2.0 * (double)elements(c) + 4.0 * (double)rows(c);
}
static double flops(const struct ex_case *c) { return (double)elements(c); }

static const struct ex_arg args[] = {
    {.name = "sums", .role = EX_OUT, .type = EX_F32, .count = rows},
    {.name = "x", .role = EX_IN, .type = EX_F16, .count = elements, .fill = fill, .shape = {1, 2}},
    {.name = "rows", .role = EX_SCALAR, .type = EX_I32, .dim = ROWS},
    {.name = "cols", .role = EX_SCALAR, .type = EX_I32, .dim = COLS},
};

static const struct ex_case cases[] = {
    {{0, 8}, .label = "no rows: nothing to launch"},
    {{5, 0}, .label = "rows without elements: all sums are 0"},
    {{1, 8}, .label = "one row of sixteen bytes"},
    {{33, 8}, MIXED, "one row past a warp's lanes"},
    {{7, 248}, .label = "eight less than a warp's sixteen bytes each"},
    {{8, 256}, .label = "sixteen bytes a lane"},
    {{9, 264}, MIXED, "eight more"},
    {{17, 1024}, .label = "a power of two"},
    {{257, 1544}, MIXED, "a prime number of rows, a prime number of eights"},
    {{3, 200000}, .label = "long rows: their sums are too large for a half"},
    {{2000, 40}, .label = "many short rows"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double warps(void) { return (double)elements(&ex_current_exercise()->technique_case) / 32; }

/* A request moves at most 512 bytes, 256 halves; if each lane loads a half, they take 8 requests,
 * with pairs 4. Lanes add up from registers. Data may go through shared memory, also sixteen bytes
 * wide (two accesses for 256 halves, 0.25 for 32), but not through local memory. Instructions don't
 * distinguish versions: in PTX, extracting a half from a word and converting it takes two, loading
 * and converting a single half takes two as well. */
START_TEST(loads_are_vectorized) {
    ex_require_at_most_per("device_read_requests", warps() / 8, "512 bytes", 1.1,
                           "a lane can load sixteen bytes at once");
    ex_require_at_most_per("device_read_sectors", warps() / 8, "512 bytes", 17,
                           "each sector is read once");
    ex_require_at_most_per("shared_requests_total", warps(), "32 halves", 0.3,
                           "shared memory is accessed sixteen bytes wide as well");
    ex_require_at_most_per("local_requests", warps(), "32 halves", 0.1,
                           "what lanes have loaded stays in registers");
}
END_TEST

START_TEST(reads_are_coalesced) {
    ex_require_coalesced_loads(1.125, "neighbouring lanes read neighbouring bytes");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(EX_MIN_BLOCKS); }
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(ex_metric_value("shared_requests_total") == 0,
               "let a block add up a row, so that neighbouring warps read neighbouring bytes",
               "05-atomics-reduction", "By hand: sum_reduce");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, loads_are_vectorized);
    tcase_add_test(guards, reads_are_coalesced);
    tcase_add_test(guards, many_SMs_work);
}

/* Timed with 134 MB in. */
EXERCISE(half_sums, .chapter = "14-tensor-cores", .title = "Sums of halves, in floats",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 2000}, {8, 8000, .step = 8}},
                  .max_product = 400000,
                  .variants = {"values in [0, 1)", "values in [-1, 1)"}},
         .technique_case = {{1056, 2048}}, .timed_case = {{16384, 4096}}, .reference = reference,
         .tolerance = tolerance, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 70, .speed = 30}, .tests = tests, .ideas = ideas,
         .baseline = "1-halves");
