/* intensity_test.c — operations, bytes and bound of three kernels. The tests compare the student's
 * numbers with the formulas below, and the formulas with the counters. So matching numbers predict
 * what the simulated GPU counts. */
#include "common/exercise_limits.h"

enum { N, STEPS };
enum { ANSWERS, Y, X, W };
enum { SCALE_ADD, HORNER, SMOOTH, KERNELS };

static size_t count(const struct ex_case *c) { return (size_t)c->dim[N]; }
static size_t count_y(const struct ex_case *c) { return KERNELS * count(c); }
static size_t count_answers(const struct ex_case *c) {
    (void)c;
    return 3 * KERNELS;
}

/* From NVIDIA's data sheets: H200, 67 TFLOP/s and 4.8 TB/s; T4, 8.1 TFLOP/s and 320 GB/s. Variant 1
 * is the T4. */
static double peak_flops(const struct ex_case *c, struct ex_rng *r) {
    (void)r;
    return c->variant == 1 ? 8.1e12 : 67e12;
}
static double peak_bytes(const struct ex_case *c, struct ex_rng *r) {
    (void)r;
    return c->variant == 1 ? 320e9 : 4.8e12;
}

static double kernel_flops(const struct ex_case *c, int kernel) {
    return 2.0 * count(c) * (kernel == HORNER ? c->dim[STEPS] : 1);
}

/* Each kernel moves x once and y once; scale_add also reads w. smooth's neighbours are on the chip
 * already. */
static double kernel_bytes(const struct ex_case *c, int kernel) {
    return (kernel == SCALE_ADD ? 12.0 : 8.0) * count(c);
}

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const float *x = host[X], *w = host[W];
    double *answers = expected[ANSWERS], *y = expected[Y];
    long n = c->dim[N];
    for (int k = 0; k < KERNELS; k++) {
        answers[3 * k] = kernel_flops(c, k);
        answers[3 * k + 1] = kernel_bytes(c, k);
        answers[3 * k + 2] =
            answers[3 * k] * peak_bytes(c, NULL) > answers[3 * k + 1] * peak_flops(c, NULL);
    }
    for (long i = 0; i < n; i++) {
        double sum = x[i];
        for (long s = 0; s < c->dim[STEPS]; s++) sum = sum * 0.5 + x[i];
        y[i] = 2.0 * x[i] + w[i];
        y[n + i] = sum;
        y[2 * n + i] = (i > 0 ? x[i - 1] : 0.0) + x[i] + (i + 1 < n ? x[i + 1] : 0.0);
    }
}

/* y: |values| <= 3. One rounding (scale_add), two (smooth), or a sum whose old error halves at each
 * step: at most 2 roundings of values up to 2 (horner). 3 * 2u covers all. The answers are exact:
 * they are integers, or compare ratios far from 1. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)c, (void)host, (void)index, (void)expected;
    return arg == Y ? 6 * EX_ROUNDOFF_F32 : 0;
}

static double bytes(const struct ex_case *c) { return 28.0 * count(c); }
static double flops(const struct ex_case *c) {
    return kernel_flops(c, SCALE_ADD) + kernel_flops(c, HORNER) + kernel_flops(c, SMOOTH);
}

static const struct ex_arg args[] = {
    {.name = "answers", .role = EX_OUT, .type = EX_F64, .count = count_answers},
    {.name = "y", .role = EX_OUT, .type = EX_F32, .count = count_y},
    {.name = "x", .role = EX_IN, .type = EX_F32, .count = count},
    {.name = "w", .role = EX_IN, .type = EX_F32, .count = count},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = N},
    {.name = "steps", .role = EX_SCALAR, .type = EX_I32, .dim = STEPS},
    {.name = "peak_flops", .role = EX_SCALAR, .type = EX_F64, .value = peak_flops},
    {.name = "peak_bytes", .role = EX_SCALAR, .type = EX_F64, .value = peak_bytes},
};

static const struct ex_case cases[] = {
    {{0, 8}, .label = "no elements: no operations, no bytes, not compute-bound"},
    {{1, 8}, .label = "one element"},
    {{33, 0}, .label = "no steps"},
    {{1000, 8}, .label = "few steps: 2 FLOP/byte"},
    {{1000, 64}, .label = "16 FLOP/byte: above the H200's ridge of 14"},
    {{1000, 64}, 1, "16 FLOP/byte: below the T4's ridge of 25"},
    {{257, 200}, 1, "50 FLOP/byte"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

START_TEST(the_numbers_are_predicted) {
    ex_require_at_most(
        "atomic_operations", 0,
        "numbers that come from n and steps need not be counted while the kernels run");
}
END_TEST

START_TEST(kernels_are_unchanged) {
    double total = flops(&ex_current_exercise()->technique_case);
    ex_require_at_most_per("flops_f32", total, "predicted operation", 1,
                           "the kernels compute what the starter file's kernels compute");
    ex_require_at_least_per("flops_f32", total, "predicted operation", 1,
                            "the kernels compute what the starter file's kernels compute");
}
END_TEST

START_TEST(each_result_is_written_once) {
    ex_require_at_most_per(
        "global_store_threads", count_y(&ex_current_exercise()->technique_case) + 9, "result", 1,
        "your prediction has each result written once, so the kernels must do that");
}
END_TEST

/* Ideas that make versions slower than the model solution without a counted operation. The kernels
 * read x three times more for smooth and w once: 6 n loads. */
static void ideas(void) {
    const struct ex_case *c = &ex_current_exercise()->technique_case;
    ex_suggest(ex_metric_value("device_read_accesses") > 6.0 * count(c),
               "compute all nine numbers on the host, so that no kernel reads what another one "
               "wrote",
               "00-roofline", "Example: one element a thread, or several");
    ex_suggest(ex_metric_value("threads") < 128 * ex_metric_value("blocks"),
               "launch blocks of 128 or more threads, so that the blocks on an SM fill it",
               "06-occupancy", "What limits the warps on an SM");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, the_numbers_are_predicted);
    tcase_add_test(guards, kernels_are_unchanged);
    tcase_add_test(guards, each_result_is_written_once);
}

EXERCISE(intensity, .chapter = "00-roofline",
         .title = "Compute-bound or memory-bound, before it runs", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 1200}, {1, 200}}, .variants = {"an H200", "a T4"}},
         .technique_case = {{4096, 64}}, .timed_case = {{1 << 20, 64}}, .reference = reference,
         .tolerance = tolerance, .bytes = bytes, .flops = flops,
         .points = {.correctness = 10, .technique = 70, .speed = 20}, .tests = tests,
         .ideas = ideas, .baseline = "1-counted");
