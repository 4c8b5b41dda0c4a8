/* test_timing_pieces.c — holds the time model to what an H100 and an H200 took for launches that
 * each show one term: grader/tests/timing/pieces.cu, pieces-*.tsv. */
#include "grader/tests/unit/timing_spec.h"

static const char *const gpus[] = {"h100", "h200"};

/* Each thread copies a word. In `halo`, the block's first and last threads then load a word of the
 * neighbouring block, at an address that depends on their own. */
static struct kernel_spec copies_spec(const char *device, bool halo) {
    enum { BLOCKS = 16384, THREADS = 256, BYTES = BLOCKS * THREADS * 4 };
    struct kernel_spec s = {
        .device = device, .blocks = BLOCKS, .threads = THREADS, .n = 1, .bytes = 2 * BYTES};
    spec_add(&s, "mul.wide.u32 %%d10, %%r4, 4;\nadd.s64 %%d11, %%d0, %%d10;\n"
                 "ld.global.u32 %%r30, [%%d11];\nand.b32 %%r31, %%r30, 1;\n"
                 "mul.wide.u32 %%d12, %%r31, 4;\nadd.s64 %%d13, %%d11, %%d12;\n");
    if (halo)
        spec_add(&s,
                 "setp.ne.s32 %%p1, %%r1, 0;\nsetp.eq.s32 %%p2, %%r2, 0;\n"
                 "or.pred %%p1, %%p1, %%p2;\n@%%p1 bra INNER;\nld.global.u32 %%r32, [%%d13+-4];\n"
                 "INNER:\nsetp.ne.s32 %%p3, %%r1, %d;\n@%%p3 bra END;\n"
                 "ld.global.u32 %%r33, [%%d13+4];\nEND:\n",
                 THREADS - 1);
    spec_add(&s,
             "add.s32 %%r34, %%r30, %%r32;\nadd.s32 %%r34, %%r34, %%r33;\n"
             "st.global.u32 [%%d11+%d], %%r34;\n",
             BYTES);
    return s;
}

/* The neighbour has fetched the word by then, so L2 has it: late-block-256 and late-none-256. */
START_TEST(late_loads_of_a_halo_find_it_in_l2) {
    static const double measured[] = {64.80 / 60.83, 60.42 / 54.94};
    struct kernel_spec with = copies_spec(gpus[_i], true), without = copies_spec(gpus[_i], false);
    ck_about(spec_model(&with).seconds / spec_model(&without).seconds, measured[_i], 0.1);
    buf_free(&with.body), buf_free(&without.body);
}
END_TEST

/* Short blocks, of which each adds to one word, give their places free when L2 has added:
 * brief-bare-one, 262144 blocks of 256 threads. */
START_TEST(blocks_wait_for_their_atomics) {
    static const double measured_us[] = {194.85, 194.78};
    struct kernel_spec s = {.device = gpus[_i], .blocks = 262144, .threads = 256, .n = 1};
    spec_add(&s, "setp.ne.s32 %%p1, %%r1, 0;\n@%%p1 bra END;\n"
                 "red.global.add.u32 [%%d0], %%r3;\nEND:\n");
    ck_about(1e6 * spec_model(&s).seconds, measured_us[_i], 0.08);
    buf_free(&s.body);
}
END_TEST

UNIT_SUITE(timing_pieces) {
    Suite *s = suite_create("timing_pieces");
    TCase *c = tcase_create("pieces");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, late_loads_of_a_halo_find_it_in_l2, 0, 2);
    tcase_add_loop_test(c, blocks_wait_for_their_atomics, 0, 2);
    suite_add_tcase(s, c);
    return s;
}
