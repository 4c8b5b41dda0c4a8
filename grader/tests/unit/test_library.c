/* test_library.c — tests libsimgpu's functions (grader/libsimgpu/simgpu.h): values, counters,
 * findings and errors of small PTX kernels, and the names that the archive exports. */
#include "grader/libsimgpu/simgpu.h"
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

#include <string.h>

/* Thread i of a block adds `value` to element i of `data`; `silent` does nothing. */
static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                          ".visible .global .u32 scale = 3;\n"
                          ".visible .entry add(.param .u64 data, .param .u32 value) {\n"
                          ".reg .b32 %r<5>; .reg .b64 %d<4>;\n"
                          "ld.param.u64 %d0, [data]; ld.param.u32 %r0, [value];\n"
                          "mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4;\n"
                          "add.s64 %d2, %d0, %d1; ld.global.u32 %r2, [%d2];\n"
                          "add.u32 %r3, %r2, %r0; st.global.u32 [%d2], %r3; ret;\n}\n"
                          ".visible .entry silent() { ret; }\n";

static simgpu *gpu;
static simgpu_module *module;

static void open_gpu(void) {
    gpu = simgpu_open("h100", SIMGPU_MODEL_TIME);
    ck_assert_msg(gpu != NULL, "%s", simgpu_error(NULL));
    module = simgpu_load_ptx(gpu, ptx, strlen(ptx));
    ck_assert_msg(module != NULL, "%s", simgpu_error(gpu));
}
static void close_gpu(void) { simgpu_close(gpu); }

static bool add(uint64_t data, uint32_t value, unsigned threads) {
    void *arguments[] = {&data, &value};
    return simgpu_run(
        gpu, &(simgpu_launch){
                 .module = module, .kernel = "add", .block = {threads}, .arguments = arguments});
}

START_TEST(a_kernel_changes_memory_and_is_counted) {
    uint32_t values[64], expected[64];
    for (uint32_t i = 0; i < 64; i++) values[i] = i, expected[i] = i + 5;
    uint64_t data = simgpu_alloc(gpu, sizeof values, "data");
    ck_assert(simgpu_write(gpu, data, values, sizeof values));
    ck_assert_msg(add(data, 5, 64), "%s", simgpu_error(gpu));
    ck_assert(simgpu_read(gpu, data, values, sizeof values));
    ck_assert_mem_eq(values, expected, sizeof values);
    /* 64 words of 4 bytes are 8 sectors of 32. */
    ck_assert_uint_eq(simgpu_counter(gpu, "global_load_sectors"), 8);
    ck_assert_uint_eq(simgpu_counter(gpu, "global_store_sectors"), 8);
    ck_assert_uint_eq(simgpu_finding_count(gpu), 0);
}
END_TEST

START_TEST(lines_add_up_to_the_launch) {
    uint64_t data = simgpu_alloc(gpu, 128, NULL), sum = 0;
    ck_assert(simgpu_fill(gpu, data, 0, 128) && add(data, 1, 32));
    for (unsigned i = 0; i < simgpu_line_count(gpu); i++)
        sum += simgpu_line_counter(gpu, i, "global_load_sectors");
    ck_assert_uint_eq(sum, 4);
}
END_TEST

START_TEST(a_modelled_time_lies_in_its_interval) {
    uint64_t data = simgpu_alloc(gpu, 128, NULL);
    double low, high;
    ck_assert(simgpu_fill(gpu, data, 0, 128) && add(data, 1, 32));
    double seconds = simgpu_modelled_seconds(gpu, &low, &high);
    ck_assert(seconds > 0 && low < seconds && seconds < high);
}
END_TEST

START_TEST(a_fault_ends_the_launch_with_its_report) {
    uint64_t data = simgpu_alloc(gpu, 128, "data");
    simgpu_finding finding;
    ck_assert(simgpu_fill(gpu, data, 0, 128));
    ck_assert(!add(data, 1, 33));
    ck_assert_ptr_nonnull(strstr(simgpu_error(gpu), "`data`"));
    ck_assert(simgpu_get_finding(gpu, 0, &finding));
    ck_assert_str_eq(finding.kind, "out-of-bounds");
    ck_assert_uint_eq(finding.thread[0], 32);
    ck_assert(!simgpu_get_finding(gpu, 1, &finding));
}
END_TEST

START_TEST(the_host_gets_a_finding_with_undefined_values) {
    uint64_t data = simgpu_alloc(gpu, 128, "data");
    uint32_t values[32];
    simgpu_finding finding;
    ck_assert(add(data, 1, 32));
    ck_assert_uint_eq(simgpu_finding_count(gpu), 0);
    ck_assert(simgpu_read(gpu, data, values, sizeof values));
    ck_assert(simgpu_get_finding(gpu, 0, &finding));
    ck_assert_str_eq(finding.kind, "uninitialized read");
}
END_TEST

START_TEST(results_are_those_of_the_last_launch) {
    uint64_t data = simgpu_alloc(gpu, 128, NULL);
    ck_assert(simgpu_fill(gpu, data, 0, 128) && add(data, 1, 32));
    ck_assert(simgpu_run(gpu, &(simgpu_launch){.module = module, .kernel = "silent"}));
    ck_assert_uint_eq(simgpu_counter(gpu, "global_load_sectors"), 0);
}
END_TEST

START_TEST(variables_have_an_address_and_a_value) {
    uint64_t address, bytes;
    uint32_t value;
    ck_assert(simgpu_variable(gpu, module, "scale", &address, &bytes));
    ck_assert_uint_eq(bytes, 4);
    ck_assert(simgpu_read(gpu, address, &value, sizeof value));
    ck_assert_uint_eq(value, 3);
}
END_TEST

START_TEST(refused_calls_say_why) {
    char byte = 0;
    ck_assert_ptr_null(simgpu_open("g80", 0));
    ck_assert_ptr_nonnull(strstr(simgpu_error(NULL), "unknown device 'g80'"));
    ck_assert_ptr_null(simgpu_load_ptx(gpu, "mov", 3));
    ck_assert_str_ne(simgpu_error(gpu), "");
    ck_assert(!simgpu_run(gpu, &(simgpu_launch){.module = module, .kernel = "subtract"}));
    ck_assert_str_eq(simgpu_error(gpu), "the module has no kernel subtract");
    ck_assert(!simgpu_run(gpu, &(simgpu_launch){.module = module, .kernel = "add"}));
    ck_assert_str_eq(simgpu_error(gpu), "arguments are missing for add");
    ck_assert(!add(0, 0, 2048));
    ck_assert_ptr_nonnull(strstr(simgpu_error(gpu), "1024"));
    ck_assert(!simgpu_write(gpu, 64, &byte, 1));
    ck_assert(!simgpu_free(gpu, 64));
    ck_assert_uint_eq(simgpu_counter(gpu, "no_such_counter"), 0);
    ck_assert_str_eq(simgpu_error(gpu), "there is no counter no_such_counter");
}
END_TEST

/* Other global names could clash with those of the program that links the library. */
START_TEST(the_archive_exports_nothing_else) {
    ck_assert_int_eq(shell("nm --defined-only -g %s/lib/libsimgpu.a 2>&1 | grep ' T ' | "
                           "grep -q ' simgpu_run$'",
                           build_folder()),
                     0);
    ck_assert_int_eq(shell("nm --defined-only -g %s/lib/libsimgpu.a 2>&1 | "
                           "grep -v ' simgpu_' | grep ' [A-Z] '",
                           build_folder()),
                     1);
}
END_TEST

UNIT_SUITE(library) {
    Suite *suite = suite_create("library");
    TCase *tc = tcase_create("functions");
    tcase_add_checked_fixture(tc, open_gpu, close_gpu);
    tcase_add_test(tc, a_kernel_changes_memory_and_is_counted);
    tcase_add_test(tc, lines_add_up_to_the_launch);
    tcase_add_test(tc, a_modelled_time_lies_in_its_interval);
    tcase_add_test(tc, a_fault_ends_the_launch_with_its_report);
    tcase_add_test(tc, the_host_gets_a_finding_with_undefined_values);
    tcase_add_test(tc, results_are_those_of_the_last_launch);
    tcase_add_test(tc, variables_have_an_address_and_a_value);
    tcase_add_test(tc, refused_calls_say_why);
    suite_add_tcase(suite, tc);
    TCase *names = tcase_create("names");
    tcase_add_test(names, the_archive_exports_nothing_else);
    suite_add_tcase(suite, names);
    return suite;
}
