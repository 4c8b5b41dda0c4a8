/* insn_programs_warp.c — what lanes of a warp do together. */
#include "grader/tests/unit/insn_programs.h"

static u64 shuffles(unsigned t, unsigned w) {
    switch (w) {
    case 0: return 100 + (t >= 3 ? t - 3 : t);                 /* up by 3 */
    case 1: return t >= 3;                                     /* in range? */
    case 2: return 100 + (t + 5 < 32 ? t + 5 : t);             /* down by 5 */
    case 3: return 100 + (t ^ 6);                              /* butterfly */
    case 4: return 100 + 17;                                   /* from lane 17 */
    case 5: return 100 + (t % 8 + 2 < 8 ? t + 2 : t);          /* down by 2 within segments of 8 */
    default: return 100 + t / 8 * 8 + 3;                       /* lane 3 of each segment of 8 */
    }
}
static u64 votes(unsigned t, unsigned w) {
    (void)t;
    return w == 0 ? 0 : w == 1 ? 1 : w == 2 ? 0 : w == 3 ? 0x3ff : w == 4 ? 1 : w == 5 ? 0xfffffc00 : 1;
}
static u64 matches(unsigned t, unsigned w) {
    u64 same = 0;
    for (unsigned l = 0; l < 32; l++) same |= l % 5 == t % 5 ? 1ull << l : 0;
    return w < 2 ? same : w == 2 ? 0xffffffff : w == 3 ? 1 : 0;
}
static u64 reduced(unsigned t, unsigned w) {
    (void)t;
    return w == 0 ? 496 : w == 1 ? 0xfffffff0u : w == 2 ? 15 : w == 3 ? 0 : w == 4 ? 31 : w == 5 ? 0 : w == 6 ? 0 : 0xffffffffu;
}
static u64 of_half(unsigned t, unsigned w) { return w == 0 ? (t & 1 ? 256 : 240) : t & 1 ? 0xaaaaaaaau : 0x55555555u; }
static u64 elected(unsigned t, unsigned w) { return w == 0 ? 4 : w == 1 ? t == 4 : 28; }
static u64 from_apart(unsigned t, unsigned w) { (void)w; return t ^ 16; }

const struct insn_program warp_programs[] = {
    {"shuffles",
     "add.u32 %r1, %r0, 100;\nshfl.sync.up.b32 %r2|%p1, %r1, 3, 0, -1;\ncvt.u64.u32 %q2, %r2;\nst.global.u64 [%q0], %q2;\nselp.u64 %q2, 1, 0, %p1;\nst.global.u64 [%q0+8], %q2;\n"
     "shfl.sync.down.b32 %r2, %r1, 5, 31, -1;\ncvt.u64.u32 %q2, %r2;\nst.global.u64 [%q0+16], %q2;\nshfl.sync.bfly.b32 %r2, %r1, 6, 31, -1;\ncvt.u64.u32 %q2, %r2;\nst.global.u64 [%q0+24], %q2;\n"
     "shfl.sync.idx.b32 %r2, %r1, 17, 31, -1;\ncvt.u64.u32 %q2, %r2;\nst.global.u64 [%q0+32], %q2;\nshfl.sync.down.b32 %r2, %r1, 2, 0x181f, -1;\ncvt.u64.u32 %q2, %r2;\nst.global.u64 [%q0+40], %q2;\n"
     "shfl.sync.idx.b32 %r2, %r1, 3, 0x181f, -1;\ncvt.u64.u32 %q2, %r2;\nst.global.u64 [%q0+48], %q2;", 32, 7, shuffles, SIM_FAULT_NONE},
    {"votes",
     "setp.lt.u32 %p1, %r0, 10;\nvote.sync.all.pred %p2, %p1, -1;\nselp.u64 %q2, 1, 0, %p2;\nst.global.u64 [%q0], %q2;\nvote.sync.any.pred %p2, %p1, -1;\nselp.u64 %q2, 1, 0, %p2;\nst.global.u64 [%q0+8], %q2;\n"
     "vote.sync.uni.pred %p2, %p1, -1;\nselp.u64 %q2, 1, 0, %p2;\nst.global.u64 [%q0+16], %q2;\nvote.sync.ballot.b32 %r1, %p1, -1;\ncvt.u64.u32 %q2, %r1;\nst.global.u64 [%q0+24], %q2;\n"
     "setp.lt.u32 %p3, %r0, 64;\nvote.sync.all.pred %p2, %p3, -1;\nselp.u64 %q2, 1, 0, %p2;\nst.global.u64 [%q0+32], %q2;\nvote.ballot.sync.b32 %r1, !%p1, -1;\ncvt.u64.u32 %q2, %r1;\nst.global.u64 [%q0+40], %q2;\n"
     "vote.uni.sync.pred %p2, !%p3, -1;\nselp.u64 %q2, 1, 0, %p2;\nst.global.u64 [%q0+48], %q2;", 32, 7, votes, SIM_FAULT_NONE},
    {"matches",
     "rem.u32 %r1, %r0, 5;\nmatch.any.sync.b32 %r2, %r1, -1;\ncvt.u64.u32 %q2, %r2;\nst.global.u64 [%q0], %q2;\ncvt.u64.u32 %q3, %r1;\nshl.b64 %q3, %q3, 40;\nmatch.any.sync.b64 %r2, %q3, -1;\ncvt.u64.u32 %q2, %r2;\nst.global.u64 [%q0+8], %q2;\n"
     "mov.u32 %r3, 7;\nmatch.all.sync.b32 %r2|%p1, %r3, -1;\ncvt.u64.u32 %q2, %r2;\nst.global.u64 [%q0+16], %q2;\nselp.u64 %q2, 1, 0, %p1;\nst.global.u64 [%q0+24], %q2;\n"
     "match.all.sync.b64 %r2|%p1, %q3, -1;\ncvt.u64.u32 %q2, %r2;\nst.global.u64 [%q0+32], %q2;\nselp.u64 %q2, 1, 0, %p1;\nst.global.u64 [%q0+40], %q2;", 32, 6, matches, SIM_FAULT_NONE},
    {"reductions over lanes",
     "redux.sync.add.u32 %r1, %r0, -1;\ncvt.u64.u32 %q2, %r1;\nst.global.u64 [%q0], %q2;\nsub.u32 %r2, %r0, 16;\nredux.sync.min.s32 %r1, %r2, -1;\ncvt.u64.u32 %q2, %r1;\nst.global.u64 [%q0+8], %q2;\n"
     "redux.sync.max.s32 %r1, %r2, -1;\ncvt.u64.u32 %q2, %r1;\nst.global.u64 [%q0+16], %q2;\nredux.sync.and.b32 %r1, %r0, -1;\ncvt.u64.u32 %q2, %r1;\nst.global.u64 [%q0+24], %q2;\nredux.sync.or.b32 %r1, %r0, -1;\ncvt.u64.u32 %q2, %r1;\nst.global.u64 [%q0+32], %q2;\n"
     "redux.sync.xor.b32 %r1, %r0, -1;\ncvt.u64.u32 %q2, %r1;\nst.global.u64 [%q0+40], %q2;\nredux.sync.min.u32 %r1, %r2, -1;\ncvt.u64.u32 %q2, %r1;\nst.global.u64 [%q0+48], %q2;\nredux.sync.max.u32 %r1, %r2, -1;\ncvt.u64.u32 %q2, %r1;\nst.global.u64 [%q0+56], %q2;", 32, 8, reduced, SIM_FAULT_NONE},
    {"odd and even lanes apart",
     "and.b32 %r1, %r0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra odd;\nredux.sync.add.u32 %r2, %r0, 0x55555555;\nactivemask.b32 %r3;\nbra end;\nodd: redux.sync.add.u32 %r2, %r0, 0xaaaaaaaa;\nactivemask.b32 %r3;\nend: cvt.u64.u32 %q2, %r2;\nst.global.u64 [%q0], %q2;\ncvt.u64.u32 %q2, %r3;\nst.global.u64 [%q0+8], %q2;", 32, 2, of_half, SIM_FAULT_NONE},
    {"one lane of some",
     "setp.lt.u32 %p1, %r0, 4;\nmov.u64 %q3, 4;\nmov.u64 %q4, 0;\nmov.u64 %q5, 28;\n@%p1 bra end;\nelect.sync %r1|%p2, 0xfffffff0;\ncvt.u64.u32 %q3, %r1;\nselp.u64 %q4, 1, 0, %p2;\nvote.sync.ballot.b32 %r2, %p2, 0xfffffff0;\nactivemask.b32 %r3;\npopc.b32 %r4, %r3;\ncvt.u64.u32 %q5, %r4;\n"
     "end: st.global.u64 [%q0], %q3;\nst.global.u64 [%q0+8], %q4;\nst.global.u64 [%q0+16], %q5;", 32, 3, elected, SIM_FAULT_NONE},
    {"a shuffle that lanes reach from different places",
     "setp.lt.u32 %p1, %r0, 16;\n@%p1 bra low;\nshfl.sync.bfly.b32 %r1, %r0, 16, 31, -1;\nbra end;\nlow: shfl.sync.bfly.b32 %r1, %r0, 16, 31, -1;\nend: cvt.u64.u32 %q2, %r1;\nst.global.u64 [%q0], %q2;", 32, 1, from_apart, SIM_FAULT_NONE},
    {.name = NULL},
};
