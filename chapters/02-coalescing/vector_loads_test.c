/* vector_loads_test.c — scales a part of an array, which may start and end off a 16-byte boundary;
 * graded on vector loads and stores. */
#include "common/exercise_limits.h"

#include <stdbool.h>

enum { START, N, AFTER }; /* elements before, within and after the part */

static size_t count(const struct ex_case *c) {
    return (size_t)(c->dim[START] + c->dim[N] + c->dim[AFTER]);
}
static double factor(const struct ex_case *c, struct ex_rng *r) {
    (void)c;
    return ex_uniform(r, 2, 3);
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const float *in = host[1];
    double *out = expected[0], by = *(float *)host[2];
    for (long i = c->dim[START]; i < c->dim[START] + c->dim[N]; i++) out[i] = by * in[i];
}

/* One rounding; outside the part, none. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)host, (void)arg;
    bool inside = index >= (size_t)c->dim[START] && index < (size_t)(c->dim[START] + c->dim[N]);
    return inside ? EX_ROUNDOFF_F32 * fabs(expected) : 0;
}

static double bytes(const struct ex_case *c) { return 8.0 * c->dim[N]; }
static double flops(const struct ex_case *c) { return c->dim[N]; }

static const struct ex_arg args[] = {
    {.name = "out",
     .role = EX_INOUT,
     .type = EX_F32,
     .count = count,
     .is_initial_in_expected = true},
    {.name = "in", .role = EX_IN, .type = EX_F32, .count = count},
    {.name = "factor", .role = EX_SCALAR, .type = EX_F32, .value = factor},
    {.name = "start", .role = EX_SCALAR, .type = EX_I32, .dim = START},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = N},
};

static const struct ex_case cases[] = {
    {{3, 0, 2}, .label = "nothing to do"},
    {{0, 1, 0}, .label = "one element"},
    {{1, 1, 6}, .label = "one element off the boundary"},
    {{1, 2, 1}, .label = "less than what leads up to the boundary"},
    {{2, 2, 0}, .label = "exactly what leads up to the boundary"},
    {{3, 2, 3}, .label = "across a boundary, no whole vector"},
    {{1, 3, 0}, .label = "three elements up to a boundary"},
    {{0, 31, 1}, .label = "a tail of three"},
    {{1, 32, 1}, .label = "head of three, tail of one"},
    {{2, 33, 3}, .label = "head of two, tail of three"},
    {{3, 1021, 5}, .label = "a prime, head of one"},
    {{4, 1024, 4}, .label = "both ends on a boundary"},
    {{5, 1030, 7}, .label = "more than a block of vectors"},
    {{7, 4099, 1}, .label = "several blocks"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double elements(void) { return ex_current_exercise()->technique_case.dim[N]; }

/* Vectors of 4 take a quarter of a lane's load for each element, and at most 6 single elements at
 * both ends of 262 144. Pairs would take a half. */
START_TEST(accesses_are_vectorized) {
    ex_require_at_most_per("device_read_accesses", elements(), "element", 0.26,
                           "a lane that loads 16 bytes serves four elements");
    ex_require_at_most_per("device_write_accesses", elements(), "element", 0.26,
                           "a lane that stores 16 bytes serves four elements");
}
END_TEST

START_TEST(accesses_are_coalesced) {
    ex_require_coalesced_loads(
        1.125, "32 lanes with 16 bytes each, side by side, are 16 sectors, all of them used");
    ex_require_coalesced_stores(
        1.125, "32 lanes with 16 bytes each, side by side, are 16 sectors, all of them used");
    ex_require_at_most_per("device_read_sectors", elements(), "element", 0.148,
                           "a sector holds 8 elements");
    ex_require_at_most_per("device_write_sectors", elements(), "element", 0.148,
                           "a sector holds 8 elements");
}
END_TEST

START_TEST(no_extra_copies) {
    ex_require_at_most("copied_bytes", 0, "a copy moves these bytes once more, as a kernel would");
}
END_TEST

/* Ideas that separate versions with vectors from the model solution. */
static void ideas(void) {
    ex_suggest(ex_launch_count() > 1,
               "let the first threads of the vectors' kernel handle the elements before and after "
               "them, which saves the other launches",
               "02-coalescing", "By hand: vector_loads");
    ex_suggest(ex_metric_value("threads") < elements() / 8,
               "launch a thread for each vector, so that more bytes are in flight", "06-occupancy",
               "How many blocks to launch");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, accesses_are_vectorized);
    tcase_add_test(goals, accesses_are_coalesced);
    tcase_add_test(guards, no_extra_copies);
}

EXERCISE(vector_loads, .chapter = "02-coalescing", .title = "16 bytes a lane: alignment and tails",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{0, 40}, {1, 5000}, {0, 40}}}, .technique_case = {{3, 1 << 18, 2}},
         .timed_case = {{3, 1 << 25, 2}}, .reference = reference, .tolerance = tolerance,
         .bytes = bytes, .flops = flops, .points = {.correctness = 0, .technique = 80, .speed = 20},
         .tests = tests, .ideas = ideas, .baseline = "1-single");
