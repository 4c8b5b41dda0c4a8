/* test_timing_messages.c — tests the time model of messages between blocks: releases, acquires and
 * fences.
 *
 * Each kernel has the code of a launch of grader/tests/timing/control.cu. The expected times are
 * those of an H200 (control-h200.tsv). */
#include "grader/tests/unit/timing_spec.h"

/* Returns the cycles of each of `rounds` rounds that take so many microseconds. */
static double round_cycles(double us, unsigned rounds) { return us * 1980 / rounds; }

/* rereads-fenced-32 and rereads-acquired-32: a word that L1 had before a fence or an acquire comes
 * from L2 behind it. One warp on each SM, 256 rounds. */
START_TEST(fences_and_acquires_empty_l1) {
    struct kernel_spec fenced = {
        .blocks = SMS, .threads = 32, .n = 256, .prologue = "mov.u64 %d12, %d0;\n"};
    struct kernel_spec acquired = fenced;
    static const char next_address[] = "mul.wide.u32 %d11, %r21, 4;\nadd.s64 %d12, %d0, %d11;\n";
    buf_puts(&fenced.body, "membar.gl;\nld.global.u32 %r21, [%d12];\n");
    buf_puts(&fenced.body, next_address);
    buf_puts(&acquired.body, "ld.acquire.gpu.global.u32 %r20, [%d0+2048];\n"
                             "mul.wide.u32 %d13, %r20, 4;\nadd.s64 %d14, %d12, %d13;\n"
                             "ld.global.u32 %r21, [%d14];\n");
    buf_puts(&acquired.body, next_address);
    ck_about(spec_cycles(&fenced) / 256, round_cycles(124.416, 256), 0.1);
    ck_about(spec_cycles(&acquired) / 256, round_cycles(84.000, 256), 0.3);
    buf_free(&fenced.body), buf_free(&acquired.body);
}
END_TEST

/* relay-released-bare-1: a block waits for the one before it, reads its 32 words, and passes 32 on.
 * Its flags begin at %d0, its words at 65536. */
static const char relay[] =
    "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra SEND;\nsetp.ne.u32 %p2, %r1, 0;\n@%p2 bra WAITED;\n"
    "LOOK: ld.acquire.gpu.global.u32 %r20, [%d11+-4];\nsetp.eq.u32 %p3, %r20, 0;\n@%p3 bra LOOK;\n"
    "WAITED: bar.sync 0;\nld.volatile.global.u32 %r22, [%d13+65408];\n"
    "SEND: setp.ge.u32 %p4, %r1, 32;\n@%p4 bra STORED;\nst.global.u32 [%d13+65536], %r22;\n"
    "STORED: bar.sync 0;\nsetp.ne.u32 %p5, %r1, 0;\n@%p5 bra SENT;\n"
    "st.release.gpu.global.u32 [%d11], 1;\nSENT:\n";

/* The fence of a release ends before its store: without this order, the chain takes 0.7 of the
 * time. */
START_TEST(a_released_message_waits_for_the_fence) {
    struct kernel_spec s = {.blocks = 64, .threads = 256, .n = 1, .bytes = 1 << 20};
    s.full_grid = true;
    s.prologue = "mov.u32 %r22, 0;\nmul.wide.u32 %d10, %r2, 4;\nadd.s64 %d11, %d0, %d10;\n"
                 "mad.lo.u32 %r21, %r2, 32, %r5;\nmul.wide.u32 %d12, %r21, 4;\n"
                 "add.s64 %d13, %d0, %d12;\n";
    buf_puts(&s.body, relay);
    ck_about(spec_model(&s).seconds * 1e6, 56.896, 0.15);
    buf_free(&s.body);
}
END_TEST

UNIT_SUITE(timing_messages) {
    Suite *s = suite_create("timing_messages");
    TCase *c = tcase_create("terms");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, fences_and_acquires_empty_l1);
    tcase_add_test(c, a_released_message_waits_for_the_fence);
    suite_add_tcase(s, c);
    return s;
}
