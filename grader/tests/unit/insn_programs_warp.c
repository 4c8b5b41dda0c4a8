/* insn_programs_warp.c — programs for warp-wide instructions. */
#include "grader/tests/unit/insn_programs.h"

static u64 shuffles(unsigned t, unsigned w) {
    switch (w) {
    case 0: return 100 + (t >= 3 ? t - 3 : t);        /* up by 3 */
    case 1: return t >= 3;                            /* in range? */
    case 2: return 100 + (t + 5 < 32 ? t + 5 : t);    /* down by 5 */
    case 3: return 100 + (t ^ 6);                     /* butterfly */
    case 4: return 100 + 17;                          /* from lane 17 */
    case 5: return 100 + (t % 8 + 2 < 8 ? t + 2 : t); /* down by 2 within segments of 8 */
    default: return 100 + t / 8 * 8 + 3;              /* lane 3 of each segment of 8 */
    }
}
static u64 votes(unsigned t, unsigned w) {
    (void)t;
    return w == 0   ? 0
           : w == 1 ? 1
           : w == 2 ? 0
           : w == 3 ? 0x3ff
           : w == 4 ? 1
           : w == 5 ? 0xfffffc00
                    : 1;
}
static u64 matches(unsigned t, unsigned w) {
    u64 same = 0;
    for (unsigned l = 0; l < 32; l++) same |= l % 5 == t % 5 ? 1ull << l : 0;
    return w < 2 ? same : w == 2 ? 0xffffffff : w == 3 ? 1 : 0;
}
static u64 reduced(unsigned t, unsigned w) {
    (void)t;
    return w == 0   ? 496
           : w == 1 ? 0xfffffff0u
           : w == 2 ? 15
           : w == 3 ? 0
           : w == 4 ? 31
           : w == 5 ? 0
           : w == 6 ? 0
                    : 0xffffffffu;
}
static u64 of_half(unsigned t, unsigned w) {
    return w == 0 ? (t & 1 ? 256 : 240) : t & 1 ? 0xaaaaaaaau : 0x55555555u;
}
static u64 elected(unsigned t, unsigned w) { return w == 0 ? 4 : w == 1 ? t == 4 : 28; }
static u64 from_distant_lane(unsigned t, unsigned w) {
    (void)w;
    return t ^ 16;
}

static u64 byte_product(unsigned t, unsigned w) { return 16 * (2 * (t % 4) + w) + t; }
static u64 f32_bits(unsigned n) {
    return n ? (u64)(158 - __builtin_clz(n)) << 23 | ((n << __builtin_clz(n) & 0x7fffffff) >> 8)
             : 0;
}
static u64 half_product(unsigned t, unsigned w) { return f32_bits(8 * (2 * (t % 4) + w % 2)); }
static u64 fragments(unsigned t, unsigned w) {
    u64 rows = 2 * t | (u64)(2 * t + 1) << 16, columns = t % 4 * 16 + t / 4;
    return w == 0 ? rows : w < 4 ? columns | (columns + 8) << 16 : 7;
}
static u64 tiles(unsigned t, unsigned w) {
    return w < 2 ? f32_bits(16 * (t / 2)) : f32_bits(16 * (t % 16));
}

const struct insn_program warp_programs[] = {
    {"a product of bytes, as the manual lays it out",
     "mov.b32 %r1, 0x01010101;\nshr.u32 %r2, %r0, 2;\nmul.lo.u32 %r2, %r2, "
     "0x01010101;\nmma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r3, %r4}, {%r1}, {%r2}, {%r0, "
     "%r0};\n"
     "cvt.u64.u32 %q2, %r3;\nst.global.u64 [%q0], %q2;\ncvt.u64.u32 %q2, %r4;\nst.global.u64 "
     "[%q0+8], %q2;",
     32, 2, byte_product, SIM_FAULT_NONE},
    {"a product of halves, as the manual lays it out",
     "mov.b32 %r1, 0x3c003c00;\nshr.u32 %r2, %r0, 2;\ncvt.rn.f16.u32 %h1, %r2;\nmov.b32 %r3, {%h1, "
     "%h1};\nmov.b32 %f1, "
     "0;\nmma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f2, %f3, %f4, %f5}, {%r1, %r1}, "
     "{%r3}, {%f1, %f1, %f1, "
     "%f1};\n"
     "mov.b32 %r4, %f2;\ncvt.u64.u32 %q2, %r4;\nst.global.u64 [%q0], %q2;\nmov.b32 %r4, "
     "%f3;\ncvt.u64.u32 %q2, "
     "%r4;\nst.global.u64 [%q0+8], %q2;\nmov.b32 %r4, %f4;\ncvt.u64.u32 %q2, %r4;\nst.global.u64 "
     "[%q0+16], "
     "%q2;\nmov.b32 %r4, %f5;\ncvt.u64.u32 %q2, %r4;\nst.global.u64 [%q0+24], %q2;",
     32, 4, half_product, SIM_FAULT_NONE},
    {"rows of halves to fragments and back",
     "shl.b32 %r1, %r0, 1;\nadd.u32 %r2, %r1, 1;\nshl.b32 %r2, %r2, 16;\nor.b32 %r1, %r1, "
     "%r2;\nmul.wide.u32 %q2, %r0, "
     "4;\nmov.u64 %q3, s;\nadd.u64 %q4, %q3, %q2;\nst.shared.u32 [%q4], %r1;\nand.b32 %r3, %r0, "
     "7;\nmul.wide.u32 %q5, "
     "%r3, 16;\nadd.u64 %q5, %q5, %q3;\nbar.warp.sync -1;\n"
     "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%q5];\ncvt.u64.u32 %q6, %r4;\nst.global.u64 "
     "[%q0], "
     "%q6;\nldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r5}, [%q5];\ncvt.u64.u32 %q6, "
     "%r5;\nst.global.u64 "
     "[%q0+8], %q6;\n"
     "movmatrix.sync.aligned.m8n8.trans.b16 %r6, %r4;\ncvt.u64.u32 %q6, %r6;\nst.global.u64 "
     "[%q0+16], "
     "%q6;\nstmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%q5+512], {%r4};\nbar.warp.sync "
     "-1;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [%q5+512];\ncvt.u64.u32 %q6, "
     "%r7;\nst.global.u64 [%q0+24], "
     "%q6;",
     32, 4, fragments, SIM_FAULT_NONE},
    {"tiles from and to memory",
     "shr.u32 %r1, %r0, 1;\ncvt.rn.f16.u32 %h1, %r1;\nmov.b32 %r2, {%h1, %h1};\nmul.wide.u32 %q2, "
     "%r0, 16;\nadd.u64 "
     "%q3, %q1, %q2;\nst.global.v4.u32 [%q3], {%r2, %r2, %r2, %r2};\nmov.b32 %r3, "
     "0x3c003c00;\nst.global.v4.u32 "
     "[%q3+512], {%r3, %r3, %r3, %r3};\nbar.warp.sync -1;\nadd.u64 %q4, %q1, 512;\nadd.u64 %q5, "
     "%q1, 1024;\nadd.u64 "
     "%q6, %q1, 2048;\nmov.u32 %r30, 16;\nmov.b32 %f1, 0;\n"
     "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r4, %r5, %r6, %r7, %r8, %r9, %r10, "
     "%r11}, [%q1], "
     "%r30;\nwmma.load.b.sync.aligned.col.m16n16k16.global.f16 {%r12, %r13, %r14, %r15, %r16, "
     "%r17, %r18, %r19}, "
     "[%q4], %r30;\n"
     "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f2, %f3, %f4, %f5, %f6, %f7, %f8, %f9}, "
     "{%r4, %r5, %r6, %r7, "
     "%r8, %r9, %r10, %r11}, {%r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19}, {%f1, %f1, %f1, "
     "%f1, %f1, %f1, %f1, "
     "%f1};\n"
     "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%q5], {%f2, %f3, %f4, %f5, %f6, %f7, "
     "%f8, %f9}, "
     "%r30;\nwmma.store.d.sync.aligned.col.m16n16k16.global.f32 [%q6], {%f2, %f3, %f4, %f5, %f6, "
     "%f7, %f8, %f9}, "
     "%r30;\nbar.warp.sync -1;\n"
     "mul.wide.u32 %q7, %r0, 32;\nadd.u64 %q7, %q7, %q1;\nld.global.u32 %r20, "
     "[%q7+1024];\ncvt.u64.u32 %q8, "
     "%r20;\nst.global.u64 [%q0], %q8;\nld.global.u32 %r20, [%q7+1052];\ncvt.u64.u32 %q8, "
     "%r20;\nst.global.u64 "
     "[%q0+8], %q8;\n"
     "mul.wide.u32 %q9, %r0, 4;\nadd.u64 %q9, %q9, %q1;\nld.global.u32 %r20, "
     "[%q9+2048];\ncvt.u64.u32 %q8, "
     "%r20;\nst.global.u64 [%q0+16], %q8;\nld.global.u32 %r20, [%q9+2176];\ncvt.u64.u32 %q8, "
     "%r20;\nst.global.u64 "
     "[%q0+24], %q8;",
     32, 4, tiles, SIM_FAULT_NONE},
    {"a matrix instruction without half of the warp",
     "setp.lt.u32 %p1, %r0, 16;\n@%p1 exit;\nmov.b32 %r1, "
     "1;\nmma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r3, "
     "%r4}, {%r1}, {%r1}, {%r1, %r1};\nst.global.u32 [%q0], %r3;",
     32, 0, NULL, SIM_FAULT_BAD_SYNC},
    {"shuffles",
     "add.u32 %r1, %r0, 100;\nshfl.sync.up.b32 %r2|%p1, %r1, 3, 0, -1;\ncvt.u64.u32 %q2, "
     "%r2;\nst.global.u64 [%q0], "
     "%q2;\nselp.u64 %q2, 1, 0, %p1;\nst.global.u64 [%q0+8], %q2;\n"
     "shfl.sync.down.b32 %r2, %r1, 5, 31, -1;\ncvt.u64.u32 %q2, %r2;\nst.global.u64 [%q0+16], "
     "%q2;\nshfl.sync.bfly.b32 "
     "%r2, %r1, 6, 31, -1;\ncvt.u64.u32 %q2, %r2;\nst.global.u64 [%q0+24], %q2;\n"
     "shfl.sync.idx.b32 %r2, %r1, 17, 31, -1;\ncvt.u64.u32 %q2, %r2;\nst.global.u64 [%q0+32], "
     "%q2;\nshfl.sync.down.b32 "
     "%r2, %r1, 2, 0x181f, -1;\ncvt.u64.u32 %q2, %r2;\nst.global.u64 [%q0+40], %q2;\n"
     "shfl.sync.idx.b32 %r2, %r1, 3, 0x181f, -1;\ncvt.u64.u32 %q2, %r2;\nst.global.u64 [%q0+48], "
     "%q2;",
     32, 7, shuffles, SIM_FAULT_NONE},
    {"votes",
     "setp.lt.u32 %p1, %r0, 10;\nvote.sync.all.pred %p2, %p1, -1;\nselp.u64 %q2, 1, 0, "
     "%p2;\nst.global.u64 [%q0], "
     "%q2;\nvote.sync.any.pred %p2, %p1, -1;\nselp.u64 %q2, 1, 0, %p2;\nst.global.u64 [%q0+8], "
     "%q2;\n"
     "vote.sync.uni.pred %p2, %p1, -1;\nselp.u64 %q2, 1, 0, %p2;\nst.global.u64 [%q0+16], "
     "%q2;\nvote.sync.ballot.b32 "
     "%r1, %p1, -1;\ncvt.u64.u32 %q2, %r1;\nst.global.u64 [%q0+24], %q2;\n"
     "setp.lt.u32 %p3, %r0, 64;\nvote.sync.all.pred %p2, %p3, -1;\nselp.u64 %q2, 1, 0, "
     "%p2;\nst.global.u64 [%q0+32], "
     "%q2;\nvote.ballot.sync.b32 %r1, !%p1, -1;\ncvt.u64.u32 %q2, %r1;\nst.global.u64 [%q0+40], "
     "%q2;\n"
     "vote.uni.sync.pred %p2, !%p3, -1;\nselp.u64 %q2, 1, 0, %p2;\nst.global.u64 [%q0+48], %q2;",
     32, 7, votes, SIM_FAULT_NONE},
    {"matches",
     "rem.u32 %r1, %r0, 5;\nmatch.any.sync.b32 %r2, %r1, -1;\ncvt.u64.u32 %q2, %r2;\nst.global.u64 "
     "[%q0], "
     "%q2;\ncvt.u64.u32 %q3, %r1;\nshl.b64 %q3, %q3, 40;\nmatch.any.sync.b64 %r2, %q3, "
     "-1;\ncvt.u64.u32 %q2, "
     "%r2;\nst.global.u64 [%q0+8], %q2;\n"
     "mov.u32 %r3, 7;\nmatch.all.sync.b32 %r2|%p1, %r3, -1;\ncvt.u64.u32 %q2, %r2;\nst.global.u64 "
     "[%q0+16], "
     "%q2;\nselp.u64 %q2, 1, 0, %p1;\nst.global.u64 [%q0+24], %q2;\n"
     "match.all.sync.b64 %r2|%p1, %q3, -1;\ncvt.u64.u32 %q2, %r2;\nst.global.u64 [%q0+32], "
     "%q2;\nselp.u64 %q2, 1, 0, "
     "%p1;\nst.global.u64 [%q0+40], %q2;",
     32, 6, matches, SIM_FAULT_NONE},
    {"reductions over lanes",
     "redux.sync.add.u32 %r1, %r0, -1;\ncvt.u64.u32 %q2, %r1;\nst.global.u64 [%q0], %q2;\nsub.u32 "
     "%r2, %r0, "
     "16;\nredux.sync.min.s32 %r1, %r2, -1;\ncvt.u64.u32 %q2, %r1;\nst.global.u64 [%q0+8], %q2;\n"
     "redux.sync.max.s32 %r1, %r2, -1;\ncvt.u64.u32 %q2, %r1;\nst.global.u64 [%q0+16], "
     "%q2;\nredux.sync.and.b32 %r1, "
     "%r0, -1;\ncvt.u64.u32 %q2, %r1;\nst.global.u64 [%q0+24], %q2;\nredux.sync.or.b32 %r1, %r0, "
     "-1;\ncvt.u64.u32 %q2, "
     "%r1;\nst.global.u64 [%q0+32], %q2;\n"
     "redux.sync.xor.b32 %r1, %r0, -1;\ncvt.u64.u32 %q2, %r1;\nst.global.u64 [%q0+40], "
     "%q2;\nredux.sync.min.u32 %r1, "
     "%r2, -1;\ncvt.u64.u32 %q2, %r1;\nst.global.u64 [%q0+48], %q2;\nredux.sync.max.u32 %r1, %r2, "
     "-1;\ncvt.u64.u32 "
     "%q2, %r1;\nst.global.u64 [%q0+56], %q2;",
     32, 8, reduced, SIM_FAULT_NONE},
    {"odd and even lanes apart",
     "and.b32 %r1, %r0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra odd;\nredux.sync.add.u32 %r2, %r0, "
     "0x55555555;\nactivemask.b32 %r3;\nbra end;\nodd: redux.sync.add.u32 %r2, %r0, "
     "0xaaaaaaaa;\nactivemask.b32 "
     "%r3;\nend: cvt.u64.u32 %q2, %r2;\nst.global.u64 [%q0], %q2;\ncvt.u64.u32 %q2, "
     "%r3;\nst.global.u64 [%q0+8], %q2;",
     32, 2, of_half, SIM_FAULT_NONE},
    {"one lane of some",
     "setp.lt.u32 %p1, %r0, 4;\nmov.u64 %q3, 4;\nmov.u64 %q4, 0;\nmov.u64 %q5, 28;\n@%p1 bra "
     "end;\nelect.sync %r1|%p2, "
     "0xfffffff0;\ncvt.u64.u32 %q3, %r1;\nselp.u64 %q4, 1, 0, %p2;\nvote.sync.ballot.b32 %r2, %p2, "
     "0xfffffff0;\nactivemask.b32 %r3;\npopc.b32 %r4, %r3;\ncvt.u64.u32 %q5, %r4;\n"
     "end: st.global.u64 [%q0], %q3;\nst.global.u64 [%q0+8], %q4;\nst.global.u64 [%q0+16], %q5;",
     32, 3, elected, SIM_FAULT_NONE},
    {"a shuffle that lanes reach from different places",
     "setp.lt.u32 %p1, %r0, 16;\n@%p1 bra low;\nshfl.sync.bfly.b32 %r1, %r0, 16, 31, -1;\nbra "
     "end;\nlow: "
     "shfl.sync.bfly.b32 %r1, %r0, 16, 31, -1;\nend: cvt.u64.u32 %q2, %r1;\nst.global.u64 [%q0], "
     "%q2;",
     32, 1, from_distant_lane, SIM_FAULT_NONE},
    {.name = NULL},
};
