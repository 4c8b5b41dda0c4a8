/* pitched_rows_test.c — repeated smoothing along the columns of a matrix whose rows are not a
 * multiple of a sector long; graded on sectors. */
#include "common/exercise_limits.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS, COLS, STEPS };

static size_t count(const struct ex_case *c) { return (size_t)c->dim[ROWS] * c->dim[COLS]; }

static void step(double *to, const double *from, long rows, long cols) {
    for (long r = 0; r < rows; r++)
        for (long col = 0; col < cols; col++) {
            double above = r > 0 ? from[(r - 1) * cols + col] : 0,
                   below = r + 1 < rows ? from[(r + 1) * cols + col] : 0;
            to[r * cols + col] = 0.5 * from[r * cols + col] + 0.25 * (above + below);
        }
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const float *in = host[1];
    double *now = expected[0], *before = calloc(count(c) + 1, sizeof *before);
    if (!before) abort();
    for (size_t i = 0; i < count(c); i++) now[i] = in[i];
    for (long s = 0; s < c->dim[STEPS]; s++) {
        memcpy(before, now, count(c) * sizeof *now);
        step(now, before, c->dim[ROWS], c->dim[COLS]);
    }
    free(before);
}

/* The weights add up to at most 1, so values stay below 1 and old errors don't grow: 3 roundings
 * a step. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)host, (void)arg, (void)index, (void)expected;
    return 3 * EX_ROUNDOFF_F32 * c->dim[STEPS];
}

/* In once and out once: only the chip's memory limits how many steps one kernel can do. */
static double bytes(const struct ex_case *c) { return 8.0 * count(c); }
static double flops(const struct ex_case *c) { return 4.0 * count(c) * c->dim[STEPS]; }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F32, .count = count, .shape = {ROWS + 1, COLS + 1}},
    {.name = "in", .role = EX_IN, .type = EX_F32, .count = count, .shape = {ROWS + 1, COLS + 1}},
    {.name = "rows", .role = EX_SCALAR, .type = EX_I32, .dim = ROWS},
    {.name = "cols", .role = EX_SCALAR, .type = EX_I32, .dim = COLS},
    {.name = "steps", .role = EX_SCALAR, .type = EX_I32, .dim = STEPS},
};

static const struct ex_case cases[] = {
    {{0, 5, 3}, .label = "no rows"},
    {{5, 0, 3}, .label = "no columns"},
    {{5, 7, 0}, .label = "no steps: a copy"},
    {{1, 1, 1}, .label = "one element"},
    {{1, 67, 2}, .label = "one row, two steps"},
    {{67, 1, 3}, .label = "one column, three steps"},
    {{8, 32, 1}, .label = "one step: straight from in to out"},
    {{9, 33, 2}, .label = "one past a block, two steps"},
    {{31, 31, 4}, .label = "one less than a warp"},
    {{37, 129, 5}, .label = "a prime, and one past a power of two"},
    {{64, 64, 3}, .label = "nothing to pad"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double element_steps(void) {
    const struct ex_case *c = &ex_current_exercise()->technique_case;
    return (double)count(c) * c->dim[STEPS];
}

/* With 1001 columns, seven of eight rows start inside a sector; a warp's 128 bytes then touch 5
 * sectors. A step stores 6125 sectors instead of 5040, 0.153 an element, and loads 18 092 instead
 * of 14 868, 0.452. With padded rows, only the first step's loads and the last step's stores are
 * like that: 0.376 loaded and 0.128 stored over 16 steps. The limits are on totals, not on sectors
 * per request, so as not to penalize the edges of versions with fewer requests (several steps in
 * one kernel). */
START_TEST(rows_are_aligned) {
    ex_require_at_most_per("device_read_sectors", element_steps(), "element and step", 0.4,
                           "32 floats that start on a boundary are 4 sectors, anywhere else 5");
    ex_require_at_most_per("device_write_sectors", element_steps(), "element and step", 0.145,
                           "32 floats that start on a boundary are 4 sectors, anywhere else 5");
}
END_TEST

START_TEST(no_redundant_accesses) {
    ex_require_at_most_per("device_read_accesses", element_steps(), "element and step", 3.2,
                           "a result needs three loads: the element and its two neighbours");
    ex_require_at_most_per("device_write_accesses", element_steps(), "element and step", 1.1,
                           "one result");
    ex_require_at_most(
        "copied_bytes", 0,
        "a copy moves the matrix once more; the first and the last step can convert the layout");
}
END_TEST

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, rows_are_aligned);
    tcase_add_test(guards, no_redundant_accesses);
}

EXERCISE(pitched_rows, .chapter = "02-coalescing", .title = "Rows that start on a boundary",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 200}, {1, 300}, {1, 6}}, .max_product = 40000},
         .technique_case = {{40, 1001, 16}}, .timed_case = {{4000, 1001, 8}},
         .reference = reference, .tolerance = tolerance, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 100, .speed = 0}, .tests = tests,
         .baseline = "1-compact");
