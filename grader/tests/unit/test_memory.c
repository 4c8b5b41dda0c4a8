/* test_memory.c — tests device memory: where allocations lie, what lies between them, how
 * reports describe an address, and which addresses kernels may access. */
#include "grader/sim/mem/mem.h"
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static struct memory m;

static void open_memory(void) {
    struct err e = {0};
    ck_assert_msg(memory_open(&m, 16 << 20, &e), "%s", e.text);
}

static void close_memory(void) { memory_close(&m); }

/* ---- places ---- */

START_TEST(allocations_are_separated_by_redzones) {
    uint64_t a = memory_alloc(&m, 100, "a"), b = memory_alloc(&m, 512, "b"),
             c = memory_alloc(&m, 1, NULL);
    ck_assert_uint_eq(a, SIM_DEVICE_BASE + 512);
    ck_assert_uint_eq(b, a + 1024); /* 100 + a redzone of 512, to the next multiple of 512 */
    ck_assert_uint_eq(c, b + 1024);
    ck_assert_uint_eq(m.used, 613);
}
END_TEST

START_TEST(zero_byte_allocations_are_distinct) {
    uint64_t a = memory_alloc(&m, 0, "a"), b = memory_alloc(&m, 0, "b");
    ck_assert(a && b && a != b);
    ck_assert_int_eq(memory_find_range(&m, a, 1), -1);
    ck_assert_int_eq(memory_find_range(&m, a, 0), 0);
    ck_assert_int_eq(memory_free(&m, a), SIM_OK);
}
END_TEST

START_TEST(allocations_beyond_the_capacity_fail) {
    uint64_t a = memory_alloc(&m, 16 << 20, "all");
    ck_assert(a != 0);
    ck_assert_uint_eq(memory_alloc(&m, 1, "more"), 0);
    ck_assert_int_eq(memory_free(&m, a), SIM_OK);
    ck_assert(memory_alloc(&m, 1, "more") != 0);
    ck_assert_uint_eq(memory_alloc(&m, UINT64_MAX, "absurd"), 0);
    ck_assert_uint_eq(memory_alloc(&m, UINT64_MAX - 600, "absurd"), 0);
}
END_TEST

/* While kernels run, they can't access the memory that stands for the host's, but its addresses
 * stay taken. */
START_TEST(host_buffers_are_hidden_while_kernels_run) {
    char description[256];
    uint64_t a = memory_alloc_pages(&m, 100, "in"), b = memory_alloc(&m, 100, "b");
    memory_find_allocation(&m, a)->is_pinned_host = true;
    memory_hide_from_kernel(&m, 1);
    ck_assert(memory_find_range(&m, a, 4) < 0 && !memory_find_allocation(&m, a) &&
              memory_find_range(&m, b, 4) >= 0);
    memory_describe(&m, a + 8, 4, description, sizeof description);
    ck_assert_ptr_nonnull(strstr(description, "is in host memory: copy it to device memory first"));
    memory_show_all(&m);
    ck_assert(memory_find_range(&m, a, 100) >= 0);
    ck_assert_int_eq(memory_free(&m, a), SIM_OK);
    memory_hide_from_kernel(&m, 1), memory_show_all(&m);
    ck_assert(!memory_find_allocation(&m, a)); /* what was freed does not come back */
}
END_TEST

/* The bits that launches wrote, as the shadow has them. */
START_TEST(fully_written_allocations_are_marked_initialized) {
    uint64_t a = memory_alloc(&m, 10000, "a");
    unsigned char *w = m.init_shadow + (a - SIM_BASE);
    memset(w, 1, 9999);
    memory_update_initialized(&m);
    ck_assert(!memory_find_allocation(&m, a)->is_initialized);
    w[9999] = 1;
    memory_update_initialized(&m);
    ck_assert(memory_find_allocation(&m, a)->is_initialized);
    w[5] = 2; /* the mark of an undefined value */
    memory_forget_initialized(memory_find_allocation(&m, a));
    memory_update_initialized(&m);
    ck_assert(!memory_find_allocation(&m, a)->is_initialized);
    memory_set_initialized(&m, a + 5, 1, true);
    memory_update_initialized(&m);
    ck_assert(memory_find_allocation(&m, a)->is_initialized);
}
END_TEST

/* As a runtime copies it, through a window; here no launch looks for uninitialized bytes. */
START_TEST(allocations_written_in_pieces_are_marked_initialized) {
    uint64_t a = memory_alloc(&m, 1000, "a"), b = memory_alloc(&m, 1000, "b");
    memory_set_initialized(&m, a, 400, true);
    memory_set_initialized(&m, a + 300, 300, true);
    ck_assert(!memory_find_allocation(&m, a)->is_initialized);
    memory_set_initialized(&m, a + 600, 400, true);
    ck_assert(memory_find_allocation(&m, a)->is_initialized);
    memory_set_initialized(&m, b, 400, true);
    memory_set_initialized(&m, b + 401, 599, true);
    ck_assert(!memory_find_allocation(&m, b)->is_initialized);
    memory_set_initialized(&m, b + 10, 1, false);
    memory_set_initialized(&m, b + 400, 600, true);
    ck_assert(!memory_find_allocation(&m, b)->is_initialized);
}
END_TEST

START_TEST(invalid_and_double_frees_are_rejected) {
    uint64_t a = memory_alloc(&m, 100, "a");
    ck_assert_int_eq(memory_free(&m, a + 4), SIM_BAD_ADDRESS);
    ck_assert_int_eq(memory_free(&m, 0x7fff12340000), SIM_BAD_ADDRESS);
    ck_assert_int_eq(memory_free(&m, a), SIM_OK);
    ck_assert_int_eq(memory_free(&m, a), SIM_BAD_ADDRESS);
    ck_assert_uint_eq(m.used, 0);
}
END_TEST

/* While unused addresses remain, freed ones are not reused, so that accesses to them are
 * detected. */
START_TEST(freed_addresses_are_reused_last) {
    uint64_t a = memory_alloc(&m, 8 << 20, "a"), last = 0, reused = 0;
    ck_assert_int_eq(memory_free(&m, a), SIM_OK);
    for (int i = 0; i < 1000; i++) {
        uint64_t b = memory_alloc(&m, 8 << 20, "b");
        ck_assert(b != 0);
        if (i == 0) ck_assert_uint_gt(b, a);
        reused += b < last;
        last = b;
        ck_assert_int_eq(memory_free(&m, b), SIM_OK);
    }
    ck_assert_uint_gt(reused, 0); /* the span is about 1 GiB: 1000 times 8 MiB come round */
    ck_assert_uint_lt(m.count, 200);
}
END_TEST

/* The table and the addresses grow only with live allocations and the 1024 freed ones in
 * quarantine, not with earlier ones. */
START_TEST(the_allocation_table_stays_small) {
    uint64_t live = memory_alloc(&m, 1000, "live"), highest = 0;
    for (int i = 0; i < 100000; i++) {
        uint64_t a = memory_alloc(&m, 1 + i % 3000, "a"), b = memory_alloc(&m, 5000, "b");
        ck_assert(a && b && a != b);
        if (b > highest) highest = b;
        ck_assert_int_eq(memory_free(&m, a), SIM_OK);
        ck_assert_int_eq(memory_free(&m, b), SIM_OK);
    }
    ck_assert_uint_le(m.count, 2 * MEM_QUARANTINE_COUNT + 1);
    ck_assert_uint_lt(highest, SIM_DEVICE_BASE +
                                   16 * MEM_QUARANTINE_COUNT *
                                       1024); /* at most 6 KiB each, and gaps that do not fit */
    ck_assert_int_eq(memory_find_range(&m, live, 1000), 0);
}
END_TEST

/* An allocation of the device's whole size: only bytes that are accessed cost memory. */
START_TEST(large_allocations_cost_only_what_is_touched) {
    struct memory large;
    struct err e = {0};
    ck_assert(memory_open(&large, 141ull << 30, &e));
    uint64_t a = memory_alloc(&large, 100ull << 30, "a"),
             b = memory_alloc(&large, 40ull << 30, "b");
    ck_assert(a && b);
    ck_assert_uint_eq(memory_alloc(&large, 2ull << 30, "more"), 0);
    memory_set_initialized(&large, a + (100ull << 30) - 4, 4, true);
    ck_assert(memory_is_initialized(&large, a + (100ull << 30) - 4, 4));
    ck_assert_int_eq(memory_free(&large, a), SIM_OK);
    ck_assert(memory_alloc(&large, 90ull << 30, "again"));
    memory_close(&large);
}
END_TEST

/* ---- what was written ---- */

START_TEST(written_bytes_are_tracked) {
    uint64_t a = memory_alloc(&m, 4 << 20, "a");
    ck_assert(!memory_is_initialized(&m, a, 1));
    memory_set_initialized(&m, a + 1000, 3 << 20, true);
    ck_assert(!memory_is_initialized(&m, a + 999, 2));
    ck_assert(memory_is_initialized(&m, a + 1000, 3 << 20));
    ck_assert(!memory_is_initialized(&m, a + 1000, (3 << 20) + 1));
    ck_assert(!m.allocations[0].is_initialized);
    memory_set_initialized(&m, a, 4 << 20, true);
    ck_assert(m.allocations[0].is_initialized);
    memory_set_initialized(&m, a + 5, 1, false);
    ck_assert(!m.allocations[0].is_initialized);
}
END_TEST

static unsigned long resident_kb(void) {
    unsigned long anonymous = 0;
    char line[256];
    FILE *f = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, f)) sscanf(line, "RssAnon: %lu", &anonymous);
    fclose(f);
    return anonymous;
}

/* A shadow of ones costs almost no memory, and works like any other: to its first and last byte,
 * and when parts of it change. */
START_TEST(a_fully_written_shadow_is_cheap_and_exact) {
    struct memory large;
    struct err e = {0};
    const uint64_t bytes = (96 << 20) + 123;
    memory_create_shadow_file();
    ck_assert(memory_open(&large, 1ull << 30, &e));
    uint64_t before = memory_alloc(&large, 100, "before"), a = memory_alloc(&large, bytes, "a"),
             b = memory_alloc(&large, 100, "b");
    unsigned long base = resident_kb();
    memory_set_initialized(&large, a + 7, bytes - 7, true);
    ck_assert_uint_lt(resident_kb(), base + (8 << 10));
    ck_assert(!memory_is_initialized(&large, a + 6, 1) &&
              memory_is_initialized(&large, a + 7, bytes - 7));
    ck_assert(!memory_is_initialized(&large, before, 1) &&
              !memory_is_initialized(&large, before + 99, 1) &&
              !memory_is_initialized(&large, b, 1));
    memory_set_initialized(&large, a + (20 << 20) + 5, (9 << 20) + 1, false);
    ck_assert(memory_is_initialized(&large, a + (20 << 20), 5) &&
              !memory_is_initialized(&large, a + (20 << 20) + 5, 1));
    ck_assert(!memory_is_initialized(&large, a + (29 << 20) + 5, 1) &&
              memory_is_initialized(&large, a + (29 << 20) + 6, 1000));
    memory_set_initialized(&large, a + (24 << 20), 100, true);
    ck_assert(memory_is_initialized(&large, a + (24 << 20), 100) &&
              !memory_is_initialized(&large, a + (24 << 20) + 100, 1));
    ck_assert_int_eq(memory_free(&large, a), SIM_OK);
    uint64_t again = memory_alloc(&large, 16 << 20, "again");
    memory_set_initialized(&large, again, 16 << 20, true);
    ck_assert(memory_is_initialized(&large, again,
                                    16 << 20)); /* what was changed above is in no other place */
    memory_close(&large);
}
END_TEST

/* A new allocation at reused addresses is uninitialized up to its last byte, however large. */
START_TEST(a_reused_allocation_starts_uninitialized) {
    struct memory small;
    struct err e = {0};
    ck_assert(memory_open(&small, 1ull << 30, &e));
    for (int i = 0; i < 6; i++) {
        uint64_t a = memory_alloc(&small, (900 << 20) + 12345, "a");
        for (uint64_t at = 0; at < 900 << 20; at += 9999991)
            ck_assert(!memory_is_initialized(&small, a + at, 1));
        ck_assert(!memory_is_initialized(&small, a + (900 << 20) + 12344, 1));
        memory_set_initialized(&small, a + (900 << 20) + 12344, 1, true);
        memory_set_initialized(&small, a + 5, 8 << 20, true);
        ck_assert_int_eq(memory_free(&small, a), SIM_OK);
    }
    memory_close(&small);
}
END_TEST

/* ---- what reports say ---- */

static void expect(uint64_t address, unsigned width, const char *text) {
    char actual[256];
    memory_describe(&m, address, width, actual, sizeof actual);
    ck_assert_str_eq(actual, text);
}

START_TEST(addresses_are_described_relative_to_allocations) {
    expect(SIM_DEVICE_BASE + 4096, 4, "far from any allocation");
    uint64_t a = memory_alloc(&m, 4096, "out"), b = memory_alloc(&m, 64, NULL);
    expect(0, 4, "a null pointer");
    expect(4092, 4, "a null pointer");
    expect(a, 4, "at byte 0 of `out` (4096 bytes)");
    expect(a + 4092, 4, "at byte 4092 of `out` (4096 bytes)");
    expect(a + 4092, 8, "across the end of `out` (4096 bytes)");
    expect(a + 4096, 4, "0 bytes past the end of `out` (4096 bytes)");
    expect(a + 4100, 4, "4 bytes past the end of `out` (4096 bytes)");
    expect(a - 4, 4, "4 bytes before the start of `out` (4096 bytes)");
    expect(b - 4, 4, "4 bytes before the start of allocation 1 (64 bytes)");
    expect(b - 400, 4, "112 bytes past the end of `out` (4096 bytes)");
    expect(b + 64 + 5000, 4, "5000 bytes past the end of allocation 1 (64 bytes)");
    expect(b + (8 << 20), 4, "far from any allocation");
    expect(0x7f0012345678, 4, "which is not a device address (a host pointer?)");
    expect(SIM_BASE - 8, 4, "which is not a device address (a host pointer?)");
    memory_free(&m, a);
    expect(a + 8, 4, "in `out` (4096 bytes), which was freed");
}
END_TEST

/* ---- what kernels may touch: line 7 of a kernel that copies params[0][offset of thread 3] to
 * params[1] ---- */

static const char copy[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n.const .align 4 .b32 fixed[4] = {1, 2, 3, 4};\n"
    ".visible .entry copy(.param .u64 from, .param .u64 to, .param .u64 offset) {\n"
    ".reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<8>;\n.loc 1 5 0\n"
    "ld.param.u64 %d0, [from];\nld.param.u64 %d1, [to];\nld.param.u64 %d2, [offset];\nmov.u32 %r0, "
    "%tid.x;\n"
    "setp.ne.u32 %p, %r0, 3;\nmul.wide.u32 %d3, %r0, 4;\nadd.s64 %d1, %d1, %d3;\nadd.s64 %d0, %d0, "
    "%d3;\n"
    "@!%p add.s64 %d0, %d0, %d2;\n.loc 1 7 0\nld.global.u32 %r1, [%d0];\n.loc 1 8 0\nst.global.u32 "
    "[%d1], "
    "%r1;\nret;\n}\n"
    ".file 1 \"copy.cu\"\n";

static struct sim_report run_copy(uint64_t offset, uint64_t free_source, bool freed) {
    struct kernel_rig r = rig_open_with(copy, (struct rig_options){.sanitize = true});
    uint64_t from = sim_alloc(r.sim, 128, "from"), to = sim_alloc(r.sim, 128, "to"),
             params[] = {from, to, offset};
    sim_fill(r.sim, from, 1, 128);
    if (free_source) sim_mark_uninitialized(r.sim, from + 12, free_source);
    if (freed) sim_free(r.sim, from);
    struct sim_result result = rig_run(&r, "copy", 2, 32, params, sizeof params);
    struct sim_report report = result.nreports ? result.reports[0] : (struct sim_report){0};
    if (!result.nreports) sim_check_undefined(r.sim, to, 128, &report);
    ck_assert_uint_le(result.nreports, 1); /* both blocks write `to`, but the same values */
    static char kernel[64], file[64];      /* the report's names live in the module */
    snprintf(kernel, sizeof kernel, "%s", report.kernel ? report.kernel : "");
    snprintf(file, sizeof file, "%s", report.file ? report.file : "");
    report.kernel = kernel;
    report.file = file;
    sim_result_free(&result);
    rig_close(&r);
    return report;
}

static void expect_report(struct sim_report r, enum sim_fault fault, uint32_t thread,
                          const char *text) {
    ck_assert_msg(r.fault == fault, "%s: %s", sim_fault_name(r.fault), r.text);
    ck_assert_str_eq(r.kernel, "copy");
    ck_assert_str_eq(r.file, "copy.cu");
    ck_assert_uint_eq(r.line, 7);
    ck_assert_uint_eq(r.block[0], 0);
    ck_assert_uint_eq(r.thread[0], thread);
    ck_assert_msg(strstr(r.text, text) != NULL, "\"%s\" does not say \"%s\"", r.text, text);
}

START_TEST(out_of_bounds_accesses_are_reported) {
    expect_report(run_copy(116, 0, false), SIM_FAULT_OUT_OF_BOUNDS, 3,
                  "copy.cu:7: kernel `copy`, block (0,0,0), thread (3,0,0) reads 4 bytes");
    expect_report(run_copy(116, 0, false), SIM_FAULT_OUT_OF_BOUNDS, 3,
                  "0 bytes past the end of `from` (128 bytes)");
    expect_report(run_copy(-16ull, 0, false), SIM_FAULT_OUT_OF_BOUNDS, 3,
                  "4 bytes before the start of `from` (128 bytes)");
    expect_report(run_copy(1ull << 40, 0, false), SIM_FAULT_OUT_OF_BOUNDS, 3,
                  "not a device address");
}
END_TEST

START_TEST(misaligned_accesses_are_reported) {
    expect_report(run_copy(2, 0, false), SIM_FAULT_MISALIGNED, 3, "accesses 4 bytes at");
}
END_TEST

START_TEST(use_after_free_is_reported) {
    expect_report(run_copy(0, 0, true), SIM_FAULT_USE_AFTER_FREE, 0,
                  "in `from` (128 bytes), which was freed");
}
END_TEST

START_TEST(uninitialized_reads_are_reported) {
    struct sim_report r = run_copy(0, 4, false);
    expect_report(r, SIM_FAULT_UNINITIALIZED, 3, "reads 4 uninitialized bytes");
    ck_assert_uint_eq(r.count, 1);
    r = run_copy(0, 3, false); /* a structure's padding */
    ck_assert_msg(r.fault == SIM_FAULT_NONE, "%s", r.text);
    r = run_copy(0, 0, false);
    ck_assert_msg(r.fault == SIM_FAULT_NONE, "%s", r.text);
}
END_TEST

START_TEST(writes_to_constant_memory_are_faults) {
    struct kernel_rig r = rig_open(copy);
    uint64_t from = sim_alloc(r.sim, 128, "from"), to, bytes;
    ck_assert(sim_find_symbol(r.module, "fixed", &to, &bytes));
    ck_assert_uint_eq(bytes, 16);
    uint64_t params[] = {from, to, 0};
    struct sim_result result = rig_run(&r, "copy", 1, 4, params, sizeof params);
    ck_assert_int_eq(result.fault, SIM_FAULT_READ_ONLY);
    sim_result_free(&result);
    rig_close(&r);
}
END_TEST

/* Copied bytes are initialized where their source was. */
START_TEST(copies_propagate_initialization) {
    struct kernel_rig r = rig_open_with(copy, (struct rig_options){.sanitize = true});
    uint64_t raw = sim_alloc(r.sim, 128, "raw"), from = sim_alloc(r.sim, 128, "from"),
             to = sim_alloc(r.sim, 128, "to");
    sim_fill(r.sim, from, 1, 128);
    ck_assert_int_eq(sim_copy(r.sim, from, raw, 128), SIM_OK);
    uint64_t params[] = {from, to, 0};
    struct sim_result result = rig_run(&r, "copy", 1, 32, params, sizeof params);
    struct sim_report report;
    ck_assert_msg(!rig_report(&result, SIM_FAULT_UNINITIALIZED), "a copy decides nothing");
    ck_assert_msg(sim_check_undefined(r.sim, to, 128, &report),
                  "bytes that nothing wrote were copied and read back");
    ck_assert_msg(!sim_check_undefined(r.sim, to, 128, &report), "told twice");
    sim_result_free(&result);
    rig_close(&r);
}
END_TEST

UNIT_SUITE(memory) {
    Suite *suite = suite_create("memory");
    TCase *tc = tcase_create("allocations"), *kernels = tcase_create("kernels");
    tcase_add_checked_fixture(tc, open_memory, close_memory);
    tcase_add_test(tc, allocations_are_separated_by_redzones);
    tcase_add_test(tc, zero_byte_allocations_are_distinct);
    tcase_add_test(tc, allocations_beyond_the_capacity_fail);
    tcase_add_test(tc, the_allocation_table_stays_small);
    tcase_add_test(tc, large_allocations_cost_only_what_is_touched);
    tcase_add_test(tc, host_buffers_are_hidden_while_kernels_run);
    tcase_add_test(tc, invalid_and_double_frees_are_rejected);
    tcase_add_test(tc, fully_written_allocations_are_marked_initialized);
    tcase_add_test(tc, allocations_written_in_pieces_are_marked_initialized);
    tcase_add_test(tc, freed_addresses_are_reused_last);
    tcase_add_test(tc, written_bytes_are_tracked);
    tcase_add_test(tc, a_fully_written_shadow_is_cheap_and_exact);
    tcase_add_test(tc, a_reused_allocation_starts_uninitialized);
    tcase_add_test(tc, addresses_are_described_relative_to_allocations);
    tcase_add_test(kernels, out_of_bounds_accesses_are_reported);
    tcase_add_test(kernels, misaligned_accesses_are_reported);
    tcase_add_test(kernels, use_after_free_is_reported);
    tcase_add_test(kernels, uninitialized_reads_are_reported);
    tcase_add_test(kernels, writes_to_constant_memory_are_faults);
    tcase_add_test(kernels, copies_propagate_initialization);
    suite_add_tcase(suite, tc);
    suite_add_tcase(suite, kernels);
    return suite;
}
