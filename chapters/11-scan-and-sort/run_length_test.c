/* run_length_test.c — values and lengths of runs, in order; graded on how a run's length is
 * found. */
#include "common/exercise_limits.h"

enum { SHORT, SINGLE, ONE, LONG, WARPS, EXTREME }; /* variants: how long runs are */

enum { VALUES, LENGTHS, RUNS, IN, N };

static size_t count(const struct ex_case *c) { return (size_t)c->dim[0]; }
static size_t one(const struct ex_case *c) {
    (void)c;
    return 1;
}

/* SHORT: 1 to 64 elements, 32.5 on average. */
static long draw_length(const struct ex_case *c, struct ex_rng *r) {
    switch (c->variant) {
    case SHORT: return ex_uniform_int(r, 1, 64);
    case LONG: return ex_uniform_int(r, 1, 3000);
    case WARPS: return 32;
    case ONE: return c->dim[0];
    default: return 1;
    }
}

static int32_t draw_value(const struct ex_case *c, struct ex_rng *r) {
    static const int32_t extremes[] = {INT32_MIN, INT32_MAX, 0, -1};
    return c->variant == EXTREME ? extremes[ex_random(r) % 4] : (int32_t)ex_uniform_int(r, -3, 3);
}

/* Neighbouring runs have different values, which occur again later. With long runs, the first run
 * is of zeros, so that a version fails that takes the element before the first one for a zero. */
static void fill(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    int32_t *x = data, value = c->variant == ONE || c->variant == LONG ? 0 : draw_value(c, r);
    long left = draw_length(c, r);
    for (size_t i = 0; i < n; i++, left--) {
        for (int32_t last = value; left == 0 && value == last;) value = draw_value(c, r);
        if (left == 0) left = draw_length(c, r);
        x[i] = value;
    }
}

/* Elements of `values` and `lengths` behind the runs stay unchanged. */
static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const int32_t *in = host[IN];
    int64_t *values = expected[VALUES], *lengths = expected[LENGTHS], *runs = expected[RUNS],
            k = -1;
    for (long i = 0; i < c->dim[0]; i++) {
        if (i == 0 || in[i] != in[i - 1]) values[++k] = in[i], lengths[k] = 0;
        lengths[k]++;
    }
    *runs = k + 1;
}

/* A run, two words, for each 32.5 elements. */
static double bytes(const struct ex_case *c) { return 4 * count(c) * (1 + 2 / 32.5); }
static double flops(const struct ex_case *c) { return count(c); }

static const struct ex_arg args[] = {
    {.name = "values", .role = EX_INOUT, .type = EX_I32, .count = count},
    {.name = "lengths", .role = EX_INOUT, .type = EX_I32, .count = count},
    {.name = "runs", .role = EX_OUT, .type = EX_I32, .count = one},
    {.name = "in", .role = EX_IN, .type = EX_I32, .count = count, .fill = fill},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
};

static const struct ex_case cases[] = {
    {{0}, .label = "no elements: no runs"},
    {{1}, .label = "one element"},
    {{31}, SINGLE, "one less than a warp, each a run"},
    {{32}, ONE, "a warp, one run of zeros"},
    {{33}, ONE, "one run that ends one past a warp"},
    {{96}, WARPS, "three runs of a warp each"},
    {{257}, EXTREME, "one more than a block, the largest and smallest integers"},
    {{1023}, SINGLE, "each a run, one less than a power of two"},
    {{10007}, .label = "a prime"},
    {{65537}, ONE, "one run, one past a power of two"},
    {{65536}, WARPS, "runs of a warp each"},
    {{200003}, LONG, "runs that reach over several blocks, a prime"},
    {{300007}, .label = "more than a round a block, a prime"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double elements(void) { return count(&ex_current_exercise()->technique_case); }

/* A run starts in almost every warp of elements, and its lane walks 32 steps: 64 requests a warp,
 * 385 instructions. Without walking, two kernels read the element and its neighbour, 4 requests;
 * 5.6 if starts go through memory. A walk in shared memory would avoid the requests, but not the
 * instructions, so both are limited. */
static void require_no_serial_walk(void) {
    ex_require_at_most_per(
        "device_read_requests", elements() / 32, "warp of elements", 8,
        "a run's length is what lies between its beginning and the next; no lane has to walk");
    ex_require_at_most_per("inst_executed", elements() / 32, "warp of elements", 120,
                           "while one lane walks, the others of its warp wait");
    ex_require_at_most_per("shared_requests_total", elements() / 32, "warp of elements", 8,
                           "a walk through shared memory makes the other lanes wait, too");
    ex_require_at_most_per("local_requests", elements() / 32, "warp of elements", 0.25,
                           "a walk through local memory makes the other lanes wait, too");
    ex_require_at_most_per("atomic_operations", elements() / 256, "256 elements", 1,
                           "a block updates memory once");
    ex_require_at_most_per("shared_atomic_operations", elements() / 32, "warp of elements", 1,
                           "one atomic a warp at most");
    ex_require_at_most_per("device_write_accesses", elements() / 32, "warp of elements", 4,
                           "a run takes three stores at most: its value, its length and its start");
}

START_TEST(lengths_come_from_run_starts) { require_no_serial_walk(); }
END_TEST

/* An element's left neighbour is in the lane before. Loading it takes 5 sectors for a warp, 18 in
 * all in two kernels instead of 8. A walk loads neighbours, too, so that a shorter walk makes no
 * progress. */
START_TEST(no_redundant_loads) {
    require_no_serial_walk();
    ex_require_at_most_per("device_read_sectors", elements() / 8, "sector of the input", 2.75,
                           "the input is read to count and to write; an element's neighbour is in "
                           "the next lane, and a table that all blocks read should be short");
}
END_TEST

/* Lanes that walk separately waste sectors, too: 1.5 in the baseline. */
START_TEST(reads_are_coalesced) {
    ex_require_at_most_per("excessive_read_sectors", ex_problem_sectors(), "sector of the problem",
                           2.5, "neighbouring lanes look at neighbouring elements");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(EX_MIN_BLOCKS); }
END_TEST

/* The idea that separates versions which reach the goals from the model solution. */
static void ideas(void) {
    ex_suggest(
        true,
        "let a warp load 128 elements before its first vote, so that more bytes are in flight",
        "00-roofline", "Example: one element a thread, or several");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, lengths_come_from_run_starts);
    tcase_add_test(goals, no_redundant_loads);
    tcase_add_test(guards, reads_are_coalesced);
    tcase_add_test(guards, many_SMs_work);
}

/* The technique case gives each block several rounds. Timed with 64 MB, which is more than L2
 * holds. */
EXERCISE(run_length, .chapter = "11-scan-and-sort", .title = "Runs, and how long they are",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 200000}},
                  .variants = {"runs of 1 to 64", "each element a run", "one run", "long runs"}},
         .technique_case = {{1 << 20}}, .timed_case = {{1 << 24}}, .reference = reference,
         .bytes = bytes, .flops = flops, .points = {.correctness = 0, .technique = 50, .speed = 50},
         .tests = tests, .ideas = ideas, .baseline = "1-walk");
