/* test_counters.c — tests the counters of whole kernels against values derived by hand beside
 * them. The counts of all lines must add up to the launch's, and the number of host threads must
 * not change them. */
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#define PTX_HEADER ".version 8.0\n.target sm_75\n.address_size 64\n.file 1 \"k.cu\"\n"
#define HEAD90     ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"k.cu\"\n"

/* ---- c[i] = a[i] + b[i], guarded: line 10 ten instructions, line 11 eleven, line 12 one ---- */

static const char vector_add[] = PTX_HEADER
    ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {\n"
    ".reg .pred %p; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %d<12>;\n"
    ".loc 1 10 0\n"
    "ld.param.u64 %d0, [a];\nld.param.u64 %d1, [b];\nld.param.u64 %d2, [c];\nld.param.u32 "
    "%r0, [n];\n"
    "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\nmad.lo.s32 %r4, "
    "%r1, %r2, %r3;\n"
    "setp.ge.s32 %p, %r4, %r0;\n@%p bra END;\n"
    ".loc 1 11 0\n"
    "cvta.to.global.u64 %d3, %d0;\ncvta.to.global.u64 %d4, %d1;\ncvta.to.global.u64 %d5, "
    "%d2;\nmul.wide.s32 %d6, "
    "%r4, 4;\n"
    "add.s64 %d7, %d3, %d6;\nadd.s64 %d8, %d4, %d6;\nadd.s64 %d9, %d5, %d6;\n"
    "ld.global.f32 %f0, [%d7];\nld.global.f32 %f1, [%d8];\nadd.f32 %f2, %f0, "
    "%f1;\nst.global.f32 [%d9], %f2;\n"
    "END:\n.loc 1 12 0\nret;\n}\n";

/* 300 blocks of 2 warps, n 42 short of that: 598 whole warps, one of 22 lanes, one with none. */
enum {
    BLOCKS = 300,
    THREADS = 64,
    N = BLOCKS * THREADS - 42,
    WARPS = BLOCKS * 2,
    BUSY = WARPS - 1
};

static struct sim_result run_add(unsigned workers) {
    struct kernel_rig r =
        rig_open_with(vector_add, (struct rig_options){.workers = workers, .sanitize = true});
    struct {
        uint64_t a, b, c;
        uint32_t n;
    } params = {sim_alloc(r.sim, N * 4, "a"), sim_alloc(r.sim, N * 4, "b"),
                sim_alloc(r.sim, N * 4, "c"), N};
    sim_fill(r.sim, params.a, 0, N * 4);
    sim_fill(r.sim, params.b, 0, N * 4);
    struct sim_result result = rig_run(&r, "k", BLOCKS, THREADS, &params, 28);
    ck_assert_msg(result.nreports == 0, "%s", result.reports[0].text);
    for (unsigned i = 0; i < result.nlines; i++)
        result.lines[i].file = "k.cu"; /* theirs goes with the module */
    rig_close(&r);
    return result;
}

START_TEST(a_vector_add_has_exact_counters) {
    struct sim_result result = run_add(1);
    const struct sim_counters *c = &result.counters;
    struct sim_counters ten = rig_line(&result, 10), eleven = rig_line(&result, 11),
                        twelve = rig_line(&result, 12);
    ck_assert_uint_eq(ten.inst_executed, 10 * WARPS);
    ck_assert_uint_eq(ten.thread_inst_executed, 10 * WARPS * 32);
    ck_assert_uint_eq(eleven.inst_executed, 11 * BUSY);
    ck_assert_uint_eq(eleven.thread_inst_executed, 11 * N);
    ck_assert_uint_eq(twelve.inst_executed, WARPS); /* the partial warp's lanes reconverge */
    ck_assert_uint_eq(twelve.thread_inst_executed, WARPS * 32);
    ck_assert_uint_eq(c->inst_executed, 11 * WARPS + 11 * BUSY);
    ck_assert_uint_eq(c->branches, WARPS);
    ck_assert_uint_eq(c->divergent_branches, 1);
    ck_assert_uint_eq(c->global_load_requests, 2 * BUSY);
    ck_assert_uint_eq(c->global_store_requests, BUSY);
    ck_assert_uint_eq(c->global_load_sectors,
                      2 * (4 * (BUSY - 1) + 3)); /* 22 floats: 88 bytes, 3 sectors */
    ck_assert_uint_eq(c->global_store_sectors, 4 * (BUSY - 1) + 3);
    ck_assert_uint_eq(c->global_sectors_ideal, 3 * (4 * (BUSY - 1) + 3));
    ck_assert_uint_eq(c->global_sectors_excessive, 0);
    ck_assert_uint_eq(c->global_load_threads, 2 * N);
    ck_assert_uint_eq(c->global_store_threads, N);
    ck_assert_uint_eq(c->flops_f32, N);
    ck_assert_uint_eq(c->flops_f64, 0);
    ck_assert_uint_eq(c->barriers + c->shuffles + c->shared_load_requests + c->atomic_requests, 0);
    sim_result_free(&result);
}
END_TEST

/* ---- a block of 64 sums its thread numbers by halving, thread 0 adds the sum to *out ---- */

static const char reduce[] = PTX_HEADER
    ".visible .entry k(.param .u64 out) {\n"
    ".reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %d<4>;\n.shared .align 4 .b32 tile[64];\n"
    ".loc 1 20 0\n"
    "mov.u32 %r0, %tid.x;\nmov.u32 %r1, tile;\nshl.b32 %r2, %r0, 2;\nadd.s32 %r3, %r1, "
    "%r2;\nst.shared.u32 [%r3], "
    "%r0;\nmov.u32 %r4, 32;\n"
    ".loc 1 21 0\nbar.sync 0;\n"
    "LOOP:\n.loc 1 22 0\nsetp.ge.u32 %p0, %r0, %r4;\n@%p0 bra SKIP;\n"
    ".loc 1 23 0\nshl.b32 %r5, %r4, 2;\nadd.s32 %r6, %r3, %r5;\nld.shared.u32 %r7, "
    "[%r6];\nld.shared.u32 %r8, [%r3];\n"
    "add.s32 %r9, %r7, %r8;\nst.shared.u32 [%r3], %r9;\n"
    "SKIP:\n.loc 1 24 0\nbar.sync 0;\n"
    ".loc 1 22 0\nshr.u32 %r4, %r4, 1;\nsetp.ne.u32 %p1, %r4, 0;\n@%p1 bra LOOP;\n"
    ".loc 1 25 0\nsetp.ne.u32 %p2, %r0, 0;\n@%p2 bra END;\n"
    ".loc 1 26 0\nld.param.u64 %d0, [out];\nld.shared.u32 %r10, [tile];\nred.global.add.u32 "
    "[%d0], %r10;\n"
    "END:\n.loc 1 27 0\nret;\n}\n";

START_TEST(a_block_reduction_has_exact_counters) {
    struct kernel_rig r = rig_open_with(reduce, (struct rig_options){.sanitize = true});
    uint64_t out = sim_alloc(r.sim, 4, "out");
    uint32_t sum = 0;
    sim_fill(r.sim, out, 0, 4);
    struct sim_result result = rig_run(&r, "k", 1, 64, &out, 8);
    ck_assert_msg(result.nreports == 0, "%s", result.reports[0].text);
    sim_read(r.sim, out, &sum, 4);
    ck_assert_uint_eq(sum, 63 * 64 / 2);
    const struct sim_counters *c = &result.counters;
    ck_assert_uint_eq(c->barriers,
                      7 * 2); /* two warps; one before the loop, one in each of 6 rounds */
    ck_assert_uint_eq(c->shared_store_requests, 2 + 6);
    ck_assert_uint_eq(c->shared_load_requests, 2 * 6 + 1);
    ck_assert_uint_eq(c->shared_store_wavefronts, 8);
    ck_assert_uint_eq(c->shared_load_wavefronts, 13);
    ck_assert_uint_eq(c->shared_load_bank_conflicts + c->shared_store_bank_conflicts, 0);
    ck_assert_uint_eq(c->branches, 2 * (6 + 6 + 1));
    ck_assert_uint_eq(c->divergent_branches,
                      5 + 1); /* warp 0 from 16 on, and thread 0 at the end */
    ck_assert_uint_eq(c->reduction_requests, 1);
    ck_assert_uint_eq(c->atomic_requests, 0);
    ck_assert_uint_eq(c->atomic_operations, 1);
    ck_assert_uint_eq(c->atomic_sectors, 1);
    ck_assert_uint_eq(rig_line(&result, 23).inst_executed, 6 * 6); /* warp 0 alone, once a round */
    ck_assert_uint_eq(rig_line(&result, 23).thread_inst_executed, 6 * (32 + 16 + 8 + 4 + 2 + 1));
    ck_assert_uint_eq(rig_line(&result, 22).inst_executed, 2 * 6 * 5);
    ck_assert_uint_eq(rig_line(&result, 27).inst_executed, 2);
    sim_result_free(&result);
    rig_close(&r);
}
END_TEST

/* ---- divergence ---- */

/* Even lanes take three instructions, odd ones two; all reconverge for one. Then lane l runs l +
 * 1 iterations of a loop. */
static const char divergent[] = PTX_HEADER
    ".visible .entry k(.param .u64 out) {\n"
    ".reg .pred %p<4>; .reg .b32 %r<12>;\n"
    ".loc 1 30 0\nmov.u32 %r0, %laneid;\nand.b32 %r1, %r0, 1;\nsetp.ne.u32 %p0, %r1, 0;\n@%p0 bra "
    "ODD;\n"
    ".loc 1 31 0\nadd.s32 %r2, %r0, 1;\nadd.s32 %r2, %r2, 2;\nadd.s32 %r2, %r2, 3;\nbra.uni JOIN;\n"
    "ODD:\n.loc 1 32 0\nadd.s32 %r2, %r0, 4;\nadd.s32 %r2, %r2, 5;\n"
    "JOIN:\n.loc 1 33 0\nmov.u32 %r3, 0;\n"
    "AGAIN:\n.loc 1 34 0\nadd.s32 %r3, %r3, 1;\nsetp.le.u32 %p1, %r3, %r0;\n@%p1 bra AGAIN;\n"
    ".loc 1 35 0\nret;\n}\n";

START_TEST(divergent_branches_count_each_side) {
    struct kernel_rig r = rig_open(divergent);
    uint64_t none = 0;
    struct sim_result result = rig_run(&r, "k", 1, 32, &none, 8);
    struct sim_counters even = rig_line(&result, 31), odd = rig_line(&result, 32),
                        join = rig_line(&result, 33), loop = rig_line(&result, 34);
    ck_assert_uint_eq(even.inst_executed, 4); /* with the jump over the other branch */
    ck_assert_uint_eq(even.thread_inst_executed, 4 * 16);
    ck_assert_uint_eq(even.branches, 0); /* it has no condition */
    ck_assert_uint_eq(odd.inst_executed, 2);
    ck_assert_uint_eq(odd.thread_inst_executed, 2 * 16);
    ck_assert_uint_eq(join.inst_executed, 1);
    ck_assert_uint_eq(join.thread_inst_executed, 32);
    ck_assert_uint_eq(loop.inst_executed, 3 * 32);
    ck_assert_uint_eq(loop.thread_inst_executed, 3 * (32 * 33 / 2));
    ck_assert_uint_eq(loop.branches, 32);
    ck_assert_uint_eq(loop.divergent_branches, 31); /* the last lane leaves alone */
    ck_assert_uint_eq(rig_line(&result, 35).inst_executed, 1);
    sim_result_free(&result);
    rig_close(&r);
}
END_TEST

/* Lane 0 runs 5000 iterations, the others one. They wait for it, as on hardware, because the
 * lanes reconverge only at the store behind the loop. (spmv's baseline: 313 on an H100.) */
START_TEST(lanes_wait_for_the_longest_loop_to_reconverge) {
    struct kernel_rig r = rig_open(
        PTX_HEADER
        ".visible .entry k(.param .u64 out) {\n.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 "
        "%d<4>;\n"
        ".loc 1 10 0\nld.param.u64 %d0, [out];\nmov.u32 %r0, %laneid;\nsetp.eq.u32 %p0, %r0, 0;\n"
        "selp.u32 %r1, 5000, 1, %p0;\nmov.u32 %r2, 0;\n"
        "AGAIN:\n.loc 1 11 0\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, %r1;\n@%p1 bra AGAIN;\n"
        ".loc 1 12 0\nmul.wide.u32 %d1, %r0, 4;\nadd.u64 %d2, %d0, %d1;\nst.global.u32 [%d2], "
        "%r2;\nret;\n}\n");
    uint64_t p = sim_alloc(r.sim, 128, "p");
    struct sim_result result = rig_run(&r, "k", 1, 32, &p, sizeof p);
    ck_assert_uint_eq(rig_line(&result, 11).inst_executed, 3 * 5000);
    ck_assert_uint_eq(rig_line(&result, 12).inst_executed, 4);
    ck_assert_uint_eq(result.counters.global_store_requests, 1);
    sim_result_free(&result);
    rig_close(&r);
}
END_TEST

/* ---- asynchronous copies ---- */

/* One warp. Line 60: 512 bytes, then a commit and 5 additions before the wait. Lines 61 and 62:
 * 128 bytes each; a wait that leaves one group in flight, 3 additions, and a wait for the other.
 * Line 63: 256 bytes that no thread waits for. Line 64: lane 0 requests 1024 bytes by a bulk
 * copy; a warp barrier, and 4 additions before the test of the mbarrier. Line 65: all lanes copy
 * the same 16 bytes, in one sector. */
#define ADD "add.u32 %r1, %r1, 1;\n"
static const char prefetching_kernel[] = PTX_HEADER
    ".visible .entry k(.param .u64 buffer) {\n"
    ".reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %q<12>;\n.shared .align 16 .b8 s[8192];\n"
    "ld.param.u64 %q0, [buffer];\nmov.u32 %r0, %laneid;\nmov.u32 %r1, 0;\nmul.wide.u32 %q1, %r0, "
    "16;\n"
    "add.u64 %q2, %q0, %q1;\nmov.u64 %q3, s;\nadd.u64 %q4, %q3, %q1;\nsetp.eq.u32 %p0, %r0, 0;\n"
    "@%p0 mbarrier.init.shared.b64 [%q3+8000], 1;\nbar.warp.sync -1;\n"
    ".loc 1 60 0\ncp.async.cg.shared.global [%q4], [%q2], 16;\ncp.async.commit_group;\n" ADD ADD ADD
        ADD ADD "cp.async.wait_group 0;\n"
    ".loc 1 61 0\ncp.async.ca.shared.global [%q4+1024], [%q2], 4;\ncp.async.commit_group;\n"
    ".loc 1 62 0\ncp.async.ca.shared.global [%q4+2048], [%q2], 4;\ncp.async.commit_group;\n"
    "cp.async.wait_group 1;\n" ADD ADD ADD "cp.async.wait_group 0;\n"
    ".loc 1 65 0\ncp.async.cg.shared.global [%q4+5120], [%q0], 16;\n" ADD ADD "cp.async.wait_all;\n"
    ".loc 1 63 0\ncp.async.ca.shared.global [%q4+3072], [%q2], 8;\n"
    ".loc 1 64 0\n@%p0 mbarrier.arrive.expect_tx.shared.b64 %q5, [%q3+8000], 1024;\n"
    "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%q3+4096], [%q0], "
    "1024, [%q3+8000];\n"
    "bar.warp.sync -1;\n" ADD ADD ADD ADD
    "mbarrier.try_wait.parity.shared.b64 %p1, [%q3+8000], 0;\n"
    ".loc 1 66 0\nst.global.u32 [%q2], %r1;\nret;\n}\n";

START_TEST(bytes_in_flight_are_counted_by_line) {
    struct kernel_rig r = rig_open(prefetching_kernel);
    uint64_t buffer = sim_alloc(r.sim, 8192, "buffer");
    sim_fill(r.sim, buffer, 0, 8192);
    struct sim_result result = rig_run(&r, "k", 1, 32, &buffer, 8);
    ck_assert_msg(result.nreports == 0, "%s", result.reports[0].text);
    ck_assert_uint_eq(rig_line(&result, 60).async_copy_byte_distance, 512 * (1 + 5));
    ck_assert_uint_eq(rig_line(&result, 61).async_copy_byte_distance,
                      128 * 3); /* a commit, a copy, a commit */
    ck_assert_uint_eq(rig_line(&result, 62).async_copy_byte_distance,
                      128 * (1 + 1 + 3)); /* a commit, a wait, additions */
    ck_assert_uint_eq(rig_line(&result, 63).async_copy_byte_distance, 0);
    ck_assert_uint_eq(rig_line(&result, 64).async_copy_byte_distance, 1024 * (1 + 4));
    ck_assert_uint_eq(rig_line(&result, 65).async_copy_byte_distance, 32 * 2);
    ck_assert_uint_eq(result.counters.async_copy_byte_distance, 3072 + 384 + 640 + 5120 + 64);
    sim_result_free(&result);
    rig_close(&r);
}
END_TEST

/* Two warps. Line 70: a thread of warp 1, which arrives last at the first barrier and proceeds
 * first, requests 512 bytes. Warp 0 is the first to wait: behind the line's three instructions
 * (two predicated off in all its lanes, and a barrier) and 3 additions. Line 71: each warp
 * requests 128 bytes, arrives, and makes 2 additions before it waits. Warp 0 is first, tests the
 * mbarrier in vain and branches back: 1 + 2 + 2 instructions. Warp 1's arrival completes the
 * phase: 1 + 2. */
static const char multi_warp_prefetching_kernel[] = PTX_HEADER
    ".visible .entry k(.param .u64 buffer) {\n"
    ".reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %q<12>;\n.shared .align 16 .b8 s[8192];\n"
    "ld.param.u64 %q0, [buffer];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, 0;\nmul.wide.u32 %q1, %r0, "
    "4;\n"
    "add.u64 %q2, %q0, %q1;\nmov.u64 %q3, s;\nadd.u64 %q4, %q3, %q1;\nsetp.eq.u32 %p0, %r0, 0;\n"
    "setp.eq.u32 %p1, %r0, 32;\n@%p0 mbarrier.init.shared.b64 [%q3+8000], 1;\n"
    "@%p0 mbarrier.init.shared.b64 [%q3+8008], 64;\nbar.sync 0;\n"
    ".loc 1 70 0\n@%p1 mbarrier.arrive.expect_tx.shared.b64 %q5, [%q3+8000], 512;\n"
    "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%q3+4096], [%q0], "
    "512, [%q3+8000];\n"
    "bar.sync 0;\n" ADD ADD ADD "mbarrier.try_wait.parity.shared.b64 %p2, [%q3+8000], 0;\n"
    ".loc 1 71 0\ncp.async.ca.shared.global [%q4], [%q2], 4;\n"
    "cp.async.mbarrier.arrive.noinc.shared.b64 [%q3+8008];\n" ADD ADD
    "again: mbarrier.try_wait.parity.shared.b64 %p2, [%q3+8008], 0;\n@!%p2 bra again;\n"
    ".loc 1 72 0\nst.global.u32 [%q2], %r1;\nret;\n}\n";

START_TEST(bytes_in_flight_are_counted_across_warps) {
    struct kernel_rig r = rig_open(multi_warp_prefetching_kernel);
    uint64_t buffer = sim_alloc(r.sim, 8192, "buffer");
    sim_fill(r.sim, buffer, 0, 8192);
    struct sim_result result = rig_run(&r, "k", 1, 64, &buffer, 8);
    ck_assert_msg(result.nreports == 0, "%s", result.reports[0].text);
    ck_assert_uint_eq(rig_line(&result, 70).async_copy_byte_distance, 512 * (3 + 3));
    ck_assert_uint_eq(rig_line(&result, 71).async_copy_byte_distance, 128 * 5 + 128 * 3);
    sim_result_free(&result);
    rig_close(&r);
}
END_TEST

/* ---- other ways to memory than loads and stores ---- */

/* One warp. Lane l updates the word at 128 l and uses what was there; adds to word l; reads word l
 * of a table, and its first; lanes 0 and 1 copy 48 bytes from 16 + 64 l on; lane 0 copies 1024
 * bytes out; lane l updates word 32 l of shared memory; lane l copies 8 bytes of 16. */
static const char paths[] = PTX_HEADER
    ".const .align 4 .b32 table[32];\n"
    ".visible .entry k(.param .u64 buffer) {\n"
    ".reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %q<12>;\n.shared .align 16 .b8 s[8192];\n"
    "ld.param.u64 %q0, [buffer];\nmov.u32 %r0, %laneid;\nmul.wide.u32 %q1, %r0, 128;\nadd.u64 %q2, "
    "%q0, %q1;\n"
    "mul.wide.u32 %q3, %r0, 4;\nadd.u64 %q4, %q0, %q3;\nmov.u64 %q5, table;\nadd.u64 %q6, %q5, "
    "%q3;\n"
    "setp.lt.u32 %p0, %r0, 2;\nsetp.eq.u32 %p1, %r0, 0;\nmul.wide.u32 %q7, %r0, 64;\nadd.u64 %q8, "
    "%q0, %q7;\n"
    "mov.u64 %q9, s;\nadd.u64 %q10, %q9, %q7;\nadd.u64 %q11, %q9, %q1;\n"
    ".loc 1 40 0\natom.global.or.b32 %r1, [%q2], 0;\n"
    ".loc 1 41 0\nred.global.add.u32 [%q4], %r1;\n"
    ".loc 1 42 0\nld.const.u32 %r2, [%q6];\nld.const.u32 %r3, [%q5];\nld.const.u32 %r6, "
    "[table+8];\nadd.u32 %r2, %r2, %r6;\n"
    ".loc 1 43 0\n@%p0 cp.async.bulk.shared::cluster.global.bulk_group [%q10], [%q8+16], 48;\n"
    ".loc 1 44 0\n@%p1 cp.async.bulk.global.shared::cta.bulk_group [%q0+4096], [%q9+4096], 1024;\n"
    ".loc 1 45 0\natom.shared.or.b32 %r4, [%q11], 1;\n"
    ".loc 1 46 0\ncp.async.ca.shared.global [%q10], [%q2], 16, 8;\n"
    ".loc 1 47 0\nadd.u32 %r5, %r2, %r3;\nadd.u32 %r5, %r5, %r4;\nst.global.u32 [%q4], "
    "%r5;\nret;\n}\n";

START_TEST(each_memory_path_has_its_own_counters) {
    struct kernel_rig r = rig_open(paths);
    uint64_t buffer = sim_alloc(r.sim, 8192, "buffer");
    sim_fill(r.sim, buffer, 0, 8192);
    struct sim_result result = rig_run(&r, "k", 1, 32, &buffer, 8);
    ck_assert_msg(result.nreports == 0, "%s", result.reports[0].text);
    struct sim_counters used = rig_line(&result, 40), unused = rig_line(&result, 41),
                        table = rig_line(&result, 42), in = rig_line(&result, 43),
                        out = rig_line(&result, 44), shared = rig_line(&result, 45),
                        part = rig_line(&result, 46);
    ck_assert_uint_eq(used.atomic_threads, 32);
    ck_assert_uint_eq(used.atomic_result_sectors, 32);
    ck_assert_uint_eq(used.atomic_result_sectors_ideal, 4);
    ck_assert_uint_eq(unused.reduction_threads, 32);
    ck_assert_uint_eq(unused.atomic_result_sectors + unused.atomic_result_sectors_ideal +
                          unused.atomic_threads,
                      0);
    ck_assert_uint_eq(used.atomic_sectors + unused.atomic_sectors, 32 + 4);
    ck_assert_uint_eq(used.atomic_sectors_ideal + unused.atomic_sectors_ideal, 4 + 4);
    ck_assert_uint_eq(table.const_load_threads, 64); /* the third one is an operand */
    ck_assert_uint_eq(table.const_requests, 3);
    ck_assert_uint_eq(table.const_sectors, 4 + 1 + 1);
    ck_assert_uint_eq(table.const_sectors_ideal, 4 + 1 + 1); /* a broadcast's ideal is its 1 */
    ck_assert_uint_eq(in.bulk_load_requests, 2);
    ck_assert_uint_eq(in.bulk_load_bytes, 96);
    ck_assert_uint_eq(in.bulk_load_sectors, 2 + 2); /* bytes 16 to 63 of each 64 */
    ck_assert_uint_eq(in.bulk_shared_store_bytes, 96);
    ck_assert_uint_eq(in.bulk_shared_load_bytes + in.bulk_store_bytes, 0);
    ck_assert_uint_eq(out.bulk_store_requests, 1);
    ck_assert_uint_eq(out.bulk_store_bytes, 1024);
    ck_assert_uint_eq(out.bulk_store_sectors, 32);
    ck_assert_uint_eq(out.bulk_shared_load_bytes, 1024);
    ck_assert_uint_eq(shared.shared_atomic_bank_conflicts, 31); /* all words in bank 0 */
    ck_assert_uint_eq(shared.shared_atomic_wavefronts, 32);
    ck_assert_uint_eq(part.global_load_threads, 32);
    ck_assert_uint_eq(part.global_load_sectors, 32);
    sim_result_free(&result);
    rig_close(&r);
}
END_TEST

/* ---- mbarriers ---- */

/* Two warps. Lane l of each initialises the mbarrier at 256 l, so all of a warp's lie in bank 0,
 * and announces bytes there; all arrive at the first, which expects 64, and wait for it; then at
 * those that lie side by side, of which warp 0 has one each. Thread 0 alone asks again whether the
 * first is done. */
static const char barriers[] = HEAD90
    ".visible .entry k(.param .u64 out) {\n"
    ".reg .pred %p<6>; .reg .b32 %r<12>; .reg .b64 %q<12>;\n.shared .align 16 .b8 s[16384];\n"
    "mov.u32 %r0, %tid.x;\nmov.u32 %r1, s;\nshr.u32 %r9, %r0, 5;\nand.b32 %r10, %r0, "
    "31;\nmad.lo.u32 %r2, %r10, "
    "256, %r1;\nmad.lo.u32 %r2, %r9, 8, %r2;\nmad.lo.u32 %r3, %r10, 8, %r1;\nadd.u32 %r3, %r3, "
    "8192;\n"
    "setp.eq.u32 %p0, %r0, 0;\nsetp.eq.u32 %p4, %r9, 0;\n"
    ".loc 1 50 0\nmbarrier.init.shared.b64 [%r2], 64;\n"
    ".loc 1 51 0\nmbarrier.expect_tx.relaxed.cta.shared.b64 [%r2], 16;\n"
    ".loc 1 52 0\nbar.sync 0;\n"
    ".loc 1 53 0\n@%p0 mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [s], 16;\n"
    ".loc 1 54 0\nmbarrier.arrive.shared.b64 %q1, [s];\n"
    ".loc 1 55 0\nbar.sync 0;\n"
    ".loc 1 56 0\nmbarrier.try_wait.parity.shared.b64 %p1, [s], 0;\n"
    ".loc 1 57 0\nmbarrier.test_wait.parity.shared.b64 %p2, [s], 1;\n"
    ".loc 1 58 0\n@%p0 mbarrier.test_wait.shared.b64 %p3, [s], %q1;\n"
    ".loc 1 59 0\n@%p4 mbarrier.init.shared.b64 [%r3], 1;\nbar.warp.sync -1;\n"
    ".loc 1 60 0\n@%p4 mbarrier.arrive.shared.b64 %q2, [%r3];\nret;\n}\n";

static void expect_atomic(const struct sim_counters *c, unsigned requests, unsigned operations,
                          unsigned serialised, unsigned conflicts) {
    ck_assert_uint_eq(c->shared_atomic_requests, requests);
    ck_assert_uint_eq(c->shared_atomic_operations, operations);
    ck_assert_uint_eq(c->shared_atomic_serialized, serialised);
    ck_assert_uint_eq(c->shared_atomic_bank_conflicts, conflicts);
    ck_assert_uint_eq(c->shared_load_requests + c->barriers, 0);
}

START_TEST(mbarrier_operations_count_as_shared_atomics) {
    struct kernel_rig r = rig_open(barriers);
    uint64_t out = 0;
    struct sim_result result = rig_run(&r, "k", 1, 64, &out, 8);
    ck_assert_msg(result.nreports == 0, "%s", result.reports[0].text);
    struct sim_counters init = rig_line(&result, 50), expect = rig_line(&result, 51),
                        complete = rig_line(&result, 53), all = rig_line(&result, 54),
                        done = rig_line(&result, 56), open = rig_line(&result, 57),
                        one = rig_line(&result, 58), side = rig_line(&result, 60);
    expect_atomic(&init, 2, 64, 2,
                  2 * 30); /* 8 bytes: two halves of a warp, 16 passes each for 1 */
    expect_atomic(&expect, 2, 64, 2, 2 * 30);
    expect_atomic(&complete, 1, 1, 1, 0);
    expect_atomic(&all, 2, 64, 2 * 32, 0); /* one word for all lanes */
    expect_atomic(&side, 1, 32, 1, 0);
    ck_assert_uint_eq(done.shared_load_requests, 2);
    ck_assert_uint_eq(done.barriers, 2);
    ck_assert_uint_eq(open.shared_load_requests, 2);
    ck_assert_uint_eq(open.barriers, 0); /* the phase has not ended */
    ck_assert_uint_eq(one.shared_load_requests, 1);
    ck_assert_uint_eq(one.barriers, 1);
    ck_assert_uint_eq(result.counters.barriers, 2 * 2 + 3);
    sim_result_free(&result);
    rig_close(&r);
}
END_TEST

/* ---- sums and threads ---- */

START_TEST(line_counters_sum_to_the_launch) {
    struct sim_result result = run_add(1);
    struct sim_counters sum = {0};
    for (unsigned i = 0; i < result.nlines; i++) sim_counters_add(&sum, &result.lines[i].counters);
    ck_assert_uint_eq(result.nlines, 3);
    ck_assert(memcmp(&sum, &result.counters, sizeof sum) == 0);
    sim_result_free(&result);
}
END_TEST

START_TEST(counters_do_not_depend_on_the_thread_count) {
    struct sim_result one = run_add(1);
    for (unsigned workers = 2; workers <= 4; workers *= 2) {
        struct sim_result many = run_add(workers);
        ck_assert(memcmp(&one.counters, &many.counters, sizeof one.counters) == 0);
        ck_assert_uint_eq(one.nlines, many.nlines);
        for (unsigned i = 0; i < one.nlines; i++) {
            ck_assert_uint_eq(one.lines[i].line, many.lines[i].line);
            ck_assert(
                memcmp(&one.lines[i].counters, &many.lines[i].counters, sizeof one.counters) == 0);
        }
        sim_result_free(&many);
    }
    sim_result_free(&one);
}
END_TEST

/* Line 10: a product of 16 x 8 x 8 by each of 6 warps, 2048 operations; it is no operation of the
 * FP32 units. */
START_TEST(mma_operations_are_counted_as_matrix_flops) {
    struct kernel_rig r = rig_open(
        HEAD90 ".visible .entry k() {\n.reg .b32 %r<4>; .reg .f32 %f<6>;\n.loc 1 10 0\n"
               "mov.b32 %r1, 0;\nmov.b32 %f1, 0;\n"
               "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f2, %f3, %f4, %f5}, {%r1, %r1}, "
               "{%r1}, {%f1, %f1, %f1, %f1};\nret;\n}\n");
    struct sim_result result = rig_run(&r, "k", 3, 64, NULL, 0);
    ck_assert_uint_eq(result.counters.flops_matrix, 6 * 2048);
    ck_assert_uint_eq(rig_line(&result, 10).flops_matrix, 6 * 2048);
    ck_assert_uint_eq(result.counters.flops_f32, 0);
    sim_result_free(&result);
    rig_close(&r);
}
END_TEST

/* As ncu counts wmma on an H100 (counters-h100.tsv, wmma_gemm): 16 x 16 halves from global memory
 * in four requests of 8 rows of 16 bytes, from shared memory by one ldmatrix, whose four matrices
 * take a pass each where their rows lie in different banks; 16 x 16 floats in four stores of 8 rows
 * of 32 bytes, or, in columns, eight of 4 columns. Line 10: rows of 128 bytes. Line 11: rows of 128
 * bytes, all in the same banks. Line 12: rows of 48 bytes, apart. Line 13: rows, line 14: columns
 * of 64 bytes. */
START_TEST(wmma_loads_and_ldmatrix_match_ncu) {
    static const char registers[] = "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}";
    static const char sums[] = "{%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}";
    char text[2048];
    snprintf(
        text, sizeof text,
        HEAD90
        ".visible .entry k(.param .u64 p) {\n.reg .b32 %%r<12>; .reg .f32 %%f<10>; .reg .b64 "
        "%%q<4>;\n"
        ".shared .align 32 .b8 s[2048];\n.loc 1 9 0\nld.param.u64 %%q0, [p];\nmov.u64 %%q1, s;\n"
        ".loc 1 10 0\nwmma.load.a.sync.aligned.row.m16n16k16.global.f16 %s, [%%q0], 64;\n"
        ".loc 1 11 0\nwmma.load.a.sync.aligned.row.m16n16k16.shared.f16 %s, [%%q1], 64;\n"
        ".loc 1 12 0\nwmma.load.b.sync.aligned.col.m16n16k16.shared.f16 %s, [%%q1], 24;\n"
        ".loc 1 13 0\nwmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%%q0], %s, 16;\n"
        ".loc 1 14 0\nwmma.store.d.sync.aligned.col.m16n16k16.global.f32 [%%q0], %s, "
        "16;\nret;\n}\n",
        registers, registers, registers, sums, sums);
    struct kernel_rig r = rig_open(text);
    uint64_t p = sim_alloc(r.sim, 2048, "p");
    struct sim_result result = rig_run(&r, "k", 1, 32, &p, sizeof p);
    struct sim_counters line[5];
    for (unsigned i = 0; i < 5; i++) line[i] = rig_line(&result, 10 + i);
    ck_assert_uint_eq(line[0].global_load_requests, 4);
    ck_assert_uint_eq(line[0].global_load_sectors, 4 * 8);
    ck_assert_uint_eq(line[1].shared_load_requests, 1);
    ck_assert_uint_eq(line[1].shared_load_wavefronts, 4 * 8);
    ck_assert_uint_eq(line[1].shared_load_bank_conflicts, 4 * 7);
    ck_assert_uint_eq(line[2].shared_load_wavefronts, 4);
    ck_assert_uint_eq(line[2].shared_load_bank_conflicts, 0);
    ck_assert_uint_eq(line[3].global_store_requests, 4);
    ck_assert_uint_eq(line[3].global_store_sectors, 4 * 8);
    ck_assert_uint_eq(line[4].global_store_requests, 8);
    ck_assert_uint_eq(line[4].global_store_sectors, 8 * 4);
    for (unsigned i = 0; i < 4; i++)
        ck_assert_msg(line[i].inst_executed == 1, "line %u: %llu", 10 + i,
                      (unsigned long long)line[i].inst_executed);
    sim_result_free(&result);
    rig_close(&r);
}
END_TEST

/* A label behind the last instruction. One of 6 warps branches there, the others fall off the
 * end: 3 instructions each, and a store by five. */
START_TEST(a_label_after_the_last_instruction_is_a_valid_target) {
    struct kernel_rig r = rig_open(
        PTX_HEADER
        ".visible .entry k(.param .u64 p) {\n.reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<2>;\n"
        ".loc 1 10 0\nmov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p, %r1, 3;\n@%p bra END;\n"
        ".loc 1 11 0\nld.param.u64 %d0, [p];\nst.global.u32 [%d0], %r1;\nEND:\n}\n");
    uint64_t p = sim_alloc(r.sim, 4, "p");
    struct sim_result result = rig_run(&r, "k", 6, 1, &p, sizeof p);
    ck_assert_uint_eq(rig_line(&result, 10).inst_executed, 6 * 3);
    ck_assert_uint_eq(rig_line(&result, 11).inst_executed, 5 * 2);
    ck_assert_uint_eq(result.counters.inst_executed, 28);
    sim_result_free(&result);
    rig_close(&r);
}
END_TEST

UNIT_SUITE(counters) {
    Suite *suite = suite_create("counters");
    TCase *tc = tcase_create("whole kernels");
    tcase_add_test(tc, a_vector_add_has_exact_counters);
    tcase_add_test(tc, a_block_reduction_has_exact_counters);
    tcase_add_test(tc, divergent_branches_count_each_side);
    tcase_add_test(tc, lanes_wait_for_the_longest_loop_to_reconverge);
    tcase_add_test(tc, bytes_in_flight_are_counted_by_line);
    tcase_add_test(tc, bytes_in_flight_are_counted_across_warps);
    tcase_add_test(tc, each_memory_path_has_its_own_counters);
    tcase_add_test(tc, mbarrier_operations_count_as_shared_atomics);
    tcase_add_test(tc, mma_operations_are_counted_as_matrix_flops);
    tcase_add_test(tc, wmma_loads_and_ldmatrix_match_ncu);
    tcase_add_test(tc, a_label_after_the_last_instruction_is_a_valid_target);
    tcase_add_test(tc, line_counters_sum_to_the_launch);
    tcase_add_test(tc, counters_do_not_depend_on_the_thread_count);
    suite_add_tcase(suite, tc);
    return suite;
}
