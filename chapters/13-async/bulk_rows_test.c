/* bulk_rows_test.c — copies rows of a table by index; graded on the instructions for each byte. */
#include "common/exercise_limits.h"

static size_t results(const struct ex_case *c) { return (size_t)c->dim[0] * (size_t)c->dim[2]; }
static size_t table(const struct ex_case *c) { return (size_t)c->dim[1] * (size_t)c->dim[2]; }
static size_t indices(const struct ex_case *c) { return (size_t)c->dim[0]; }

/* Variant 1: all indices are the last row. */
static void fill_index(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    int32_t *index = data;
    for (size_t i = 0; i < n; i++)
        index[i] = (int32_t)(c->variant == 1 ? c->dim[1] - 1 : ex_uniform_int(r, 0, c->dim[1] - 1));
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const float *from = host[1];
    const int32_t *index = host[2];
    for (long i = 0; i < c->dim[0]; i++)
        for (long j = 0; j < c->dim[2]; j++)
            ((double *)expected[0])[i * c->dim[2] + j] = from[index[i] * c->dim[2] + j];
}

static double bytes(const struct ex_case *c) { return 8.0 * results(c) + 4.0 * indices(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F32, .count = results, .shape = {1, 3}},
    {.name = "table", .role = EX_IN, .type = EX_F32, .count = table, .shape = {2, 3}},
    {.name = "index", .role = EX_IN, .type = EX_I32, .count = indices, .fill = fill_index},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
    {.name = "rows", .role = EX_SCALAR, .type = EX_I32, .dim = 1},
    {.name = "cols", .role = EX_SCALAR, .type = EX_I32, .dim = 2},
};

static const struct ex_case cases[] = {
    {{0, 5, 64}, .label = "nothing to copy"},
    {{5, 3, 0}, .label = "empty rows"},
    {{1, 1, 4}, .label = "one row of 16 bytes"},
    {{33, 7, 64}, .label = "more rows than the table has"},
    {{700, 17, 12}, .label = "many short rows"},
    {{140, 1, 36}, .label = "a table of one row"},
    {{300, 40, 1024}, .label = "rows of 4 KB"},
    {{5, 9, 4100}, .label = "16 bytes more than 16 KB"},
    {{3, 2, 20000}, .label = "long rows", .variant = 1},
    {{2, 3, 60000}, .label = "rows that no shared memory holds"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double kilobytes(void) {
    return 4.0 * results(&ex_current_exercise()->technique_case) / 1024;
}

/* Through registers, with 16 bytes a lane, a load and a store move 512 bytes: 4 instructions for
 * 1024 bytes, plus overhead. A bulk copy of 16 KB takes one instruction each way, and a few dozen
 * of overhead. */
START_TEST(few_instructions_per_row) {
    ex_require_at_most_per("inst_executed", kilobytes(), "1024 bytes", 3.9,
                           "a row is contiguous, so one bulk copy moves it");
    ex_require_at_most_per("device_read_requests", kilobytes(), "1024 bytes", 0.5,
                           "one request for a row replaces one for each 128 bytes");
}
END_TEST

START_TEST(each_byte_is_moved_once) {
    ex_require_at_most_per("device_read_sectors", ex_problem_sectors(), "sector of the problem",
                           0.55, "half of the problem's sectors are read");
    ex_require_at_most_per("device_write_sectors", ex_problem_sectors(), "sector of the problem",
                           0.55, "and half written");
    ex_require_at_most("local_requests", 0, "data doesn't need to pass through local memory");
}
END_TEST
START_TEST(many_SMs_work) { ex_require_min_blocks(EX_MIN_BLOCKS); }
END_TEST

/* An H200 needs 11 KB in flight on each SM, and more under load. A buffer also waits for its copy
 * out, so that a single one of 16 KB is not enough. */
static void ideas(void) {
    ex_suggest(ex_metric_value("blocks") * ex_metric_value("shared_bytes") < 132 * 49152.0,
               "keep several rows in flight on each SM: small blocks with a buffer each, or a ring "
               "of buffers",
               "13-async", "How much must be in flight");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, few_instructions_per_row);
    tcase_add_test(guards, each_byte_is_moved_once);
    tcase_add_test(guards, many_SMs_work);
}

/* Timed with 67 MB of a table of 134 MB. */
EXERCISE(bulk_rows, .chapter = "13-async", .title = "A row is one request", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 400}, {1, 60}, {4, 8000, .step = 4}},
                  .max_product = 4000000,
                  .variants = {"", "all rows are the last one"}},
         .technique_case = {{1584, 64, 4096}}, .timed_case = {{4096, 8192, 4096}},
         .reference = reference, .bytes = bytes,
         .points = {.correctness = 0, .technique = 80, .speed = 20}, .tests = tests, .ideas = ideas,
         .baseline = "1-words");
