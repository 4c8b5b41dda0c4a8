/* spikes_test.c — cells in a ring fire above a threshold that depends on how many fired before;
 * graded on launches, and on memory traffic from step to step. */
#include "common/exercise_limits.h"

#include <stdlib.h>

enum { N, STEPS };                   /* dimensions */
enum { PLAIN, QUIET, LOUD, STRONG }; /* variants */
enum { MAX_POTENTIAL = 1 << 20, START = 160, MIN_POTENTIAL = 64, WEIGHT = 20 };

static void fill_v(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    for (size_t i = 0; i < count; i++)
        ((int *)data)[i] = (int)ex_uniform_int(r, c->variant == LOUD ? START : 0,
                                               c->variant == LOUD ? 400 : START);
}

static void fill_drive(const struct ex_case *c, struct ex_rng *r, void *data, size_t count) {
    long low = c->variant == STRONG ? 20 : 0, high = c->variant == QUIET    ? 0
                                                     : c->variant == STRONG ? 60
                                                                            : 15;
    for (size_t i = 0; i < count; i++) ((int *)data)[i] = (int)ex_uniform_int(r, low, high);
}

static size_t cells(const struct ex_case *c) { return (size_t)c->dim[N]; }

static long fire(const int *v, unsigned char *fires, long n, long at) {
    long count = 0;
    for (long i = 0; i < n; i++) count += fires[i] = v[i] >= at;
    return count;
}

/* Applies the task's rule step by step. */
static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    long n = c->dim[N], at = START;
    int *v = calloc((size_t)n + 1, sizeof *v);
    unsigned char *fires = calloc((size_t)n + 1, 1);
    for (long i = 0; i < n; i++) v[i] = ((const int *)host[1])[i];
    for (long k = 0; k < c->dim[STEPS] && n; k++) {
        long count = fire(v, fires, n, at), next = at + 256 * count / n - 16;
        for (long i = 0; i < n; i++)
            v[i] += ((const int *)host[2])[i] +
                    WEIGHT * (fires[(i + n - 1) % n] + fires[(i + 1) % n]) -
                    (fires[i] ? (int)at : 0);
        at = next > MIN_POTENTIAL ? next : MIN_POTENTIAL;
    }
    for (long i = 0; i < n; i++) ((int64_t *)expected[0])[i] = v[i];
    free(v), free(fires);
}

/* v and drive are read, out is written. */
static double bytes(const struct ex_case *c) { return 12.0 * (double)cells(c); }
static double flops(const struct ex_case *c) {
    return 6.0 * (double)cells(c) * (double)c->dim[STEPS];
}

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_I32, .count = cells},
    {.name = "v", .role = EX_IN, .type = EX_I32, .count = cells, .fill = fill_v},
    {.name = "drive", .role = EX_IN, .type = EX_I32, .count = cells, .fill = fill_drive},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = N},
    {.name = "steps", .role = EX_SCALAR, .type = EX_I32, .dim = STEPS},
};

static const struct ex_case cases[] = {
    {{0, 5}, .label = "no cells"},
    {{100, 0}, .label = "no steps"},
    {{1, 30}, .label = "one cell, its own neighbour"},
    {{2, 30}, .label = "two cells, each other's neighbours on both sides"},
    {{31, 20}, .label = "one less than a warp"},
    {{33, 1}, .label = "one step; one more than a warp"},
    {{1009, 40}, .label = "a prime"},
    {{8192, 12}, .label = "a power of two"},
    {{65537, 12}, .label = "one more than a power of two"},
    {{3000, 60}, QUIET, "nothing drives: the threshold falls to its least"},
    {{5000, 7}, LOUD, "all fire at first"},
    {{20000, 25}, STRONG, "a strong drive: the threshold rises"},
    {{MAX_POTENTIAL, 3}, .label = "as many cells as there may be"},
    {{MAX_POTENTIAL - 77, 4}, .label = "and a few less"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

START_TEST(one_launch_for_all_steps) {
    ex_require_at_most("launches", 2,
                       "blocks that all run at one time can wait for each other at a grid barrier");
}
END_TEST

static double cells_of_all_steps(void) {
    const struct ex_case *c = &ex_current_exercise()->technique_case;
    return (double)cells(c) * (double)c->dim[STEPS] / 8;
}

/* A version with a launch for each step reads a cell's sector four times and writes it once. */
START_TEST(cells_stay_on_the_chip) {
    ex_require_at_most_per(
        "device_read_sectors", cells_of_all_steps(), "sector of cells and step", 0.5,
        "a block can keep the cells that only it writes; others need its first cell, its last "
        "one, and a number");
    ex_require_at_most_per("device_write_sectors", cells_of_all_steps(), "sector of cells and step",
                           0.25, "only the last step's cells are a result");
    ex_require_at_most("local_requests", 0,
                       "an array that is indexed by a variable lives in memory, not in registers");
    ex_require_at_most("spill_bytes", 16, "values that don't fit into registers spill");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(32); }
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(true,
               "keep flags as bits of a vote, and do the inner cells between arriving at the "
               "barrier and waiting for it",
               "15-clusters", "By hand: spikes");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, one_launch_for_all_steps);
    tcase_add_test(goals, cells_stay_on_the_chip);
    tcase_add_test(guards, many_SMs_work);
}

/* Timed with 8 MB in; one SM's memory can hold a 128th of that. */
EXERCISE(spikes, .chapter = "15-clusters", .title = "Steps that need all of the step before",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, MAX_POTENTIAL}, {1, 60}},
                  .max_product = 600000,
                  .variants = {"", "nothing drives", "all fire at first", "a strong drive"}},
         .technique_case = {{1 << 18, 30}}, .timed_case = {{MAX_POTENTIAL, 60}},
         .reference = reference, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 60, .speed = 40}, .tests = tests, .ideas = ideas,
         .baseline = "1-launches");
