/* scale_add_test.c — out = a * x + y; graded on fusion: no intermediate results in memory. */
#include "common/exercise_fusion.h"

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const float *x = host[1], *y = host[2];
    double *out = expected[0], a = *(float *)host[3];
    for (long i = 0; i < c->dim[0]; i++) out[i] = a * x[i] + y[i];
}

/* A product below 3 and a sum below 4 are rounded, or both at once in a fused operation: at most
 * 3u + 4u. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)c, (void)host, (void)arg, (void)index, (void)expected;
    return 7 * EX_ROUNDOFF_F32;
}

static double bytes(const struct ex_case *c) { return 12.0 * ex_fusion_count(c); }
static double flops(const struct ex_case *c) { return 2.0 * ex_fusion_count(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F32, .count = ex_fusion_count},
    {.name = "x", .role = EX_IN, .type = EX_F32, .count = ex_fusion_count},
    {.name = "y", .role = EX_IN, .type = EX_F32, .count = ex_fusion_count},
    {.name = "a", .role = EX_SCALAR, .type = EX_F32, .value = ex_fusion_factor},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
};

static const struct ex_case cases[] = {
    {{0}, .label = "nothing to do"},
    {{1}, .label = "one element"},
    {{31}, .label = "one less than a warp"},
    {{33}, .label = "one more than a warp"},
    {{257}, .label = "one more than a block"},
    {{10007}, .label = "a prime"},
    {{65537}, .label = "one past a power of two"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

START_TEST(one_kernel) {
    ex_require_at_most("launches", 1, "what a kernel has computed can be used in the same kernel");
}
END_TEST

START_TEST(no_intermediate_results) {
    ex_require_fused_in_registers(2, "x and y are read once", "only the result is stored");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(8); }
END_TEST

/* Ideas that separate the ladder's last steps from the model solution. */
static void ideas(void) {
    ex_suggest(
        ex_metric_value("global_load_requests") >
            ex_fusion_count(&ex_current_exercise()->technique_case) / 24.0,
        "load and store four elements as one vector, so that each thread has more bytes in flight",
        "02-coalescing", "By hand: vector_loads");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, one_kernel);
    tcase_add_test(goals, no_intermediate_results);
    tcase_add_test(guards, many_SMs_work);
}

EXERCISE(scale_add, .chapter = "07-fusion", .title = "Two kernels to one", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 70000}}}, .technique_case = {{1 << 17}}, .timed_case = {{1 << 24}},
         .reference = reference, .tolerance = tolerance, .bytes = bytes, .flops = flops,
         .points = {.correctness = 0, .technique = 70, .speed = 30}, .tests = tests, .ideas = ideas,
         .baseline = "1-two-kernels");
