/* layer_norm_test.c — layer normalisation of x + residual; graded on how often memory is read. */
#include "common/exercise_matrix.h"

enum { OUT, X, RESIDUAL, GAMMA, BETA };
enum { PLAIN, OFFSET, CONSTANT }; /* variants */

static const double epsilon = 1e-5f;

/* OFFSET: a mean of 1000 and a deviation below 1. A formula that subtracts large squares fails. */
static void fill_x(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    for (size_t i = 0; i < count; i++) {
        double v = c->variant == CONSTANT ? 0.75 : ex_uniform(r, -1, 1);
        ((float *)data)[i] = (float)(c->variant == OFFSET ? 1000 + v : v);
    }
}

static void fill_residual(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    for (size_t i = 0; i < count; i++)
        ((float *)data)[i] = (float)(c->variant == CONSTANT ? 0.5 : ex_uniform(r, -1, 1));
}

struct row {
    double mean, deviation,
        magnitude; /* deviation: sqrt(variance + epsilon); magnitude: mean of |h| */
};

static struct row measure(const struct ex_case *c, void *const host[], long r) {
    long cols = c->dim[EX_COLS];
    const float *x = (float *)host[X] + r * cols, *residual = (float *)host[RESIDUAL] + r * cols;
    struct row row = {0};
    double squares = 0;
    for (long i = 0; i < cols; i++)
        row.mean += (double)x[i] + residual[i], row.magnitude += fabs((double)x[i] + residual[i]);
    row.mean /= cols, row.magnitude /= cols;
    for (long i = 0; i < cols; i++) squares += pow((double)x[i] + residual[i] - row.mean, 2);
    row.deviation = sqrt(squares / cols + epsilon);
    return row;
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const float *x = host[X], *residual = host[RESIDUAL], *gamma = host[GAMMA], *beta = host[BETA];
    double *out = expected[OUT];
    long cols = c->dim[EX_COLS];
    for (long r = 0; r < c->dim[EX_ROWS]; r++) {
        struct row row = measure(c, host, r);
        for (long i = 0; i < cols; i++) {
            double h = (double)x[r * cols + i] + residual[r * cols + i];
            out[r * cols + i] = (h - row.mean) / row.deviation * gamma[i] + beta[i];
        }
    }
}

/* Returns measure()'s figures of a row. Those of the last one asked for are kept, with what tells
 * it from the same row of another case. Exact elements are never asked for, so it can be any. */
static struct row row_of(const struct ex_case *c, void *const host[], long r) {
    static struct {
        long r, cols;
        float x, residual;
        struct row row;
    } last = {.r = -1};
    long cols = c->dim[EX_COLS];
    float x = ((float *)host[X])[r * cols], residual = ((float *)host[RESIDUAL])[r * cols];
    if (last.r != r || last.cols != cols || last.x < x || last.x > x || last.residual < residual ||
        last.residual > residual) {
        last.row = measure(c, host, r);
        last.r = r, last.cols = cols, last.x = x, last.residual = residual;
    }
    return last.row;
}

/* Every parallel version computes the sums in 32 parts or more: (cols / 32 + 10) u relative to the
 * mean of |h|; h itself is rounded (u |h|). Both errors are divided by the deviation. The
 * deviation's own error, and those of the last four operations, are relative: again (cols / 32 +
 * 10) u. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    struct row row = row_of(c, host, (long)index / c->dim[EX_COLS]);
    size_t cols = ex_matrix_cols(c);
    (void)arg;
    double gamma = fabs(((float *)host[GAMMA])[index % cols]),
           beta = fabs(((float *)host[BETA])[index % cols]);
    double sum = ((double)cols / 32 + 10) * EX_ROUNDOFF_F32,
           absolute = (sum + 2 * EX_ROUNDOFF_F32) * row.magnitude / row.deviation;
    return gamma * absolute + 2 * sum * (fabs(expected) + beta) + 8 * EX_ROUNDOFF_F32;
}

static double bytes(const struct ex_case *c) {
    return 12.0 * ex_matrix_count(c) + 8.0 * ex_matrix_cols(c);
}
static double flops(const struct ex_case *c) { return 8.0 * ex_matrix_count(c); }

static const struct ex_arg args[] = {
    {.name = "out",
     .role = EX_OUT,
     .type = EX_F32,
     .count = ex_matrix_count,
     .shape = EX_SHAPE_ROWS_COLS},
    {.name = "x",
     .role = EX_IN,
     .type = EX_F32,
     .count = ex_matrix_count,
     .fill = fill_x,
     .shape = EX_SHAPE_ROWS_COLS},
    {.name = "residual",
     .role = EX_IN,
     .type = EX_F32,
     .count = ex_matrix_count,
     .fill = fill_residual,
     .shape = EX_SHAPE_ROWS_COLS},
    {.name = "gamma", .role = EX_IN, .type = EX_F32, .count = ex_matrix_cols},
    {.name = "beta", .role = EX_IN, .type = EX_F32, .count = ex_matrix_cols},
    EX_MATRIX_SIZE_ARGS,
};

static const struct ex_case cases[] = {
    {{0, 5}, .label = "no rows"},
    {{5, 0}, .label = "empty rows"},
    {{3, 1}, .label = "one element a row: its mean is itself"},
    {{33, 31}, .label = "one less than a warp"},
    {{31, 33}, .label = "one more than a warp"},
    {{5, 257}, .label = "one more than a block"},
    {{7, 1009}, .label = "primes"},
    {{3, 600}, OFFSET, "a mean of 1000, a deviation below 1"},
    {{3, 100}, CONSTANT, "no deviation at all"},
    {{1, 30011}, .label = "a row that fits no shared memory"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

/* x and residual are read once, gamma and beta once for each row, from a cache: 4 sectors for 8
 * elements. Four kernels read 7 and store 2. */
START_TEST(inputs_are_read_once) {
    ex_require_on_chip_rows(4.25, "x, residual, gamma and beta, and nothing a second time",
                            "only the result is stored");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(4); }
END_TEST

/* Two sums take a warp two barriers a row. A tree in shared memory takes one for each halving. */
static void ideas(void) {
    double rows = ex_current_exercise()->technique_case.dim[0];
    double warps_of_block = ex_metric_value("threads") / ex_metric_value("blocks") / 32;
    ex_suggest(ex_metric_value("barriers") > 4 * rows * warps_of_block,
               "add up a warp's values with shuffles, so that a block waits once for each sum",
               "05-atomics-reduction", "Shuffles and votes");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, inputs_are_read_once);
    tcase_add_test(guards, many_SMs_work);
}

EXERCISE(layer_norm, .chapter = "07-fusion", .title = "Normalize on the way", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 100}, {1, 40000}},
                  .max_product = 40000,
                  .variants = {"", "a mean of 1000", "no deviation"}},
         .technique_case = {{64, 1024}}, .timed_case = {{16384, 1024}}, .reference = reference,
         .tolerance = tolerance, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 60, .speed = 40}, .tests = tests, .ideas = ideas,
         .baseline = "1-four-kernels");
