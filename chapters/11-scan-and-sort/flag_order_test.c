/* flag_order_test.c — running totals of each column of a matrix; graded on one pass over memory, in
 * which a block passes many words to the block below it, so that flag and data need an order. */
#include "common/exercise_limits.h"

enum { ROWS, COLS };

static size_t count(const struct ex_case *c) { return (size_t)(c->dim[ROWS] * c->dim[COLS]); }

/* All 32 bits are random, so that totals wrap around. */
static void fill(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    (void)c;
    for (size_t i = 0; i < n; i++) ((uint32_t *)data)[i] = (uint32_t)ex_random(r);
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const uint32_t *in = host[1];
    int64_t *out = expected[0];
    size_t cols = (size_t)c->dim[COLS];
    for (size_t i = 0; i < count(c); i++)
        out[i] = (uint32_t)(in[i] + (i >= cols ? out[i - cols] : 0));
}

static double bytes(const struct ex_case *c) { return 8.0 * count(c); }
static double flops(const struct ex_case *c) { return count(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_U32, .count = count, .shape = {1, 2}},
    {.name = "in", .role = EX_IN, .type = EX_U32, .count = count, .fill = fill, .shape = {1, 2}},
    {.name = "rows", .role = EX_SCALAR, .type = EX_I32, .dim = ROWS},
    {.name = "cols", .role = EX_SCALAR, .type = EX_I32, .dim = COLS},
};

static const struct ex_case cases[] = {
    {{0, 5}, .label = "no rows"},
    {{5, 0}, .label = "no columns"},
    {{1, 1}, .label = "one element"},
    {{31, 31}, .label = "one less than a warp's rows and columns"},
    {{33, 33}, .label = "one more of each"},
    {{256, 32}, .label = "a band of the starter file"},
    {{257, 65}, .label = "one more row, and three blocks side by side"},
    {{1, 5000}, .label = "one row"},
    {{3000, 1}, .label = "one column, twelve bands"},
    {{1009, 67}, .label = "primes"},
    {{513, 500}, .label = "three bands of sixteen blocks"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double sectors(void) { return ex_element_count(0) / 8; }

/* The totals of 32 columns are 4 sectors for each band, and a band has 1024. Reads of a flag that
 * isn't there yet count as well. It is 2 if the totals come first. */
START_TEST(the_input_is_read_once) {
    ex_require_at_most_per(
        "device_read_sectors", sectors(), "sector of the input", 1.25,
        "a block can keep its band until the block above has published its totals");
    ex_require_at_most_per("device_write_sectors", sectors(), "sector of the output", 1.125,
                           "a block that knows the totals above adds them before it stores");
    ex_require_at_most("local_requests", 0, "elements stay in registers, not in local memory");
}
END_TEST

START_TEST(nothing_is_prepared) {
    ex_require_at_most("launches", 1, "the block that reads a flag can clear it for the next call");
    ex_require_at_most("filled_bytes", 0, "a fill before each call is a launch, too");
}
END_TEST

START_TEST(reads_are_coalesced) {
    ex_require_at_most_per("excessive_read_sectors", ex_problem_sectors(), "sector of the problem",
                           0.125, "neighbouring lanes read neighbouring columns");
}
END_TEST

START_TEST(writes_are_coalesced) {
    ex_require_at_most_per("excessive_write_sectors", ex_problem_sectors(), "sector of the problem",
                           0.125, "neighbouring lanes write neighbouring columns");
}
END_TEST

/* With a thread for each column there is nothing to pass on, but these are 1024 threads. */
START_TEST(many_warps_work) {
    ex_require_min_blocks(132);
    ex_require_at_least("threads", 132 * 128,
                        "an SM needs several warps to keep its share of the bytes in flight");
}
END_TEST

/* The idea that separates a chain of whole bands from the model solution. */
static void ideas(void) {
    ex_suggest(true, "load the band before you wait, and keep it in registers", "11-scan-and-sort",
               "By hand: flag_order");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, the_input_is_read_once);
    tcase_add_test(goals, nothing_is_prepared);
    tcase_add_test(guards, reads_are_coalesced);
    tcase_add_test(guards, writes_are_coalesced);
    tcase_add_test(guards, many_warps_work);
}

/* Timed with 64 MB in and 64 MB out, in 16 bands of 128 blocks. */
EXERCISE(flag_order, .chapter = "11-scan-and-sort",
         .title = "Messages between blocks: the data before the flag", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 4000}, {1, 1000}}, .max_product = 300000},
         .technique_case = {{4096, 1024}}, .timed_case = {{4096, 4096}}, .reference = reference,
         .bytes = bytes, .flops = flops, .points = {.correctness = 0, .technique = 100, .speed = 0},
         .tests = tests, .ideas = ideas, .baseline = "1-two-kernels",
         .unscored_gain = "the baseline takes 1.11 times as long on an H100, 0.97 on an H200");
