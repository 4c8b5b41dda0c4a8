/* local_array_test.c — exact medians of seven; graded on keeping the seven values in registers. */
#include "common/exercise_limits.h"

#include <stdlib.h>

enum { WIDTH = 7 };

static size_t count(const struct ex_case *c) { return (size_t)c->dim[0]; }

/* Many equal values, and extreme ones. */
static void fill(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    (void)c;
    int32_t *x = data;
    for (size_t i = 0; i < count; i++)
        x[i] = ex_uniform_int(r, 0, 19)  ? (int32_t)ex_uniform_int(r, -20, 20)
               : ex_uniform_int(r, 0, 1) ? INT32_MAX
                                         : INT32_MIN;
}

/* Returns the value with as many others before it as behind it; of equal values, the first comes
 * first. There is no branch, as the timed size has millions of windows. */
static int32_t median(const int32_t v[WIDTH]) {
    int32_t found = 0;
    for (int i = 0; i < WIDTH; i++) {
        int before = 0;
        for (int k = 0; k < WIDTH; k++) before += (v[k] < v[i]) | ((v[k] == v[i]) & (k < i));
        found = before == WIDTH / 2 ? v[i] : found;
    }
    return found;
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const int32_t *in = host[1];
    int64_t *out = expected[0];
    long n = c->dim[0];
    for (long i = 0; i < n; i++) {
        int32_t v[WIDTH];
        for (long k = 0; k < WIDTH; k++) {
            long e = i + k - WIDTH / 2;
            v[k] = in[e < 0 ? 0 : e >= n ? n - 1 : e];
        }
        out[i] = median(v);
    }
}

static double bytes(const struct ex_case *c) { return 8.0 * count(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_I32, .count = count},
    {.name = "in", .role = EX_IN, .type = EX_I32, .count = count, .fill = fill},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
};

static const struct ex_case cases[] = {
    {{0}, .label = "nothing to filter"},
    {{1}, .label = "one element, seven times"},
    {{2}, .label = "two elements"},
    {{3}, .label = "fewer than a window has on one side"},
    {{7}, .label = "one window"},
    {{31}, .label = "one less than a warp"},
    {{33}, .label = "one more than a warp"},
    {{257}, .label = "one more than a block"},
    {{10007}, .label = "a prime"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double outputs(void) { return count(&ex_current_exercise()->technique_case); }

START_TEST(no_local_memory) {
    ex_require_at_most(
        "local_requests", 0,
        "registers have no numbers that a program could compute: an array with variable "
        "indices lives "
        "in memory");
    ex_require_at_most("spill_bytes", 0, "seven values and some more fit into registers");
}
END_TEST

/* Warps may diverge only at the ends of the array and of a block's tile: at most one warp of
 * eight. */
START_TEST(few_divergent_branches) {
    ex_require_at_most_per("divergent_branches", outputs() / 32, "warp of outputs", 0.5,
                           "lanes that each search their own place diverge; fixed pairs "
                           "need no branch");
}
END_TEST

/* An array in shared memory would avoid local memory, too, so its requests are limited. A tile of
 * the input in shared memory takes 8 to 9. */
START_TEST(values_stay_in_registers) {
    ex_require_at_most_per("shared_requests_total", outputs() / 32, "warp of outputs", 12,
                           "sorting in shared memory only moves the accesses to another memory");
    ex_require_at_most_per("device_read_accesses", outputs(), "output", 7,
                           "a window has seven elements");
    ex_require_at_most_per("device_write_accesses", outputs(), "output", 1,
                           "sorting in global memory only moves the accesses to another memory");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(8); }
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(
        ex_metric_value("device_read_accesses") > 2 * outputs(),
        "let a thread compute four neighbouring medians, whose windows it loads once, as vectors",
        "06-occupancy", "By hand: local_array");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, no_local_memory);
    tcase_add_test(goals, few_divergent_branches);
    tcase_add_test(guards, values_stay_in_registers);
    tcase_add_test(guards, many_SMs_work);
}

EXERCISE(local_array, .chapter = "06-occupancy", .title = "An array that stays in registers",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 12000}}}, .technique_case = {{1 << 15}}, .timed_case = {{1 << 24}},
         .reference = reference, .bytes = bytes,
         .points = {.correctness = 0, .technique = 50, .speed = 50}, .tests = tests, .ideas = ideas,
         .baseline = "1-insertion");
