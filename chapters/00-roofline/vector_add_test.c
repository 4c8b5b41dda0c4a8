/* vector_add_test.c — out[i] = a[i] + b[i], with a given grid size that does not depend on n. */
#include "common/exercise_limits.h"

enum { N, BLOCKS };

static size_t count(const struct ex_case *c) { return (size_t)c->dim[N]; }

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const float *a = host[1], *b = host[2];
    double *out = expected[0];
    for (long i = 0; i < c->dim[N]; i++) out[i] = (double)a[i] + b[i];
}

/* One rounding. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)c, (void)host, (void)arg, (void)index;
    return EX_ROUNDOFF_F32 * fabs(expected);
}

static double bytes(const struct ex_case *c) { return 12.0 * count(c); }
static double flops(const struct ex_case *c) { return count(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F32, .count = count},
    {.name = "a", .role = EX_IN, .type = EX_F32, .count = count},
    {.name = "b", .role = EX_IN, .type = EX_F32, .count = count},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = N},
    {.name = "blocks", .role = EX_SCALAR, .type = EX_I32, .dim = BLOCKS},
};

static const struct ex_case cases[] = {
    {{0, 1}, .label = "nothing to add"},
    {{1, 1}, .label = "one element"},
    {{31, 1}, .label = "one less than a warp"},
    {{32, 3}, .label = "a warp, and blocks without work"},
    {{33, 1}, .label = "one more than a warp"},
    {{1025, 1}, .label = "more elements than the only block can have threads"},
    {{1024, 8}, .label = "a power of two"},
    {{9973, 3}, .label = "a prime, three blocks"},
    {{100001, 16}, .label = "each thread has several elements"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double elements(void) { return count(&ex_current_exercise()->technique_case); }

START_TEST(accesses_are_coalesced) {
    ex_require_coalesced_loads(
        1.125, "neighbouring threads take neighbouring elements: 32 floats are 4 sectors");
    ex_require_coalesced_stores(
        1.125, "neighbouring threads take neighbouring elements: 32 floats are 4 sectors");
}
END_TEST

/* The limits imply a grid-stride loop: 64 blocks have at most 65 536 threads for 2^20 elements. The
 * instructions of an iteration have no limit: a pipeline of asynchronous copies needs three times
 * as many as loads do, but hides them. */
START_TEST(all_blocks_are_launched) {
    ex_require_at_least("blocks", ex_current_exercise()->technique_case.dim[BLOCKS],
                        "blocks that are not launched leave their share of the device idle");
    ex_require_at_most("blocks", ex_current_exercise()->technique_case.dim[BLOCKS],
                       "the caller knows how many blocks the device runs at once");
}
END_TEST

START_TEST(no_redundant_accesses) {
    ex_require_at_most_per("device_read_accesses", elements(), "element", 2,
                           "a and b are read once");
    ex_require_at_most_per("device_write_accesses", elements(), "element", 1,
                           "out is written once");
}
END_TEST

/* Ideas that no goal measures: enough threads for the device, and several loads in flight in each
 * thread. The caller's grid holds 8 blocks for each SM, so 256 threads a block fill it. */
static void ideas(void) {
    ex_suggest(ex_metric_value("threads") < 256 * ex_metric_value("blocks"),
               "launch 256 threads a block: eight such blocks fill an SM", "06-occupancy",
               "How many blocks to launch");
    ex_suggest(ex_metric_value("global_load_requests") > elements() / 64,
               "declare the pointers `__restrict__`, so that the compiler can issue the loads of "
               "several elements before the first store",
               "01-restrict", "Two ways to give the compiler the proof");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, all_blocks_are_launched);
    tcase_add_test(guards, accesses_are_coalesced);
    tcase_add_test(guards, no_redundant_accesses);
}

EXERCISE(vector_add, .chapter = "00-roofline", .title = "A kernel and a launch from nothing",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 120000}, {1, 40}}}, .technique_case = {{1 << 20, 64}},
         .timed_case = {{1 << 24, 1056}}, .reference = reference, .tolerance = tolerance,
         .bytes = bytes, .flops = flops,
         .points = {.correctness = 10, .technique = 40, .speed = 50}, .tests = tests,
         .ideas = ideas, .baseline = "1-one-block");
