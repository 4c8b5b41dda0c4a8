/* test_timing_link.c — tests the traffic over the link between L2's halves. The expected bytes
 * follow from who reads and writes a sector; the rate is the device's. */
#include "grader/tests/unit/timing_spec.h"

static const double h200_link_rate = 2200e9; /* devices.def */

/* Returns the bytes that the launch moves over the link. */
static double link_bytes(struct kernel_spec *s) {
    struct time_estimate t = spec_model(s);
    unsigned i = 0;
    while (strcmp(time_component_name(i), "link between L2 halves") != 0) i++;
    buf_free(&s->body);
    return t.components[i] * h200_link_rate;
}

/* Half of the sectors that a stream reads lie in the half that is far from the reader. */
START_TEST(half_of_what_is_read_once_crosses) {
    struct kernel_spec s = stream_spec("h200", 1 << 14); /* 64 MiB */
    ck_about(link_bytes(&s), (64 << 20) / 2, 0.1);
}
END_TEST

/* All blocks read the same 256 KiB: each half of L2 fetches the other half's part once. */
START_TEST(what_all_read_crosses_once) {
    struct kernel_spec s = {
        .blocks = 8 * SMS, .threads = 1024, .n = 16, .bytes = 1 << 18, .device = "h200"};
    s.prologue = "mul.wide.u32 %d10, %r1, 16;\nadd.s64 %d11, %d0, %d10;\n";
    spec_add(&s, "ld.global.cg.v4.u32 {%%r30, %%r31, %%r32, %%r33}, [%%d11];\n"
                 "add.s64 %%d11, %%d11, 16384;\n");
    ck_about(link_bytes(&s), 1 << 18, 0.25);
}
END_TEST

/* Stores go to the sector's home, each time: half of 33 MiB, twice. */
START_TEST(half_of_the_stores_cross) {
    struct kernel_spec s = {
        .blocks = 16 * SMS, .threads = 1024, .n = 2, .bytes = 16ull * SMS << 14, .device = "h200"};
    s.prologue = "mul.wide.u32 %d10, %r4, 16;\nadd.s64 %d11, %d0, %d10;\n";
    spec_add(&s, "st.global.v4.u32 [%%d11], {%%r1, %%r2, %%r4, %%r8};\n");
    ck_about(link_bytes(&s), (double)s.bytes, 0.1);
}
END_TEST

/* A lane's update of a word of its own sector is a sector; half of them cross. */
START_TEST(half_of_the_atomics_cross) {
    struct kernel_spec s = {.blocks = 8 * SMS,
                            .threads = 256,
                            .n = 1,
                            .bytes = 8ull * SMS * 256 * 32,
                            .device = "h200"};
    s.prologue = "mul.wide.u32 %d10, %r4, 32;\nadd.s64 %d11, %d0, %d10;\n";
    spec_add(&s, "red.global.add.u32 [%%d11], %%r1;\n");
    ck_about(link_bytes(&s), (double)s.bytes / 2, 0.1);
}
END_TEST

START_TEST(a_single_l2_has_no_link) {
    struct kernel_spec s = stream_spec("rtx4090", 1 << 12);
    ck_assert(!(link_bytes(&s) > 0));
}
END_TEST

UNIT_SUITE(timing_link) {
    Suite *s = suite_create("timing_link");
    TCase *c = tcase_create("link");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, half_of_what_is_read_once_crosses);
    tcase_add_test(c, what_all_read_crosses_once);
    tcase_add_test(c, half_of_the_stores_cross);
    tcase_add_test(c, half_of_the_atomics_cross);
    tcase_add_test(c, a_single_l2_has_no_link);
    suite_add_tcase(s, c);
    return s;
}
