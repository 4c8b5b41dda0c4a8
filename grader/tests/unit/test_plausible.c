/* test_plausible.c — the floors of grader/grade/plausible.c: which times at the timed size no honest program can
 * have. */
#include "grader/grade/grading.h"
#include "grader/tests/unit/unit.h"

#include <string.h>

enum { N = 1 << 22 };

static size_t count(const struct ex_case *c) { return (size_t)c->dim[0]; }
static double bytes(const struct ex_case *c) { return 8.0 * count(c); }
static const struct ex_arg args[] = {{.name = "out", .role = EX_OUT, .type = EX_F32, .count = count}};
static const struct exercise exercise = {.name = "none", .args = args, .nargs = 1, .timed = {{N}}, .bytes = bytes};

/* An MX330 moves 48 GB/s and has 512 KiB of L2, which may keep its share: (2^25 - 2^19) bytes / 48e9 = 688 us. */
START_TEST(the_floor_and_the_interval) {
    static const struct {
        double us, high_us;
        unsigned sectors; /* written; 2^22 floats are 2^19 of them */
        const char *says;
    } rows[] = {
        {700, 0, N / 8, ""},
        {670, 0, N / 8, "faster than the device can be"}, /* a measured time has no `high` */
        {670, 900, N / 8, ""},                            /* the model's error is on the other side */
        {400, 600, N / 8, "faster than the device can be"},
        {700, 900, N / 64, "the kernels write 2097152 bytes at most, and the outputs have 16777216"},
    };
    const struct grade_options o = {.device = device_find("mx330")};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct grading g = {.ex = &exercise, .o = &o};
        struct tally own = {.seconds = rows[i].us * 1e-6, .high = rows[i].high_us * 1e-6, .launches = 1};
        own.counters.sectors_store = rows[i].sectors;
        check_plausible(&g, &own);
        ck_assert_int_eq(!g.implausible[0], !rows[i].says[0]);
        ck_assert_msg(strstr(g.implausible, rows[i].says), "row %u: %s", i, g.implausible);
    }
}
END_TEST

/* 100 000 instructions and as many sectors and passes in all. A sample scaled up to 80 000 misses a fifth of them, and is
 * near enough (a quarter more than the sample says); one of 70 000 is not, unless what it misses is little beside the
 * instructions. */
START_TEST(a_sample_that_misses_much_does_not_speak_for_the_whole) {
    enum { ALL = 100000 };
    static const struct {
        unsigned inst, sectors, passes, all_sectors, all_passes;
        bool speaks;
    } rows[] = {
        {ALL, ALL, ALL, ALL, ALL, true},    {80000, 80000, 80000, ALL, ALL, true}, {70000, ALL, ALL, ALL, ALL, false},
        {ALL, 70000, ALL, ALL, ALL, false}, {ALL, ALL, 70000, ALL, ALL, false},    {ALL, 0, 0, 4000, 4000, true},
        {ALL, 0, 0, 6000, 0, false},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct sim_counters sample = {.inst_executed = rows[i].inst,
                                            .sectors_load = rows[i].sectors / 2,
                                            .sectors_store = rows[i].sectors - rows[i].sectors / 2,
                                            .shared_wavefronts_load = rows[i].passes};
        const struct sim_counters whole = {
            .inst_executed = ALL, .sectors_load = rows[i].all_sectors, .shared_wavefronts_store = rows[i].all_passes};
        ck_assert_msg(speed_speaks_for(&sample, &whole) == rows[i].speaks, "row %u", i);
    }
}
END_TEST

UNIT_SUITE(plausible) {
    Suite *s = suite_create("plausible");
    TCase *t = tcase_create("floors");
    tcase_add_test(t, the_floor_and_the_interval);
    tcase_add_test(t, a_sample_that_misses_much_does_not_speak_for_the_whole);
    suite_add_tcase(s, t);
    return s;
}
