/* test_timing_predicates.c — tests branches that ptxas replaces by predicates, and the L1 cost
 * of accesses by all lanes to one address, or by no lane. */
#include "grader/tests/unit/timing_spec.h"

/* One warp, four loads from L2 one after the other, each behind a branch over the load, its use and
 * `more` instructions. */
static struct kernel_spec guarded_loads(unsigned more) {
    struct kernel_spec s = {
        .blocks = SMS, .threads = 32, .n = 100, .dynamic_shared = 1024, .bytes = 1 << 20};
    s.prologue =
        "mul.wide.u32 %d10, %r4, 4;\nadd.s64 %d11, %d0, %d10;\nsetp.ge.s32 %p1, %r1, 1000;\n";
    for (unsigned k = 0; k < 4; k++) {
        spec_add(&s, "@%%p1 bra L%u;\nld.global.cg.u32 %%r%u, [%%d11+%u];\n", k, 30 + k, 65536 * k);
        for (unsigned i = 0; i < more; i++)
            spec_add(&s, "fma.rn.f32 %%f%u, %%f%u, %%f90, %%f91;\n", i, i);
        spec_add(&s, "st.shared.u32 [%%r7+%u], %%r%u;\nL%u:\n", 128 * k, 30 + k, k);
    }
    return s;
}

/* Up to 20 instructions ptxas replaces the branches by predicates, and the loads are in flight
 * together: one L2 latency (390) an iteration, not four. */
START_TEST(loads_behind_short_branches_are_in_flight_together) {
    struct kernel_spec together = guarded_loads(18), apart = guarded_loads(19);
    ck_about(spec_cycles(&together), 100 * (390 + 20), 0.2);
    ck_about(spec_cycles(&apart), 100 * 4 * (390 + 10), 0.1);
    ck_assert(spec_cycles_disabling(&together, TERM_BIT(SCHEDULING)) >
              2.5 * spec_cycles(&together));
    buf_free(&together.body), buf_free(&apart.body);
}
END_TEST

/* Half of the warps branch over eight additions: as predicated instructions they still take
 * their issue slots, and the branch takes none; nine are branched over. */
START_TEST(short_branches_are_predicated_for_all_warps) {
    struct kernel_spec s[2] = {{.blocks = SMS, .threads = 1024, .n = 100},
                               {.blocks = SMS, .threads = 1024, .n = 100}};
    for (unsigned k = 0; k < 2; k++) {
        s[k].prologue =
            "and.b32 %r20, %r6, 4;\nsetp.eq.s32 %p1, %r20, 0;\n"; /* four warps of eight,
                                                                   on all schedulers */
        spec_add(&s[k], "@%%p1 bra OVER;\n");
        for (unsigned i = 0; i < 8 + k; i++)
            spec_add(&s[k], "fma.rn.f32 %%f%u, %%f%u, %%f90, %%f91;\n", i, i);
        spec_add(&s[k], "OVER:\n");
    }
    ck_about(spec_cycles(&s[0]), 8 * 100 * (8 + 3), 0.1);
    ck_about(spec_cycles(&s[1]), 8 * 100 * (9 / 2.0 + 1 + 3), 0.15);
    buf_free(&s[0].body), buf_free(&s[1].body);
}
END_TEST

/* Half of the lanes take either arm, each of `n` instructions with the branch at its end; the next
 * iteration's load is behind them if `load`. */
static struct kernel_spec two_arms(unsigned n, bool load) {
    struct kernel_spec s = {.blocks = SMS, .threads = 1024, .n = 100, .bytes = 1 << 20};
    s.prologue = "and.b32 %r20, %r5, 1;\nsetp.eq.s32 %p1, %r20, 0;\n"
                 "mul.wide.u32 %d10, %r4, 4;\nadd.s64 %d11, %d0, %d10;\n";
    spec_add(&s, "@%%p1 bra THEN;\nbra.uni OTHER;\nTHEN:\n");
    for (unsigned i = 0; i + 1 < n; i++)
        spec_add(&s, "fma.rn.f32 %%f%u, %%f%u, %%f90, %%f91;\n", i, i);
    spec_add(&s, "bra.uni END;\nOTHER:\n");
    for (unsigned i = 0; i + 1 < n; i++)
        spec_add(&s, "fma.rn.f32 %%f%u, %%f%u, %%f92, %%f93;\n", i, i);
    spec_add(&s, "END:\n");
    if (load) spec_add(&s, "ld.global.u32 %%r30, [%%d11];\n");
    return s;
}

/* ptxas replaces both arms by predicates up to 8 instructions each, or up to 10 where a load is
 * behind them (grader/tests/timing/if_conversion.py): no branch takes an issue slot. Divergent
 * lanes run both arms either way, so longer arms cost the two branches more: 16 instead of 14 of 8.
 */
START_TEST(both_arms_of_an_else_are_predicated) {
    struct kernel_spec s[2] = {two_arms(8, false), two_arms(9, false)};
    ck_about(spec_cycles(&s[0]), 8 * 100 * (14 + 3), 0.1);
    ck_about(spec_cycles(&s[1]), 8 * 100 * (16 + 2 + 3), 0.15);
    struct kernel_spec with_load[2] = {two_arms(10, true), two_arms(11, true)};
    double step = spec_cycles(&with_load[1]) - spec_cycles(&with_load[0]);
    ck_assert_msg(step > 8 * 100 * 3, "two more instructions and two branches: %g cycles", step);
    for (unsigned i = 0; i < 2; i++) buf_free(&s[i].body), buf_free(&with_load[i].body);
}
END_TEST

/* ptxas folds the saturation of a product into FFMA.SAT, as in each expf: a pair is one instruction
 * of the FMA pipe, not one of XU besides, which takes 16 lanes a clock. */
START_TEST(saturation_is_folded_into_the_product) {
    struct kernel_spec s = {.blocks = SMS, .threads = 1024, .n = 100};
    for (unsigned i = 0; i < 8; i++)
        spec_add(&s, "fma.rn.f32 %%f%u, %%f%u, %%f90, %%f91;\ncvt.sat.f32.f32 %%f%u, %%f%u;\n", i,
                 i, i, i);
    ck_about(spec_cycles(&s), 8 * 100 * (8 + 3), 0.1);
    buf_free(&s.body);
}
END_TEST

/* One wavefront for each access with no active lane, two for each with a bank conflict. */
START_TEST(fully_predicated_off_accesses_cost_a_wavefront) {
    struct kernel_spec s = {.blocks = SMS, .threads = 1024, .n = 20, .dynamic_shared = 16384};
    s.prologue = "shl.b32 %r20, %r5, 3;\nadd.s32 %r21, %r7, %r20;\nsetp.ge.s32 %p1, %r1, 5000;\n";
    for (unsigned i = 0; i < 8; i++)
        spec_add(&s, "ld.shared.u32 %%r%u, [%%r21+%u];\n@%%p1 ld.shared.u32 %%r%u, [%%r21+%u];\n",
                 30 + i, 512 * i, 40 + i, 512 * i + 4096);
    ck_about(spec_cycles(&s), 32 * 20 * 8 * (2 + 1), 0.1);
    buf_free(&s.body);
}
END_TEST

/* 512 bytes of registers take four wavefronts to fill, though all lanes read the same 16. */
START_TEST(wide_broadcast_loads_cost_register_writes) {
    struct kernel_spec s = {.blocks = SMS, .threads = 1024, .n = 40};
    for (unsigned i = 0; i < 8; i++)
        spec_add(&s, "ld.global.v4.u32 {%%r%u, %%r%u, %%r%u, %%r%u}, [%%d0+%u];\n", 30 + 4 * i,
                 31 + 4 * i, 32 + 4 * i, 33 + 4 * i, 16 * i);
    ck_about(spec_cycles(&s), 32 * 40 * 8 * 4, 0.15);
    buf_free(&s.body);
}
END_TEST

/* Each distinct word of constant memory takes two cycles; one word for all lanes is an argument. */
START_TEST(constant_accesses_serialize_by_distinct_word) {
    struct kernel_spec s = {
        .blocks = SMS, .threads = 1024, .n = 20, .functions = ".const .align 4 .b8 table[1024];\n"};
    s.prologue =
        "mov.u64 %d20, table;\nand.b32 %r21, %r5, 7;\nmul.wide.u32 %d21, %r21, 4;\nadd.s64 "
        "%d22, %d20, %d21;\n";
    for (unsigned i = 0; i < 4; i++)
        spec_add(&s, "ld.const.u32 %%r%u, [%%d22+%u];\n", 30 + i, 32 * i);
    ck_about(spec_cycles(&s), 32 * 20 * 4 * 8 * 2, 0.1);
    buf_free(&s.body);
}
END_TEST

UNIT_SUITE(timing_predicates) {
    Suite *s = suite_create("timing_predicates");
    TCase *c = tcase_create("terms");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, loads_behind_short_branches_are_in_flight_together);
    tcase_add_test(c, short_branches_are_predicated_for_all_warps);
    tcase_add_test(c, both_arms_of_an_else_are_predicated);
    tcase_add_test(c, saturation_is_folded_into_the_product);
    tcase_add_test(c, fully_predicated_off_accesses_cost_a_wavefront);
    tcase_add_test(c, wide_broadcast_loads_cost_register_writes);
    tcase_add_test(c, constant_accesses_serialize_by_distinct_word);
    suite_add_tcase(s, c);
    return s;
}
