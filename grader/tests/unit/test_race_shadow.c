/* test_race_shadow.c — tests how much memory the shadow cells of global memory take, and the source
 * lines that races between streams name. */
#include "grader/sim/race/race.h"
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SHADOW_REACH = 256 << 20, FAR_ADDRESS = 128 << 20 /* a buffer's offset */ };

static u64 resident_pages(void *at, size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = bytes / page;
    unsigned char *pages = calloc(n, 1);
    u64 found = 0;
    ck_assert(pages && !mincore(at, bytes, pages));
    for (size_t i = 0; i < n; i++) found += pages[i] & 1;
    free(pages);
    return found;
}

/* Records one word far into memory, by halves: the reset clears its row and writes to no other. */
START_TEST(a_clock_reset_clears_only_recorded_shadow_rows) {
    void *rows = mmap(NULL, SHADOW_REACH, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert(rows != MAP_FAILED && !madvise(rows, SHADOW_REACH, MADV_NOHUGEPAGE));
    struct race_shadow p = {.covered_end = SHADOW_REACH,
                            .rows = rows,
                            .cell_shift = 1,
                            .row_state_base = 8,
                            .logical_clock = RACE_CLOCK_LIMIT};
    struct shadow_row *recorded = &p.rows[(FAR_ADDRESS >> p.cell_shift) / SHADOW_ROW_CELLS];
    p.accessed_range = (struct offset_range){FAR_ADDRESS, FAR_ADDRESS + 4};
    *recorded = (struct shadow_row){
        .state = p.row_state_base + 1, .last_write_epoch = 7, .last_read_epoch = 9}; /* flat */
    race_reset_clock(&p);
    ck_assert(p.logical_clock == 1 && !recorded->last_write_epoch && !recorded->last_read_epoch);
    ck_assert_uint_eq(resident_pages(rows, SHADOW_REACH), 1);
    munmap(rows, SHADOW_REACH);
}
END_TEST

enum { SPARSE_BYTES = 64 << 20, SPARSE_STRIDE = 8192 };

static const char sparse_ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
    ".reg .b64 %d<4>; .reg .b32 %r<4>;\n"
    "ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;\n"
    "mad.lo.u32 %r2, %r1, 32, %r0; mul.wide.u32 %d1, %r2, 8192; add.u64 %d2, %d0, %d1;\n"
    "st.global.u8 [%d2], %r0; ret; }\n";

/* Returns the highest resident size of this process, in KiB: the launch releases its pages. */
static unsigned long peak_resident_kb(void) {
    unsigned long peak = 0;
    char line[256];
    FILE *f = fopen("/proc/self/status", "r");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof line, f)) sscanf(line, "VmHWM: %lu", &peak);
    fclose(f);
    return peak;
}

/* A byte needs a page of each of its nine planes, of the memory and of its shadow: 11 pages of
 * 4 KiB for each of 8192 stores, 352 MiB. Large pages would hold all cells between them, too. */
START_TEST(sparse_stores_cost_the_pages_that_they_touch) {
    struct kernel_rig r =
        rig_open_with(sparse_ptx, (struct rig_options){.sanitize = true, .memory = 1 << 30});
    u64 params[] = {sim_alloc(r.sim, SPARSE_BYTES, "p")};
    unsigned long before = peak_resident_kb();
    struct sim_result got =
        rig_run(&r, "k", SPARSE_BYTES / SPARSE_STRIDE / 32, 32, params, sizeof params);
    ck_assert(got.fault == SIM_FAULT_NONE && !got.nreports);
    ck_assert_uint_lt(peak_resident_kb() - before, 11 * 4 * (SPARSE_BYTES / SPARSE_STRIDE));
    sim_result_free(&got);
    rig_close(&r);
}
END_TEST

/* `set` writes word 50. In `wide`, a.cu:5 writes words 0 and 100, and b.cu:5 writes word 50. */
static const char two_files_ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry set(.param .u64 p) {\n.reg .b64 %d<2>; .reg .b32 %r<2>;\n"
    "ld.param.u64 %d0, [p]; mov.u32 %r0, 1;\n.loc 1 2 1\nst.global.u32 [%d0+200], %r0; ret; }\n"
    ".visible .entry wide(.param .u64 p) {\n"
    ".reg .b64 %d<4>; .reg .b32 %r<4>;\n"
    "ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x;\n"
    "mul.wide.u32 %d1, %r0, 400; add.u64 %d2, %d0, %d1;\n.loc 1 5 1\n"
    "st.global.u32 [%d2], %r0;\n.loc 2 5 1\nst.global.u32 [%d0+200], 7; ret; }\n"
    ".file 1 \"/book/a.cu\"\n.file 2 \"/book/b.cu\"\n";

START_TEST(a_race_of_streams_names_the_line_with_the_nearest_addresses) {
    struct kernel_rig r = rig_open_with(two_files_ptx, (struct rig_options){.sanitize = true});
    u64 params[] = {sim_alloc(r.sim, 1024, "p")};
    sim_set_stream_clock(r.sim, &(struct sim_stream_clock){.stream = 2, .sequence = 1});
    struct sim_result set = rig_run(&r, "set", 1, 1, params, sizeof params);
    ck_assert_uint_eq(set.nreports, 0);
    sim_set_stream_clock(r.sim, &(struct sim_stream_clock){.stream = 3, .sequence = 1});
    struct sim_result wide = rig_run(&r, "wide", 1, 2, params, sizeof params);
    const struct sim_report *report = rig_report(&wide, SIM_FAULT_STREAM_RACE);
    ck_assert_ptr_nonnull(report);
    ck_assert_str_eq(report->file, "/book/b.cu");
    ck_assert_uint_eq(report->line, 5);
    ck_assert_msg(!strncmp(report->text, "b.cu:5: kernel `wide` in stream 2 writes ", 41), "%s",
                  report->text);
    ck_assert_msg(strstr(report->text, "in stream 1 writes in a.cu:2; ") != NULL, "%s",
                  report->text);
    sim_result_free(&set);
    sim_result_free(&wide);
    rig_close(&r);
}
END_TEST

/* Two blocks store the same row of lanes. Block 1 adds a difference to the highest byte of lane
 * 17's last element. */
struct row_store {
    const char *type, *registers; /* registers: their type */
    unsigned width, count;
    bool has_byte_load; /* never executed, but makes each byte a cell */
};
static const struct row_store row_stores[] = {
    {"u8", "b16", 1, 1, false},     {"u16", "b16", 2, 1, false},   {"v2.u8", "b16", 1, 2, false},
    {"v4.u16", "b16", 2, 4, false}, {"u32", "b32", 4, 1, false},   {"v2.u32", "b32", 4, 2, false},
    {"v4.u32", "b32", 4, 4, false}, {"u64", "b64", 8, 1, false},   {"v2.u64", "b64", 8, 2, false},
    {"u32", "b32", 4, 1, true},     {"v4.u32", "b32", 4, 4, true}, {"u64", "b64", 8, 1, true},
};

static void write_row_kernel(const struct row_store *t, char ptx[2048]) {
    static const char *lists[] = {"", "%v0", "{%v0, %v1}", "", "{%v0, %v1, %v2, %v3}"};
    unsigned bits = 8 * t->width, n = 0;
    n += (unsigned)snprintf(
        ptx, 2048,
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 p, .param .u32 difference) {\n"
        ".reg .b64 %%d<3>; .reg .b32 %%r<8>; .reg .b16 %%h<2>; .reg .%s %%v<5>; .reg .pred "
        "%%p<3>;\n"
        "ld.param.u64 %%d0, [p]; ld.param.u32 %%r0, [difference]; mov.u32 %%r1, %%tid.x;\n"
        "mov.u32 %%r2, %%ctaid.x; mad.lo.u32 %%r3, %%r2, 32, %%r1; setp.ne.u32 %%p0, %%r3, 49;\n"
        "@%%p0 mov.u32 %%r0, 0;\n"
        "mul.wide.u32 %%d1, %%r1, %u; add.u64 %%d0, %%d0, %%d1; setp.gt.u32 %%p1, %%r1, 32;\n",
        t->registers, t->width * t->count);
    if (t->has_byte_load)
        n += (unsigned)snprintf(ptx + n, 2048 - n, "@%%p1 ld.global.u8 %%h0, [%%d0];\n");
    for (unsigned e = 0; e < t->count; e++)
        n += (unsigned)snprintf(ptx + n, 2048 - n, "cvt.u%u.u32 %%v%u, %%r1;\n",
                                bits < 16 ? 16 : bits, e);
    n += (unsigned)snprintf(ptx + n, 2048 - n,
                            "cvt.u%u.u32 %%v4, %%r0; shl.b%u %%v4, %%v4, %u;\n"
                            "xor.b%u %%v%u, %%v%u, %%v4;\n",
                            bits < 16 ? 16 : bits, bits < 16 ? 16 : bits, bits - 8,
                            bits < 16 ? 16 : bits, t->count - 1, t->count - 1);
    snprintf(ptx + n, 2048 - n, "st.global.%s [%%d0], %s; ret; }\n", t->type, lists[t->count]);
}

/* `offset`: of the row, in spans of a lane; where it is none, the row's cells have one record. */
static void check_row_store(const struct row_store *t, unsigned workers, unsigned offset,
                            u32 difference) {
    char ptx[2048];
    write_row_kernel(t, ptx);
    struct kernel_rig r =
        rig_open_with(ptx, (struct rig_options){.sanitize = true, .workers = workers});
    u64 p = sim_alloc(r.sim, 2048, "p");
    struct {
        u64 p;
        u32 difference;
    } params = {p + offset * t->width * t->count, difference};
    struct sim_result got = rig_run(&r, "k", 2, 32, &params, sizeof params);
    ck_assert_msg(!rig_report(&got, SIM_FAULT_INTERBLOCK_RACE) == !difference,
                  "st.%s, byte load %d, row at %u, difference %u: %s", t->type, t->has_byte_load,
                  offset, difference, got.nreports ? got.reports[0].text : "no report");
    sim_result_free(&got);
    rig_close(&r);
}

START_TEST(blocks_may_store_a_row_of_equal_values_only) {
    const struct row_store *t = &row_stores[_i];
    for (unsigned i = 0; i < 8; i++) check_row_store(t, 1 + i / 4, i / 2 % 2, i % 2);
}
END_TEST

/* Each kernel accesses word tid of `p` and the word behind it by `distance` bytes. */
static const struct {
    const char *body;
    u32 distance;
    bool is_idempotent;
} equal_launches[] = {
    {"ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.global.u32 [%d2], %r1;", 128, true},
    {"ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.global.u32 [%d2], %r1;", 0, false},
    {"ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; @%p0 st.global.u32 [%d2], %r1;", 124, false},
    {"st.global.u32 [%d1], %r0; st.global.u32 [%d2], %r0;", 128, true},
    {"red.global.add.u32 [%d2], %r0;", 128, false},
    {"atom.global.exch.b32 %r1, [%d2], %r0;", 128, false},
    {"st.volatile.global.u32 [%d2], %r0;", 128, false},
};

START_TEST(launches_that_read_no_memory_that_they_write_are_idempotent) {
    char ptx[1024];
    snprintf(ptx, sizeof ptx,
             ".version 8.0\n.target sm_80\n.address_size 64\n"
             ".visible .entry k(.param .u64 p, .param .u32 distance) {\n"
             ".reg .b64 %%d<4>; .reg .b32 %%r<3>; .reg .pred %%p<1>;\n"
             "ld.param.u64 %%d0, [p]; ld.param.u32 %%r2, [distance]; mov.u32 %%r0, %%tid.x;\n"
             "setp.eq.u32 %%p0, %%r0, 0;\n"
             "mul.wide.u32 %%d1, %%r0, 4; add.u64 %%d1, %%d0, %%d1; cvt.u64.u32 %%d3, %%r2;\n"
             "add.u64 %%d2, %%d1, %%d3; %s ret; }\n",
             equal_launches[_i].body);
    struct kernel_rig r = rig_open_with(ptx, (struct rig_options){.sanitize = true});
    struct {
        u64 p;
        u32 distance;
    } params = {sim_alloc(r.sim, 1024, "p"), equal_launches[_i].distance};
    ck_assert_int_eq(sim_fill(r.sim, params.p, 0, 1024), SIM_OK);
    struct sim_result got = rig_run(&r, "k", 1, 32, &params, sizeof params);
    ck_assert_int_eq(got.is_idempotent, equal_launches[_i].is_idempotent);
    sim_result_free(&got);
    rig_close(&r);
}
END_TEST

UNIT_SUITE(race_shadow) {
    Suite *s = suite_create("race_shadow");
    TCase *t = tcase_create("ticks");
    tcase_add_test(t, a_clock_reset_clears_only_recorded_shadow_rows);
    tcase_add_test(t, sparse_stores_cost_the_pages_that_they_touch);
    tcase_add_test(t, a_race_of_streams_names_the_line_with_the_nearest_addresses);
    suite_add_tcase(s, t);
    TCase *rows = tcase_create("rows");
    tcase_add_loop_test(rows, blocks_may_store_a_row_of_equal_values_only, 0,
                        sizeof row_stores / sizeof *row_stores);
    suite_add_tcase(s, rows);
    TCase *equal = tcase_create("equal launches");
    tcase_add_loop_test(equal, launches_that_read_no_memory_that_they_write_are_idempotent, 0,
                        sizeof equal_launches / sizeof *equal_launches);
    suite_add_tcase(s, equal);
    return s;
}
