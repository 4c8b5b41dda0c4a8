/* test_timing_local.c — compares the time model of local memory with an H100's times
 * (grader/tests/timing/terms-h100.tsv). */
#include "grader/tests/unit/timing_spec.h"

enum { WORDS = 16, WARPS = 32 };

/* 1024 threads on each SM store to an array of 16 words, or load from it: all lanes at one index,
 * or each at its own. */
static struct kernel_spec local_spec(const char *access, bool apart) {
    struct kernel_spec s = {.device = "h100", .blocks = SMS, .threads = 32 * WARPS, .n = 20};
    s.prologue = ".local .align 4 .b8 array[64];\nmov.u64 %d20, array;\nmov.u32 %r21, 0;\n";
    for (unsigned i = 0; i < WORDS; i++) {
        spec_add(&s, "mad.lo.u32 %%r20, %%r5, %u, %u;\nand.b32 %%r20, %%r20, 15;\n", 5 * apart, i);
        spec_add(&s, "mul.wide.u32 %%d21, %%r20, 4;\nadd.s64 %%d22, %%d20, %%d21;\n");
        spec_add(&s, access, 30 + i);
    }
    return s;
}

static double cycles_per_access(const char *access, bool apart) {
    struct kernel_spec s = local_spec(access, apart);
    double cycles = spec_cycles(&s) / (20.0 * WORDS * WARPS);
    buf_free(&s.body);
    return cycles;
}

static const char store[] = "st.local.u32 [%%d22], %%r%u;\n",
                  load[] = "ld.local.u32 %%r%u, [%%d22];\n";

/* Stores go through to L2. Alike, 64 times 16 take 208.1 - 47.1 us: 9.7 cycles for a line of four
 * sectors. Apart, 32 sectors in 16 lines take 2431.7 - 493.0 us: 117 cycles. */
START_TEST(stores_go_through_to_l2) {
    ck_about(cycles_per_access(store, false), 9.7, 0.25);
    ck_about(cycles_per_access(store, true), 117, 0.3);
}
END_TEST

/* L1 keeps what was stored: a load takes a wavefront for each four sectors, alike 1 and apart 8. */
START_TEST(loads_behind_stores_hit_l1) {
    ck_assert(cycles_per_access(load, false) < 6);
    ck_about(cycles_per_access(load, true), 8, 0.3);
}
END_TEST

UNIT_SUITE(timing_local) {
    Suite *s = suite_create("timing_local");
    TCase *c = tcase_create("local memory");
    suite_add_tcase(s, c);
    tcase_add_test(c, stores_go_through_to_l2);
    tcase_add_test(c, loads_behind_stores_hit_l1);
    return s;
}
