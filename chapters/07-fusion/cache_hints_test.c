/* cache_hints_test.c — rows of a stream, each with a row of a table that a number names; graded on
 * cache hints: what passes once must not stay in L2. */
#include "common/exercise_limits.h"

enum { N, ROWS, WIDTH = 32 };
/* Variants: rows drawn at random; all the same; in order, in runs; only the table's ends. */
enum { ANY_ROW, ONE_ROW, IN_ORDER, ENDS };

static size_t out_count(const struct ex_case *c) { return (size_t)c->dim[N]; }
static size_t x_count(const struct ex_case *c) { return (size_t)(c->dim[N] * WIDTH); }
static size_t table_count(const struct ex_case *c) { return (size_t)(c->dim[ROWS] * WIDTH); }

static void fill_row(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    int *row = data;
    long last = c->dim[ROWS] - 1, same = ex_uniform_int(r, 0, last);
    for (size_t i = 0; i < count; i++) {
        long any = c->variant == ENDS ? last * ex_uniform_int(r, 0, 1) : ex_uniform_int(r, 0, last);
        row[i] =
            (int)(c->variant == ONE_ROW    ? same
                  : c->variant == IN_ORDER ? (long)((double)i / (double)count * (double)(last + 1))
                                           : any);
    }
}

static double term(double x, double t) { return x * t; }

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const float *x = host[1], *table = host[3];
    const int *row = host[2];
    double *out = expected[0];
    for (long i = 0; i < c->dim[N]; i++) {
        const float *a = x + i * WIDTH, *b = table + (long)row[i] * WIDTH;
        out[i] = 0;
        for (int j = 0; j < WIDTH; j++) out[i] += term(a[j], b[j]);
    }
}

/* A term has a relative error of at most 3u, and each of the 32 sums, in any order, adds u of what
 * it has so far: 35u of the sum of all magnitudes, and less than 36u with the products of errors.
 */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    const float *x = host[1], *table = host[3];
    const int *row = host[2];
    double sum = 0;
    (void)c, (void)arg, (void)expected;
    for (int j = 0; j < WIDTH; j++)
        sum += fabs(term(x[index * WIDTH + (size_t)j], table[(long)row[index] * WIDTH + j]));
    return 36 * EX_ROUNDOFF_F32 * sum;
}

static double bytes(const struct ex_case *c) {
    return 4.0 * (double)(x_count(c) + table_count(c) + 2 * out_count(c));
}
static double flops(const struct ex_case *c) { return 2.0 * (double)x_count(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F32, .count = out_count},
    {.name = "x", .role = EX_IN, .type = EX_F32, .count = x_count},
    {.name = "row", .role = EX_IN, .type = EX_I32, .count = out_count, .fill = fill_row},
    {.name = "table", .role = EX_IN, .type = EX_F32, .count = table_count},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = N},
    {.name = "rows", .role = EX_SCALAR, .type = EX_I32, .dim = ROWS},
};

static const struct ex_case cases[] = {
    {{0, 1}, .label = "nothing to do"},
    {{1, 1}, .label = "one row"},
    {{3, 7}, .label = "less than a warp"},
    {{31, 100}, IN_ORDER, "rows in order"},
    {{33, 100}, .label = "one more than a quarter of a block"},
    {{129, 5}, ENDS, "the table's first and last row"},
    {{1000, 33}, ONE_ROW, "all with the same row"},
    {{10007, 2048}, .label = "a prime"},
    {{16385, 16384}, .label = "one past a power of two"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double rows(void) { return ex_element_count(0); }

/* A row of x has 4 sectors, and so has the row of the table that it meets. A quarter of a sector
 * more brings the row's number, since the eight rows that share one are in two warps. A hint at the
 * number makes an eighth of a sector a reload, a hint at the table 3.75. */
START_TEST(the_stream_is_marked) {
    ex_require_at_most_per("evict_normal_read_sectors", rows(), "row", 4.3,
                           "the table alone has a place in L2; a row of x is used once");
    ex_require_at_most_per("evict_first_reload_sectors", rows(), "row", 0.2,
                           "what is read again must not be the first to leave L2");
}
END_TEST

START_TEST(each_row_is_read_once) {
    ex_require_at_most_per("device_read_sectors", rows(), "row", 8.5,
                           "a row of x and one of the table have 4 sectors each");
}
END_TEST

START_TEST(accesses_are_coalesced) {
    ex_require_coalesced_loads(1.125, "eight lanes read a row of 128 bytes as vectors");
    ex_require_coalesced_stores(1.125, "results are stored side by side");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(132); }
END_TEST

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, the_stream_is_marked);
    tcase_add_test(guards, each_row_is_read_once);
    tcase_add_test(guards, accesses_are_coalesced);
    tcase_add_test(guards, many_SMs_work);
}

/* The technique case's table doesn't fit into shared memory. Timed with 134 MB of x and 17 MB of
 * table, a third of an H100's L2. */
EXERCISE(cache_hints, .chapter = "07-fusion", .title = "A stream that passes a table", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 20000}, {1, 5000}},
                  .variants = {"rows at random", "all with the same row", "rows in order",
                               "the table's first and last row"}},
         .technique_case = {{1 << 15, 1 << 11}}, .timed_case = {{1 << 20, 1 << 17}},
         .reference = reference, .tolerance = tolerance, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 100, .speed = 0}, .tests = tests,
         .baseline = "1-no-hints");
