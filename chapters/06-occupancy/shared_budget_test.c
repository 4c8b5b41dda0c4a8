/* shared_budget_test.c — a look-up table that needs more shared memory than a block has without
 * opt-in; graded on where the table is and on occupancy. */
#include "common/exercise_limits.h"

enum { N, ENTRIES };

static size_t count(const struct ex_case *c) { return (size_t)c->dim[N]; }
static size_t entries(const struct ex_case *c) { return (size_t)c->dim[ENTRIES]; }

static void fill_index(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    int32_t *index = data;
    for (size_t i = 0; i < count; i++)
        index[i] = (int32_t)ex_uniform_int(r, 0, c->dim[ENTRIES] - 1);
    if (count) index[count / 2] = (int32_t)c->dim[ENTRIES] - 1; /* the last entry is always used */
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const int32_t *index = host[1];
    const float *table = host[2];
    double *out = expected[0];
    for (long i = 0; i < c->dim[N]; i++) out[i] = table[index[i]];
}

static double bytes(const struct ex_case *c) { return 8.0 * count(c) + 4.0 * entries(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F32, .count = count},
    {.name = "index", .role = EX_IN, .type = EX_I32, .count = count, .fill = fill_index},
    {.name = "table", .role = EX_IN, .type = EX_F32, .count = entries},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = N},
    {.name = "entries", .role = EX_SCALAR, .type = EX_I32, .dim = ENTRIES},
};

static const struct ex_case cases[] = {
    {{0, 5}, .label = "nothing to look up"},
    {{7, 1}, .label = "a table of one entry"},
    {{33, 31}, .label = "one less than a warp"},
    {{1025, 33}, .label = "one more than a block"},
    {{2003, 12288}, .label = "48 KB: the most that needs no permission"},
    {{2003, 12289}, .label = "one entry more"},
    {{5003, 16000}, .label = "64 000 bytes"},
    {{1003, 58112}, .label = "227 KB: the most that an H200's block can have"},
    {{1003, 58113}, .label = "one entry more: it does not fit"},
    {{1003, 100003}, .label = "far too large a table"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

/* The indices take 0.125 sectors for each element. If the table is in global memory, each look-up
 * touches a sector of its own: 1.12 in all. For shared memory, each block fetches the table's 2000
 * sectors: with 264 blocks (two of 1024 threads on each of 132 SMs) that is 0.5 for each element,
 * 0.63 in all; with 396 (three of 640), 0.88. A block for each 1024 elements would fetch the table
 * 1024 times: 2.1. Two kernels with half of the table each, below 48 KB, read the indices twice:
 * 0.76. */
START_TEST(the_table_is_loaded_once_per_block) {
    const struct ex_case *c = &ex_current_exercise()->technique_case;
    ex_require_at_most_per(
        "device_read_sectors", count(c), "look-up", 0.9,
        "resident blocks fetch the table once and then look up from shared memory");
    ex_require_at_least("shared_bytes", 4.0 * entries(c), "a block has the whole table");
}
END_TEST

/* A block needs 64 000 bytes and the system's 1024, so three blocks fit into 228 KB. With 1024
 * threads for each block, two blocks fill the SM; with 256, three blocks are only 24 warps. */
START_TEST(occupancy_is_high) {
    ex_require_at_least("theoretical_occupancy", 0.9,
                        "few blocks fit, so each must have many warps");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(32); }
END_TEST

/* The model solution's 264 blocks fetch 0.63 sectors a look-up, and fill the 132 SMs of an H200. It
 * lacks the second idea, since the exercise is about the budget. */
static void ideas(void) {
    double look_ups = count(&ex_current_exercise()->technique_case);
    ex_suggest(
        ex_metric_value("blocks") < 200 || ex_metric_value("device_read_sectors") > 0.7 * look_ups,
        "launch as many blocks as are resident, two of 1024 threads for each SM: fewer leave "
        "SMs idle, and each further one fetches the table again",
        "06-occupancy", "By hand: shared_budget");
    ex_suggest(ex_metric_value("global_store_requests") > look_ups / 64,
               "load four indices and store four results at a time, so that more bytes are in "
               "flight",
               "02-coalescing", "By hand: vector_loads");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, the_table_is_loaded_once_per_block);
    tcase_add_test(guards, occupancy_is_high);
    tcase_add_test(guards, many_SMs_work);
}

EXERCISE(shared_budget, .chapter = "06-occupancy", .title = "More than 48 KB, and few blocks",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 5000}, {1, 100000}}}, .technique_case = {{1 << 20, 16000}},
         .timed_case = {{1 << 25, 16000}}, .reference = reference, .bytes = bytes,
         .points = {.correctness = 0, .technique = 70, .speed = 30}, .tests = tests, .ideas = ideas,
         .baseline = "1-gather");
