/* launch_bounds_test.c — 48 sums for each thread; graded on registers, spills and occupancy, which
 * follow from the launch bounds. */
#include "common/exercise_limits.h"

enum { SIGNALS, LENGTH, FILTERS = 48 };

static size_t count_out(const struct ex_case *c) { return (size_t)c->dim[SIGNALS] * FILTERS; }
static size_t count_in(const struct ex_case *c) { return (size_t)c->dim[SIGNALS] * c->dim[LENGTH]; }
static size_t count_gain(const struct ex_case *c) { return (size_t)c->dim[LENGTH] * FILTERS; }

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const float *in = host[1], *gain = host[2];
    double *out = expected[0];
    long signals = c->dim[SIGNALS];
    for (size_t i = 0; i < count_out(c); i++) out[i] = 0;
    for (long j = 0; j < c->dim[LENGTH]; j++)
        for (long f = 0; f < FILTERS; f++)
            for (long s = 0; s < signals; s++)
                out[f * signals + s] += (double)in[j * signals + s] * gain[j * FILTERS + f];
}

/* A sum of `length` products below 1, as in a matrix product: (k + 1) u (k / 2 + 1), see
 * exercise_gemm.h. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)host, (void)arg, (void)index, (void)expected;
    return (c->dim[LENGTH] + 1) * EX_ROUNDOFF_F32 * (c->dim[LENGTH] / 2.0 + 1);
}

static double bytes(const struct ex_case *c) {
    return 4.0 * (count_out(c) + count_in(c) + count_gain(c));
}
static double flops(const struct ex_case *c) { return 2.0 * FILTERS * count_in(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F32, .count = count_out},
    {.name = "in",
     .role = EX_IN,
     .type = EX_F32,
     .count = count_in,
     .shape = {LENGTH + 1, SIGNALS + 1}},
    {.name = "gain", .role = EX_IN, .type = EX_F32, .count = count_gain},
    {.name = "signals", .role = EX_SCALAR, .type = EX_I32, .dim = SIGNALS},
    {.name = "length", .role = EX_SCALAR, .type = EX_I32, .dim = LENGTH},
};

static const struct ex_case cases[] = {
    {{0, 5}, .label = "no signals"},
    {{5, 0}, .label = "no samples: all sums are 0"},
    {{1, 1}, .label = "one sample"},
    {{31, 7}, .label = "one less than a warp"},
    {{33, 8}, .label = "one more than a warp"},
    {{257, 5}, .label = "one more than a block"},
    {{1009, 13}, .label = "primes"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

static double samples(void) { return count_in(&ex_current_exercise()->technique_case); }

/* 48 sums, a sample, four gains and addresses need about 58 registers. With 64 there is no spill;
 * on an H200, 65 536 / 64 are 1024 threads, half of an SM's. Without a bound, ptxas (13.0) uses 72:
 * one block of 512, 25 %. With 48 or fewer it must spill. */
START_TEST(occupancy_without_spills) {
    ex_require_at_least("theoretical_occupancy", 0.99 * ex_theoretical_occupancy(512, 64, 0),
                        "with at most 64 registers a thread, half of an SM's warps fit");
    ex_require_at_most(
        "spill_bytes", 0,
        "a sum that is stored and loaded at each step costs more than the warps that it "
        "makes room for");
}
END_TEST

/* A few spilled values cost less than the additional warps gain, so the guard allows 20 registers;
 * the goal allows none. */
START_TEST(few_spills) {
    ex_require_at_most(
        "spill_bytes", 80,
        "a sum that is stored and loaded at each step costs more than the warps that it "
        "makes room for");
    ex_require_at_most("local_requests", 0,
                       "an array that is indexed by a variable lives in memory, too");
    ex_require_at_most_per(
        "shared_requests_total", samples() / 32, "warp-wide sample", 16,
        "gains may come from shared memory, 12 vectors; sums that are kept there are "
        "spilled by hand");
}
END_TEST

/* The loads are 12 vectors of gains and a sample. With fewer sums, a thread needs fewer registers,
 * but each sample is loaded again for each part of the filters. */
START_TEST(each_sample_is_loaded_once) {
    double gains = 4.0 * count_gain(&ex_current_exercise()->technique_case);
    ex_require_at_most_per(
        "device_read_accesses", samples(), "sample",
        FILTERS / 4 + 1.5 + ex_metric_value("const_load_threads") / samples(),
        "a thread loads its sample once for all 48 filters, and four gains at a time");
    ex_require_at_most("copied_bytes", gains,
                       "gains may be copied to constant memory, samples may not");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(4); }
END_TEST

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, occupancy_without_spills);
    tcase_add_test(guards, few_spills);
    tcase_add_test(guards, each_sample_is_loaded_once);
    tcase_add_test(guards, many_SMs_work);
}

/* Timed with 8 blocks of 512 for each of an H200's 132 SMs: four waves of two, or eight of one. */
EXERCISE(launch_bounds, .chapter = "06-occupancy", .title = "Registers against occupancy",
         .args = args, .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 1200}, {1, 16}}}, .technique_case = {{4096, 16}},
         .timed_case = {{540672, 32}}, .reference = reference, .tolerance = tolerance,
         .bytes = bytes, .flops = flops, .points = {.correctness = 0, .technique = 100, .speed = 0},
         .tests = tests, .baseline = "1-no-bound");
