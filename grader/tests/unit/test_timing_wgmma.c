/* test_timing_wgmma.c — tests the matrix products of warpgroups against an H100's cycles
 * (docs/results/h100/warpgroup.tsv). */
#include "grader/tests/unit/timing_spec.h"

/* `chain` products and a wait, by so many warpgroups of an SM: cycles of a product. The grid fills
 * two SMs, since each has tensor cores of its own. */
static double cycles_each(unsigned n, bool sparse, bool in_registers, unsigned chain,
                          unsigned groups) {
    struct kernel_spec s = {
        .device = "h100", .blocks = 2, .threads = 128 * groups, .n = 32, .dynamic_shared = 32768};
    spec_add(&s, "mov.u64 %%d20, 0x4000004000010000;\nmov.b32 %%r20, 0;\n");
    for (unsigned i = 0; i < chain; i++) {
        spec_add(&s, "wgmma.mma_async%s.sync.aligned.m64n%uk%u.f32.f16.f16 {", sparse ? ".sp" : "",
                 n, sparse ? 32 : 16);
        for (unsigned r = 0; r < n / 2; r++) spec_add(&s, "%s%%f%u", r ? ", " : "", 30 + r);
        spec_add(&s, "}, %s, %%d20, %s1, 1, 1, 0%s;\n",
                 in_registers ? "{%r20, %r20, %r20, %r20}" : "%d20", sparse ? "%r20, 0, " : "",
                 in_registers ? "" : ", 0");
    }
    spec_add(&s, "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n");
    double cycles = spec_cycles(&s) / 32 / chain / groups;
    buf_free(&s.body);
    return cycles;
}

START_TEST(wgmma_throughput_matches_an_h100) {
    static const struct {
        unsigned n, sparse, in_registers, chain, groups;
        double cycles;
    } measured[] = {{8, 0, 0, 4, 2, 18.0},  {8, 0, 1, 4, 4, 12.9},  {32, 0, 0, 4, 2, 24.0},
                    {64, 0, 0, 4, 1, 48.8}, {64, 0, 0, 4, 2, 32.0}, {64, 0, 1, 4, 2, 32.0},
                    {64, 0, 0, 1, 1, 99.3}, {64, 0, 0, 1, 4, 33.4}, {128, 0, 0, 1, 1, 131},
                    {8, 1, 0, 4, 4, 20.0},  {64, 1, 0, 4, 2, 47.7}, {32, 1, 0, 4, 2, 31.8},
                    {8, 1, 1, 4, 4, 15.9},  {64, 1, 1, 4, 2, 32.8}, {128, 1, 0, 4, 4, 80.5}};
    for (unsigned i = 0; i < sizeof measured / sizeof *measured; i++)
        ck_about(cycles_each(measured[i].n, measured[i].sparse, measured[i].in_registers,
                             measured[i].chain, measured[i].groups),
                 measured[i].cycles, 0.1);
}
END_TEST

UNIT_SUITE(timing_wgmma) {
    Suite *suite = suite_create("timing_wgmma");
    TCase *tc = tcase_create("warpgroups");
    tcase_add_test(tc, wgmma_throughput_matches_an_h100);
    suite_add_tcase(suite, tc);
    return suite;
}
