/* NAME_test.c — the exercise NAME: out = 2 * in. Its goal is coalesced loads and stores. */
#include "common/exercise_limits.h"

static size_t count(const struct ex_case *c) { return (size_t)c->dim[0]; }

static void reference(const struct ex_case *c, void *const host[], void *const want[]) {
    const float *in = host[1];
    double *out = want[0];
    for (size_t i = 0; i < count(c); i++) out[i] = 2.0 * in[i];
}

/* Doubling is exact in binary, so there is no tolerance function. If yours has one, state its error
 * model here. */

static double bytes(const struct ex_case *c) { return 8.0 * count(c); }
static double flops(const struct ex_case *c) { return 1.0 * count(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F32, .count = count},
    {.name = "in", .role = EX_IN, .type = EX_F32, .count = count},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
};

static const struct ex_case cases[] = {
    {{0}, .label = "nothing to do"},
    {{1}, .label = "one element"},
    {{31}, .label = "less than a warp"},
    {{33}, .label = "more than a warp"},
    {{257}, .label = "more than a block"},
    {{10007}, .label = "a prime"},
    {{65537}, .label = "one past a power of two"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

/* The limits are on totals, because added idle work would improve an average, such as sectors for
 * each request. */
START_TEST(accesses_are_coalesced) {
    ex_require_at_most_per(
        "device_read_sectors", ex_element_count(1) / 8, "sector of the input", 1.125,
        "32 neighbouring floats fill 4 sectors; the edges may cost a little more");
    ex_require_at_most_per("device_write_sectors", ex_element_count(0) / 8, "sector of the output",
                           1.125, "the same is true for stores");
}
END_TEST

START_TEST(no_redundant_accesses) {
    ex_require_at_most_per("device_read_accesses", ex_element_count(1), "element", 1,
                           "each element is read once");
    ex_require_at_most_per("device_write_accesses", ex_element_count(0), "element", 1,
                           "each result is written once");
}
END_TEST

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    /* A goal: the baseline misses it, and reaching it earns points. */
    tcase_add_test(goals, accesses_are_coalesced);
    /* A guard: the baseline passes it, and failing it costs points. */
    tcase_add_test(guards, no_redundant_accesses);
}

EXERCISE(NAME, .chapter = "CHAPTER", .title = "One line: what students learn", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 70000}}}, .technique_case = {{1 << 17}}, .timed = {{1 << 22}},
         .reference = reference, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 50, .speed = 50}, .tests = tests,
         .baseline = "1-stretches");
