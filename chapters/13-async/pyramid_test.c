/* pyramid_test.c — levels of half the size, each in a temporary of its own; graded on calls that
 * wait for the device, and on reuse of the temporaries' memory. */
#include "common/exercise_limits.h"

#include <stdlib.h>
#include <string.h>

enum { N, LEVELS }; /* numbers of the input; levels above it */

static size_t out_count(const struct ex_case *c) { return (size_t)c->dim[N] >> c->dim[LEVELS]; }
static size_t in_count(const struct ex_case *c) { return (size_t)c->dim[N]; }

/* Each level has half as many numbers as the one before. */
static void make_divisible(struct ex_case *c, struct ex_rng *r) {
    (void)r;
    long last = c->dim[N] >> c->dim[LEVELS];
    c->dim[N] = (last ? last : 1) << c->dim[LEVELS];
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const float *in = host[1];
    size_t n = in_count(c);
    double *level = malloc((n + 1) * sizeof *level);
    if (!level) abort();
    for (size_t i = 0; i < n; i++) level[i] = in[i];
    for (long l = 0; l < c->dim[LEVELS]; l++) {
        double before = n ? level[0] : 0; /* the number to the left of the one in the middle */
        n /= 2;
        for (size_t i = 0; i < n; i++) {
            double value = before / 4 + level[2 * i] / 2 + level[2 * i + 1] / 4;
            before = level[2 * i + 1], level[i] = value;
        }
    }
    memcpy(expected[0], level, n * sizeof *level);
    free(level);
}

/* Weights are powers of two and add up to 1, so all sums are at most 1, as the inputs. Each level
 * adds twice. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)host, (void)arg, (void)index, (void)expected;
    return 2.0 * c->dim[LEVELS] * EX_ROUNDOFF_F32;
}

static double bytes(const struct ex_case *c) {
    return 4.0 * ((double)in_count(c) + (double)out_count(c));
}
static double flops(const struct ex_case *c) { return 5.0 * (double)in_count(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F32, .count = out_count},
    {.name = "in", .role = EX_IN, .type = EX_F32, .count = in_count},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = N},
    {.name = "levels", .role = EX_SCALAR, .type = EX_I32, .dim = LEVELS},
};

static const struct ex_case cases[] = {
    {{0, 3}, .label = "no numbers: nothing to launch"},
    {{2, 1}, .label = "one level, one number"},
    {{64, 6}, .label = "six levels, down to one number"},
    {{124, 2}, .label = "one less than a warp"},
    {{66, 1}, .label = "one level: no temporary"},
    {{1016, 3}, .label = "one less than 128"},
    {{4112, 4}, .label = "a prime number"},
    {{32768, 5}, .label = "a power of two"},
    {{65600, 6}, .label = "one more than a power of two"},
    {{80000, 1}, .label = "many numbers"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double input_bytes(void) {
    return 4.0 * (double)in_count(&ex_current_exercise()->technique_case);
}

/* The baseline allocates and frees five temporaries, ten calls. One allocation for all levels, and
 * its free, are two. */
START_TEST(no_call_waits_for_the_device) {
    ex_require_at_most("synchronizing_calls", 0,
                       "allocations and frees in a stream's order don't wait for the device");
}
END_TEST

/* A level of n / 2 numbers and the next one of n / 4 are needed at once: 3/4 of the input. */
START_TEST(memory_is_reused) {
    ex_require_at_most_per("max_temporary_bytes", input_bytes(), "byte of the input", 0.8,
                           "no more than two levels are needed at once");
}
END_TEST

/* A warp's results take three loads of 8 or 9 sectors for 8 sectors of a level; all levels together
 * have twice the numbers of the input. */
START_TEST(levels_are_read_once) {
    ex_require_at_most_per("device_read_sectors", input_bytes() / 32, "sector of the input", 7,
                           "each level is read once, by neighbouring lanes");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(EX_MIN_BLOCKS); }
END_TEST

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, no_call_waits_for_the_device);
    tcase_add_test(guards, memory_is_reused);
    tcase_add_test(guards, levels_are_read_once);
    tcase_add_test(guards, many_SMs_work);
}

/* Timed with 67 MB in. */
EXERCISE(pyramid, .chapter = "13-async", .title = "Temporaries from a pool", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 100000}, {1, 6}}, .adjust = make_divisible},
         .technique_case = {{1 << 18, 6}}, .timed_case = {{1 << 24, 6}}, .reference = reference,
         .tolerance = tolerance, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 100, .speed = 0}, .tests = tests,
         .baseline = "1-malloc");
