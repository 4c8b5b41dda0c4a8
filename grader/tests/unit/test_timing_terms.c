/* test_timing_terms.c — tests that every term of the time model changes the time of at least one
 * kernel. */
#include "grader/tests/unit/timing_spec.h"

#include <stdio.h>

/* Neighbouring threads' words, by number of the thread in the grid. */
static const char own_word_code[] = "mul.wide.u32 %d10, %r4, 4;\nadd.s64 %d11, %d0, %d10;\n";

static struct kernel_spec make_spec(const char *body, struct kernel_spec s) {
    spec_add(&s, "%s", body);
    if (!s.blocks) s.blocks = SMS;
    if (!s.n) s.n = 20;
    if (!s.bytes) s.bytes = 1 << 20;
    return s;
}

static struct kernel_spec spec_of(enum time_term term) {
    switch (term) {
    case TERM_LAUNCH:
        return make_spec("add.s32 %r20, %r20, 1;\n", (struct kernel_spec){.threads = 32, .n = 1});
    case TERM_ISSUE: { /* a third of additions: neither the FMA nor the integer units are the limit
                        */
        struct kernel_spec s = {.blocks = SMS, .threads = 1024, .n = 50};
        for (unsigned i = 0; i < 60; i++)
            spec_add(&s,
                     i % 3 ? "fma.rn.f32 %%f%u, %%f%u, %%f90, %%f91;\n"
                           : "add.s32 %%r%u, %%r%u, 3;\n",
                     20 + i % 30, 20 + i % 30);
        return s;
    }
    case TERM_PIPES:
        return make_spec("ex2.approx.ftz.f32 %f0, %f0;\nex2.approx.ftz.f32 %f1, %f1;\n",
                         (struct kernel_spec){.threads = 512, .n = 100});
    case TERM_SHARED_WAVEFRONTS: return shared_spec(128);
    case TERM_L1_WAVEFRONTS: return l1_spec(128);
    case TERM_CACHE: return l1_spec(4);
    case TERM_L2:
        return make_spec("ld.global.cg.u32 %r20, [%d11];\n",
                         (struct kernel_spec){.threads = 1024, .n = 50, .prologue = own_word_code});
    case TERM_DRAM: return stream_spec("h200", 1 << 14);
    case TERM_ATOMICS:
        return make_spec("red.global.add.u32 [%d0], 1;\n", (struct kernel_spec){.threads = 1024});
    case TERM_LATENCY: return fma_spec(1, 32);
    case TERM_BARRIERS:
        return make_spec(
            "and.b32 %r20, %r8, 1;\nsetp.ne.s32 %p1, %r20, %r6;\n@%p1 bra SHORT;\n"
            "sin.approx.f32 %f0, %f0;\nsin.approx.f32 %f0, %f0;\nsin.approx.f32 %f0, %f0;\n"
            "sin.approx.f32 %f0, %f0;\nSHORT:\nbar.sync 0;\n",
            (struct kernel_spec){.threads = 64, .n = 100});
    case TERM_TAIL:
        return make_spec(
            "fma.rn.f32 %f0, %f0, %f1, %f2;\n",
            (struct kernel_spec){
                .blocks = SMS + 1, .threads = 1024, .n = 2000, .dynamic_shared = 200000});
    case TERM_SCHEDULING:
        return make_spec("ld.global.cg.u32 %r30, [%d11];\nadd.s32 %r20, %r20, "
                         "%r30;\nld.global.cg.u32 %r31, [%d11+128];\n"
                         "add.s32 %r20, %r20, %r31;\n",
                         (struct kernel_spec){.threads = 32, .prologue = own_word_code});
    case TERM_LOWERING:
        return make_spec("div.s32 %r20, %r21, %r22;\n", (struct kernel_spec){.threads = 1024});
    case TERM_MERGING:
        return make_spec("ld.shared.u32 %r30, [%r7];\nld.shared.u32 %r31, [%r7+4];\nld.shared.u32 "
                         "%r32, [%r7+8];\n"
                         "ld.shared.u32 %r33, [%r7+12];\n",
                         (struct kernel_spec){.threads = 1024, .n = 100, .dynamic_shared = 1024});
    case TIME_TERM_COUNT: break;
    }
    return (struct kernel_spec){0};
}

/* Without its term, each kernel's time must change. A new term without a kernel does not compile
 * (-Wswitch). */
START_TEST(every_model_term_has_an_effect) {
    static const char *const names[] = {
#define X(id, text) text,
        TIME_TERMS(X)
#undef X
    };
    struct kernel_spec s = spec_of((enum time_term)_i);
    double with = spec_model(&s).seconds, without = spec_model_with(&s, 1u << _i, 0).seconds;
    double change = with > without ? with / without : without / with;
    ck_assert_msg(change > 1.2, "%s: %g us with it, %g us without", names[_i], with * 1e6,
                  without * 1e6);
    buf_free(&s.body);
}
END_TEST

/* Each lane copies a word, `stride` bytes from its neighbour's in shared memory. */
static double async_copy_time(unsigned stride) {
    struct kernel_spec s = {
        .blocks = SMS, .threads = 128, .n = 50, .bytes = 1 << 16, .dynamic_shared = 8192};
    spec_add(&s,
             "mad.lo.u32 %%r20, %%r5, %u, %%r7;\nmul.wide.u32 %%d10, %%r5, 4;\n"
             "add.s64 %%d11, %%d0, %%d10;\n",
             stride);
    for (unsigned i = 0; i < 4; i++)
        spec_add(&s, "cp.async.ca.shared.global [%%r20+%u], [%%d11], 4;\n", 4 * i);
    spec_add(&s, "cp.async.wait_all;\n");
    double seconds = spec_model(&s).seconds;
    buf_free(&s.body);
    return seconds;
}

/* A warp's copy takes 32 wavefronts if all lanes store to one bank: with 4 warps and 4 copies at
 * least 31 x 16 x 50 cycles more, 13 us at 1.98 GHz. */
START_TEST(bank_conflicts_of_async_copies_take_time) {
    double padded = async_copy_time(4), conflicts = async_copy_time(128);
    ck_assert_msg(conflicts - padded > 11e-6, "%g us, %g us with conflicts", padded * 1e6,
                  conflicts * 1e6);
}
END_TEST

/* All blocks read `pieces` pieces of 64 KiB, each its own, `rounds` times, past L1. */
static struct kernel_spec reads_of_own_part(unsigned pieces, unsigned rounds) {
    struct kernel_spec s = {.device = "h100", .blocks = SMS, .threads = 1024, .n = pieces * rounds};
    s.bytes = (uint64_t)SMS * pieces << 16;
    s.prologue = "mul.wide.u32 %d10, %r1, 16;\nadd.s64 %d11, %d0, %d10;\n";
    spec_add(&s,
             "rem.u32 %%r21, %%r8, %u;\nmad.lo.u32 %%r21, %%r2, %u, %%r21;\n"
             "mul.wide.u32 %%d12, %%r21, 65536;\nadd.s64 %%d13, %%d11, %%d12;\n",
             pieces, pieces);
    for (unsigned i = 0; i < 4; i++)
        spec_add(&s, "ld.global.cg.v4.u32 {%%r%u, %%r%u, %%r%u, %%r%u}, [%%d13+%u];\n", 30 + 4 * i,
                 31 + 4 * i, 32 + 4 * i, 33 + 4 * i, 16384 * i);
    return s;
}

/* Returns the time of three more rounds, each relative to the first. */
static double time_of_reading_again(unsigned pieces) {
    struct kernel_spec once = reads_of_own_part(pieces, 1), often = reads_of_own_part(pieces, 4);
    double first = spec_cycles(&once), all = spec_cycles(&often);
    buf_free(&once.body), buf_free(&often.body);
    return (all - first) / 3 / first;
}

/* L2 replaces the least recently used line. So an H100 finds 99 % of 24 MiB that it reads again,
 * and nothing of 64 MiB: these take 34.7 us once and 23.3 each time again, 24 MiB 14.0 and 3.3
 * (terms.cu, again-64Mx1 and -x4, again-24Mx1 and -x4, without the launch). */
START_TEST(l2_keeps_nothing_of_data_that_exceeds_it) {
    ck_about(time_of_reading_again(3), 3.3 / 14.0,
             0.6); /* 25 MiB; cold reads are known to be fast */
    ck_about(time_of_reading_again(8), 23.3 / 34.7, 0.4); /* 66 MiB */
}
END_TEST

/* A block on each SM loads 16 KiB, waits for it at a barrier and computes for 1024 cycles, 32
 * times. */
static struct kernel_spec burst_spec(void) {
    struct kernel_spec s = {.device = "h100", .blocks = SMS, .threads = 256, .n = 32};
    s.bytes = (uint64_t)SMS * 32 * 16384;
    s.prologue = "mul.wide.u32 %d10, %r1, 16;\nadd.s64 %d11, %d0, %d10;\n";
    spec_add(&s, "mad.lo.u32 %%r20, %%r2, 32, %%r8;\nmul.wide.u32 %%d12, %%r20, 16384;\n"
                 "add.s64 %%d13, %%d11, %%d12;\n");
    for (unsigned i = 0; i < 4; i++)
        spec_add(&s, "ld.global.cg.v4.f32 {%%f%u, %%f%u, %%f%u, %%f%u}, [%%d13+%u];\n", 10 + 4 * i,
                 11 + 4 * i, 12 + 4 * i, 13 + 4 * i, 4096 * i);
    for (unsigned i = 0; i < 16; i++) spec_add(&s, "add.f32 %%f0, %%f0, %%f%u;\n", 10 + i);
    spec_add(&s, "bar.sync 0;\n");
    for (unsigned i = 0; i < 256; i++) spec_add(&s, "fma.rn.f32 %%f0, %%f0, %%f90, %%f91;\n");
    spec_add(&s, "bar.sync 0;\n");
    return s;
}

/* Blocks drift apart, so a burst gets more than the SM's share of DRAM: on an H100, 54.9 us and 3.0
 * for the launch, 3210 cycles each (terms.cu, burst-16K-256). The share alone takes 1370. */
START_TEST(bursts_get_more_than_the_share_of_dram) {
    struct kernel_spec s = burst_spec();
    ck_about(spec_cycles(&s) / 32, 3210, 0.1);
    buf_free(&s.body);
}
END_TEST

/* A grid that walks and copies 16 KiB a block at a time, in requests of `lines` lines a warp. */
static struct kernel_spec copy_spec(unsigned lines) {
    struct kernel_spec s = {.device = "h100", .blocks = 8 * SMS, .threads = 256, .n = 4};
    unsigned width = 4 * lines, step = 256 * width;
    const char *vector = lines == 4 ? ".v4" : "";
    s.bytes = 2ull * s.blocks * s.n * 16384;
    s.prologue = lines == 4 ? "mul.wide.u32 %d10, %r1, 16;\nadd.s64 %d11, %d0, %d10;\n"
                            : "mul.wide.u32 %d10, %r1, 4;\nadd.s64 %d11, %d0, %d10;\n";
    spec_add(&s,
             "mad.lo.u32 %%r20, %%r8, %u, %%r2;\nmul.wide.u32 %%d12, %%r20, 16384;\n"
             "add.s64 %%d13, %%d11, %%d12;\n",
             s.blocks);
    for (unsigned store = 0; store < 2; store++)
        for (unsigned i = 0; i < 16384 / step; i++) {
            char values[48];
            unsigned r = 10 + i * lines;
            if (lines == 4)
                snprintf(values, sizeof values, "{%%f%u, %%f%u, %%f%u, %%f%u}", r, r + 1, r + 2,
                         r + 3);
            else snprintf(values, sizeof values, "%%f%u", r);
            if (store)
                spec_add(&s, "st.global%s.f32 [%%d13+%u], %s;\n", vector,
                         (unsigned)(s.bytes / 2) + i * step, values);
            else spec_add(&s, "ld.global%s.f32 %s, [%%d13+%u];\n", vector, values, i * step);
        }
    return s;
}

/* Four lines a request 3 %, one 14 % more than the rate of single streams (terms.cu, words-…). */
START_TEST(small_requests_cost_dram_more) {
    struct kernel_spec words = copy_spec(1), vectors = copy_spec(4);
    ck_about(spec_cycles(&words) / spec_cycles(&vectors), 1.14 / 1.03, 0.06);
    buf_free(&words.body), buf_free(&vectors.body);
}
END_TEST

/* Returns the seconds in which each of so many blocks of 512 threads copies 64 words a thread, one
 * after another, past the launch. */
static double stretch_copy_time(unsigned blocks) {
    struct kernel_spec s = {.device = "h100", .blocks = blocks, .threads = 512, .n = 64};
    s.bytes = 2ull * blocks * 512 * 256;
    s.prologue = "mul.wide.u32 %d10, %r4, 256;\nadd.s64 %d11, %d0, %d10;\n";
    spec_add(&s,
             "ld.global.u32 %%r20, [%%d11];\nst.global.u32 [%%d11+%u], %%r20;\n"
             "add.s64 %%d11, %%d11, 4;\n",
             (unsigned)(s.bytes / 2));
    double seconds = spec_cycles(&s) / device_find("h100")->clock_hz;
    buf_free(&s.body);
    return seconds;
}

/* The lines that 528 blocks are in the middle of exceed L1 and L2, so each word comes from DRAM
 * again and goes back: scattered-h100.tsv, copy-stretch-64-528 and -132, without the launch. The
 * first takes 13 times as long as the second, for four times the work. */
START_TEST(stretches_that_exceed_the_caches_take_longer) {
    double few = stretch_copy_time(132), many = stretch_copy_time(528);
    ck_about(many, 1417e-6, 0.25);
    ck_about(few, 102.7e-6, 0.3);
}
END_TEST

UNIT_SUITE(timing_terms) {
    Suite *s = suite_create("timing_terms");
    TCase *c = tcase_create("terms");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, bank_conflicts_of_async_copies_take_time);
    tcase_add_test(c, l2_keeps_nothing_of_data_that_exceeds_it);
    tcase_add_test(c, bursts_get_more_than_the_share_of_dram);
    tcase_add_test(c, small_requests_cost_dram_more);
    tcase_add_test(c, stretches_that_exceed_the_caches_take_longer);
    tcase_add_loop_test(c, every_model_term_has_an_effect, 0, TIME_TERM_COUNT);
    suite_add_tcase(s, c);
    return s;
}
