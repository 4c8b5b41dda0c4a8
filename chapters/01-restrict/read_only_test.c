/* read_only_test.c — (out_re, out_im)[i] = (re, im)[i] * (rotation[0] + i rotation[1]); nothing
 * overlaps. */
#include "common/exercise_limits.h"

static size_t count(const struct ex_case *c) { return (size_t)c->dim[0]; }
static size_t count_rotation(const struct ex_case *c) {
    (void)c;
    return 2;
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const float *re = host[2], *im = host[3], *rotation = host[4];
    double *out_re = expected[0], *out_im = expected[1], cosine = rotation[0], sine = rotation[1];
    for (long i = 0; i < c->dim[0]; i++) {
        out_re[i] = re[i] * cosine - im[i] * sine;
        out_im[i] = re[i] * sine + im[i] * cosine;
    }
}

/* Two products and a sum, with or without fused operations: at most three roundings, each of a term
 * that is bounded by |re| + |im|, since the rotation's parts are below 1. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)c, (void)arg, (void)expected;
    return 3 * EX_ROUNDOFF_F32 *
           (fabs(((float *)host[2])[index]) + fabs(((float *)host[3])[index]));
}

static double bytes(const struct ex_case *c) { return 16.0 * count(c); }
static double flops(const struct ex_case *c) { return 6.0 * count(c); }

static const struct ex_arg args[] = {
    {.name = "out_re", .role = EX_OUT, .type = EX_F32, .count = count},
    {.name = "out_im", .role = EX_OUT, .type = EX_F32, .count = count},
    {.name = "re", .role = EX_IN, .type = EX_F32, .count = count},
    {.name = "im", .role = EX_IN, .type = EX_F32, .count = count},
    {.name = "rotation", .role = EX_IN, .type = EX_F32, .count = count_rotation},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
};

static const struct ex_case cases[] = {
    {{0}, .label = "nothing to do"},
    {{1}, .label = "one number"},
    {{31}, .label = "one less than a warp"},
    {{32}, .label = "a warp"},
    {{33}, .label = "one more than a warp"},
    {{257}, .label = "one more than a block"},
    {{10007}, .label = "a prime"},
    {{262145}, .label = "one more than a whole grid of 1024 blocks of 256"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double numbers(void) { return count(&ex_current_exercise()->technique_case); }

/* re and im take 2 loads; the rotation takes 2 more, divided by the numbers that a thread handles.
 * The starter file's grid gives each thread 4 numbers: 2.5. One number a thread makes 4. Reloading
 * both parts after the first store makes 8 for one number. */
START_TEST(no_redundant_loads) {
    ex_require_at_most_per(
        "device_read_accesses", numbers(), "number", 2.75,
        "re and im are needed once a number, the rotation once for all the numbers of a "
        "thread (__ldg() alone "
        "depends on the compiler: nvcc 13.0 carries out each one, 13.5 merges them)");
}
END_TEST

START_TEST(accesses_are_coalesced) {
    ex_require_coalesced_loads(
        1.125, "neighbouring threads read neighbouring numbers: 4 sectors a request");
    ex_require_coalesced_stores(
        1.125, "neighbouring threads write neighbouring numbers: 4 sectors a request");
}
END_TEST

START_TEST(results_are_stored_once) {
    ex_require_at_most_per("device_write_accesses", numbers(), "number", 2,
                           "a result that is put together in memory is stored twice");
}
END_TEST

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, no_redundant_loads);
    tcase_add_test(guards, accesses_are_coalesced);
    tcase_add_test(guards, results_are_stored_once);
}

EXERCISE(read_only, .chapter = "01-restrict", .title = "Loads that need not be repeated",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 270000}}}, .technique_case = {{1 << 20}}, .timed_case = {{1 << 24}},
         .reference = reference, .tolerance = tolerance, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 100, .speed = 0}, .tests = tests,
         .baseline = "1-unqualified");
