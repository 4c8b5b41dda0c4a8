/* test_access_pattern.c — tests the cost of one warp's access. Each row of patterns.def becomes
 * a kernel of one warp, whose lanes read their addresses from a constant table; the test
 * compares the counters of the line with the access. */
#include "grader/sim/code/insn.h"
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

enum kind { GLOBAL, SHARED, LOCAL, CONST, RED, SRED };

struct row {
    const char *name;
    enum kind kind;
    unsigned width;
    uint32_t mask;
    uint32_t (*address)(uint32_t lane);
    uint64_t first, second; /* what is expected, by kind */
};

#define CAT2(a, b) a##b
#define CAT(a, b)  CAT2(a, b)
#define FUNCTION(address) \
    static uint32_t CAT(address_, __LINE__)(uint32_t l) { return (void)l, (uint32_t)(address); }
#define GLOBAL(name, width, mask, address, sectors, ideal)     FUNCTION(address)
#define SHARED(name, width, mask, address, wavefronts, fewest) FUNCTION(address)
#define LOCAL(name, width, mask, address, sectors)             FUNCTION(address)
#define CONST(name, width, mask, address, replays)             FUNCTION(address)
#define RED(name, mask, address, sectors, multiplicity)        FUNCTION(address)
#define SRED(name, mask, address, serialised)                  FUNCTION(address)
#include "grader/tests/unit/patterns.def"

static const struct row rows[] = {
#define GLOBAL(name, width, mask, address, sectors, ideal) \
    {name, GLOBAL, width, mask, CAT(address_, __LINE__), sectors, ideal},
#define SHARED(name, width, mask, address, wavefronts, fewest) \
    {name, SHARED, width, mask, CAT(address_, __LINE__), wavefronts, fewest},
#define LOCAL(name, width, mask, address, sectors) \
    {name, LOCAL, width, mask, CAT(address_, __LINE__), sectors, 0},
#define CONST(name, width, mask, address, replays) \
    {name, CONST, width, mask, CAT(address_, __LINE__), replays, 0},
#define RED(name, mask, address, sectors, multiplicity) \
    {name, RED, 4, mask, CAT(address_, __LINE__), sectors, multiplicity},
#define SRED(name, mask, address, serialised) \
    {name, SRED, 4, mask, CAT(address_, __LINE__), serialised, 0},
#include "grader/tests/unit/patterns.def"
};

/* ---- the kernel ---- */

/* Line 10 loads the lane's address, line 20 makes the access. */
static const char prologue[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".const .align 4 .b32 offsets[32];\n.const .align 4 .b32 members;\n.const .align 16 .b8 "
    "table[8192];\n"
    ".visible .entry k(.param .u64 base) {\n"
    ".reg .pred %p; .reg .b16 %h; .reg .b32 %r<8>; .reg .b64 %d<8>;\n"
    ".shared .align 128 .b8 tile[8192];\n.local .align 16 .b8 stack[1024];\n"
    ".loc 1 10 0\n"
    "mov.u32 %r0, %tid.x;\nmov.u64 %d0, offsets;\nmul.wide.u32 %d1, %r0, 4;\nadd.s64 %d0, %d0, "
    "%d1;\n"
    "ld.const.u32 %r1, [%d0];\nld.const.u32 %r2, [members];\nshr.u32 %r2, %r2, %r0;\nand.b32 %r2, "
    "%r2, 1;\n"
    "setp.eq.u32 %p, %r2, 1;\ncvt.u64.u32 %d2, %r1;\n";
static const char epilogue[] = "ret;\n}\n.file 1 \"k.cu\"\n";

static const char *base_of(enum kind k) {
    switch (k) {
    case GLOBAL:
    case RED: return "ld.param.u64 %d3, [base];\ncvta.to.global.u64 %d3, %d3;\n";
    case SHARED:
    case SRED: return "mov.u64 %d3, tile;\n";
    case LOCAL: return "mov.u64 %d3, stack;\n";
    default: return "mov.u64 %d3, table;\n";
    }
}

static const char *type_of(unsigned width) {
    return width == 1   ? "u8 %h"
           : width == 2 ? "u16 %h"
           : width == 4 ? "u32 %r3"
           : width == 8 ? "u64 %d5"
                        : "v4.u32 {%r3, %r4, %r5, %r6}";
}

static void write_access(const struct row *row, bool store, char *out, size_t size) {
    static const char *const spaces[] = {"global", "shared", "local", "const"};
    char type[64], *registers;
    snprintf(type, sizeof type, "%s", type_of(row->width));
    registers = row->width == 16 ? strchr(type, '{') : strchr(type, '%');
    registers[-1] = 0;
    if (row->kind == RED || row->kind == SRED)
        snprintf(out, size, "@%%p red.%s.add.u32 [%%d4], 1;\n",
                 row->kind == RED ? "global" : "shared");
    else if (store)
        snprintf(out, size, "@%%p st.%s.%s [%%d4], %s;\n", spaces[row->kind], type, registers);
    else snprintf(out, size, "@%%p ld.%s.%s %s, [%%d4];\n", spaces[row->kind], type, registers);
}

/* Counters of the access. */
static struct sim_counters run_pattern(const struct row *row, bool store) {
    char access[256], ptx[4096];
    uint32_t offsets[32];
    uint64_t at, bytes;
    write_access(row, store, access, sizeof access);
    snprintf(ptx, sizeof ptx, "%s%sadd.s64 %%d4, %%d3, %%d2;\n.loc 1 20 0\n%s.loc 1 30 0\n%s",
             prologue, base_of(row->kind), access, epilogue);
    struct kernel_rig r = rig_open(ptx);
    for (uint32_t l = 0; l < 32; l++) offsets[l] = row->address(l);
    ck_assert(sim_find_symbol(r.module, "offsets", &at, &bytes) &&
              sim_write(r.sim, at, offsets, sizeof offsets) == SIM_OK);
    ck_assert(sim_find_symbol(r.module, "members", &at, &bytes) &&
              sim_write(r.sim, at, &row->mask, 4) == SIM_OK);
    uint64_t base = sim_alloc(r.sim, 8192, "base");
    ck_assert(base % 512 == 0 && sim_fill(r.sim, base, 0, 8192) == SIM_OK);
    struct sim_result result = rig_run(&r, "k", 1, 32, &base, sizeof base);
    ck_assert_msg(result.fault == SIM_FAULT_NONE, "%s: %s", row->name,
                  result.nreports ? result.reports[0].text : "");
    struct sim_counters c = rig_line(&result, 20);
    sim_result_free(&result);
    rig_close(&r);
    return c;
}

#define EQUAL(got, want)                                                                      \
    ck_assert_msg((got) == (uint64_t)(want), "%s, %u bytes: " #got " is %llu, expected %llu", \
                  row->name, row->width, (unsigned long long)(got), (unsigned long long)(want))

static void check_global(const struct row *row, const struct sim_counters *c, bool store) {
    EQUAL(store ? c->global_store_requests : c->global_load_requests, 1);
    EQUAL(store ? c->global_load_requests : c->global_store_requests, 0);
    EQUAL(store ? c->global_store_sectors : c->global_load_sectors, row->first);
    EQUAL(store ? c->global_store_sectors_ideal : c->global_load_sectors_ideal, row->second);
    EQUAL(c->global_sectors_ideal, row->second);
    EQUAL(c->global_sectors_excessive, row->first - row->second);
    EQUAL(store ? c->global_store_threads : c->global_load_threads, __builtin_popcount(row->mask));
}

static void check_shared(const struct row *row, const struct sim_counters *c, bool store) {
    EQUAL(store ? c->shared_store_requests : c->shared_load_requests, 1);
    EQUAL(store ? c->shared_store_wavefronts : c->shared_load_wavefronts, row->first);
    EQUAL(store ? c->shared_store_bank_conflicts : c->shared_load_bank_conflicts,
          row->first - row->second);
    EQUAL(c->global_load_requests + c->global_store_requests, 0);
}

static void check_others(const struct row *row, const struct sim_counters *c) {
    if (row->kind == LOCAL) {
        EQUAL(c->local_requests, 1);
        EQUAL(c->local_sectors, row->first);
    } else if (row->kind == CONST) {
        EQUAL(c->const_requests, 1);
        EQUAL(c->const_serialized_accesses, row->first);
    } else if (row->kind == RED) {
        EQUAL(c->reduction_requests, 1);
        EQUAL(c->atomic_requests, 0);
        EQUAL(c->atomic_sectors, row->first);
        EQUAL(c->atomic_operations, __builtin_popcount(row->mask));
        EQUAL(c->atomic_max_multiplicity, row->second);
    } else {
        EQUAL(c->shared_atomic_requests, 1);
        EQUAL(c->shared_atomic_operations, __builtin_popcount(row->mask));
        EQUAL(c->shared_atomic_serialized, row->first);
    }
}

/* Lanes that pair up read faster, but do not write faster. */
static bool only_load(const struct row *row) {
    return row->kind == CONST ||
           (row->kind == SHARED && row->width >= 8 && strstr(row->name, "for ")) ||
           strncmp(row->name, "one ", 4) == 0 || strstr(row->name, "no pair");
}

START_TEST(access_patterns_have_exact_counters) {
    const struct row *row = &rows[_i];
    for (int store = strncmp(row->name, "stored", 6) == 0;
         store < (row->kind >= CONST || only_load(row) ? 1 : 2); store++) {
        struct sim_counters c = run_pattern(row, store);
        EQUAL(c.inst_executed, 1);
        /* A guarded instruction counts all lanes of the warp that reach it. */
        EQUAL(c.thread_inst_executed, 32);
        if (row->kind == GLOBAL) check_global(row, &c, store);
        else if (row->kind == SHARED) check_shared(row, &c, store);
        else check_others(row, &c);
    }
}
END_TEST

/* ---- random addresses ---- */

static uint32_t random_offsets[32];
static uint32_t random_address(uint32_t lane) { return random_offsets[lane]; }

static uint32_t next_random(void) {
    static uint32_t x = 1;
    return (x = x * 1664525 + 1013904223) >> 8;
}

/* Returns how many active lanes before `lane` have a value with the same quotient. */
static unsigned count_earlier(uint32_t mask, unsigned lane, unsigned divisor) {
    unsigned n = 0;
    for (unsigned l = 0; l < lane; l++)
        n += (mask >> l & 1) && random_offsets[l] / divisor == random_offsets[lane] / divisor;
    return n;
}

/* Sets what the row expects: of reductions, sectors and the largest number of lanes with one word;
 * of shared memory, the largest number of words in one bank. */
static void expect_random(struct row *row) {
    unsigned words[32] = {0};
    row->first = 0, row->second = row->kind == SHARED;
    for (unsigned l = 0; l < 32; l++) {
        if (!(row->mask >> l & 1)) continue;
        uint64_t same_word = count_earlier(row->mask, l, 4);
        if (row->kind == RED) {
            row->first += !count_earlier(row->mask, l, 32);
            if (same_word + 1 > row->second) row->second = same_word + 1;
        } else if (!same_word && ++words[random_offsets[l] / 4 % 32] > row->first)
            row->first = words[random_offsets[l] / 4 % 32];
    }
}

/* By the functions of each level of vector instructions, which compare lanes in different ways. */
START_TEST(random_patterns_have_exact_counters_at_each_level) {
    static const unsigned ranges[] = {1, 8, 64, 2048};
    if (!lanes_level_table((unsigned)_i))
        SKIP("this processor has no level %d of vector instructions", _i);
    lanes_force_level((unsigned)_i);
    for (unsigned round = 0; round < 48; round++) {
        struct row random = {.name = "random",
                             .kind = round % 2 ? RED : SHARED,
                             .width = 4,
                             .address = random_address,
                             .mask = round % 8 < 4 ? ~0u : next_random() * 257 | 1};
        const struct row *row = &random;
        for (unsigned l = 0; l < 32; l++)
            random_offsets[l] = next_random() % ranges[round / 2 % 4] * 4;
        expect_random(&random);
        struct sim_counters c = run_pattern(row, false);
        if (random.kind == SHARED) check_shared(row, &c, false);
        else check_others(row, &c);
    }
    lanes_force_level(0);
}
END_TEST

/* With lanes further apart than 2 GiB no access pattern is kept; the counts must stay the same. */
START_TEST(lanes_beyond_2_gib_are_counted_without_a_pattern) {
    struct kernel_rig r = rig_open_with(
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 base) {\n"
        ".reg .b32 %r<4>; .reg .b64 %d<4>;\nld.param.u64 %d0, [base];\nmov.u32 %r0, %tid.x;\n"
        "mul.wide.u32 %d1, %r0, 92274688;\nadd.s64 %d0, %d0, %d1;\nld.global.u32 %r1, "
        "[%d0];\nret;\n}\n",
        (struct rig_options){.memory = 3ull << 30});
    uint64_t base = sim_alloc(r.sim, 32 * 92274688ull, "far");
    ck_assert(base != 0);
    struct sim_result result = rig_run(&r, "k", 1, 32, &base, sizeof base);
    ck_assert_int_eq(result.fault, SIM_FAULT_NONE);
    ck_assert_uint_eq(result.counters.global_load_requests, 1);
    ck_assert_uint_eq(result.counters.global_load_sectors, 32);
    ck_assert_uint_eq(result.counters.global_sectors_ideal, 4);
    sim_result_free(&result);
    rig_close(&r);
}
END_TEST

UNIT_SUITE(access_pattern) {
    Suite *suite = suite_create("access_pattern");
    TCase *tc = tcase_create("accesses of one warp");
    tcase_add_loop_test(tc, access_patterns_have_exact_counters, 0, sizeof rows / sizeof *rows);
    tcase_add_loop_test(tc, random_patterns_have_exact_counters_at_each_level, 1,
                        LANES_MAX_LEVELS + 1);
    tcase_add_test(tc, lanes_beyond_2_gib_are_counted_without_a_pattern);
    suite_add_tcase(suite, tc);
    return suite;
}
