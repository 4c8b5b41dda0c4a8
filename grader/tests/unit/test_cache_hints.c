/* test_cache_hints.c — tests which instructions have an evict-first hint, what is counted of them,
 * and what the time model lets L2 keep. Expected traffic is what Nsight Compute counted on an H100
 * (docs/results/h100/hints.tsv). */
#include "common/arena.h"
#include "grader/sim/timing/internal.h"
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/timing_spec.h"

#include <math.h>

/* ---- which accesses have the hint ---- */

#define POLICY(class) "createpolicy.fractional.L2::" class ".b64 %q5, 1.0;\n"
#define HINTED_LOAD   "ld.global.L2::cache_hint.u32 %r1, [%q2], %q5;"

/* A warp loads or stores 32 words, 4 sectors. */
static const struct {
    const char *name, *code;
    unsigned load_sectors, store_sectors;
} hints[] = {
    {"none", "ld.global.u32 %r1, [%q2];", 0, 0},
    {"__ldcs", "ld.global.cs.u32 %r1, [%q2];", 4, 0},
    {"__ldlu", "ld.global.lu.u32 %r1, [%q2];", 4, 0},
    {"__ldcg", "ld.global.cg.u32 %r1, [%q2];", 0, 0},
    {"__ldg", "ld.global.nc.u32 %r1, [%q2];", 0, 0},
    {"L1 alone", "ld.global.L1::no_allocate.u32 %r1, [%q2];", 0, 0},
    {"L1 first", "ld.global.L1::evict_first.u32 %r1, [%q2];", 0, 0},
    {"L2 first", "ld.global.L2::evict_first.u32 %r1, [%q2];", 4, 0},
    {"policy first", POLICY("evict_first") HINTED_LOAD, 4, 0},
    {"policy last", POLICY("evict_last") HINTED_LOAD, 0, 0},
    {"first of two",
     "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %q5, 1.0;\n" HINTED_LOAD, 4,
     0},
    {"copied policy",
     POLICY("evict_first") "mov.b64 %q6, %q5;\n"
                           "ld.global.L2::cache_hint.u32 %r1, [%q2], %q6;",
     4, 0},
    {"constant of CUTLASS", "mov.b64 %q5, 0x12F0000000000000;\n" HINTED_LOAD, 4, 0},
    {"access_property of libcu++",
     "selp.b64 %q6, 0, 67553994410557440, %p1;\n"
     "or.b64 %q5, %q6, 1297036692682702848;\n" HINTED_LOAD,
     4, 0},
    {"selected fraction",
     "selp.b64 %q5, 1297036692682702848, 1364590687093260288, %p1;\n" HINTED_LOAD, 4, 0},
    {"selected class", "selp.b64 %q5, 0x12F0000000000000, 0x14F0000000000000, %p1;\n" HINTED_LOAD,
     0, 0},
    {"one of two policies",
     POLICY("evict_first") "@%p1 mov.b64 %q5, 0x14F0000000000000;\n" HINTED_LOAD, 0, 0},
    {"__stcs", "st.global.cs.u32 [%q2], %r0;", 0, 4},
    {"__stwt", "st.global.wt.u32 [%q2], %r0;", 0, 0},
    {"stored with a policy", POLICY("evict_first") "st.global.L2::cache_hint.u32 [%q2], %r0, %q5;",
     0, 4},
    {"cp.async",
     POLICY("evict_first") "mov.u32 %r2, s;\nmad.lo.u32 %r2, %r0, 4, %r2;\n"
                           "cp.async.ca.shared.global.L2::cache_hint [%r2], [%q2], 4, "
                           "%q5;\ncp.async.wait_all;",
     4, 0},
    {"bulk copy",
     POLICY("evict_first") "mov.u32 %r2, s;\nsetp.eq.u32 %p2, %r0, 0;\n@%p2 "
                           "mbarrier.init.shared.b64 [%r2+128], 1;\n"
                           "@%p2 mbarrier.expect_tx.relaxed.cta.shared.b64 [%r2+128], 128;\n"
                           "@%p2 "
                           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::"
                           "cache_hint "
                           "[%r2], [%q0], 128, [%r2+128], %q5;",
     4, 0},
};

/* Runs the code in one warp a block on an array of 128 bytes, %q2 being the lane's word of it. */
static struct sim_counters run_code(const char *code, unsigned blocks) {
    struct arena a = {0};
    struct kernel_rig r = rig_open(rig_printf(
        &a,
        ".version 8.4\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 p) {\n.reg .pred %%p<4>; .reg .b32 %%r<8>; .reg .b64 "
        "%%q<8>;\n.shared .align 128 .b8 s[256];\n"
        "ld.param.u64 %%q0, [p];\nmov.u32 %%r0, %%tid.x;\nsetp.gt.u32 %%p1, %%r0, 99;\n"
        "mul.wide.u32 %%q1, %%r0, 4;\nadd.u64 %%q2, %%q0, %%q1;\n%s\nret;\n}\n",
        code));
    uint64_t buffer = sim_alloc(r.sim, 128, "buffer");
    sim_fill(r.sim, buffer, 0, 128);
    struct sim_result result = rig_run(&r, "k", blocks, 32, &buffer, 8);
    struct sim_counters counters = result.counters;
    sim_result_free(&result);
    rig_close(&r);
    arena_free(&a);
    return counters;
}

START_TEST(hints_to_evict_first_are_counted) {
    struct sim_counters c = run_code(hints[_i].code, 1);
    ck_assert_msg(c.evict_first_load_sectors == hints[_i].load_sectors &&
                      c.evict_first_store_sectors == hints[_i].store_sectors,
                  "%s: %llu sectors loaded, %llu stored", hints[_i].name,
                  (unsigned long long)c.evict_first_load_sectors,
                  (unsigned long long)c.evict_first_store_sectors);
    ck_assert_uint_eq(c.evict_first_reload_sectors, 0);
}
END_TEST

/* 64 blocks load the same 4 sectors: 63 times 4 of them again. Loads without a hint don't count. */
START_TEST(loads_beyond_the_array_are_reloads) {
    struct sim_counters c = run_code("ld.global.cs.u32 %r1, [%q2];\nld.global.u32 %r2, [%q2];", 64);
    ck_assert_uint_eq(c.evict_first_load_sectors, 64 * 4);
    ck_assert_uint_eq(c.evict_first_reload_sectors, 63 * 4);
    ck_assert_uint_eq(c.global_load_sectors, 2 * 64 * 4);
}
END_TEST

/* Both loads together exceed the array by 4 sectors; each has half of them. */
START_TEST(loads_of_one_array_share_its_reloads) {
    struct sim_counters c =
        run_code("ld.global.cs.u32 %r1, [%q2];\nld.global.lu.u32 %r2, [%q2];", 1);
    ck_assert_uint_eq(c.evict_first_load_sectors, 8);
    ck_assert_uint_eq(c.evict_first_reload_sectors, 4);
}
END_TEST

/* ---- what L2 keeps ---- */

enum { X, TABLE, BUFFERS, LINE_SECTORS = 4, X_LINES = 1 << 20, BLOCK_LINES = 128 };

/* Returns the MB that 2^20 lines of a stream and a line of the table for each of them read from
 * DRAM. `x_first`, `table_first`: the shares of the accesses with an evict-first hint. */
static double read_mb(const char *device, unsigned table_mib, double x_first, double table_first) {
    double block = BLOCK_LINES * LINE_SECTORS, blocks = X_LINES / BLOCK_LINES,
           table = table_mib * 32768.0;
    struct buffer_traffic b[BUFFERS] = {
        [X] = {.sectors_per_block = {block},
               .launch_sectors = {X_LINES * LINE_SECTORS},
               .evict_first_share = {x_first}},
        [TABLE] = {.sectors_per_block = {block},
                   .launch_sectors = {table * (1 - exp(-X_LINES * LINE_SECTORS / table))},
                   .population = {table},
                   .evict_first_share = {table_first}}};
    struct traffic t = {.buffer = b, .nbuffers = BUFFERS};
    time_l2_reuse(&t, device_find(device), blocks);
    return (b[X].launch_sectors[0] + b[TABLE].launch_sectors[0]) * 32 / 1e6;
}

/* The measured stream has rows of four lines, with a row of the table each. */
START_TEST(a_stream_pushes_out_a_table) {
    ck_about(read_mb("h100", 16, 0, 0), 181.67, 0.05);
    ck_about(read_mb("h100", 24, 0, 0), 201.95, 0.06);
}
END_TEST

START_TEST(a_marked_stream_leaves_the_table) {
    ck_about(read_mb("h100", 16, 1, 0), 152.28, 0.03);
    ck_about(read_mb("h100", 24, 1, 0), 164.66, 0.05);
}
END_TEST

/* A table of 4 MiB: without hints, with the hint at the table, and with hints at all loads and
 * stores. Less the 4.2 MB of row numbers, which this launch lacks. */
START_TEST(the_wrong_hint_makes_the_table_miss) {
    ck_about(read_mb("h100", 4, 0, 0), 146.3 - 4.2, 0.03);
    ck_about(read_mb("h100", 4, 0, 1), 213.5 - 4.2, 0.05);
    ck_about(read_mb("h100", 4, 1, 1), 187.9 - 4.2, 0.05);
    ck_about(read_mb("h100", 4, 1, 0), 142.7 - 4.2, 0.01);
}
END_TEST

/* A T4 has one partition of 4 MiB: tables of 2 and 16 MiB behave as nine times as large ones on an
 * H100. */
START_TEST(a_small_l2_keeps_less) {
    ck_assert_double_gt(read_mb("t4", 16, 0, 0), 1.3 * read_mb("h100", 16, 0, 0));
    ck_assert_double_gt(read_mb("t4", 2, 0, 0), 1.05 * read_mb("t4", 2, 1, 0));
}
END_TEST

UNIT_SUITE(cache_hints) {
    Suite *s = suite_create("cache_hints");
    TCase *c = tcase_create("counters"), *l2 = tcase_create("L2");
    tcase_add_loop_test(c, hints_to_evict_first_are_counted, 0, sizeof hints / sizeof *hints);
    tcase_add_test(c, loads_beyond_the_array_are_reloads);
    tcase_add_test(c, loads_of_one_array_share_its_reloads);
    tcase_add_test(l2, a_stream_pushes_out_a_table);
    tcase_add_test(l2, a_marked_stream_leaves_the_table);
    tcase_add_test(l2, the_wrong_hint_makes_the_table_miss);
    tcase_add_test(l2, a_small_l2_keeps_less);
    suite_add_tcase(s, c), suite_add_tcase(s, l2);
    return s;
}
