/* sum_reduce_test.c — sums of the rows of a matrix in single precision; graded on the cost of the
 * reduction within a block. */
#include "common/exercise_limits.h"

enum { ROWS, COLS };

static size_t rows(const struct ex_case *c) { return (size_t)c->dim[ROWS]; }
static size_t count(const struct ex_case *c) { return (size_t)c->dim[ROWS] * c->dim[COLS]; }

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const float *in = host[1];
    double *sums = expected[0];
    for (long r = 0; r < c->dim[ROWS]; r++) {
        sums[r] = 0;
        for (long i = 0; i < c->dim[COLS]; i++) sums[r] += in[r * c->dim[COLS] + i];
    }
}

/* n values in any order: |error| <= (n - 1) u sum |x| to first order (Higham, Accuracy and
 * Stability, 4.2). A tree errs by log2(n) u sum |x| only, but the task does not fix the order. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)arg, (void)expected;
    const float *row = (float *)host[1] + index * c->dim[COLS];
    double magnitude = 0;
    for (long i = 0; i < c->dim[COLS]; i++) magnitude += fabs(row[i]);
    return c->dim[COLS] * EX_ROUNDOFF_F32 * magnitude;
}

static double bytes(const struct ex_case *c) { return 4.0 * (count(c) + rows(c)); }
static double flops(const struct ex_case *c) { return count(c); }

static const struct ex_arg args[] = {
    {.name = "sums", .role = EX_OUT, .type = EX_F32, .count = rows},
    {.name = "in", .role = EX_IN, .type = EX_F32, .count = count, .shape = {ROWS + 1, COLS + 1}},
    {.name = "rows", .role = EX_SCALAR, .type = EX_I32, .dim = ROWS},
    {.name = "cols", .role = EX_SCALAR, .type = EX_I32, .dim = COLS},
};

static const struct ex_case cases[] = {
    {{0, 7}, .label = "no rows: nothing to launch"},
    {{7, 0}, .label = "empty rows: their sums are 0"},
    {{1, 1}, .label = "one element"},
    {{3, 31}, .label = "one less than a warp"},
    {{33, 32}, .label = "a warp"},
    {{31, 33}, .label = "one more than a warp"},
    {{5, 255}, .label = "one less than a block"},
    {{5, 257}, .label = "one more than a block"},
    {{13, 1009}, .label = "primes"},
    {{2, 10000}, .label = "long rows"},
    {{1000, 3}, .label = "many short rows"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double technique_rows(void) { return rows(&ex_current_exercise()->technique_case); }

/* A reduction with shuffles takes 5 shuffles a warp, one barrier for 8 warps, and 8 words through
 * shared memory. A tree over 256 threads takes 9 barriers for 8 warps, 72 in all, and 2 loads a
 * warp in each round. With a warp for each row, there are no barriers and no shared memory. The
 * number of shuffles has no limit: it is smaller if lanes add up several elements first, or if half
 * a warp has a row. */
START_TEST(warps_reduce_by_shuffles) {
    ex_require_at_most_per("barriers", technique_rows(), "row", 16,
                           "the warps of a block need one barrier, when each has its sum");
    ex_require_at_most_per("shared_read_requests_total", technique_rows(), "row", 10,
                           "one word a warp goes through shared memory");
    ex_require_at_most_per("device_read_sectors", ex_element_count(1) / 8, "sector of the input",
                           1.25, "sums in global memory are read there once more");
}
END_TEST

START_TEST(few_atomics) {
    ex_require_at_most_per("atomic_operations", technique_rows(), "row", 1,
                           "a row's sum is complete when it is stored");
    ex_require_at_most_per("shared_atomic_operations", technique_rows(), "row", 8,
                           "one atomic a warp at most");
}
END_TEST

START_TEST(reads_are_coalesced) {
    ex_require_coalesced_loads(1.125, "neighbouring lanes add neighbouring elements of a row");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(4); }
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(true,
               "let a warp add up a row where rows are many or short, and a block where they are "
               "few and long",
               "05-atomics-reduction", "By hand: sum_reduce");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, warps_reduce_by_shuffles);
    tcase_add_test(guards, few_atomics);
    tcase_add_test(guards, reads_are_coalesced);
    tcase_add_test(guards, many_SMs_work);
}

/* Timed with short rows, in which the reduction is a large part of the work. With rows of 1024 or
 * more, memory limits all versions, even the tree (the ladder has the numbers). */
EXERCISE(sum_reduce, .chapter = "05-atomics-reduction", .title = "Lanes that add up without memory",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 1000}, {1, 10000}}, .max_product = 20000},
         .technique_case = {{128, 1024}}, .timed_case = {{1 << 18, 256}}, .reference = reference,
         .tolerance = tolerance, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 60, .speed = 40}, .tests = tests, .ideas = ideas,
         .baseline = "1-tree");
