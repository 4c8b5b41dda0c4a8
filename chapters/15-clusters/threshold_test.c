/* threshold_test.c — finds the threshold of a long row in rounds; graded on how often a row is read
 * and on launches. */
#include "common/exercise_matrix.h"

enum { PLAIN, LARGE, EQUAL, RISING, PEAK }; /* variants */
enum { MAX_ROW_LENGTH = 131072 };

static void fill(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    float *x = data;
    for (size_t i = 0; i < count; i++) {
        double column = (double)(i % (size_t)c->dim[EX_COLS]);
        x[i] = (float)(c->variant == EQUAL   ? 7
                       : c->variant == LARGE ? ex_uniform(r, -1000, 1000)
                                             : ex_uniform(r, -5, 5));
        if (c->variant == RISING) x[i] = (float)(column / 1024);
        if (c->variant == PEAK && column < 1) x[i] = 50;
    }
}

static size_t results(const struct ex_case *c) { return (size_t)c->dim[EX_ROWS]; }

/* Computes the task's rounds in double. Each is a step of Newton's method on a convex function,
 * from the left, so the threshold rises until it stays constant. */
static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    long cols = c->dim[EX_COLS];
    for (long r = 0; r < c->dim[EX_ROWS]; r++) {
        const float *in = (float *)host[1] + r * cols;
        double t = -INFINITY, next = t;
        do {
            double sum = 0, above = 0;
            t = next;
            for (long i = 0; i < cols; i++) {
                double take = in[i] > t;
                sum += take * in[i], above += take;
            }
            next = (sum - 1) / above;
        } while (next > t);
        ((double *)expected[0])[r] = t;
    }
}

/* At the end, t = (sum - 1) / n of n elements of magnitude at most M. A thread adds up to 1024 of
 * them (128 threads for a row), then a tree has less than 32 levels: the error of the sum is 1056 u
 * n M (Higham, Accuracy and Stability, 4.2), that of t 1056 u M, and 3 u more for the subtraction
 * and the division. An element that rounding moves to the other side of t is near t, where it adds
 * nothing. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    const float *row = (float *)host[1] + index * c->dim[EX_COLS];
    double max_value = 1;
    (void)arg, (void)expected;
    for (long i = 0; i < c->dim[EX_COLS]; i++) max_value = fmax(max_value, fabs(row[i]));
    return (1024 + 32 + 3) * EX_ROUNDOFF_F32 * max_value;
}

static double bytes(const struct ex_case *c) { return 4.0 * ex_matrix_count(c) + 4.0 * results(c); }
/* About twelve rounds, each with a comparison, an addition and a count. */
static double flops(const struct ex_case *c) { return 36.0 * ex_matrix_count(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F32, .count = results},
    {.name = "in",
     .role = EX_IN,
     .type = EX_F32,
     .count = ex_matrix_count,
     .fill = fill,
     .shape = EX_SHAPE_ROWS_COLS},
    EX_MATRIX_SIZE_ARGS,
};

static const struct ex_case cases[] = {
    {{0, 5}, .label = "no rows"},
    {{3, 1}, .label = "one element a row: 1 less than that"},
    {{3, 7}, .label = "fewer elements than a cluster has blocks"},
    {{5, 31}, .label = "one less than a warp"},
    {{6, 33}, .label = "one more than a warp"},
    {{7, 1009}, .label = "primes"},
    {{3, 300}, LARGE, "values up to 1000: one or two elements are above"},
    {{3, 300}, EQUAL, "all equal: all are above"},
    {{3, 5000}, PEAK, "the first element is above all others"},
    {{2, 9000}, RISING, "the last elements are above"},
    {{1, 58113}, .label = "one more than the shared memory of an H100's SM holds"},
    {{1, MAX_ROW_LENGTH}, .label = "the longest row"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

START_TEST(one_launch_for_all_rounds) {
    ex_require_at_most(
        "launches", 2,
        "a block, or blocks that can wait for each other, need not end to begin the next round");
}
END_TEST

/* About twelve rounds; 24 if their number is fixed beforehand. */
START_TEST(a_row_is_read_once) {
    ex_require_at_most_per("device_read_sectors", ex_element_count(1) / 8, "sector of the matrix",
                           1.0625,
                           "the blocks of a cluster together can keep a row for all rounds");
    ex_require_at_most_per("device_write_sectors", ex_element_count(1) / 8, "sector of the matrix",
                           0.0625, "a round writes a threshold, and no rows");
    ex_require_at_most("local_requests", 0,
                       "an array that is indexed by a variable lives in memory, not in registers");
    ex_require_at_most("spill_bytes", 16, "values that don't fit into registers spill");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(4); }
END_TEST

START_TEST(reads_are_coalesced) {
    ex_require_coalesced_loads(1.125, "neighbouring threads take neighbouring elements");
}
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(ex_metric_value("cluster_load_requests") > 0,
               "write each sum into the shared memory of all blocks, in two places in turn, so "
               "that a round takes one barrier",
               "15-clusters", "By hand: threshold");
    ex_suggest(
        true,
        "drop the elements below the threshold, which only rises, so that each round has fewer",
        "15-clusters", "By hand: threshold");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, one_launch_for_all_rounds);
    tcase_add_test(goals, a_row_is_read_once);
    tcase_add_test(guards, many_SMs_work);
    tcase_add_test(guards, reads_are_coalesced);
}

/* Timed with 64 MB, which is more than L2 holds. */
EXERCISE(threshold, .chapter = "15-clusters", .title = "Many rounds over a row", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 12}, {1, MAX_ROW_LENGTH}},
                  .max_product = 30000,
                  .variants = {"", "values up to 1000", "all equal", "rising", "a peak"}},
         .technique_case = {{4, MAX_ROW_LENGTH}}, .timed_case = {{128, MAX_ROW_LENGTH}},
         .reference = reference, .tolerance = tolerance, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 50, .speed = 50}, .tests = tests, .ideas = ideas,
         .baseline = "1-launches");
