/* spmv_test.c — a sparse matrix times a vector; graded on how a warp reads rows, and on how rows of
 * uneven length are distributed. */
#include "common/exercise_limits.h"

#include <stdlib.h>

enum { ROWS, COLS, NONZEROS };
enum {
    UNEVEN,
    EVEN,
    HALF_IN_ONE,
    EMPTY,
    FIRST,
    LAST
}; /* variants: which rows the elements are in */
/* One of EVERY rows is TIMES times as long as the others are on average. */
enum { EVERY = 256, TIMES = 128 };

static size_t rows(const struct ex_case *c) { return (size_t)c->dim[ROWS]; }
static size_t cols(const struct ex_case *c) { return (size_t)c->dim[COLS]; }
static size_t nonzeros(const struct ex_case *c) { return (size_t)c->dim[NONZEROS]; }
static size_t ends(const struct ex_case *c) { return rows(c) + 1; }

/* Returns the weight of a row; its length is proportional to it. `longest` is the long row among
 * the EVERY rows around `row`. */
static double weight(const struct ex_case *c, struct ex_rng *r, long row, long longest) {
    long last = c->dim[ROWS] - 1;
    switch (c->variant) {
    case EVEN: return 1;
    case HALF_IN_ONE: return row == last / 2 ? last + 1 : ex_uniform(r, 0, 2);
    case EMPTY: return ex_uniform_int(r, 0, 15) == 0 || row == last / 2;
    case FIRST: return row == 0;
    case LAST: return row == last;
    default: return row == longest ? TIMES : ex_uniform(r, 0, 2);
    }
}

/* The offsets are the scaled prefix sums of the weights. */
static void fill_offsets(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    int32_t *offsets = data;
    double *before = malloc((n + 1) * sizeof *before), total = 0;
    if (!before) return;
    for (size_t row = 0, longest = 0; row + 1 < n; row++) {
        if (row % EVERY == 0) longest = row + (size_t)ex_uniform_int(r, 0, EVERY - 1);
        before[row] = total;
        total += weight(c, r, (long)row, (long)longest);
    }
    for (size_t row = 0; row + 1 < n; row++)
        offsets[row] = total > 0 ? (int32_t)(before[row] / total * nonzeros(c)) : 0;
    offsets[n - 1] = (int32_t)nonzeros(c);
    free(before);
}

/* The columns are near the diagonal, in groups of 8 to 32 elements with up to two columns between
 * them. */
static void fill_columns(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    long column = 0, left = 0, all = c->dim[COLS];
    for (size_t i = 0; i < n; i++, left--) {
        if (!left)
            left = ex_uniform_int(r, 8, 32),
            column = (long)(i * (size_t)all / n) + ex_uniform_int(r, 0, 1023);
        column += ex_uniform_int(r, 1, 3);
        ((int32_t *)data)[i] = (int32_t)(column % all);
    }
}

/* Multiples of 1/8 up to 1, so that a float holds any sum of up to 2^18 products, which are
 * multiples of 1/64, exactly. */
static void fill_eighths(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    (void)c;
    for (size_t i = 0; i < n; i++) ((float *)data)[i] = (float)ex_uniform_int(r, -8, 8) / 8;
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const int32_t *offsets = host[1], *columns = host[2];
    const float *values = host[3], *x = host[4];
    double *y = expected[0];
    for (long row = 0; row < c->dim[ROWS]; row++) {
        y[row] = 0;
        for (long i = offsets[row]; i < offsets[row + 1]; i++)
            y[row] += (double)values[i] * x[columns[i]];
    }
}

static double bytes(const struct ex_case *c) {
    return 8.0 * nonzeros(c) + 8.0 * rows(c) + 4.0 * cols(c);
}
static double flops(const struct ex_case *c) { return 2.0 * nonzeros(c); }

static const struct ex_arg args[] = {
    {.name = "y", .role = EX_OUT, .type = EX_F32, .count = rows},
    {.name = "offsets", .role = EX_IN, .type = EX_I32, .count = ends, .fill = fill_offsets},
    {.name = "columns", .role = EX_IN, .type = EX_I32, .count = nonzeros, .fill = fill_columns},
    {.name = "values", .role = EX_IN, .type = EX_F32, .count = nonzeros, .fill = fill_eighths},
    {.name = "x", .role = EX_IN, .type = EX_F32, .count = cols, .fill = fill_eighths},
    {.name = "rows", .role = EX_SCALAR, .type = EX_I32, .dim = ROWS},
    {.name = "cols", .role = EX_SCALAR, .type = EX_I32, .dim = COLS},
    {.name = "nonzeros", .role = EX_SCALAR, .type = EX_I32, .dim = NONZEROS},
};

static const struct ex_case cases[] = {
    {{0, 1, 0}, .label = "no rows"},
    {{1, 1, 1}, .label = "one row, one element"},
    {{5, 7, 0}, .label = "no elements: all results are 0"},
    {{31, 40, 300}, .label = "one row less than a warp has lanes"},
    {{33, 1, 500}, .label = "one column"},
    {{257, 300, 257 * 16}, EVEN, "rows of 16"},
    {{1024, 1024, 1024 * 31}, EVEN, "rows of one element less than a warp has lanes"},
    {{999, 1000, 16001}, EMPTY, "most rows are empty"},
    {{3000, 100, 9001}, LAST, "all rows are empty but the last"},
    {{3000, 100, 9001}, FIRST, "all rows are empty but the first"},
    {{1, 5000, 100003}, .label = "one row"},
    {{1009, 1500, 60000}, HALF_IN_ONE, "one row has half of all elements"},
    {{70001, 500, 30000}, EMPTY, "more rows than elements"},
    {{10007, 10007, 160001}, .label = "a few long rows, a prime"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double elements(void) { return (double)nonzeros(&ex_current_exercise()->technique_case); }

/* Packed, values and columns of 32 elements take 4 sectors each, and their x at most 32 in any
 * order: 40. With a lane for each row, it is 94. */
START_TEST(reads_are_coalesced) {
    ex_require_at_most_per(
        "device_read_sectors", elements() / 32, "32 elements", 40,
        "values and columns of neighbouring elements share sectors, if neighbouring "
        "lanes read them");
    ex_require_at_most_per("local_requests", elements() / 32, "32 elements", 1,
                           "local memory doesn't replace registers");
}
END_TEST

/* Rows have 10.7 elements on average; one of 256 has 1365. With a lane for each row, 80 lanes are
 * idle for each element, since in most warps 31 lanes wait for the long row. With a warp for each
 * row, it is 35, since most rows are shorter than a warp. With all products first, then a lane for
 * each row, it is 34; with equal parts, 4 to 6. Lanes might do useless work instead of waiting, so
 * instructions are limited, too: 28 to 34 for 32 elements. */
START_TEST(few_inactive_lanes) {
    ex_require_at_most_per(
        "inactive_lanes", elements(), "element", 8,
        "lanes idle while others of their warp work: along a long row, or in a search");
    ex_require_at_most_per(
        "inst_executed", elements() / 32, "32 elements", 48,
        "instructions count as well: lanes that repeat what another lane does gain nothing");
    ex_require_at_most_per("device_write_accesses", elements() / 32, "32 elements", 8,
                           "rows have a result each; elements that are stored one by one are 32");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(EX_MIN_BLOCKS); }
END_TEST

/* Ideas of the ladder's last step. Values and columns of 32 elements take 2 requests by words and
 * 1/2 by vectors; x takes 1. */
static void ideas(void) {
    ex_suggest(ex_metric_value("barriers") > 0,
               "give each warp equal parts and its own products in shared memory, so that no warp "
               "waits at a barrier of the block",
               "12-sparse-and-stencil", "Lists of uneven length");
    ex_suggest(ex_metric_value("global_load_requests") > 2.5 * elements() / 32,
               "load four values and four columns as one vector each", "02-coalescing",
               "By hand: vector_loads");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, reads_are_coalesced);
    tcase_add_test(goals, few_inactive_lanes);
    tcase_add_test(guards, many_SMs_work);
}

/* Timed with 134 MB of elements, which is more than L2 holds, and 4 MB each of offsets, x and y. */
EXERCISE(spmv, .chapter = "12-sparse-and-stencil", .title = "A sparse matrix times a vector",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 20000}, {1, 20000}, {0, 200000}},
                  .variants = {"a few long rows", "rows of one length", "one row has half of all",
                               "most rows are empty"}},
         .technique_case = {{1 << 17, 1 << 17, 1 << 21}},
         .timed_case = {{1 << 20, 1 << 20, 1 << 24}}, .reference = reference, .bytes = bytes,
         .flops = flops, .points = {.correctness = 0, .technique = 50, .speed = 50}, .tests = tests,
         .ideas = ideas, .baseline = "1-row-a-thread");
