/* test_timing_predicates.c — tests the time model of predicated code, of saturation that ptxas
 * folds into a product, and of accesses by no lane or by all lanes to one address.
 *
 * ptxas predicates the code behind a branch, and drops the branch, where an arm has up to so many
 * machine instructions, its branch included (measured: grader/tests/timing/if_conversion.py):
 *
 *     no load from global memory        8 in each arm
 *     a load in or after a single arm   20
 *     a load after two arms             20 together
 *
 * timing_spec.h lists the registers of the kernels: %r1 is the thread, %r5 the lane, %r6 the warp.
 * Each warp scheduler has 8 of a block's 32 warps; a loop adds an addition, a comparison and a
 * branch to each iteration. */
#include "grader/tests/unit/timing_spec.h"

enum { WARPS_PER_SCHEDULER = 8, WARPS_PER_SM = 32, LOOP_INSNS = 3, L2_LATENCY = 390 };

/* One warp, and four loads from L2 one after the other. Each is behind a branch over the load,
 * `nfma` FMAs and a store of what was loaded. No thread takes the branch. */
static struct kernel_spec guarded_loads(unsigned nfma) {
    struct kernel_spec s = {
        .blocks = SMS, .threads = 32, .n = 100, .dynamic_shared = 1024, .bytes = 1 << 20};
    s.prologue =
        "mul.wide.u32 %d10, %r4, 4;\nadd.s64 %d11, %d0, %d10;\nsetp.ge.s32 %p1, %r1, 1000;\n";
    for (unsigned k = 0; k < 4; k++) {
        spec_add(&s, "@%%p1 bra L%u;\nld.global.cg.u32 %%r%u, [%%d11+%u];\n", k, 30 + k, 65536 * k);
        for (unsigned i = 0; i < nfma; i++)
            spec_add(&s, "fma.rn.f32 %%f%u, %%f%u, %%f90, %%f91;\n", i, i);
        spec_add(&s, "st.shared.u32 [%%r7+%u], %%r%u;\nL%u:\n", 128 * k, 30 + k, k);
    }
    return s;
}

/* With 18 FMAs, the load and the store, 20 instructions are predicated, and the loads are in flight
 * together: one L2 latency an iteration, and about 20 cycles to issue the rest. With 19 FMAs, each
 * load waits for the one before: four latencies, each with 10 cycles for the branch and the store.
 * Without the model of ptxas's scheduling (TERM_BIT), the loads wait for each other, too. */
START_TEST(loads_behind_short_branches_are_in_flight_together) {
    struct kernel_spec together = guarded_loads(18), apart = guarded_loads(19);
    ck_about(spec_cycles(&together), 100 * (L2_LATENCY + 20), 0.2);
    ck_about(spec_cycles(&apart), 100 * 4 * (L2_LATENCY + 10), 0.1);
    ck_assert(spec_cycles_disabling(&together, TERM_BIT(SCHEDULING)) >
              2.5 * spec_cycles(&together));
    buf_free(&together.body), buf_free(&apart.body);
}
END_TEST

/* One warp a scheduler, 24 operations of the chains' results by themselves, in `chains` chains. */
static struct kernel_spec operation_chains(const char *operation, unsigned chains) {
    struct kernel_spec s = {.blocks = SMS, .threads = 128, .n = 50};
    for (unsigned i = 0; i < 24; i++)
        spec_add(&s, "%s %%f%u, %%f%u;\n", operation, i % chains, i % chains);
    return s;
}

/* A root with full rounding has a branch around its slow path, so independent ones run one after
 * the other: an H100 takes 33.6 us for four chains and 37.4 for one, with as many roots
 * (grader/tests/timing/terms.cu, roots4-32 and roots1-32). An approximation has none. */
START_TEST(roots_with_full_rounding_run_one_after_the_other) {
    struct kernel_spec one = operation_chains("sqrt.rn.f32", 1),
                       four = operation_chains("sqrt.rn.f32", 4),
                       approximate = operation_chains("sqrt.approx.ftz.f32", 1),
                       four_approximate = operation_chains("sqrt.approx.ftz.f32", 4);
    ck_about(spec_cycles(&four) / spec_cycles(&one), 33.6 / 37.4, 0.15);
    ck_assert(spec_cycles(&four_approximate) < 0.5 * spec_cycles(&approximate));
    buf_free(&one.body), buf_free(&four.body), buf_free(&approximate.body),
        buf_free(&four_approximate.body);
}
END_TEST

/* Warps 0 to 3 of each eight, half of each scheduler's warps, skip eight FMAs. ptxas predicates
 * these: all warps issue them, and there is no branch. It does not predicate nine: half of the
 * warps issue them, and all issue the branch. */
START_TEST(short_branches_are_predicated_for_all_warps) {
    struct kernel_spec s[2] = {{.blocks = SMS, .threads = 1024, .n = 100},
                               {.blocks = SMS, .threads = 1024, .n = 100}};
    for (unsigned k = 0; k < 2; k++) {
        s[k].prologue = "and.b32 %r20, %r6, 4;\nsetp.eq.s32 %p1, %r20, 0;\n";
        spec_add(&s[k], "@%%p1 bra OVER;\n");
        for (unsigned i = 0; i < 8 + k; i++)
            spec_add(&s[k], "fma.rn.f32 %%f%u, %%f%u, %%f90, %%f91;\n", i, i);
        spec_add(&s[k], "OVER:\n");
    }
    ck_about(spec_cycles(&s[0]), WARPS_PER_SCHEDULER * 100 * (8 + LOOP_INSNS), 0.1);
    ck_about(spec_cycles(&s[1]), WARPS_PER_SCHEDULER * 100 * (9 / 2.0 + 1 + LOOP_INSNS), 0.15);
    buf_free(&s[0].body), buf_free(&s[1].body);
}
END_TEST

/* Half of the lanes take each arm of an if and else. The first has n - 1 FMAs and a branch to the
 * end, the second n - 1 FMAs. With `load`, a load follows the two in the same iteration. */
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

/* Divergent lanes execute both arms in any case: 2 * 7 FMAs for n = 8, which ptxas predicates, and
 * 2 * 8 FMAs and two branches for n = 9. With a load after them, arms of 10 are predicated, those
 * of 11 aren't. */
START_TEST(both_arms_of_an_else_are_predicated) {
    struct kernel_spec s[2] = {two_arms(8, false), two_arms(9, false)};
    ck_about(spec_cycles(&s[0]), WARPS_PER_SCHEDULER * 100 * (2 * 7 + LOOP_INSNS), 0.1);
    ck_about(spec_cycles(&s[1]), WARPS_PER_SCHEDULER * 100 * (2 * 8 + 2 + LOOP_INSNS), 0.15);
    struct kernel_spec with_load[2] = {two_arms(10, true), two_arms(11, true)};
    double step = spec_cycles(&with_load[1]) - spec_cycles(&with_load[0]);
    ck_assert_msg(step > WARPS_PER_SCHEDULER * 100 * 3,
                  "two more FMAs and two branches, 4 in all, take %g cycles", step);
    for (unsigned i = 0; i < 2; i++) buf_free(&s[i].body), buf_free(&with_load[i].body);
}
END_TEST

/* ptxas folds the saturation of a product into FFMA.SAT, as in each expf. So the pair costs one FMA
 * instruction, without a conversion in the XU pipe (16 lanes a cycle). */
START_TEST(saturation_is_folded_into_the_product) {
    struct kernel_spec s = {.blocks = SMS, .threads = 1024, .n = 100};
    for (unsigned i = 0; i < 8; i++)
        spec_add(&s, "fma.rn.f32 %%f%u, %%f%u, %%f90, %%f91;\ncvt.sat.f32.f32 %%f%u, %%f%u;\n", i,
                 i, i, i);
    ck_about(spec_cycles(&s), WARPS_PER_SCHEDULER * 100 * (8 + LOOP_INSNS), 0.1);
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
    ck_about(spec_cycles(&s), WARPS_PER_SM * 20 * 8 * (2 + 1), 0.1);
    buf_free(&s.body);
}
END_TEST

/* 512 bytes of registers take four wavefronts to fill, though all lanes read the same 16 bytes. */
START_TEST(wide_broadcast_loads_cost_register_writes) {
    struct kernel_spec s = {.blocks = SMS, .threads = 1024, .n = 40};
    for (unsigned i = 0; i < 8; i++)
        spec_add(&s, "ld.global.v4.u32 {%%r%u, %%r%u, %%r%u, %%r%u}, [%%d0+%u];\n", 30 + 4 * i,
                 31 + 4 * i, 32 + 4 * i, 33 + 4 * i, 16 * i);
    ck_about(spec_cycles(&s), WARPS_PER_SM * 40 * 8 * 4, 0.15);
    buf_free(&s.body);
}
END_TEST

/* Each distinct word of constant memory takes two cycles; here each access has eight. */
START_TEST(constant_accesses_serialize_by_distinct_word) {
    struct kernel_spec s = {
        .blocks = SMS, .threads = 1024, .n = 20, .functions = ".const .align 4 .b8 table[1024];\n"};
    s.prologue =
        "mov.u64 %d20, table;\nand.b32 %r21, %r5, 7;\nmul.wide.u32 %d21, %r21, 4;\nadd.s64 "
        "%d22, %d20, %d21;\n";
    for (unsigned i = 0; i < 4; i++)
        spec_add(&s, "ld.const.u32 %%r%u, [%%d22+%u];\n", 30 + i, 32 * i);
    ck_about(spec_cycles(&s), WARPS_PER_SM * 20 * 4 * 8 * 2, 0.1);
    buf_free(&s.body);
}
END_TEST

/* A lane alone takes as long as a warp with one word; a uniform address costs nothing. */
START_TEST(constant_words_of_one_lane_take_two_cycles) {
    struct kernel_spec s = {
        .blocks = SMS, .threads = 1024, .n = 20, .functions = ".const .align 4 .b8 table[1024];\n"};
    s.prologue = "mov.u64 %d20, table;\nmul.wide.u32 %d21, %r5, 4;\nadd.s64 %d22, %d20, %d21;\n"
                 "setp.eq.u32 %p3, %r5, 3;\n";
    for (unsigned i = 0; i < 8; i++)
        spec_add(&s, "@%%p3 ld.const.u32 %%r%u, [%%d22+%u];\n", 30 + i, 4 * i);
    struct kernel_spec uniform = s;
    uniform.body = (struct buf){0};
    for (unsigned i = 0; i < 8; i++)
        spec_add(&uniform, "ld.const.u32 %%r%u, [%%d20+%u];\n", 30 + i, 4 * i);
    ck_about(spec_cycles(&s), WARPS_PER_SM * 20 * 8 * 2, 0.1);
    ck_assert(spec_cycles(&uniform) < 0.7 * spec_cycles(&s));
    buf_free(&s.body), buf_free(&uniform.body);
}
END_TEST

/* ptxas makes two instructions of two comparisons and the logic between them (ISETP.GE.AND,
 * ISETP.LT.OR: convolution's step 3). A comparison takes two cycles of a scheduler. */
START_TEST(logic_on_predicates_is_part_of_a_comparison) {
    enum { PAIRS = 16, LOOPS = 40 };
    struct kernel_spec s = {.blocks = SMS, .threads = 32 * WARPS_PER_SM, .n = LOOPS};
    for (unsigned i = 0; i < PAIRS; i++)
        spec_add(&s,
                 "setp.ge.s32 %%p1, %%r1, %u;\nsetp.lt.s32 %%p2, %%r4, %u;\n"
                 "or.pred %%p3, %%p1, %%p2;\n",
                 i, i);
    ck_about(spec_cycles(&s), LOOPS * WARPS_PER_SCHEDULER * (2 * 2 * PAIRS + LOOP_INSNS), 0.1);
    buf_free(&s.body);
}
END_TEST

UNIT_SUITE(timing_predicates) {
    Suite *s = suite_create("timing_predicates");
    TCase *c = tcase_create("terms");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, loads_behind_short_branches_are_in_flight_together);
    tcase_add_test(c, roots_with_full_rounding_run_one_after_the_other);
    tcase_add_test(c, short_branches_are_predicated_for_all_warps);
    tcase_add_test(c, both_arms_of_an_else_are_predicated);
    tcase_add_test(c, saturation_is_folded_into_the_product);
    tcase_add_test(c, fully_predicated_off_accesses_cost_a_wavefront);
    tcase_add_test(c, wide_broadcast_loads_cost_register_writes);
    tcase_add_test(c, constant_accesses_serialize_by_distinct_word);
    tcase_add_test(c, constant_words_of_one_lane_take_two_cycles);
    tcase_add_test(c, logic_on_predicates_is_part_of_a_comparison);
    suite_add_tcase(s, c);
    return s;
}
