/* insn_programs_async.c — programs for cp.async, mbarriers and bulk copies. */
#include "grader/tests/unit/insn_programs.h"

static u64 copied(unsigned t, unsigned w) {
    return w == 0 ? t + 1 : w == 1 ? (u64)(t + 1) << 32 | (t + 1) : (u64)(t + 1) << 32 | (t + 1);
}
/* Bytes 1, 2, 3 … of which n are read and the rest is zero. */
static u64 filled(unsigned t, unsigned w) {
    unsigned n = t % 17;
    u64 v = 0;
    for (unsigned i = 0; i < 8; i++)
        if (w * 8 + i < n) v |= (u64)(w * 8 + i + 1) << 8 * i;
    return w < 2 ? v : t & 1 ? 0 : 0x04030201;
}
static u64 phases(unsigned t, unsigned w) {
    return t == 0 ? (const u64[]){3, 2, 0, 1, 0, 1, 1}[w] : 0;
}
static u64 handed_over(unsigned t, unsigned w) {
    (void)w;
    return t < 32 ? 0 : 5 * (t - 32);
}
static u64 bulk(unsigned t, unsigned w) { return w == 0 ? 9 * t : 9 * t + 1; }

/* Rows 6 and 7 of 8 rows of 4 words 0, 1, 2 … from column 1 on: column 4 lies outside. Then added
 * to rows 0 and 1. */
static u64 tile(unsigned t, unsigned w) {
    static const u64 rows[] = {28, 29, 30, 31, 0, 0, 0, 0};
    return rows[t % 8] + (w ? t % 8 : 0);
}

/* Words 4 to 11 of words 0 to 5. */
static u64 small_tile(unsigned t, unsigned w) {
    (void)w;
    return t % 8 < 2 ? 4 + t % 8 : 0;
}

/* All of row i of a is i / 8, all of column n of b is n; k is 32, and d begins as 5. Words: rows 16
 * warp + lane / 4 and eight more, columns 2 (lane mod 4) and one more. */
static u64 product(unsigned t, unsigned w) {
    unsigned row = t / 32 * 16 + t % 32 / 4 + w / 2 * 8, column = t % 4 * 2 + w % 2;
    return 5 + 32 * (row / 8) * column;
}

const struct insn_program async_programs[] = {
    {"copies of 4, 8 and 16 bytes",
     "add.u32 %r1, %r0, 1;\nmul.wide.u32 %q2, %r0, 16;\nadd.u64 %q3, %q1, %q2;\nst.global.v4.u32 "
     "[%q3], {%r1, %r1, "
     "%r1, %r1};\nmov.u64 %q4, s;\nadd.u64 %q4, %q4, %q2;\ncvt.u32.u64 %r2, %q4;\n"
     "cp.async.ca.shared.global [%r2], [%q3], 4;\ncp.async.commit_group;\ncp.async.wait_group "
     "0;\nld.shared.u32 %r3, "
     "[%r2];\ncvt.u64.u32 %q5, %r3;\nst.global.u64 [%q0], %q5;\n"
     "cp.async.ca.shared.global [%r2], [%q3], 8;\ncp.async.wait_all;\nld.shared.u64 %q5, "
     "[%r2];\nst.global.u64 "
     "[%q0+8], %q5;\n"
     "cp.async.cg.shared.global.L2::128B [%r2], [%q3], "
     "16;\ncp.async.commit_group;\ncp.async.wait_group "
     "0;\nld.shared.v2.u64 {%q5, %q6}, [%r2];\nst.global.u64 [%q0+16], %q6;",
     32, 3, copied, SIM_FAULT_NONE},
    {"sources shorter than the copy leave zeroes",
     "mov.u32 %r1, 0x04030201;\nmov.u32 %r2, 0x08070605;\nmov.u32 %r3, 0x0c0b0a09;\nmov.u32 %r4, "
     "0x100f0e0d;\nmul.wide.u32 %q2, %r0, 16;\nadd.u64 %q3, %q1, %q2;\nst.global.v4.u32 [%q3], "
     "{%r1, %r2, %r3, %r4};\n"
     "mov.u64 %q4, s;\nadd.u64 %q4, %q4, %q2;\nrem.u32 %r5, %r0, 17;\ncp.async.cg.shared.global "
     "[%q4], [%q3], 16, "
     "%r5;\ncp.async.wait_all;\nld.shared.v2.u64 {%q5, %q6}, [%q4];\nst.global.u64 [%q0], "
     "%q5;\nst.global.u64 [%q0+8], "
     "%q6;\n"
     "and.b32 %r6, %r0, 1;\nsetp.ne.u32 %p1, %r6, 0;\ncp.async.ca.shared.global [%q4], [%q3], 4, "
     "%p1;\ncp.async.wait_all;\nld.shared.u32 %r7, [%q4];\ncvt.u64.u32 %q5, %r7;\nst.global.u64 "
     "[%q0+16], %q5;",
     32, 3, filled, SIM_FAULT_NONE},
    {"phases of an mbarrier",
     "setp.ne.u32 %p1, %r0, 0;\n@%p1 bra end;\nmbarrier.init.shared.b64 [s], "
     "3;\nmbarrier.arrive.shared.b64 %q2, "
     "[s];\nmbarrier.pending_count.b64 %r1, %q2;\ncvt.u64.u32 %q3, %r1;\nst.global.u64 [%q0], "
     "%q3;\n"
     "mbarrier.arrive.noComplete.shared.b64 %q4, [s], 1;\nmbarrier.pending_count.b64 %r1, "
     "%q4;\ncvt.u64.u32 %q3, "
     "%r1;\nst.global.u64 [%q0+8], %q3;\n"
     "mbarrier.test_wait.shared.b64 %p2, [s], %q2;\nselp.u64 %q3, 1, 0, %p2;\nst.global.u64 "
     "[%q0+16], "
     "%q3;\nmbarrier.arrive_drop.shared.b64 _, [s];\nmbarrier.test_wait.shared.b64 %p2, [s], "
     "%q2;\nselp.u64 %q3, 1, 0, "
     "%p2;\nst.global.u64 [%q0+24], %q3;\n"
     "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [s], 16;\nmbarrier.arrive.shared.b64 _, [s], "
     "2;\nmbarrier.test_wait.parity.shared.b64 %p2, [s], 1;\nmbarrier.try_wait.parity.shared.b64 "
     "%p3, [s], 0;\n"
     "mbarrier.test_wait.parity.shared.b64 %p4, [s], 1;\nnot.pred %p4, "
     "%p4;\nmbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [s], "
     "16;\nmbarrier.test_wait.parity.shared.b64 "
     "%p5, [s], 1;\n"
     "selp.u64 %q3, 0, 0, %p2;\nst.global.u64 [%q0+32], %q3;\nselp.u64 %q3, 1, 0, "
     "%p3;\nst.global.u64 [%q0+40], "
     "%q3;\nselp.u64 %q3, 1, 0, %p5;\nst.global.u64 [%q0+48], %q3;\nmbarrier.inval.shared.b64 "
     "[s];\nend:",
     32, 7, phases, SIM_FAULT_NONE},
    {"a warp that waits for another through an mbarrier",
     "mov.u64 %q8, s;\nadd.u64 %q8, %q8, 1024;\nsetp.eq.u32 %p1, %r0, 0;\n@%p1 "
     "mbarrier.init.shared.b64 [%q8], "
     "32;\nbar.sync 0;\nmul.wide.u32 %q2, %r0, 4;\nmov.u64 %q3, s;\nadd.u64 %q3, %q3, "
     "%q2;\nsetp.ge.u32 %p2, %r0, "
     "32;\n@%p2 bra consumer;\n"
     "nanosleep.u32 1000;\nmul.lo.u32 %r1, %r0, 5;\nst.shared.u32 [%q3], "
     "%r1;\nmbarrier.arrive.shared::cta.b64 %q4, "
     "[%q8];\nbra end;\n"
     "consumer: mbarrier.try_wait.parity.shared.b64 %p3, [%q8], 0;\n@!%p3 bra "
     "consumer;\nld.shared.u32 %r2, "
     "[%q3+-128];\ncvt.u64.u32 %q5, %r2;\nst.global.u64 [%q0], %q5;\nend:",
     64, 1, handed_over, SIM_FAULT_NONE},
    {"bulk copies in and out, and arrivals of cp.async",
     "mul.lo.u32 %r1, %r0, 9;\nmul.wide.u32 %q2, %r0, 4;\nadd.u64 %q3, %q1, %q2;\nst.global.u32 "
     "[%q3], %r1;\nmov.u64 "
     "%q8, s;\nadd.u64 %q8, %q8, 1024;\nsetp.eq.u32 %p1, %r0, 0;\nbar.warp.sync -1;\n@!%p1 bra "
     "wait;\nmbarrier.init.shared.b64 [%q8], 1;\n"
     "mbarrier.arrive.expect_tx.shared.b64 %q4, [%q8], "
     "128;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%q1], 128, "
     "[%q8];\nwait: "
     "bar.warp.sync -1;\nspin: mbarrier.try_wait.parity.shared.b64 %p2, [%q8], 0;\n@!%p2 bra "
     "spin;\n"
     "mov.u64 %q5, s;\nadd.u64 %q5, %q5, %q2;\nld.shared.u32 %r2, [%q5];\ncvt.u64.u32 %q6, "
     "%r2;\nst.global.u64 [%q0], "
     "%q6;\nadd.u32 %r2, %r2, 1;\nst.shared.u32 [%q5], %r2;\nfence.proxy.async;\nbar.warp.sync "
     "-1;\n@%p1 "
     "cp.async.bulk.global.shared::cta.bulk_group [%q1+256], [s], 128;\n"
     "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group "
     "0;\ncp.async.mbarrier.arrive.shared.b64 "
     "[%q8];\nbar.warp.sync -1;\nld.global.u32 %r3, [%q3+256];\ncvt.u64.u32 %q6, "
     "%r3;\nst.global.u64 [%q0+8], %q6;",
     32, 2, bulk, SIM_FAULT_NONE},
    {"a tile by a tensor map, and added by it",
     "mul.wide.u32 %q2, %r0, 4;\nadd.u64 %q3, %q1, %q2;\nst.global.u32 [%q3], %r0;\nadd.u64 %q9, "
     "%q1, 1024;\n"
     "mov.u64 %q4, 5931050829905936983;\nst.global.u64 [%q9+0], %q4;\n"
     "mov.u64 %q4, %q1;\nst.global.u64 [%q9+8], %q4;\n"
     "mov.u64 %q4, 4;\nst.global.u64 [%q9+16], %q4;\n"
     "mov.u64 %q4, 8;\nst.global.u64 [%q9+24], %q4;\n"
     "mov.u64 %q4, 1;\nst.global.u64 [%q9+32], %q4;\n"
     "mov.u64 %q4, 1;\nst.global.u64 [%q9+40], %q4;\n"
     "mov.u64 %q4, 1;\nst.global.u64 [%q9+48], %q4;\n"
     "mov.u64 %q4, 16;\nst.global.u64 [%q9+56], %q4;\n"
     "mov.u64 %q4, 0;\nst.global.u64 [%q9+64], %q4;\n"
     "mov.u64 %q4, 0;\nst.global.u64 [%q9+72], %q4;\n"
     "mov.u64 %q4, 0;\nst.global.u64 [%q9+80], %q4;\n"
     "mov.u64 %q4, 8589934596;\nst.global.u64 [%q9+88], %q4;\n"
     "mov.u64 %q4, 4294967297;\nst.global.u64 [%q9+96], %q4;\n"
     "mov.u64 %q4, 72340172821233665;\nst.global.u64 [%q9+104], %q4;\n"
     "mov.u64 %q4, 131585;\nst.global.u64 [%q9+112], %q4;\n"
     "mov.u64 %q4, 0;\nst.global.u64 [%q9+120], %q4;\n"
     "and.b32 %r1, %r0, 7;\nmul.wide.u32 %q2, %r1, 4;\nmov.u64 %q5, s;\nadd.u64 %q5, %q5, "
     "%q2;\nadd.u64 %q3, %q1, "
     "%q2;\nsetp.ne.u32 %p1, %r0, 0;\nbar.warp.sync -1;\n"
     "@%p1 bra wait;\nmbarrier.init.shared.b64 [s+1024], 1;\nmbarrier.arrive.expect_tx.shared.b64 "
     "_, [s+1024], 32;\n"
     "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [s], [%q9, "
     "{0, 7}], [s+1024];\n"
     "wait: bar.warp.sync -1;\nspin: mbarrier.try_wait.parity.shared.b64 %p2, [s+1024], 0;\n@!%p2 "
     "bra spin;\n"
     "ld.shared.u32 %r2, [%q5];\ncvt.u64.u32 %q6, %r2;\nst.global.u64 [%q0], %q6;\nbar.warp.sync "
     "-1;\n"
     "@!%p1 cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%q9, {0, 0}], "
     "[s];\n"
     "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nbar.warp.sync -1;\nld.global.u32 "
     "%r2, "
     "[%q3];\ncvt.u64.u32 %q6, %r2;\nst.global.u64 [%q0+8], %q6;",
     32, 2, tile, SIM_FAULT_NONE},
    {"a product of a warpgroup",
     "shr.u32 %r1, %r0, 4;\nmul.lo.u32 %r1, %r1, 0x01010101;\nmov.u64 %q3, s;\nmul.wide.u32 %q2, "
     "%r0, 16;\n"
     "add.u64 %q2, %q2, %q3;\nst.shared.v4.b32 [%q2], {%r1, %r1, %r1, %r1};\nand.b32 %r2, %r0, 7;\n"
     "mul.lo.u32 %r2, %r2, 0x01010101;\nsetp.lt.u32 %p1, %r0, 16;\n@%p1 st.shared.v4.b32 "
     "[%q2+2048], {%r2, %r2, %r2, "
     "%r2};\n"
     "fence.proxy.async;\nbar.sync 0;\nshr.u64 %q4, %q3, 4;\nor.b64 %q4, %q4, "
     "0x1000080000;\nadd.u64 %q5, %q4, 128;\n"
     "mov.b32 %r4, 5;\nmov.b32 %r5, 5;\nmov.b32 %r6, 5;\nmov.b32 %r7, 5;\nsetp.eq.u32 %p2, %r4, "
     "5;\n"
     "wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r4, %r5, %r6, "
     "%r7}, %q4, %q5, %p2;\n"
     "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
     "cvt.u64.u32 %q6, %r4;\nst.global.u64 [%q0], %q6;\ncvt.u64.u32 %q6, %r5;\nst.global.u64 "
     "[%q0+8], %q6;\n"
     "cvt.u64.u32 %q6, %r6;\nst.global.u64 [%q0+16], %q6;\ncvt.u64.u32 %q6, %r7;\nst.global.u64 "
     "[%q0+24], %q6;",
     128, 4, product, SIM_FAULT_NONE},
    {"a product behind a fence that a branch could go round",
     "shr.u32 %r1, %r0, 4;\nmul.lo.u32 %r1, %r1, 0x01010101;\nmov.u64 %q3, s;\nmul.wide.u32 %q2, "
     "%r0, 16;\n"
     "add.u64 %q2, %q2, %q3;\nst.shared.v4.b32 [%q2], {%r1, %r1, %r1, %r1};\nand.b32 %r2, %r0, 7;\n"
     "mul.lo.u32 %r2, %r2, 0x01010101;\nsetp.lt.u32 %p1, %r0, 16;\n@%p1 st.shared.v4.b32 "
     "[%q2+2048], {%r2, %r2, %r2, "
     "%r2};\n"
     "fence.proxy.async;\nbar.sync 0;\nshr.u64 %q4, %q3, 4;\nor.b64 %q4, %q4, "
     "0x1000080000;\nadd.u64 %q5, %q4, 128;\n"
     "mov.b32 %r4, 5;\nmov.b32 %r5, 5;\nmov.b32 %r6, 5;\nmov.b32 %r7, 5;\nsetp.eq.u32 %p2, %r4, "
     "5;\n"
     "setp.gt.u32 %p3, %r0, 127;\nadd.s32 %r4, %r4, 0;\nmov.b32 %r8, %r5;\nmov.b32 %r5, %r8;\n@%p3 "
     "bra round;\n"
     "wgmma.fence.sync.aligned;\nround: "
     "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r4, %r5, %r6, %r7}, %q4, %q5, %p2;\n"
     "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
     "cvt.u64.u32 %q6, %r4;\nst.global.u64 [%q0], %q6;\ncvt.u64.u32 %q6, %r5;\nst.global.u64 "
     "[%q0+8], %q6;\n"
     "cvt.u64.u32 %q6, %r6;\nst.global.u64 [%q0+16], %q6;\ncvt.u64.u32 %q6, %r7;\nst.global.u64 "
     "[%q0+24], %q6;",
     128, 4, product, SIM_FAULT_NONE},
    {"a tensor map made of zeroes",
     "mul.wide.u32 %q2, %r0, 4;\nadd.u64 %q3, %q1, %q2;\nst.global.u32 [%q3], %r0;\nadd.u64 %q9, "
     "%q1, 1024;\n"
     "mov.u64 %q4, s;\nadd.u64 %q4, %q4, 2048;\nadd.u64 %q5, %q4, %q2;\nmov.b32 %r2, "
     "0;\nst.shared.b32 [%q5], %r2;\n"
     "setp.ne.u32 %p1, %r0, 0;\nbar.warp.sync -1;\n@%p1 bra made;\nmov.b32 %r2, 8;\nmov.b32 %r3, "
     "6;\n"
     "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%q4], %q1;\n"
     "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%q4], 0;\n"
     "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%q4], 0, %r2;\n"
     "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%q4], 0, %r3;\n"
     "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%q4], 0, 1;\n"
     "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%q4], 2;\n"
     "tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%q4], 0;\n"
     "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%q4], 0;\n"
     "tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%q4], 0;\nmade: bar.warp.sync -1;\n"
     "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
     "[%q9], [%q4], 128;\n"
     "@%p1 bra wait;\nfence.proxy.tensormap::generic.acquire.gpu [%q9], "
     "128;\nmbarrier.init.shared.b64 [s+1024], 1;\n"
     "mbarrier.arrive.expect_tx.shared.b64 _, [s+1024], 32;\n"
     "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [s], [%q9, "
     "{4}], [s+1024];\n"
     "wait: bar.warp.sync -1;\nspin: mbarrier.try_wait.parity.shared.b64 %p2, [s+1024], 0;\n@!%p2 "
     "bra spin;\n"
     "and.b32 %r1, %r0, 7;\nmul.wide.u32 %q2, %r1, 4;\nmov.u64 %q5, s;\nadd.u64 %q5, %q5, %q2;\n"
     "ld.shared.u32 %r2, [%q5];\ncvt.u64.u32 %q6, %r2;\nst.global.u64 [%q0], %q6;",
     32, 1, small_tile, SIM_FAULT_NONE},
    {"a copy from beyond a buffer",
     "mov.u64 %q4, s;\ncp.async.ca.shared.global [%q4], [%q1+4096], 4;", 32, 0, NULL,
     SIM_FAULT_OUT_OF_BOUNDS},
    {"an mbarrier that nobody initialised",
     "mov.u64 %q2, 0;\nst.shared.u64 [s], %q2;\nmbarrier.arrive.shared.b64 %q3, "
     "[s];\nst.global.u64 [%q0], %q3;",
     1, 0, NULL, SIM_FAULT_BAD_SYNC},
    {"more arrivals than an mbarrier expects",
     "mbarrier.init.shared.b64 [s], 1;\nmbarrier.arrive.shared.b64 %q3, [s], 2;\nst.global.u64 "
     "[%q0], %q3;",
     1, 0, NULL, SIM_FAULT_BAD_SYNC},
    {"a bulk copy of 8 bytes",
     "mbarrier.init.shared.b64 [s+64], "
     "1;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], "
     "[%q1], 8, [s+64];",
     1, 0, NULL, SIM_FAULT_MISALIGNED},
    {.name = NULL},
};
