/* softmax_test.c — softmax of the rows of a matrix; graded on how often a row is read. */
#include "common/exercise_matrix.h"

enum { PLAIN, LARGE, EQUAL, RISING, FALLING, BELOW }; /* variants */

static void fill(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    float *x = data;
    for (size_t i = 0; i < count; i++) {
        double column = (double)(i % (size_t)c->dim[EX_COLS]);
        x[i] = (float)(c->variant == EQUAL   ? 7
                       : c->variant == LARGE ? ex_uniform(r, -1000, 1000)
                                             : ex_uniform(r, -5, 5));
        if (c->variant == BELOW) x[i] -= 250;
        if (c->variant == RISING) x[i] = (float)(column / 16);
        if (c->variant == FALLING) x[i] = (float)(-column / 16);
    }
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    long cols = c->dim[EX_COLS];
    for (long r = 0; r < c->dim[EX_ROWS]; r++) {
        const float *in = (float *)host[1] + r * cols;
        double *out = (double *)expected[0] + r * cols, max_value = -INFINITY, sum = 0;
        for (long i = 0; i < cols; i++) max_value = fmax(max_value, in[i]);
        for (long i = 0; i < cols; i++) sum += exp(in[i] - max_value);
        for (long i = 0; i < cols; i++) out[i] = exp(in[i] - max_value) / sum;
    }
}

/* Relative errors: at most 4u a term for the sum of positive terms in any order, with rescaling at
 * a new maximum (online); 2 units in the last place for expf; 90u for its argument, a difference of
 * up to 90 if the result is not negligible, three times. The absolute error allows for subnormal
 * numbers. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)host, (void)arg, (void)index;
    return expected * EX_ROUNDOFF_F32 * (4.0 * c->dim[EX_COLS] + 3 * 90 + 16) + 0x1p-125;
}

static double bytes(const struct ex_case *c) { return 8.0 * ex_matrix_count(c); }
static double flops(const struct ex_case *c) { return 4.0 * ex_matrix_count(c); }

static const struct ex_arg args[] = {
    {.name = "out",
     .role = EX_OUT,
     .type = EX_F32,
     .count = ex_matrix_count,
     .shape = EX_SHAPE_ROWS_COLS},
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
    {{5, 0}, .label = "empty rows"},
    {{3, 1}, .label = "one element a row: 1"},
    {{33, 31}, .label = "one less than a warp"},
    {{31, 33}, .label = "one more than a warp"},
    {{5, 257}, .label = "one more than a block"},
    {{7, 1009}, .label = "primes"},
    {{3, 300}, LARGE, "values up to 1000: their exponentials overflow"},
    {{3, 300}, BELOW, "values around -250: their exponentials are 0"},
    {{3, 300}, EQUAL, "all equal"},
    {{2, 1500}, RISING, "each element is a new maximum"},
    {{2, 1500}, FALLING, "the first element is the maximum"},
    {{1, 70001}, .label = "a row that fits no shared memory"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

/* A row of 1024 floats is 4 KB: it can stay in shared memory or in registers between finding the
 * maximum and sum and dividing. The limit is on sectors, since vectors load four elements at once.
 * Reading the row three times makes 3; online, with a second read, 2. */
START_TEST(a_row_is_read_once) {
    ex_require_on_chip_rows(1.0625, "a row that stays on the chip is read once",
                            "the result is written once");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(4); }
END_TEST

/* Maximum and sum take a warp two barriers a row. A tree in shared memory takes one for each
 * halving. */
static void ideas(void) {
    double rows = ex_current_exercise()->technique_case.dim[0];
    double warps_of_block = ex_metric_value("threads") / ex_metric_value("blocks") / 32;
    ex_suggest(ex_metric_value("barriers") > 4 * rows * warps_of_block,
               "reduce a warp's values with shuffles, so that a block waits once for the maximum "
               "and once for the sum",
               "05-atomics-reduction", "Shuffles and votes");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, a_row_is_read_once);
    tcase_add_test(guards, many_SMs_work);
}

EXERCISE(softmax, .chapter = "07-fusion", .title = "Three passes to one read", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 100}, {1, 80000}},
                  .max_product = 80000,
                  .variants = {"", "values up to 1000", "all equal", "rising", "falling",
                               "around -250"}},
         .technique_case = {{64, 1024}}, .timed_case = {{16384, 1024}}, .reference = reference,
         .tolerance = tolerance, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 60, .speed = 40}, .tests = tests, .ideas = ideas,
         .baseline = "1-three-kernels");
