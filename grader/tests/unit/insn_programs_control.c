/* insn_programs_control.c — programs for branches, calls, block barriers, and instructions that
 * only take time. */
#include "grader/tests/unit/insn_programs.h"

static u64 collatz(unsigned t, unsigned w) {
    u64 steps = 0;
    (void)w;
    for (u64 n = t + 1; n != 1; n = n & 1 ? 3 * n + 1 : n / 2) steps++;
    return steps;
}
static u64 cases(unsigned t, unsigned w) {
    (void)w;
    return (const u64[]){111, 222, 333, 222}[t % 4];
}
static u64 doubled(unsigned t, unsigned w) { return w ? 4 * t : 2 * t; }
static u64 factorials(unsigned t, unsigned w) {
    u64 f = 1;
    (void)w;
    for (u64 k = 2; k <= t % 8; k++) f *= k;
    return f;
}
static u64 half_exited(unsigned t, unsigned w) {
    (void)w;
    return t < 20 ? 0 : 12;
}
static u64 reversed(unsigned t, unsigned w) { return w == 0 ? 255 - t : 128; }
static u64 reductions(unsigned t, unsigned w) {
    (void)t;
    return w == 0 ? 10 : w == 1 ? 0 : w == 2 ? 1 : 64;
}
static u64 produced(unsigned t, unsigned w) {
    (void)w;
    return t < 32 ? 0 : 7 * (t - 32);
}
static u64 ones(unsigned t, unsigned w) {
    (void)t, (void)w;
    return 1;
}
static u64 specials(unsigned t, unsigned w) {
    return w == 0   ? t % 32
           : w == 1 ? t / 32
           : w == 2 ? 64
           : w == 3 ? 1
           : w == 4 ? (1ull << (t % 32)) - 1
                    : 0;
}
static u64 stacked(unsigned t, unsigned w) {
    return w == 0 ? 3 * t : w == 1 ? 1 : w == 2 ? 16 * (t % 4 + 1) : 0;
}
static u64 hinted(unsigned t, unsigned w) {
    (void)t;
    return w == 1 ? 40 + 40 : 40 + 2 + 1;
}
static u64 thread_number(unsigned t, unsigned w) {
    (void)w;
    return t;
}

const struct insn_program control_programs[] = {
    {"loops that end at different times",
     "add.u32 %r1, %r0, 1;\nmov.u32 %r2, 0;\nagain: setp.eq.u32 %p1, %r1, 1;\n@%p1 bra "
     "done;\nadd.u32 %r2, %r2, "
     "1;\nand.b32 %r3, %r1, 1;\nsetp.ne.u32 %p2, %r3, 0;\n@%p2 bra odd;\n"
     "shr.u32 %r1, %r1, 1;\nbra again;\nodd: mad.lo.u32 %r1, %r1, 3, 1;\nbra again;\ndone: "
     "cvt.u64.u32 %q2, "
     "%r2;\nst.global.u64 [%q0], %q2;",
     64, 1, collatz, SIM_FAULT_NONE},
    {"branch through a table",
     "and.b32 %r1, %r0, 3;\nto: .branchtargets one, two, three, two;\nbrx.idx %r1, to;\none: "
     "mov.u64 %q2, "
     "111;\nbra.uni end;\ntwo: mov.u64 %q2, 222;\nbra end;\nthree: mov.u64 %q2, 333;\nend: "
     "st.global.u64 [%q0], %q2;",
     32, 1, cases, SIM_FAULT_NONE},
    {"calls by name and through a pointer",
     "{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r0;\ncall.uni (b), twice, "
     "(a);\nld.param.b32 %r1, "
     "[b];\n}\ncvt.u64.u32 %q2, %r1;\nst.global.u64 [%q0], %q2;\n"
     "mov.u64 %q3, twice;\n{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r1;\nprototype: "
     ".callprototype "
     "(.param .b32 _) _ (.param .b32 _);\ncall (b), %q3, (a), prototype;\nld.param.b32 %r2, "
     "[b];\n}\n"
     "cvt.u64.u32 %q4, %r2;\nst.global.u64 [%q0+8], %q4;",
     32, 2, doubled, SIM_FAULT_NONE},
    {"recursion to a different depth in each lane",
     "and.b32 %r1, %r0, 7;\n{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r1;\ncall (b), "
     "factorial, "
     "(a);\nld.param.b32 %r2, [b];\n}\ncvt.u64.u32 %q2, %r2;\nst.global.u64 [%q0], %q2;",
     32, 1, factorials, SIM_FAULT_NONE},
    {"lanes that exit early",
     "setp.lt.u32 %p1, %r0, 20;\n@%p1 exit;\nactivemask.b32 %r1;\npopc.b32 %r2, %r1;\ncvt.u64.u32 "
     "%q2, "
     "%r2;\nst.global.u64 [%q0], %q2;",
     32, 1, half_exited, SIM_FAULT_NONE},
    {"a trap", "setp.eq.u32 %p1, %r0, 5;\n@%p1 trap;", 32, 0, NULL, SIM_FAULT_TRAP},
    {"a barrier between warps; warps that have exited do not count",
     "setp.ge.u32 %p1, %r0, 256;\n@%p1 ret;\nmul.wide.u32 %q2, %r0, 4;\nmov.u64 %q3, s;\nadd.u64 "
     "%q4, %q3, "
     "%q2;\nst.shared.u32 [%q4], %r0;\nbarrier.sync 0;\nsub.u32 %r1, 255, %r0;\nmul.wide.u32 %q5, "
     "%r1, 4;\nadd.u64 "
     "%q5, %q3, %q5;\n"
     "ld.shared.u32 %r2, [%q5];\ncvt.u64.u32 %q6, %r2;\nst.global.u64 [%q0], "
     "%q6;\nbarrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\nbarrier.sync 1, 256;\n"
     "and.b32 %r3, %r0, 1;\nsetp.eq.u32 %p2, %r3, 0;\nbar.red.popc.u32 %r4, 0, %p2;\ncvt.u64.u32 "
     "%q7, "
     "%r4;\nst.global.u64 [%q0+8], %q7;",
     256, 2, reversed, SIM_FAULT_NONE},
    {"reductions at a barrier",
     "setp.lt.u32 %p1, %r0, 10;\nbar.red.popc.u32 %r1, 0, %p1;\ncvt.u64.u32 %q2, "
     "%r1;\nst.global.u64 [%q0], "
     "%q2;\nbar.red.and.pred %p2, 0, %p1;\nselp.u64 %q3, 1, 0, %p2;\nst.global.u64 [%q0+8], %q3;\n"
     "barrier.cta.red.or.pred %p3, 0, %p1;\nselp.u64 %q4, 1, 0, %p3;\nst.global.u64 [%q0+16], "
     "%q4;\nsetp.lt.u32 %p4, "
     "%r0, 1000;\nbar.red.popc.u32 %r2, 2, 64, %p4;\ncvt.u64.u32 %q5, %r2;\nst.global.u64 "
     "[%q0+24], %q5;",
     64, 4, reductions, SIM_FAULT_NONE},
    {"a producer that does not wait",
     "mul.wide.u32 %q2, %r0, 4;\nmov.u64 %q3, s;\nadd.u64 %q3, %q3, %q2;\nsetp.ge.u32 %p1, %r0, "
     "32;\n@%p1 bra "
     "consumer;\nmul.lo.u32 %r1, %r0, 7;\nst.shared.u32 [%q3], %r1;\nbar.arrive 3, 64;\nbra end;\n"
     "consumer: bar.sync 3, 64;\nld.shared.u32 %r2, [%q3+-128];\ncvt.u64.u32 %q4, "
     "%r2;\nst.global.u64 [%q0], "
     "%q4;\nend:",
     64, 1, produced, SIM_FAULT_NONE},
    {"clocks go on; sleep and hints change nothing",
     "mov.u32 %r1, %clock;\nmov.u64 %q2, %clock64;\nnanosleep.u32 100;\nprefetch.global.L1 "
     "[%q1];\nprefetchu.L1 "
     "[%q1];\ngriddepcontrol.wait;\ngriddepcontrol.launch_dependents;\npmevent "
     "1;\nsetmaxnreg.inc.sync.aligned.u32 "
     "40;\n"
     "mov.u64 %q3, %clock64;\nsetp.gt.u64 %p1, %q3, %q2;\nselp.u64 %q4, 1, 0, %p1;\nst.global.u64 "
     "[%q0], %q4;\nmov.u64 "
     "%q5, %globaltimer;\nsetp.ge.u64 %p2, %q5, %q2;\nselp.u64 %q6, 1, 0, %p2;\nst.global.u64 "
     "[%q0+8], %q6;",
     64, 2, ones, SIM_FAULT_NONE},
    {"special registers",
     "mov.u32 %r1, %laneid;\ncvt.u64.u32 %q2, %r1;\nst.global.u64 [%q0], %q2;\nmov.u32 %r1, "
     "%warpid;\ncvt.u64.u32 %q2, "
     "%r1;\nst.global.u64 [%q0+8], %q2;\nmov.u32 %r1, %ntid.x;\ncvt.u64.u32 %q2, "
     "%r1;\nst.global.u64 [%q0+16], %q2;\n"
     "mov.u32 %r1, %nctaid.y;\ncvt.u64.u32 %q2, %r1;\nst.global.u64 [%q0+24], %q2;\nmov.u32 %r1, "
     "%lanemask_lt;\ncvt.u64.u32 %q2, %r1;\nst.global.u64 [%q0+32], %q2;\nmov.u32 %r1, "
     "%envreg3;\ncvt.u64.u32 %q2, "
     "%r1;\nst.global.u64 [%q0+40], %q2;\n"
     "mov.u32 %r1, %cluster_ctaid.x;\ncvt.u64.u32 %q2, %r1;\nst.global.u64 [%q0+48], %q2;",
     64, 7, specials, SIM_FAULT_NONE},
    {"a stack of a different height in each lane",
     "and.b32 %r1, %r0, 3;\nadd.u32 %r1, %r1, 1;\nshl.b32 %r1, %r1, 4;\ncvt.u64.u32 %q2, "
     "%r1;\nstacksave.u64 "
     "%q3;\nalloca.u64 %q4, %q2, 16;\nmul.lo.u32 %r2, %r0, 3;\nst.local.u32 [%q4+8], "
     "%r2;\nalloca.u64 %q5, "
     "%q2;\nst.local.u32 [%q5+8], %r0;\n"
     "ld.local.u32 %r3, [%q4+8];\ncvt.u64.u32 %q6, %r3;\nst.global.u64 [%q0], "
     "%q6;\nstackrestore.u64 %q3;\nalloca.u64 "
     "%q7, %q2, 16;\nsetp.eq.u64 %p1, %q7, %q4;\nselp.u64 %q6, 1, 0, %p1;\nst.global.u64 [%q0+8], "
     "%q6;\n"
     "sub.u64 %q6, %q5, %q4;\nst.global.u64 [%q0+16], %q6;\nand.b64 %q6, %q4, 15;\nst.global.u64 "
     "[%q0+24], %q6;",
     64, 4, stacked, SIM_FAULT_NONE},
    {"more of the stack than there is",
     "mov.u64 %q2, 20000;\nalloca.u64 %q4, %q2, 16;\nst.local.u32 [%q4], %r0;", 32, 0, NULL,
     SIM_FAULT_STACK_OVERFLOW},
    {"a cluster of one block",
     "mov.u64 %q2, s;\nmul.wide.u32 %q3, %r0, 4;\nadd.u64 %q2, %q2, %q3;\nmapa.shared::cluster.u64 "
     "%q4, %q2, "
     "0;\nst.shared::cluster.u32 [%q4], %r0;\nld.shared.u32 %r1, "
     "[%q2];\ngetctarank.shared::cluster.u32 %r2, "
     "%q4;\nadd.u32 %r1, %r1, %r2;\n"
     "createpolicy.fractional.L2::evict_last.b64 %q5, 1.0;\ncvt.u64.u32 %q6, %r1;\nst.global.u64 "
     "[%q0], %q6;",
     32, 1, thread_number, SIM_FAULT_NONE},
    /* A policy says what L2 keeps, not what is read or written. */
    {"accesses with a cache policy",
     "createpolicy.fractional.L2::evict_first.b64 %q5, 1.0;\nst.global.L2::cache_hint.u64 [%q0], "
     "40, %q5;\n"
     "ld.global.L1::no_allocate.L2::cache_hint.u64 %q2, [%q0], %q5;\n"
     "atom.global.add.L2::cache_hint.u64 %q3, [%q0], 2, %q5;\nred.global.add.L2::cache_hint.u64 "
     "[%q0], 1, %q5;\n"
     "ld.global.L2::cache_hint.v2.u32 {%r1, %r2}, [%q0], %q5;\nadd.u64 %q3, %q3, %q2;\n"
     "st.global.u64 [%q0+8], %q3;\nadd.u32 %r1, %r1, %r2;\ncvt.u64.u32 %q4, %r1;\nst.global.u64 "
     "[%q0+16], %q4;",
     32, 3, hinted, SIM_FAULT_NONE},
    {.name = NULL},
};
