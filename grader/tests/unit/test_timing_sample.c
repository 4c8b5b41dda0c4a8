/* test_timing_sample.c — tests the sample of blocks that the time model traces, and what it
 * knows of all the others: which blocks it traces, whether they represent the launch, and what
 * earlier launches leave in the caches. */
#include "grader/sim/core/core.h"
#include "grader/tests/unit/timing_spec.h"

#define FMAS_4                                                                                  \
    "fma.rn.f32 %f1, %f1, %f90, %f91;\nfma.rn.f32 %f1, %f1, %f90, %f91;\nfma.rn.f32 %f1, %f1, " \
    "%f90, %f91;\n"                                                                             \
    "fma.rn.f32 %f1, %f1, %f90, %f91;\n"
#define FMAS_16 FMAS_4 FMAS_4 FMAS_4 FMAS_4
#define FMAS_64 FMAS_16 FMAS_16 FMAS_16 FMAS_16

#include <stdio.h>

START_TEST(estimates_do_not_depend_on_the_thread_count) {
    struct kernel_spec s = stream_spec("h200", 4096);
    struct time_estimate a = spec_model_with(&s, 0, 1), b = spec_model_with(&s, 0, 2),
                         c = spec_model_with(&s, 0, 2);
    ck_assert(a.seconds == b.seconds && b.seconds == c.seconds && a.low == b.low);
    ck_assert(a.low < a.seconds && a.seconds < a.high);
    buf_free(&s.body);
}
END_TEST

/* One block of each stretch, the same for the same key; without a key, as estimate.c has always
 * chosen them. */
START_TEST(the_sample_depends_on_the_key) {
    enum { COUNT = 24, BLOCKS = 4096 };
    unsigned same = 0;
    for (u64 i = 0; i < COUNT; i++) {
        u64 first = i * BLOCKS / COUNT, last = (i + 1) * BLOCKS / COUNT,
            hash = (i + 1) * 0x9e3779b97f4a7c15ull;
        u64 none = launch_sample_block(i, COUNT, BLOCKS, 0),
            a = launch_sample_block(i, COUNT, BLOCKS, 7);
        ck_assert_uint_eq(none, first + (hash >> 32) % (last - first));
        ck_assert(first <= a && a < last);
        ck_assert_uint_eq(a, launch_sample_block(i, COUNT, BLOCKS, 7));
        same += a == none || a == launch_sample_block(i, COUNT, BLOCKS, 8);
    }
    ck_assert_uint_lt(same, COUNT / 4);
}
END_TEST

/* Two blocks an SM, 132 apart; those of a quarter of the grid, 66 in a row, read the same lines: no
 * two of one SM do. */
START_TEST(blocks_of_one_sm_are_not_adjacent) {
    struct kernel_spec s = {
        .blocks = 2 * SMS,
        .threads = 32,
        .n = 1,
        .bytes = 1 << 16,
        .prologue =
            "div.u32 %r40, %r2, 66;\nshl.b32 %r40, %r40, 13;\nshl.b32 %r41, %r5, 2;\n"
            "add.u32 %r40, %r40, %r41;\ncvt.u64.u32 %d10, %r40;\nadd.s64 %d11, %d0, %d10;\n"};
    for (unsigned i = 0; i < 32; i++)
        spec_add(&s, "ld.global.u32 %%r%u, [%%d11+%u];\n", 50 + i, 128 * i);
    for (unsigned full_grid = 0; full_grid < 2; full_grid++)
        for (s.sample_key = 1, s.full_grid = full_grid; s.sample_key <= 5; s.sample_key++)
            ck_assert(spec_model(&s).l1_hit_rate == 0);
    buf_free(&s.body);
}
END_TEST

/* The middle blocks, which are sampled without a key, do almost nothing; all others loop. */
START_TEST(the_base_estimate_depends_on_the_key) {
    struct kernel_spec s = {
        .blocks = 1024,
        .threads = 256,
        .n = 2000,
        .prologue = "shr.u32 %r20, %r2, 1;\nsetp.eq.u32 %p1, %r20, 256;\n@%p1 mov.u32 %r0, 1;\n"};
    spec_add(&s, "add.s32 %%r21, %%r21, 1;\n");
    ck_assert(spec_model(&s).seconds > 0);
    s.sample_key = 5;
    double keyed = spec_model(&s).seconds;
    ck_assert(keyed == spec_model(&s).seconds);
    ck_about(
        keyed,
        spec_model(&(struct kernel_spec){
                       .blocks = 1024, .threads = 256, .n = 2000, .sample_key = 9, .body = s.body})
            .seconds,
        0.02);
    buf_free(&s.body);
}
END_TEST

static struct kernel_spec counting_spec(const char *rest) {
    struct kernel_spec s = {.blocks = 4 * SMS,
                            .threads = 64,
                            .n = 1,
                            .full_grid = true,
                            .prologue = "mov.u32 %r21, 0;\n"};
    spec_add(&s,
             "%ssetp.ne.u32 %%p5, %%r1, 0;\n@%%p5 bra DONE;\n"
             "atom.global.add.u32 %%r20, [%%d0], 1;\nsetp.ne.u32 %%p4, %%r20, %u;\n"
             "@%%p4 bra DONE;\n%sDONE:\n",
             FMAS_64, 4 * SMS - 1, rest);
    return s;
}

/* The block that counts last goes on alone, which no other block's trace shows: 100 × 64 additions,
 * each waiting for the one before, 4 cycles each. */
START_TEST(the_last_block_runs_on_behind_the_others) {
    struct kernel_spec none = counting_spec(""),
                       more = counting_spec("MORE:\n" FMAS_64
                                            "add.u32 %r21, %r21, 1;\nsetp.lt.u32 %p4, %r21, 100;\n"
                                            "@%p4 bra MORE;\n");
    ck_about(spec_cycles(&more) - spec_cycles(&none), 100 * 64 * 4.0, 0.1);
    buf_free(&none.body), buf_free(&more.body);
}
END_TEST

/* One warp of all works 2000 × 64 additions long, each waiting for the one before: 4 cycles each.
 */
START_TEST(one_heavy_unsampled_block_is_charged) {
    struct kernel_spec s = {.blocks = 20000,
                            .threads = 32,
                            .n = 1,
                            .full_grid = true,
                            .prologue = "setp.eq.u32 %p1, %r2, 7777;\n@%p1 mov.u32 %r0, 2000;\n"};
    for (unsigned i = 0; i < 64; i++) spec_add(&s, "fma.rn.f32 %%f1, %%f1, %%f90, %%f91;\n");
    struct time_estimate t = spec_model_with(&s, 0, 2);
    double cycles = t.seconds * device_find("h200")->clock_hz;
    ck_about(cycles, 2000 * 64 * 4.0, 0.6);
    ck_assert_str_eq(t.uncertainty_note, "some blocks do far more work than the sampled ones");
    s.prologue = "";
    ck_assert_str_eq(spec_model_with(&s, 0, 2).uncertainty_note, "");
    buf_free(&s.body);
}
END_TEST

/* Block 77, which is not sampled, loads from a line a lane, the others all lanes from one word, by
 * as many instructions: 200 · 8 · 32 sectors, of which L1 gives four in a cycle. */
START_TEST(heavy_traffic_of_an_unsampled_block_is_charged) {
    struct kernel_spec s = {
        .blocks = SMS,
        .threads = 32,
        .n = 200,
        .full_grid = true,
        .bytes = 1 << 16,
        .prologue = "mov.u32 %r40, 0;\nsetp.eq.u32 %p1, %r2, 77;\n@%p1 shl.b32 %r40, %r5, 7;\n"
                    "cvt.u64.u32 %d10, %r40;\nadd.s64 %d11, %d0, %d10;\n"};
    for (unsigned i = 0; i < 8; i++)
        spec_add(&s, "ld.global.u32 %%r%u, [%%d11+%u];\n", 30 + i, 4096 * i);
    double heavy = spec_cycles(&s), traffic = 200 * 8 * 32 / 4.0;
    s.prologue = "mov.u64 %d11, %d0;\n";
    double light = spec_cycles(&s);
    ck_assert_msg(light < traffic / 2 && heavy > 0.99 * traffic, "%g and %g cycles", light, heavy);
    buf_free(&s.body);
}
END_TEST

/* The same with atomics: block 77 has all lanes at one word, the others each lane at its own. One
 * word takes an operation in 1.35 cycles (1.36 G/s on an H100), so 200 · 8 · 32 of them a cycle
 * each at least. */
START_TEST(contention_of_an_unsampled_block_is_charged) {
    struct kernel_spec s = {
        .blocks = SMS,
        .threads = 32,
        .n = 200,
        .full_grid = true,
        .bytes = SMS * 4096,
        .prologue = "shl.b32 %r40, %r5, 2;\nsetp.eq.u32 %p1, %r2, 77;\n@%p1 mov.u32 %r40, 0;\n"
                    "mad.lo.u32 %r41, %r2, 4096, %r40;\ncvt.u64.u32 %d10, %r41;\nadd.s64 "
                    "%d11, %d0, %d10;\n"};
    for (unsigned i = 0; i < 8; i++) spec_add(&s, "red.global.add.u32 [%%d11], %%r5;\n");
    double heavy = spec_cycles(&s), crowd = 200 * 8 * 32;
    s.prologue = "shl.b32 %r40, %r5, 2;\nmad.lo.u32 %r41, %r2, 4096, %r40;\ncvt.u64.u32 %d10, "
                 "%r41;\nadd.s64 %d11, %d0, %d10;\n";
    double light = spec_cycles(&s);
    ck_assert_msg(light < 0.6 * crowd && heavy > 0.99 * crowd, "%g and %g cycles", light, heavy);
    buf_free(&s.body);
}
END_TEST

/* Data that no earlier launch read can't be in L2: 32 MiB read by 8192 blocks. A share of the
 * sectors is rounded to whole lines of each buffer, so an SM must have many lines. */
START_TEST(earlier_launches_warm_only_what_they_moved) {
    struct kernel_spec s = stream_spec("h200", 8192);
    double cold = spec_cycles(&s);
    s.warm_bytes = 1000;
    ck_about(spec_cycles(&s), cold, 0.001);
    s.warm_bytes = 8192 * 256 * 16.0;
    double held = spec_cycles(&s);
    s.warm = true;
    ck_assert(held == spec_cycles(&s) && held < cold);
    buf_free(&s.body);
}
END_TEST

#define DEFINE_GATHER(ARRIVE)                                                            \
    "mov.u32 %r30, %nctaid.x;\nsetp.eq.u32 %p1, %r1, 0;\n@!%p1 bra GO;\n" ARRIVE         \
    "SPIN: ld.volatile.global.u32 %r31, [%d0];\nsetp.lt.u32 %p2, %r31, %r30;\n@%p2 bra " \
    "SPIN;\nGO: bar.sync 0;\n"

/* Block b adds itself to a count and proceeds when all blocks have: with one block none waits,
 * with eight seven do, and they poll until the last has started. */
START_TEST(resident_blocks_that_wait_for_each_other_are_modelled) {
    static const char *const arrivals[] = {DEFINE_GATHER("red.global.add.u32 [%d0], 1;\n"),
                                           DEFINE_GATHER("atom.global.add.u32 %r32, [%d0], 1;\n")};
    struct kernel_spec s = {.threads = 32, .n = 1};
    spec_add(&s, "add.s32 %%r21, %%r21, 1;\n");
    for (unsigned i = 0; i < sizeof arrivals / sizeof *arrivals; i++) {
        s.prologue = arrivals[i];
        s.blocks = 1;
        struct time_estimate alone = spec_model(&s);
        s.blocks = 8;
        struct time_estimate many = spec_model(&s);
        ck_assert(!alone.blocks_depend && !many.blocks_depend);
        ck_assert_msg(many.seconds >= alone.seconds && many.seconds < alone.seconds + 3e-6,
                      "%g and %g us", alone.seconds * 1e6, many.seconds * 1e6);
    }
    buf_free(&s.body);
}
END_TEST

/* A block an SM draws from one counter until 16 draws a block are gone; each draw is 64 rounds of
 * 64 additions that wait for each other, 4 cycles each. The draws themselves, an L2 round trip
 * each, are little beside that. */
START_TEST(blocks_that_fetch_tickets_share_the_work) {
    struct kernel_spec s = {.blocks = SMS,
                            .threads = 32,
                            .n = 1,
                            .full_grid = true,
                            .prologue =
                                "mov.u32 %r30, %nctaid.x;\nshl.b32 %r30, %r30, 4;\n"
                                "DRAW: mov.u32 %r33, 0;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra HAVE;\n"
                                "atom.global.add.u32 %r33, [%d0], 1;\n"
                                "HAVE: shfl.sync.idx.b32 %r34, %r33, 0, 31, -1;\nsetp.ge.u32 %p2, "
                                "%r34, %r30;\n@%p2 bra DONE;\n"
                                "mov.u32 %r35, 0;\nROUND:\n" FMAS_64
                                "add.u32 %r35, %r35, 1;\nsetp.lt.u32 %p3, %r35, 64;\n"
                                "@%p3 bra ROUND;\nbra DRAW;\nDONE:\n"};
    spec_add(&s, "add.s32 %%r21, %%r21, 1;\n");
    struct time_estimate t = spec_model(&s);
    ck_assert(!t.blocks_depend);
    ck_about(t.seconds * device_find("h200")->clock_hz, 16 * 64 * 64 * 4.0, 0.3);
    buf_free(&s.body);
}
END_TEST

/* ---- accesses all over a buffer ---- */

/* A million threads read a word each, `apart` bytes apart, of 2 to the `bits` places; in an order
 * as if drawn. */
static struct kernel_spec random_access_spec(const char *first, unsigned bits, unsigned stride) {
    static char before[400];
    snprintf(before, sizeof before,
             "%s\nand.b32 %%r20, %%r20, %u;\nmul.wide.u32 %%d10, %%r20, %u;\nadd.s64 %%d11, %%d0, "
             "%%d10;\n",
             first, (1u << bits) - 1, stride);
    struct kernel_spec s = {.device = "h100",
                            .blocks = 4096,
                            .threads = 256,
                            .n = 1,
                            .bytes = 256u << 20,
                            .prologue = before};
    spec_add(&s, "ld.global.u32 %%r30, [%%d11];\n");
    return s;
}
static const char random_order_code[] =
    "mul.lo.u32 %r20, %r4, 0x7feb352d;\nshr.u32 %r21, %r20, 15;\nxor.b32 %r20, %r20, %r21;\n"
    "mul.lo.u32 %r20, %r20, 0x846ca68b;\nshr.u32 %r21, %r20, 16;\nxor.b32 %r20, %r20, %r21;",
                  in_order_code[] = "mov.u32 %r20, %r4;",
                  spread[] = "mul.lo.u32 %r20, %r4, 0x9e3779b1;";

/* There are only 32768 sectors to read, and a third more is evicted; not 32 bytes for each
 * thread. */
START_TEST(random_accesses_read_each_sector_once) {
    struct kernel_spec s = random_access_spec(random_order_code, 18, 4);
    struct time_estimate t = spec_model(&s);
    ck_about(t.dram_bytes, 32768 * 32 * 4 / 3.0, 0.1);
    buf_free(&s.body);
}
END_TEST

/* A million sectors, 64 bytes apart, in order or each on another page: the same bytes, and 1.65
 * times the time. */
START_TEST(isolated_sectors_of_dram_pages_cost_more) {
    struct kernel_spec near = random_access_spec(in_order_code, 20, 64);
    struct time_estimate a = spec_model(&near);
    struct kernel_spec far = random_access_spec(spread, 20, 64);
    struct time_estimate b = spec_model(&far);
    ck_bound(b, "DRAM bandwidth");
    ck_about(b.dram_bytes, a.dram_bytes, 0.01);
    ck_about(spec_cycles(&far) / (a.seconds - 2.9e-6) / 1.98e9, 1.65, 0.1);
    buf_free(&near.body), buf_free(&far.body);
}
END_TEST

/* 100 000 segments where 6400 words are kept: every eighth of the run has its part of them, in
 * order, and which they are follows from the key. */
START_TEST(retained_trace_segments_span_the_run) {
    enum { SEGMENTS = 100000, CAPACITY = 6400, STRETCH = SEGMENTS / 8 };
    u64 block = 5;
    unsigned same = 0, first = SEGMENTS;
    for (u64 key = 1; key <= 2; key++) {
        struct sim_trace *t = trace_open(&block, 1, 1, CAPACITY, key);
        struct trace_warp *w = &t->blocks[0].warps[0];
        unsigned in[8] = {0};
        for (u32 i = 0; i < SEGMENTS; i++) trace_segment(&t->blocks[0], 0, i, 0);
        ck_assert(t->blocks[0].truncated && w->produced_words == SEGMENTS &&
                  w->nwords <= CAPACITY && w->nwords > CAPACITY / 8);
        for (u32 i = 0; i < w->nwords; i++) in[w->words[i] / STRETCH]++;
        for (u32 i = 1; i < w->nwords; i++) ck_assert(w->words[i] > w->words[i - 1]);
        for (unsigned i = 0; i < 8; i++)
            ck_assert_msg(in[i] > w->nwords / 24, "%u of %u in stretch %u", in[i], w->nwords, i);
        same += w->words[0] == first, first = (unsigned)w->words[0];
        sim_trace_free(t);
    }
    ck_assert_uint_eq(same, 0);
}
END_TEST

/* A block first goes round an empty loop more often than its trace has words, and then has all its
 * lanes exchange one word, which no compiler merges: 1.36 G/s on an H100 (docs/time-model.md). */
START_TEST(work_after_a_truncated_trace_is_charged) {
    enum { BLOCKS = 24, ATOMICS = 40000 };
    struct kernel_spec s = {
        .blocks = BLOCKS,
        .threads = 32,
        .n = ATOMICS,
        .full_grid = true,
        .sample_key = 3,
        .prologue =
            "mov.u32 %r20, 0;\nIDLE: add.u32 %r20, %r20, 1;\nsetp.lt.u32 %p1, %r20, 700000;\n"
            "@%p1 bra IDLE;\n"};
    spec_add(&s, "atom.global.exch.b32 %%r31, [%%d0], %%r20;\n");
    double min_seconds = BLOCKS * 32.0 * ATOMICS / 1.36e9, seconds = spec_model(&s).seconds;
    ck_assert_msg(seconds > 0.7 * min_seconds && seconds < 2.5 * min_seconds, "%g s, %g of atomics",
                  seconds, min_seconds);
    buf_free(&s.body);
}
END_TEST

UNIT_SUITE(timing_sample) {
    Suite *s = suite_create("timing_sample");
    TCase *c = tcase_create("blocks");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, estimates_do_not_depend_on_the_thread_count);
    tcase_add_test(c, the_sample_depends_on_the_key);
    tcase_add_test(c, the_base_estimate_depends_on_the_key);
    tcase_add_test(c, blocks_of_one_sm_are_not_adjacent);
    tcase_add_test(c, the_last_block_runs_on_behind_the_others);
    tcase_add_test(c, one_heavy_unsampled_block_is_charged);
    tcase_add_test(c, heavy_traffic_of_an_unsampled_block_is_charged);
    tcase_add_test(c, contention_of_an_unsampled_block_is_charged);
    tcase_add_test(c, earlier_launches_warm_only_what_they_moved);
    tcase_add_test(c, resident_blocks_that_wait_for_each_other_are_modelled);
    tcase_add_test(c, blocks_that_fetch_tickets_share_the_work);
    tcase_add_test(c, random_accesses_read_each_sector_once);
    tcase_add_test(c, isolated_sectors_of_dram_pages_cost_more);

    tcase_add_test(c, retained_trace_segments_span_the_run);
    tcase_add_test(c, work_after_a_truncated_trace_is_charged);
    suite_add_tcase(s, c);
    return s;
}
