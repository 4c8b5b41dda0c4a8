/* test_timing_atomics.c — tests the cost of atomics: in global memory, where a word, a sector
 * and an L2 slice are the queues, and in shared memory, where the banks are. */
#include "grader/tests/unit/timing_spec.h"

START_TEST(atomics_on_one_address_serialize) {
    /* All lanes' addresses are one, which only the data says: nothing is aggregated. */
    struct kernel_spec s = {
        .blocks = SMS,
        .threads = 256,
        .n = 10,
        .prologue = "mul.wide.u32 %d10, %r5, 4;\nadd.s64 %d11, %d0, %d10;\nld.global.u32 %r20, "
                    "[%d11+256];\nmul.wide.u32 %d12, %r20, 4;\nadd.s64 %d13, %d0, %d12;\n"};
    spec_add(&s, "red.global.add.u32 [%%d13], 1;\n");
    struct time_estimate t = spec_model(&s);
    ck_bound(t, "atomics on one address");
    double clocks = 1.98 / 1.36; /* of the SM for one of the atomics: an update each */
    ck_about(spec_cycles(&s), SMS * 256.0 * 10 * clocks, 0.1);
    struct kernel_spec spread = {.blocks = SMS,
                                 .threads = 256,
                                 .n = 10,
                                 .bytes = SMS * 1024,
                                 .prologue =
                                     "mul.wide.u32 %d10, %r4, 4;\nadd.s64 %d11, %d0, %d10;\n"};
    spec_add(&spread, "red.global.add.u32 [%%d11], 1;\n");
    ck_assert(spec_cycles(&spread) < 0.1 * spec_cycles(&s));
    ck_assert(spec_cycles_disabling(&s, TERM_BIT(ATOMICS)) < 0.1 * spec_cycles(&s));
    struct kernel_spec known = {.blocks = SMS, .threads = 256, .n = 10};
    spec_add(&known, "red.global.add.u32 [%%d0], 1;\n"); /* ptxas has one lane add the warp's sum */
    ck_about(spec_cycles(&known), spec_cycles(&s) / 32, 0.2);
    buf_free(&known.body);
    buf_free(&s.body), buf_free(&spread.body);
}
END_TEST

/* Lanes on different words of a sector share a wavefront; sectors of one slice, 512 bytes, take
 * one each. */
START_TEST(atomics_in_one_l2_slice_serialize) {
    double clocks = 1.98 / 1.68;
    struct kernel_spec s = {.blocks = SMS,
                            .threads = 256,
                            .n = 20,
                            .prologue = "mul.wide.u32 %d10, %r5, 4;\nadd.s64 %d11, %d0, %d10;\n"};
    spec_add(&s, "red.global.add.u32 [%%d11], 1;\n"); /* 32 words, 4 sectors: 1.25 clocks each */
    ck_about(spec_cycles(&s), SMS * 8 * 20 * 4 * 1.25 * clocks, 0.1);
    struct time_estimate t = spec_model(&s);
    ck_bound(t, "atomics in one L2 slice");
    struct kernel_spec half = s; /* lane / 2: each word twice, two passes for each of two sectors */
    half.body = (struct buf){0};
    half.prologue =
        "shr.u32 %r20, %r5, 1;\nmul.wide.u32 %d10, %r20, 4;\nadd.s64 %d11, %d0, %d10;\n";
    spec_add(&half, "red.global.add.u32 [%%d11], 1;\n");
    ck_about(spec_cycles(&half), SMS * 8 * 20 * 2 * 2.25 * clocks, 0.1);
    struct kernel_spec far = s; /* lane * 512: a slice each */
    far.bytes = 32 * 512, far.body = (struct buf){0};
    far.prologue = "mul.wide.u32 %d10, %r5, 512;\nadd.s64 %d11, %d0, %d10;\n";
    spec_add(&far, "red.global.add.u32 [%%d11], 1;\n");
    ck_assert(spec_cycles(&far) < 0.8 * spec_cycles(&s) * 8 &&
              spec_cycles(&far) > SMS * 8 * 20 * clocks);
    buf_free(&s.body), buf_free(&half.body), buf_free(&far.body);
}
END_TEST

static struct kernel_spec swap_spec(unsigned blocks) {
    struct kernel_spec s = {.device = "h100",
                            .blocks = blocks,
                            .threads = 32,
                            .n = 4,
                            .prologue = "setp.ne.u32 %p3, %r1, 0;\n@%p3 exit;\nmov.u32 %r20, 0;\n"};
    spec_add(&s,
             "RETRY:\nmov.u32 %%r21, %%r20;\nadd.u32 %%r22, %%r21, 1;\natom.global.cas.b32 %%r20, "
             "[%%d0], %%r21, %%r22;\nsetp.ne.u32 %%p4, %%r20, %%r21;\n@%%p4 bra RETRY;\n");
    return s;
}

/* Blocks that all swap one word four times: H100, effects-h100.tsv, swap4-132 and swap4-1056, less
 * the launch. A success takes a round trip, or as long as L2 serves all that try. */
START_TEST(swaps_of_one_word_succeed_a_round_trip_apart) {
    struct kernel_spec few = swap_spec(SMS), many = swap_spec(8 * SMS);
    struct time_estimate t = spec_model(&few);
    ck_bound(t, "atomics on one address");
    ck_about(spec_cycles(&few), (136.1 - 2.9) * 1980, 0.1);
    ck_about(spec_cycles(&many), (1498.9 - 2.9) * 1980, 0.15);
    buf_free(&few.body), buf_free(&many.body);
}
END_TEST

static struct kernel_spec own_words_spec(unsigned threads) {
    struct kernel_spec s = {.blocks = 16384,
                            .threads = threads,
                            .n = 1,
                            .bytes = 16384ull * threads * 4,
                            .warm = true,
                            .prologue = "mul.wide.u32 %d10, %r4, 4;\nadd.s64 %d11, %d0, %d10;\n"};
    return s;
}

/* Blocks that add to words of their own, 768 bytes of them, so that two have a slice in common here
 * and there: no queue of 132 SMs before it. What it takes is L2's bandwidth: 24 sectors a block and
 * round, 3.5 times what reading them takes, 24 blocks an SM. */
START_TEST(atomics_on_distinct_words_are_bound_by_l2_bandwidth) {
    struct kernel_spec s = own_words_spec(192);
    s.blocks = 24 * SMS, s.n = 20;
    spec_add(&s, "red.global.add.f32 [%%d11], 0f3f800000;\n");
    struct time_estimate t = spec_model(&s);
    ck_bound(t, "L2 bandwidth");
    ck_about(spec_cycles(&s), 24 * 20 * 24 * 3.5 * 32 / (9.95e12 / SMS / 1.98e9), 0.35);
    buf_free(&s.body);
}
END_TEST

/* A slice serves others while a sector arrives, so its fetch hides behind the slices' rate. An H200
 * takes, for 4, 6 and 8 M words that are added to once each, 12.93, 17.89 and 22.75 us if L2 has
 * them and 13.02, 17.95 and 22.88 if not; for stores 12.93, 17.89 and 22.72. */
START_TEST(atomic_misses_do_not_block_the_l2_slice) {
    static const struct {
        unsigned blocks;
        double warm_us, cold_us, store_us;
    } measured[] = {
        {16384, 12.93, 13.02, 12.93}, {24576, 17.89, 17.95, 17.89}, {32768, 22.75, 22.88, 22.72}};
    for (unsigned i = 0; i < sizeof measured / sizeof *measured; i++) {
        struct kernel_spec adds = own_words_spec(256), stores;
        adds.blocks = measured[i].blocks, adds.bytes = adds.blocks * 256ull * 4, stores = adds;
        spec_add(&adds, "red.global.add.f32 [%%d11], 0f3f800000;\n");
        spec_add(&stores, "st.global.u32 [%%d11], %%r4;\n");
        ck_about(1e6 * spec_model(&adds).seconds, measured[i].warm_us, 0.08);
        ck_about(1e6 * spec_model(&stores).seconds, measured[i].store_us, 0.08);
        adds.warm = false;
        ck_about(1e6 * spec_model(&adds).seconds, measured[i].cold_us, 0.08);
        buf_free(&adds.body), buf_free(&stores.body);
    }
}
END_TEST

/* Float additions to one word: 0.505 G/s on a T4. */
START_TEST(float_atomics_match_a_t4) {
    struct kernel_spec s = {.device = "t4", .blocks = 40, .threads = 256, .n = 10};
    spec_add(&s, "red.global.add.f32 [%%d0], 0f3f800000;\n");
    ck_about(spec_model(&s).seconds - 2.5e-6, 40 * 256 * 10 / 0.505e9, 0.05);
    buf_free(&s.body);
}
END_TEST

static struct kernel_spec shared_atomics(const char *device, unsigned stride, unsigned value) {
    struct kernel_spec s = {
        .device = device, .blocks = 1, .threads = 256, .n = 100, .dynamic_shared = 8192};
    spec_add(&s, "mad.lo.u32 %%r20, %%r5, %u, %%r7;\nred.shared.add.u32 [%%r20], %u;\n", stride,
             value);
    return s;
}

/* A bank serves one lane a cycle; increments by one are merged by word from compute capability
 * 8.0 on. */
START_TEST(shared_atomics_serialize_by_bank) {
    static const struct {
        const char *device;
        unsigned stride, value;
        double wavefronts;
    } cases[] = {{"t4", 4, 1, 1},     {"t4", 0, 1, 32},     {"t4", 128, 2, 32},
                 {"t4", 64, 2, 16},   {"h200", 4, 2, 1},    {"h200", 0, 2, 32},
                 {"h200", 0, 1, 3.5}, {"h200", 128, 1, 32}, {"h200", 4, 1, 3.5}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kernel_spec s = shared_atomics(cases[i].device, cases[i].stride, cases[i].value);
        if (!cases[i].stride) { /* one word, which only the data says */
            s.body.size = 0;
            s.prologue =
                "mul.wide.u32 %d10, %r5, 4;\nadd.s64 %d11, %d0, %d10;\nld.global.u32 %r21, "
                "[%d11+256];\nadd.s32 %r20, %r21, %r7;\n";
            spec_add(&s, "red.shared.add.u32 [%%r20], %u;\n", cases[i].value);
        }
        double c = spec_cycles(&s), expected = 8 * 100 * cases[i].wavefronts;
        ck_assert_msg(cases[i].wavefronts == 1 ? c < 3 * expected
                                               : c > 0.95 * expected && c < 1.35 * expected + 500,
                      "case %u: %g cycles, passes %g", i, c, expected);
        buf_free(&s.body);
    }
}
END_TEST

UNIT_SUITE(timing_atomics) {
    Suite *s = suite_create("timing_atomics");
    TCase *c = tcase_create("terms");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, atomics_on_one_address_serialize);
    tcase_add_test(c, atomics_in_one_l2_slice_serialize);
    tcase_add_test(c, swaps_of_one_word_succeed_a_round_trip_apart);
    tcase_add_test(c, atomics_on_distinct_words_are_bound_by_l2_bandwidth);
    tcase_add_test(c, atomic_misses_do_not_block_the_l2_slice);
    tcase_add_test(c, float_atomics_match_a_t4);
    tcase_add_test(c, shared_atomics_serialize_by_bank);
    suite_add_tcase(s, c);
    return s;
}
