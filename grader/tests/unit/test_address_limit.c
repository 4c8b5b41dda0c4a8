/* test_address_limit.c — tests device memory under a limit of address space (`ulimit -v`): the same
 * addresses and findings as without one. Check forks for each test, so the limit holds in one.
 * AddressSanitizer's own memory exceeds the limit, so a build with it has no such tests. */
#include "grader/sim/mem/mem.h"
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

#include <string.h>
#include <sys/resource.h>

static void limit_addresses(uint64_t kib) {
    struct rlimit r = {kib << 10, kib << 10};
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &r), 0);
}

#ifdef __SANITIZE_ADDRESS__
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif
enum { LOGIN_NODE_KIB = 8000000, DRAM_GIB = 141 };

START_TEST(device_addresses_do_not_change) {
    struct memory m;
    struct err e = {0};
    limit_addresses(LOGIN_NODE_KIB);
    ck_assert_msg(memory_open(&m, (uint64_t)DRAM_GIB << 30, &e), "%s", e.text);
    ck_assert(memory_is_address_limited(&m) && memory_start(&m) > 0);
    uint64_t a = memory_alloc(&m, 600 << 20, "a"), internal = memory_alloc_internal(&m, 8, "i");
    ck_assert_uint_eq(a, SIM_DEVICE_BASE + 512);
    ck_assert(internal && !memory_alloc(&m, 1ull << 30, "too large"));
    memory_zero(&m, a, 600 << 20), memory_set_initialized(&m, internal, 8, true);
    ck_assert(memory_is_initialized(&m, internal, 8) && !memory_is_initialized(&m, a, 1));
    ck_assert_uint_eq(memory_alloc_host_shared(&m, 8, "managed"), 0);
    memory_release_pages(&m), memory_close(&m);
}
END_TEST

START_TEST(a_limit_that_is_too_low_is_named) {
    struct memory m;
    struct err e = {0};
    limit_addresses(2 << 20);
    ck_assert(!memory_open(&m, (uint64_t)DRAM_GIB << 30, &e));
    ck_assert_msg(strstr(e.text, "but the limit is 2097152 KiB: run `ulimit -v"), "%s", e.text);
}
END_TEST

/* Each thread adds to the word of its index, and every block to the same ones. */
static const char racy_ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
    ".reg .b64 %d<4>; .reg .b32 %r<4>;\n"
    "ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4;\n"
    "add.u64 %d2, %d0, %d1; ld.global.nc.u32 %r1, [%d2]; add.u32 %r1, %r1, 1;\n"
    "st.global.u32 [%d2], %r1; ret; }\n";

/* The second launch uses memory beyond what the first one's shadow covers. */
START_TEST(races_are_found) {
    limit_addresses(LOGIN_NODE_KIB);
    struct kernel_rig r = rig_open_with(
        racy_ptx, (struct rig_options){.sanitize = true, .workers = 4, .memory = 1 << 30});
    for (int i = 0; i < 2; i++) {
        uint64_t p = sim_alloc(r.sim, 100 << 20, "p");
        ck_assert(p && sim_fill(r.sim, p, 0, 4096) == SIM_OK);
        struct sim_result result = rig_run(&r, "k", 512, 256, &p, sizeof p);
        ck_assert_msg(rig_report(&result, SIM_FAULT_INTERBLOCK_RACE), "%d reports",
                      (int)result.nreports);
        sim_result_free(&result);
    }
    rig_close(&r);
}
END_TEST

UNIT_SUITE(address_limit) {
    Suite *s = suite_create("address_limit");
    TCase *t = tcase_create("limit");
    if (!IS_SANITIZED) {
        tcase_add_test(t, device_addresses_do_not_change);
        tcase_add_test(t, a_limit_that_is_too_low_is_named);
        tcase_add_test(t, races_are_found);
    }
    suite_add_tcase(s, t);
    return s;
}
