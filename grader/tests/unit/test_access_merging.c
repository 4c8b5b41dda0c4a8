/* test_access_merging.c — tests the accesses that ptxas merges and aggregates. The expected
 * counts come from machine code (nvcc 13.0 -arch=sm_90 or sm_75 and nvdisasm on kernels of the
 * same shape; docs/counters.md). */
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#define PTX_HEADER ".version 8.0\n.target sm_75\n.address_size 64\n.file 1 \"k.cu\"\n"

/* ---- adjacent accesses: base = tile + (%tid.x % 32) * scale + start; one access at each offset,
 * on line 20 ---- */

struct row {
    const char *name, *body; /* %b base; L(n) and S(n): 4-byte load and store at offset n */
    int scale, start;
    uint64_t loads, stores, wavefronts; /* requests; wavefronts of the loads */
};

#define L(n) "ld.shared.u32 %v" #n ", [%b+" #n "];\n"
#define S(n) "st.shared.u32 [%b+" #n "], %t;\n"

static const struct row rows[] = {
    {"four words", L(0) L(4) L(8) L(12), 16, 0, 1, 0, 4},
    {"four words backwards", L(12) L(8) L(4) L(0), 16, 0, 1, 0, 4},
    {"three words", L(0) L(4) L(8), 16, 0, 1, 0, 4},
    {"three words with a gap", L(0) L(8) L(12), 16, 0, 1, 0, 4},
    {"the lower half", L(0) L(4), 16, 0, 1, 0, 4},
    {"the upper half", L(8) L(12), 16, 0, 1, 0, 4},
    {"the middle", L(4) L(8), 16, 0, 2, 0, 8},
    {"first and last", L(0) L(12), 16, 0, 2, 0, 8},
    {"two blocks", L(0) L(16) L(4) L(20) L(8) L(24) L(12) L(28), 32, 0, 2, 0, 16},
    {"five words from the third", L(0) L(4) L(8) L(12) L(16), 32, 8, 2, 0,
     16}, /* a half, then three of a block: 4 lanes of 32 bytes a pass, twice over */
    {"aligned to 8 bytes", L(0) L(4) L(8) L(12), 8, 0, 2, 0, 4},
    {"aligned to 4 bytes", L(0) L(4) L(8) L(12), 4, 0, 4, 0, 4},
    {"all lanes one block", L(0) L(4) L(8) L(12), 0, 0, 1, 0, 2},
    {"a store to global memory between", L(0) L(4) "st.global.u32 [%g], %t;\n" L(8) L(12), 16, 0, 1,
     0, 4},
    {"a store to shared memory between", L(0) L(4) "st.shared.u32 [tile+1024], %t;\n" L(8) L(12),
     16, 0, 2, 1, 8},
    {"a barrier between", L(0) L(4) "bar.sync 0;\n" L(8) L(12), 16, 0, 2, 0, 8},
    {"the base changes", L(0) L(4) "add.s32 %b, %b, 32;\n" L(8) L(12), 16, 0, 2, 0, 8},
    {"volatile", "ld.volatile.shared.u32 %v0, [%b];\nld.volatile.shared.u32 %v4, [%b+4];\n", 16, 0,
     2, 0, 8},
    {"halves", "ld.shared.u16 %h0, [%b];\nld.shared.u16 %h1, [%b+2];\n", 4, 0, 2, 0, 2},
    {"one word twice", L(0) L(0), 16, 0, 2, 0, 8},
    {"pairs as vectors",
     "ld.shared.v2.u32 {%v0, %v4}, [%b];\nld.shared.v2.u32 {%v8, %v12}, [%b+8];\n", 16, 0, 1, 0, 4},
    {"a guard on both", "@%p ld.shared.u32 %v0, [%b];\n@%p ld.shared.u32 %v4, [%b+4];\n", 16, 0, 1,
     0, 2}, /* 16 lanes of 8 bytes, 16 apart */
    {"a guard on one", L(0) "@%p ld.shared.u32 %v4, [%b+4];\n", 16, 0, 2, 0, 6},
    {"four stores", S(0) S(4) S(8) S(12), 16, 0, 0, 1, 0},
    {"three stores", S(0) S(4) S(8), 16, 0, 0, 2, 0},
    {"a load between stores", S(0) "ld.shared.u32 %v0, [tile+1024];\n" S(4), 16, 0, 1, 2, 1},
};

static const char access_kernel[] = PTX_HEADER
    ".visible .entry k(.param .u64 out) {\n"
    ".reg .pred %%p; .reg .b16 %%h<2>; .reg .b32 %%t, %%u, %%b, %%c, %%v<40>; .reg .b64 "
    "%%g;\n.shared .align 16 .b8 "
    "tile[4096];\n"
    ".loc 1 10 0\nld.param.u64 %%g, [out];\nmov.u32 %%t, %%tid.x;\nsetp.lt.u32 %%p, %%t, 16;\n"
    "mov.u32 %%u, tile;\nmad.lo.s32 %%c, %%t, %d, %%u;\nadd.s32 %%b, %%c, %d;\n.loc 1 20 "
    "0\n%s.loc 1 30 0\nret;\n}\n";

static struct sim_counters run(const char *ptx, struct rig_options o, uint64_t lanes) {
    struct kernel_rig r = rig_open_with(ptx, o);
    uint64_t out = sim_alloc(r.sim, 65536, "out");
    sim_fill(r.sim, out, 0, 65536);
    struct sim_result result = rig_run(&r, "k", 1, (uint32_t)lanes, &out, 8);
    ck_assert_msg(result.fault == SIM_FAULT_NONE, "%s",
                  result.nreports ? result.reports[0].text : "");
    struct sim_counters c = rig_line(&result, 20);
    sim_result_free(&result);
    rig_close(&r);
    return c;
}

START_TEST(adjacent_shared_accesses_are_merged) {
    const struct row *row = &rows[_i];
    char ptx[4096];
    snprintf(ptx, sizeof ptx, access_kernel, row->scale, row->start, row->body);
    struct sim_counters c = run(ptx, (struct rig_options){0}, 32);
    ck_assert_msg(c.shared_load_requests == row->loads && c.shared_store_requests == row->stores &&
                      c.shared_load_wavefronts == row->wavefronts,
                  "%s: %llu loads (%llu), %llu stores (%llu), %llu wavefronts (%llu)", row->name,
                  (unsigned long long)c.shared_load_requests, (unsigned long long)row->loads,
                  (unsigned long long)c.shared_store_requests, (unsigned long long)row->stores,
                  (unsigned long long)c.shared_load_wavefronts,
                  (unsigned long long)row->wavefronts);
}
END_TEST

/* ---- the inner loop of a product of 32 x 32 tiles, unrolled as nvcc does ---- */

START_TEST(merged_accesses_of_a_tile_product_match_nvcc) {
    char ptx[16384];
    size_t n = (size_t)snprintf(
        ptx, sizeof ptx,
        PTX_HEADER
        ".visible .entry k(.param .u64 out) {\n.reg .b32 %%r<9>; .reg .f32 %%f<200>;\n"
        ".shared .align 4 .b8 s[4096];\n.shared .align 4 .b8 t[4096];\n.loc 1 10 0\n"
        "mov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, %%tid.y;\nshl.b32 %%r3, %%r2, 7;\nmov.u32 "
        "%%r4, s;\nadd.s32 %%r5, %%r4, %%r3;\n"
        "shl.b32 %%r6, %%r1, 2;\nmov.u32 %%r7, t;\nadd.s32 %%r8, %%r7, %%r6;\nmov.f32 "
        "%%f0, 0f00000000;\n.loc 1 20 0\n");
    for (int i = 0; i < 32; i++)
        n += (size_t)snprintf(ptx + n, sizeof ptx - n,
                              "ld.shared.f32 %%f%d, [%%r5+%d];\nld.shared.f32 %%f%d, "
                              "[%%r8+%d];\nfma.rn.f32 %%f0, %%f%d, %%f%d, %%f0;\n",
                              2 * i + 1, 4 * i, 2 * i + 2, 128 * i, 2 * i + 1, 2 * i + 2);
    snprintf(ptx + n, sizeof ptx - n, ".loc 1 30 0\nret;\n}\n");
    struct sim_counters c = run(ptx, (struct rig_options){0}, 32);
    ck_assert_uint_eq(c.shared_load_requests, 32 + 8);
    ck_assert_uint_eq(c.shared_load_wavefronts,
                      32 + 8 * 2); /* a row each, and a float4 for all lanes */
    ck_assert_uint_eq(c.shared_load_bank_conflicts, 0);
    ck_assert_uint_eq(c.inst_executed, 96); /* instructions stay those of the PTX */
    c = run(ptx, (struct rig_options){.ptx_counters = true}, 32);
    ck_assert_uint_eq(c.shared_load_requests, 64);
    ck_assert_uint_eq(c.shared_load_wavefronts, 64);
}
END_TEST

/* ---- atomics of 40 threads on line 20: 32 lanes of one warp, 8 of another ---- */

struct atomic {
    const char *name, *body; /* %d: out, %r: the thread's number, %w: its word of out */
    uint64_t h200, t4;       /* operations on devices of 9.0 and of 7.5 */
};

static const struct atomic atomics[] = {
    {"add a constant", "red.global.add.u32 [%d], 1;\n", 2, 2},
    {"add a lane's value", "red.global.add.u32 [%d], %r;\n", 2, 1 + 8},
    {"max", "red.global.max.s32 [%d], %r;\n", 2, 1 + 8},
    {"or a constant", "red.global.or.b32 [%d], 4;\n", 2, 1 + 8},
    {"inc", "red.global.inc.u32 [%d], 100;\n", 40, 40},
    {"floats", "red.global.add.f32 [%d], 0f3f800000;\n", 40, 40},
    {"64 bits", "red.global.add.u64 [%d], 1;\n", 40, 40},
    {"each its own", "red.global.add.u32 [%w], 1;\n", 40, 40},
    {"the warp's number",
     "shr.u32 %u, %r, 5;\nmul.wide.u32 %x, %u, 4;\nadd.s64 %x, %x, %d;\nred.global.add.u32 [%x], "
     "1;\n",
     40, 40},
    {"the block's number",
     "mov.u32 %u, %ctaid.x;\nmul.wide.u32 %x, %u, 4;\nadd.s64 %x, %x, %d;\nred.global.add.u32 "
     "[%x], 1;\n",
     2, 2},
    {"a loaded address",
     "ld.global.u32 %u, [%d+256];\nmul.wide.u32 %x, %u, 4;\nadd.s64 %x, %x, "
     "%d;\nred.global.add.u32 [%x], 1;\n",
     2, 2},
    {"an address loaded by each lane",
     "ld.global.u32 %u, [%w+1024];\nmul.wide.u32 %x, %u, 4;\nadd.s64 %x, %x, "
     "%d;\nred.global.add.u32 [%x], 1;\n",
     40, 40},
    {"chosen by lane", "selp.b64 %x, %d, %w, %p;\nred.global.add.u32 [%x], 1;\n", 40, 40},
    {"chosen by a branch",
     "mov.u64 %x, %d;\n@%p bra J;\nadd.s64 %x, %d, 64;\nJ:\nred.global.add.u32 [%x], 1;\n", 40, 40},
    {"under a branch", "@%p bra J;\nred.global.add.u32 [%d], 1;\nJ:\n", 2,
     2}, /* 31 + 8 lanes: all but thread 7 */
    {"the result is used", "atom.global.add.u32 %v, [%d], 1;\nst.global.u32 [%w+1024], %v;\n", 2,
     2},
    {"the result is used, a lane's value",
     "atom.global.add.u32 %v, [%d], %r;\nst.global.u32 [%w+1024], %v;\n", 1 + 8, 1 + 8},
    {"the result of max is used",
     "atom.global.max.u32 %v, [%d], %r;\nst.global.u32 [%w+1024], %v;\n", 40, 40},
};

START_TEST(warp_aggregated_atomics_are_counted_once) {
    const struct atomic *a = &atomics[_i];
    char ptx[4096];
    snprintf(ptx, sizeof ptx,
             PTX_HEADER
             ".visible .entry k(.param .u64 out) {\n.reg .pred %%p; .reg .b32 %%r, %%u, %%v; "
             ".reg .b64 %%d, %%w, %%x;\n"
             ".loc 1 10 0\nld.param.u64 %%d, [out];\nmov.u32 %%r, %%tid.x;\nmul.wide.u32 %%w, "
             "%%r, 4;\nadd.s64 %%w, "
             "%%w, %%d;\nsetp.eq.u32 %%p, %%r, 7;\n"
             ".loc 1 20 0\n%s.loc 1 30 0\nret;\n}\n",
             a->body);
    struct sim_counters c = run(ptx, (struct rig_options){0}, 40),
                        old = run(ptx, (struct rig_options){.device = "t4"}, 40);
    ck_assert_msg(c.atomic_operations == a->h200, "%s: %llu operations, expected %llu", a->name,
                  (unsigned long long)c.atomic_operations, (unsigned long long)a->h200);
    ck_assert_msg(old.atomic_operations == a->t4, "%s, 7.5: %llu operations, expected %llu",
                  a->name, (unsigned long long)old.atomic_operations, (unsigned long long)a->t4);
    ck_assert_uint_eq(c.atomic_requests + c.reduction_requests, 2);
    struct sim_counters ptx_level = run(ptx, (struct rig_options){.ptx_counters = true}, 40);
    ck_assert_uint_eq(ptx_level.atomic_operations, strcmp(a->name, "under a branch") ? 40 : 39);
}
END_TEST

/* A loop whose count is the same for all lanes adds to each element once a warp; one that lanes
 * leave one by one does not. */
static const char loop[] = PTX_HEADER
    ".visible .entry k(.param .u64 out) {\n.reg .pred %%p; .reg .b32 %%r, %%n; .reg .b64 %%d;\n"
    ".loc 1 10 0\nld.param.u64 %%d, [out];\nmov.u32 %%r, %s;\nmov.u32 %%n, 0;\n.loc 1 20 0\n"
    "A:\nred.global.add.u32 [%%d], 1;\nadd.s64 %%d, %%d, 4;\nadd.s32 %%n, %%n, 1;\nsetp.le.u32 "
    "%%p, %%n, "
    "%%r;\n@%%p bra A;\n.loc 1 30 0\nret;\n}\n";

START_TEST(only_uniform_atomics_in_loops_are_aggregated) {
    char ptx[2048];
    snprintf(ptx, sizeof ptx, loop, "%ntid.x");
    ck_assert_uint_eq(run(ptx, (struct rig_options){0}, 32).atomic_operations, 33);
    snprintf(ptx, sizeof ptx, loop, "%tid.x");
    ck_assert_uint_eq(run(ptx, (struct rig_options){0}, 32).atomic_operations, 32 * 33 / 2);
}
END_TEST

UNIT_SUITE(access_merging) {
    Suite *suite = suite_create("access_merging");
    TCase *tc = tcase_create("what ptxas merges");
    tcase_add_loop_test(tc, adjacent_shared_accesses_are_merged, 0, sizeof rows / sizeof *rows);
    tcase_add_test(tc, merged_accesses_of_a_tile_product_match_nvcc);
    tcase_add_loop_test(tc, warp_aggregated_atomics_are_counted_once, 0,
                        sizeof atomics / sizeof *atomics);
    tcase_add_test(tc, only_uniform_atomics_in_loops_are_aggregated);
    suite_add_tcase(suite, tc);
    return suite;
}
