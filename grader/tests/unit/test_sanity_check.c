/* test_sanity_check.c — tests the lower bounds of grader/grade/sanity_check.c: times that no
 * honest program can reach at the timed size. */
#include "grader/grade/grading_ctx.h"
#include "grader/tests/unit/unit.h"

#include <string.h>

enum { N = 1 << 22 };

static size_t count(const struct ex_case *c) { return (size_t)c->dim[0]; }
static double bytes(const struct ex_case *c) { return 8.0 * count(c); }
static const struct ex_arg args[] = {
    {.name = "out", .role = EX_OUT, .type = EX_F32, .count = count}};
static const struct exercise exercise = {
    .name = "none", .args = args, .nargs = 1, .timed_case = {{N}}, .bytes = bytes};

/* An MX330 moves 48 GB/s and has 512 KiB of L2, which may keep its share: (2^25 - 2^19) bytes /
 * 48e9 = 688 us. */
START_TEST(times_below_the_floor_or_outside_the_interval_are_flagged) {
    static const struct {
        double us, high_us;
        unsigned sectors; /* written; 2^22 floats are 2^19 of them */
        const char *expected_text;
    } rows[] = {
        {700, 0, N / 8, ""},
        {670, 0, N / 8, "faster than the device can be"}, /* a measured time has no `high` */
        {670, 900, N / 8, ""}, /* the model's error is on the other side */
        {400, 600, N / 8, "faster than the device can be"},
        {700, 900, N / 64,
         "the kernels write at most 2097152 bytes, but the outputs have 16777216"},
    };
    const struct grade_options o = {.device = device_find("mx330")};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct grading_ctx g = {.ex = &exercise, .o = &o};
        struct launch_stats modelled = {
            .seconds = rows[i].us * 1e-6, .high = rows[i].high_us * 1e-6, .launches = 1};
        modelled.counters.global_store_sectors = rows[i].sectors;
        sanity_check_work(&g, &modelled);
        ck_assert_int_eq(!g.implausible_reason[0], !rows[i].expected_text[0]);
        ck_assert_msg(strstr(g.implausible_reason, rows[i].expected_text), "row %u: %s", i,
                      g.implausible_reason);
    }
}
END_TEST

/* 2^40 operations on an H200. FP32: 132 SMs x 128 lanes x 2 at 1980 MHz, 66.9 TFLOP/s, 16.43 ms.
 * mma: 132 x 4 quarters, 4096 operations in 6 cycles: 713.7 TFLOP/s, 1.541 ms. Three products for
 * one, as 3xTF32 has them, leave none to FP32. */
START_TEST(tensor_core_kernels_have_their_own_floor) {
    const struct gpu_device *d = device_find("h200");
    double all = 1099511627776.0;
    ck_assert_double_eq_tol(grade_compute_seconds(d, all, 0), 16.43e-3, 0.02e-3);
    ck_assert_double_eq_tol(grade_compute_seconds(d, all, all), 1.541e-3, 0.002e-3);
    ck_assert_double_eq_tol(grade_compute_seconds(d, all, all / 2), 8.987e-3, 0.02e-3);
    ck_assert_double_eq_tol(grade_compute_seconds(d, all, 3 * all), 1.541e-3, 0.002e-3);
    /* Of products of halves, the same for a version that has none of them there. */
    ck_assert_double_eq(
        grade_tensor_flops(&(struct exercise){.has_tensor_core_roof = true}, all, 0), all);
    ck_assert_double_eq(grade_tensor_flops(&(struct exercise){0}, all, all / 2), all / 2);
}
END_TEST

UNIT_SUITE(sanity_check) {
    Suite *s = suite_create("sanity_check");
    TCase *t = tcase_create("floors");
    tcase_add_test(t, times_below_the_floor_or_outside_the_interval_are_flagged);
    tcase_add_test(t, tensor_core_kernels_have_their_own_floor);
    suite_add_tcase(s, t);
    return s;
}
