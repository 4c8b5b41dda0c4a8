/* halo_exchange_test.c — steps of a heat equation on a plate whose halves lie on two devices;
 * graded on an exchange of rows in both directions at once, while the kernels compute the rest. */
#include "common/exercise_limits.h"

#include <stdlib.h>
#include <string.h>

enum { DEVICES = 2 };

static size_t cells(const struct ex_case *c) { return (size_t)c->dim[0] * (size_t)c->dim[1]; }

EX_VECTORIZED static void step_row(double *out, const double *above, const double *here,
                                   const double *below, size_t cols) {
    for (size_t i = 1; i + 1 < cols; i++)
        out[i] = 0.25 * (above[i] + below[i] + here[i - 1] + here[i + 1]);
}

static double *row_of(const struct ex_case *c, void *const halves[], size_t r) {
    size_t rows = (size_t)c->dim[0], cols = (size_t)c->dim[1];
    return (double *)halves[r / rows] + r % rows * cols;
}

/* One step in place: the old values of two rows are kept. The plate's rim keeps its values. */
static void step(const struct ex_case *c, void *const halves[], double *above, double *here) {
    size_t cols = (size_t)c->dim[1], rows = DEVICES * (size_t)c->dim[0];
    memcpy(above, row_of(c, halves, 0), cols * sizeof *above);
    for (size_t r = 1; r + 1 < rows; r++) {
        double *out = row_of(c, halves, r), *old = above;
        memcpy(here, out, cols * sizeof *here);
        step_row(out, above, here, row_of(c, halves, r + 1), cols);
        above = here, here = old;
    }
}

/* The plate takes 200 MB as doubles where the grader times it, so it lies in `expected`. */
static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    size_t cols = (size_t)c->dim[1];
    double *above = malloc((cols + 1) * sizeof *above), *here = malloc((cols + 1) * sizeof *here);
    for (int d = 0; d < DEVICES; d++)
        for (size_t i = 0; i < cells(c); i++)
            ((double *)expected[d])[i] = ((const float *)host[2 + d])[i];
    for (long t = 0; cells(c) && t < c->dim[2]; t++) step(c, expected, above, here);
    free(above), free(here);
}

/* A step adds up four numbers of at most 1 by three roundings, and a quarter of an error in each of
 * them is an error in the mean; a fourth is for other orders of the additions. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)host, (void)arg, (void)index, (void)expected;
    return 4.0 * (double)c->dim[2] * EX_ROUNDOFF_F32;
}

/* Every cell is read once and written once. */
static double bytes(const struct ex_case *c) { return 8.0 * DEVICES * (double)cells(c); }
static double flops(const struct ex_case *c) {
    return 4.0 * DEVICES * (double)cells(c) * (double)c->dim[2];
}

static const struct ex_arg args[] = {
    {.name = "out0", .role = EX_OUT, .type = EX_F32, .count = cells, .shape = {1, 2}},
    {.name = "out1", .role = EX_OUT, .type = EX_F32, .count = cells, .shape = {1, 2}, .device = 1},
    {.name = "in0", .role = EX_IN, .type = EX_F32, .count = cells, .shape = {1, 2}},
    {.name = "in1", .role = EX_IN, .type = EX_F32, .count = cells, .shape = {1, 2}, .device = 1},
    {.name = "rows", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
    {.name = "cols", .role = EX_SCALAR, .type = EX_I32, .dim = 1},
    {.name = "steps", .role = EX_SCALAR, .type = EX_I32, .dim = 2},
};

static const struct ex_case cases[] = {
    {{0, 33, 2}, .label = "no rows"},        {{33, 0, 2}, .label = "no columns"},
    {{5, 40, 0}, .label = "no steps"},       {{1, 100, 3}, .label = "one row each"},
    {{2, 37, 1}, .label = "one step"},       {{31, 33, 2}, .label = "around a warp"},
    {{64, 256, 3}, .label = "a block wide"}, {{17, 257, 4}, .label = "one past a block"},
    {{101, 67, 5}, .label = "primes"},       {{40, 300, 6}, .label = "an even number of steps"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

/* ---- at the technique size ---- */

static double steps(void) { return (double)ex_current_exercise()->technique_case.dim[2]; }

/* A step needs a row of each part's neighbour. */
static double exchanged_bytes(void) {
    return 4.0 * DEVICES * steps() * (double)ex_current_exercise()->technique_case.dim[1];
}

static double warp_steps(void) { return DEVICES * ex_element_count(0) / 32 * steps(); }

START_TEST(rows_cross_in_both_directions_at_once) {
    ex_require_at_most_per("peer_critical_path", exchanged_bytes(), "byte that has to cross", 0.55,
                           "a link has both directions, and half of the bytes go each way");
}
END_TEST

/* Without a limit on the instructions, idle kernels beside the copies would count as overlap. */
START_TEST(the_exchange_overlaps_the_work) {
    double step = ex_metric_value("inst_executed") / (DEVICES * steps());
    ex_require_at_least_per("peer_overlap", step, "step of a device", 0.75,
                            "only the rows next to the other part wait for its row");
    ex_require_at_most_per("inst_executed", warp_steps(), "32 cells and step", 40,
                           "a cell takes five loads, four operations and a store");
}
END_TEST

START_TEST(only_rows_cross) {
    ex_require_at_most_per("peer_bytes", exchanged_bytes(), "byte that has to cross", 1.01,
                           "a step needs one row of the other part");
}
END_TEST

/* With equal parts at the same time, half of all instructions are on the longest chain. */
START_TEST(both_devices_work) {
    ex_require_at_most_per("kernel_critical_path", ex_metric_value("inst_executed"),
                           "warp instruction", 0.6, "each device computes its part meanwhile");
    ex_require_at_most_per("inst_executed", warp_steps(), "32 cells and step", 40,
                           "each cell is computed once a step");
}
END_TEST

START_TEST(accesses_are_coalesced) {
    ex_require_packed_stores_on_average(1.1, "a row's cells lie one after another");
    ex_require_at_most_per("device_write_sectors", warp_steps() * 4, "sector of results", 1.2,
                           "each step writes each cell once");
}
END_TEST

/* A step of a device takes two launches, for the edge and for the inner rows. The model solution
 * allocates three buffers on each device before its steps and frees them after them, 12 calls that
 * may wait; one more for each step leaves the devices idle until the host has issued more. */
static void ideas(void) {
    ex_suggest(ex_metric_value("launches") > 3 * DEVICES * steps(),
               "compute all inner rows of a step in one launch, and the edge in another",
               "16-several-gpus", "Send early: the edge first");
    ex_suggest(ex_metric_value("synchronizing_calls") >= 12 + steps(),
               "let events order the commands of both devices, so that the host doesn't wait in "
               "each step",
               "16-several-gpus", "Example: divide by the largest element");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, rows_cross_in_both_directions_at_once);
    tcase_add_test(goals, the_exchange_overlaps_the_work);
    tcase_add_test(guards, only_rows_cross);
    tcase_add_test(guards, both_devices_work);
    tcase_add_test(guards, accesses_are_coalesced);
}

EXERCISE(halo_exchange, .chapter = "16-several-gpus",
         .title = "Rows that cross while the rest is computed", .devices = DEVICES, .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 120}, {1, 300}, {0, 6}}, .max_product = 60000},
         .technique_case = {{256, 1024, 4}}, .timed_case = {{3072, 4096, 4}},
         .reference = reference, .tolerance = tolerance, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 70, .speed = 30}, .tests = tests, .ideas = ideas,
         .baseline = "1-default-streams");
