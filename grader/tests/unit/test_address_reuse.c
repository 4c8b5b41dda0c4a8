/* test_address_reuse.c — tests accesses whose addresses are those of an earlier access plus a
 * constant (sim/code/address_reuse.c): values, counts and reports must equal those of
 * independent accesses. Each pattern runs twice, because reuse begins at the second execution. */
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#define PTX_HEADER ".version 8.0\n.target sm_75\n.address_size 64\n.file 1 \"k.cu\"\n"

enum { ITERATIONS = 6, WORDS = 1024, LOADS = 6 };

/* Turn i: lane t at in + t * (4 << i / 2). What each load is for stands in expected() below. */
static const char loads[] = PTX_HEADER
    ".visible .entry k(.param .u64 in, .param .u64 out) {\n"
    ".reg .pred %p, %q; .reg .b32 %i, %t, %s, %u, %v<8>; .reg .b64 %a, %o, %g, %w;\n"
    ".loc 1 10 0\nld.param.u64 %a, [in];\nld.param.u64 %o, [out];\nmov.u32 %t, "
    "%tid.x;\nmov.u32 %i, 0;\n"
    "mul.wide.u32 %w, %t, 4;\nadd.s64 %o, %o, %w;\n"
    "NEXT:\n.loc 1 11 0\nshr.u32 %u, %i, 1;\nadd.u32 %u, %u, 2;\nshl.b32 %s, %t, "
    "%u;\ncvt.u64.u32 %w, %s;\n"
    "add.s64 %g, %a, %w;\nsetp.lt.u32 %p, %t, 16;\nmov.u32 %v2, 7;\nmov.u32 %v3, 7;\n"
    ".loc 1 20 0\nld.global.u32 %v0, [%g];\n"
    ".loc 1 21 0\nld.global.u32 %v1, [%g+64];\n"
    ".loc 1 22 0\n@%p ld.global.u32 %v2, [%g+128];\nsetp.lt.u32 %p, %t, 8;\n@%p ld.global.u32 "
    "%v3, [%g+132];\n"
    ".loc 1 23 0\nadd.s64 %g, %g, 4;\nld.global.u32 %v4, [%g+64];\n"
    ".loc 1 24 0\nld.global.u32 %v5, [%g+60];\n"
    ".loc 1 30 0\nst.global.u32 [%o], %v0;\nst.global.u32 [%o+128], %v1;\nst.global.u32 "
    "[%o+256], %v2;\n"
    "st.global.u32 [%o+384], %v3;\nst.global.u32 [%o+512], %v4;\nst.global.u32 [%o+640], "
    "%v5;\nadd.s64 %o, %o, 768;\n"
    ".loc 1 40 0\nadd.u32 %i, %i, 1;\nsetp.lt.u32 %q, %i, 6;\n@%q bra NEXT;\nret;\n}\n";

static uint32_t word(uint32_t i) { return i * 2654435761u + 1; }

static uint32_t expected(uint32_t iteration, uint32_t load, uint32_t t) {
    uint32_t at = t << iteration / 2;
    switch (load) {
    case 0: return word(at);
    case 1: return word(at + 16);
    case 2: return t < 16 ? word(at + 32) : 7;
    case 3: return t < 8 ? word(at + 33) : 7; /* another guard in the same register */
    case 4: return word(at + 17);             /* the base has moved */
    default: return word(at + 16);            /* …for this one, too */
    }
}

START_TEST(address_reuse_preserves_values_and_counters) {
    struct kernel_rig r = rig_open_with(loads, (struct rig_options){.sanitize = _i});
    uint32_t in[WORDS], out[ITERATIONS][LOADS][32];
    uint64_t params[] = {sim_alloc(r.sim, sizeof in, "in"), sim_alloc(r.sim, sizeof out, "out")};
    for (uint32_t i = 0; i < WORDS; i++) in[i] = word(i);
    sim_write(r.sim, params[0], in, sizeof in);
    struct sim_result result = rig_run(&r, "k", 1, 32, params, sizeof params);
    ck_assert_msg(result.nreports == 0, "%s", result.reports[0].text);
    sim_read(r.sim, params[1], out, sizeof out);
    for (uint32_t i = 0; i < ITERATIONS; i++)
        for (uint32_t k = 0; k < LOADS; k++)
            for (uint32_t t = 0; t < 32; t++) ck_assert_uint_eq(out[i][k][t], expected(i, k, t));
    /* 32 words 4, 8 and 16 bytes apart: 4, 8 and 16 sectors, two turns each; 68 bytes on they reach
     * into one more where they lie side by side */
    ck_assert_uint_eq(rig_line(&result, 20).global_load_sectors, 2 * (4 + 8 + 16));
    ck_assert_uint_eq(rig_line(&result, 21).global_load_sectors, 2 * (4 + 8 + 16));
    ck_assert_uint_eq(rig_line(&result, 22).global_load_sectors, 2 * (2 + 4 + 8) + 2 * (2 + 2 + 4));
    ck_assert_uint_eq(rig_line(&result, 23).global_load_sectors, 2 * (5 + 8 + 16));
    sim_result_free(&result);
    rig_close(&r);
}
END_TEST

/* Turn 0 is correct; in turn 1 the second access's lanes 0 to 15 wrap around and lie before the
 * beginning of shared memory. */
static const char wrapping_kernel[] = PTX_HEADER
    ".visible .entry k() {\n.reg .pred %q; .reg .b32 %i, %t, %b, %v;\n.shared .align 16 .b8 "
    "tile[512];\n"
    ".loc 1 10 0\nmov.u32 %t, %tid.x;\nshl.b32 %b, %t, 2;\nadd.u32 %b, %b, 256;\nmov.u32 %i, 0;\n"
    "NEXT:\n.loc 1 20 0\nst.shared.u32 [%b+64], %t;\n.loc 1 21 0\nst.shared.u32 [%b+-64], %t;\n"
    ".loc 1 30 0\nsub.u32 %b, %b, 256;\nadd.u32 %i, %i, 1;\nsetp.lt.u32 %q, %i, 2;\n@%q bra "
    "NEXT;\nret;\n}\n";

START_TEST(wrapping_addresses_are_reported) {
    struct kernel_rig r = rig_open_with(wrapping_kernel, (struct rig_options){.sanitize = _i});
    struct sim_result result = rig_run(&r, "k", 1, 32, NULL, 0);
    const struct sim_report *bad = rig_report(&result, SIM_FAULT_OUT_OF_BOUNDS);
    ck_assert(bad != NULL);
    ck_assert_uint_eq(bad->line, 21);
    ck_assert_uint_eq(bad->thread[0], 0);
    sim_result_free(&result);
    rig_close(&r);
}
END_TEST

UNIT_SUITE(address_reuse) {
    Suite *suite = suite_create("address_reuse");
    TCase *tc = tcase_create("accesses that repeat another's addresses");
    tcase_add_loop_test(tc, address_reuse_preserves_values_and_counters, 0, 2);
    tcase_add_loop_test(tc, wrapping_addresses_are_reported, 0, 2);
    suite_add_tcase(suite, tc);
    return suite;
}
