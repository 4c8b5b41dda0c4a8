/* test_timing_l1.c — tests what shares the SM's load/store path: arriving data, loads of constants.
 * Expected figures: tiles-h100.tsv and ncu.tsv. */
#include "grader/tests/unit/timing_spec.h"

enum { PER_SM = 8, WARPS = 8, LOOPS = 30, SHARED_LOADS = 40 };

/* Loads from shared memory alone, as many blocks and warps as the case copies-8x8 of tiles.cu. */
static struct kernel_spec shared_loads(void) {
    struct kernel_spec s = {.blocks = PER_SM * SMS,
                            .threads = WARPS * 32,
                            .n = LOOPS,
                            .bytes = 1 << 20,
                            .warm = true,
                            .dynamic_shared = 8192,
                            .functions = ".const .align 4 .b8 taps[512];\n"};
    s.prologue = "mul.wide.u32 %d10, %r1, 4;\nadd.s64 %d11, %d0, %d10;\n";
    for (unsigned i = 0; i < SHARED_LOADS; i++)
        spec_add(&s, "ld.shared.u32 %%r%u, [%%r7+%u];\n", 30 + i, 16 * i + 4);
    return s;
}

/* copies-8x8 less barriers-8x8: a load that L1 misses and a store to shared memory take 4.2 cycles,
 * with two blocks of 32 warps 4.8. */
START_TEST(data_that_arrive_take_wavefronts) {
    struct kernel_spec without = shared_loads(), with = shared_loads();
    spec_add(&with, "ld.global.cg.u32 %%r80, [%%d11];\nst.shared.u32 [%%r7], %%r80;\n");
    double pair = (spec_cycles(&with) - spec_cycles(&without)) / (PER_SM * WARPS * LOOPS);
    ck_about(pair, 4.5, 0.2);
    buf_free(&without.body), buf_free(&with.body);
}
END_TEST

/* Step 4 of convolution: ncu counts one instruction of the LSU pipe for each load from shared
 * memory, and none for the tap that is loaded beside it. */
START_TEST(constant_loads_take_no_lsu_slot) {
    struct kernel_spec without = shared_loads(), with = shared_loads();
    for (unsigned i = 0; i < SHARED_LOADS; i++)
        spec_add(&with, "ld.const.u32 %%r80, [taps+%u];\nadd.u32 %%r81, %%r81, %%r80;\n", 4 * i);
    unsigned lsu = 0;
    while (strcmp(time_component_name(lsu), "LSU pipe") != 0) lsu++;
    ck_about(spec_model(&with).components[lsu], spec_model(&without).components[lsu], 0.02);
    buf_free(&without.body), buf_free(&with.body);
}
END_TEST

UNIT_SUITE(timing_l1) {
    Suite *s = suite_create("timing_l1");
    TCase *c = tcase_create("l1");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, data_that_arrive_take_wavefronts);
    tcase_add_test(c, constant_loads_take_no_lsu_slot);
    suite_add_tcase(s, c);
    return s;
}
