/* long_rows_test.c — softmax of rows that are too long for one block's on-chip memory; graded on
 * how often a row is read. */
#include "common/exercise_matrix.h"

enum { PLAIN, LARGE, EQUAL, RISING, FALLING, BELOW }; /* variants */
enum { MAX_ROW_LENGTH = 131072 };

static void fill(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    float *x = data;
    for (size_t i = 0; i < count; i++) {
        double column = (double)(i % (size_t)c->dim[EX_COLS]);
        x[i] = (float)(c->variant == EQUAL   ? 7
                       : c->variant == LARGE ? ex_uniform(r, -1000, 1000)
                                             : ex_uniform(r, -5, 5));
        if (c->variant == BELOW) x[i] -= 250;
        if (c->variant == RISING) x[i] = (float)(column / 1024);
        if (c->variant == FALLING) x[i] = (float)(-column / 1024);
    }
}

/* Stores each exponential where it is divided later, so that each is computed once. */
static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    long cols = c->dim[EX_COLS];
    for (long r = 0; r < c->dim[EX_ROWS]; r++) {
        const float *in = (float *)host[1] + r * cols;
        double *out = (double *)expected[0] + r * cols, max_value = -INFINITY, sum = 0;
        for (long i = 0; i < cols; i++) max_value = fmax(max_value, in[i]);
        for (long i = 0; i < cols; i++) sum += out[i] = exp(in[i] - max_value);
        for (long i = 0; i < cols; i++) out[i] /= sum;
    }
}

/* Relative errors. A sum of n positive terms: at most n u if they are added one after another
 * (Higham, Accuracy and Stability, 4.2), and 3 u more when a new maximum rescales it. No version
 * lets one thread add 131 072 terms: with 128 threads for a row, each adds 1024, then a tree has
 * less than 32 levels, so that n is at most their sum. expf: 2 units in the last place. Its
 * argument, a difference of up to 90 if the result is not negligible: 90 u, three times. The
 * absolute error allows for subnormal numbers. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)host, (void)arg, (void)index;
    double terms = fmin((double)c->dim[EX_COLS], 1024 + 32);
    return expected * EX_ROUNDOFF_F32 * (4.0 * terms + 3 * 90 + 16) + 0x1p-125;
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
    {{3, 7}, .label = "fewer elements than a cluster has blocks"},
    {{9, 31}, .label = "one less than a warp"},
    {{8, 33}, .label = "one more than a warp"},
    {{7, 1009}, .label = "primes"},
    {{3, 300}, LARGE, "values up to 1000: their exponentials overflow"},
    {{3, 300}, BELOW, "values around -250: their exponentials are 0"},
    {{3, 300}, EQUAL, "all equal"},
    {{2, 9000}, RISING, "each element is a new maximum"},
    {{2, 9000}, FALLING, "the first element is the maximum"},
    {{1, 58113}, .label = "one more than the shared memory of an H100's SM holds"},
    {{1, MAX_ROW_LENGTH}, LARGE, "the longest row, values up to 1000"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

/* 131 072 floats are 512 KB. An SM of an H100 has 227 KB of shared memory for a block and 256 KB of
 * registers, so no block can keep a row. Reading it three times makes 3; online, with a second
 * read, 2; with exponentials stored in `out`, 2, and two sectors written. A block that keeps as
 * much as it can in shared memory and registers and reads the rest again makes 1.25. */
START_TEST(a_row_is_read_once) {
    ex_require_at_most_per("device_read_sectors", ex_element_count(0) / 8, "sector of the matrix",
                           1.0625,
                           "the blocks of a cluster together can keep a row, and read it once");
    ex_require_at_most_per("device_write_sectors", ex_element_count(0) / 8, "sector of the matrix",
                           1.0625, "the result is written once, and nothing else is");
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
               "exchange maximum and sum at once, written into the other blocks' shared memory, so "
               "that each block reads only its own",
               "15-clusters", "By hand: long_rows");
    ex_suggest(true, "load and store four elements as one vector", "02-coalescing",
               "By hand: vector_loads");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, a_row_is_read_once);
    tcase_add_test(guards, many_SMs_work);
    tcase_add_test(guards, reads_are_coalesced);
}

/* Timed with 64 MB in and 64 MB out, which is more than L2 holds. */
EXERCISE(long_rows, .chapter = "15-clusters", .title = "Rows that no block can keep", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 40}, {1, MAX_ROW_LENGTH}},
                  .max_product = 60000,
                  .variants = {"", "values up to 1000", "all equal", "rising", "falling",
                               "around -250"}},
         .technique_case = {{4, MAX_ROW_LENGTH}}, .timed_case = {{128, MAX_ROW_LENGTH}},
         .reference = reference, .tolerance = tolerance, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 70, .speed = 30}, .tests = tests, .ideas = ideas,
         .baseline = "1-three-reads");
