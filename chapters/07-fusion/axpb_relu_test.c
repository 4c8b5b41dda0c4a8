/* axpb_relu_test.c — out = max(a * x + b, 0), where out may be x; graded on fusion: no intermediate
 * results in memory. */
#include "common/exercise_fusion.h"

enum { OUT, X };

static int out_is_x(const struct ex_case *c) { return c->variant == 1 ? X + 1 : 0; }

static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    const float *x = host[X];
    double *out = expected[OUT], *after = expected[X], a = *(float *)host[2], b = *(float *)host[3];
    for (long i = 0; i < c->dim[0]; i++) {
        out[i] = fmax(a * x[i] + b, 0);
        if (c->variant == 1) after[i] = out[i];
    }
}

/* A product below 3 and a sum below 6 are rounded: at most 3u + 6u. The maximum is exact and does
 * not increase errors. */
static double tolerance(const struct ex_case *c, void *const host[], int arg, size_t index,
                        double expected) {
    (void)host, (void)index, (void)expected;
    return arg == X && c->variant != 1 ? 0 : 9 * EX_ROUNDOFF_F32;
}

static double bytes(const struct ex_case *c) { return 8.0 * ex_fusion_count(c); }
static double flops(const struct ex_case *c) { return 2.0 * ex_fusion_count(c); }

static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F32, .count = ex_fusion_count, .alias = out_is_x},
    {.name = "x", .role = EX_INOUT, .type = EX_F32, .count = ex_fusion_count},
    {.name = "a", .role = EX_SCALAR, .type = EX_F32, .value = ex_fusion_factor},
    {.name = "b", .role = EX_SCALAR, .type = EX_F32, .value = ex_fusion_factor},
    {.name = "n", .role = EX_SCALAR, .type = EX_I32, .dim = 0},
};

static const struct ex_case cases[] = {
    {{0}, .label = "nothing to do"},
    {{1}, .label = "one element"},
    {{31}, .label = "one less than a warp"},
    {{33}, .label = "one more than a warp"},
    {{257}, .label = "one more than a block"},
    {{10007}, .label = "a prime"},
    {{33}, 1, "out is x"},
    {{65537}, 1, "out is x, one past a power of two"},
};

START_TEST(matches_the_reference) { ex_check_case(&cases[_i]); }
END_TEST

START_TEST(one_kernel) {
    ex_require_at_most("launches", 1,
                       "a value that is in a register can be scaled, shifted and cut off there");
}
END_TEST

START_TEST(one_read_and_one_write) {
    ex_require_fused_in_registers(1, "x is read once", "the result is stored once");
}
END_TEST

START_TEST(many_SMs_work) { ex_require_min_blocks(8); }
END_TEST

/* The idea that separates the ladder's last step from the model solution. */
static void ideas(void) {
    ex_suggest(
        ex_metric_value("global_load_requests") >
            ex_fusion_count(&ex_current_exercise()->technique_case) / 48.0,
        "load and store four elements as one vector, so that each thread has more bytes in flight",
        "02-coalescing", "By hand: vector_loads");
}

static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, matches_the_reference, 0, EX_COUNT(cases));
    tcase_add_test(goals, one_kernel);
    tcase_add_test(goals, one_read_and_one_write);
    tcase_add_test(guards, many_SMs_work);
}

EXERCISE(axpb_relu, .chapter = "07-fusion", .title = "Three kernels to one, in place", .args = args,
         .nargs = EX_COUNT(args), .cases = cases, .ncases = EX_COUNT(cases),
         .draw = {.dim = {{1, 70000}}, .variants = {"", "out is x"}}, .technique_case = {{1 << 17}},
         .timed_case = {{1 << 24}}, .reference = reference, .tolerance = tolerance, .bytes = bytes,
         .flops = flops, .points = {.correctness = 0, .technique = 60, .speed = 40}, .tests = tests,
         .ideas = ideas, .baseline = "1-three-kernels");
