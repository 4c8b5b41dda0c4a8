/* test_watched_blocks.c — tests launches that check a sample of their blocks for races
 * (sim_set_watch), and the sets of bytes that commands of streams access (race/footprint.h). */
#include "grader/sim/race/footprint.h"
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>

enum { BLOCKS = 4096, THREADS = 64 };

/* `one_word`: every block stores its number in out[0]. `own_word`: in out[block]. `halo`: a block
 * writes out[block] and reads out[block + 1]. `no_barrier`: a thread reads from shared memory what
 * another one of another warp has stored, without a barrier; `barrier`: with one. `last_block`: the
 * block that adds last to a counter reads what all others wrote. `mbarrier`: as `barrier`, by an
 * mbarrier, in a kernel whose blocks may order each other's accesses, so that only shared memory is
 * checked. */
static const char kernels[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
#define HEAD(name)                                                                    \
    ".visible .entry " name "(.param .u64 out, .param .u64 counter) {\n"              \
    ".reg .b64 %d<6>; .reg .b32 %r<8>; .reg .pred %p; .shared .align 4 .b8 s[256];\n" \
    "ld.param.u64 %d0, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x;\n"          \
    "mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d0, %d2;\n"
#define FIRST_THREAD "setp.ne.u32 %p, %r2, 0; @%p ret;\n"
    HEAD("one_word") FIRST_THREAD "st.global.u32 [%d0], %r1; ret; }\n" HEAD("own_word") FIRST_THREAD
    "st.global.u32 [%d3], %r1; ret; }\n" HEAD("halo") FIRST_THREAD
    "ld.global.u32 %r3, [%d3+4]; st.global.u32 [%d3], %r3; ret; }\n"
#define STORE \
    "mov.u32 %r4, s; shl.b32 %r5, %r2, 2; add.u32 %r4, %r4, %r5; st.shared.u32 [%r4], %r2;\n"
#define LOAD                                                                                    \
    "xor.b32 %r5, %r5, 128; mov.u32 %r4, s; add.u32 %r4, %r4, %r5; ld.shared.u32 %r6, [%r4];\n" \
    "mul.wide.u32 %d2, %r1, 256; add.u64 %d3, %d0, %d2; mul.wide.u32 %d2, %r2, 4;\n"            \
    "add.u64 %d3, %d3, %d2; st.global.u32 [%d3], %r6; ret; }\n"
    HEAD("no_barrier") STORE LOAD HEAD("barrier") STORE "bar.sync 0;\n" LOAD HEAD(
        "last_block") "setp.ne.u32 %p, %r2, 0; @%p bra END; st.global.u32 [%d3], %r1; ld.param.u64 "
                      "%d4, [counter];\n"
                      "membar.gl; atom.global.add.u32 %r3, [%d4], 1; setp.ne.u32 %p, %r3, 4095; "
                      "@%p bra END;\n"
                      "membar.gl; mov.u32 %r3, 0;\n"
                      "SUM: ld.global.u32 %r4, [%d0]; add.u64 %d0, %d0, 4; add.u32 %r3, %r3, 1;\n"
                      "setp.lt.u32 %p, %r3, 4096; @%p bra SUM;\n"
                      "END: ret; }\n" HEAD("mbarrier") ".shared .align 8 .b8 m[8]; .reg .b64 %e; "
                                                       "setp.ne.u32 %p, %r2, 0; @%p bra READY;\n"
                                                       "ld.param.u64 %d4, [counter]; "
                                                       "atom.global.add.u32 %r3, [%d4], 1;\n"
                                                       "setp.gt.u32 %p, %r3, 4095; @%p ret; "
                                                       "mbarrier.init.shared.b64 [m], 64;\n"
                                                       "READY: bar.sync 0;\n" STORE
                                                       "mbarrier.arrive.shared.b64 %e, [m];\n"
                                                       "WAIT: mbarrier.test_wait.shared.b64 %p, "
                                                       "[m], %e; @!%p bra WAIT;\n" LOAD;

/* Returns the only finding, or SIM_FAULT_NONE. `key`: which blocks are watched. */
static enum sim_fault run(const char *kernel, bool watch, uint64_t key, unsigned workers) {
    struct kernel_rig r = rig_open_with(kernels, (struct rig_options){.workers = workers});
    uint64_t bytes = 4ull * (BLOCKS + 1) * THREADS,
             params[] = {sim_alloc(r.sim, bytes, "out"), sim_alloc(r.sim, 4, "counter")};
    sim_fill(r.sim, params[1], 0, 4);
    sim_set_watch(r.sim, watch, key);
    struct sim_result result = rig_run(&r, kernel, BLOCKS, THREADS, params, sizeof params);
    ck_assert_msg(result.fault == SIM_FAULT_NONE && result.nreports <= 1,
                  "%s: fault %d, %u reports", kernel, result.fault, result.nreports);
    enum sim_fault found = result.nreports ? result.reports[0].fault : SIM_FAULT_NONE;
    sim_result_free(&result);
    rig_close(&r);
    return found;
}

static const struct {
    const char *kernel;
    enum sim_fault fault;
} watched_cases[] = {{"one_word", SIM_FAULT_INTERBLOCK_RACE},
                     {"own_word", SIM_FAULT_NONE},
                     {"halo", SIM_FAULT_INTERBLOCK_RACE},
                     {"no_barrier", SIM_FAULT_SHARED_RACE},
                     {"barrier", SIM_FAULT_NONE},
                     {"last_block", SIM_FAULT_NONE},
                     {"mbarrier", SIM_FAULT_NONE}};

START_TEST(a_sample_of_the_blocks_shows_races) {
    const char *kernel = watched_cases[_i].kernel;
    for (unsigned workers = 1; workers <= 2; workers++)
        for (uint64_t key = 1; key <= 3; key++) {
            enum sim_fault found = run(kernel, true, key, workers);
            ck_assert_msg(found == watched_cases[_i].fault, "%s, key %llu: %s", kernel,
                          (unsigned long long)key, sim_fault_name(found));
        }
    ck_assert_int_eq(run(kernel, false, 1, 1), SIM_FAULT_NONE);
}
END_TEST

/* ---- footprints ---- */

static struct footprint bytes_from(u64 low, u64 high, u32 kind) {
    struct footprint f = {0};
    race_footprint_add_bytes(&f, low, high, kind);
    return f;
}

START_TEST(footprints_conflict_in_their_first_common_byte) {
    struct footprint a = bytes_from(10, 1000, COMMAND_WRITE),
                     b = bytes_from(999, 2000, COMMAND_READ),
                     c = bytes_from(1000, 2000, COMMAND_READ), d = bytes_from(64, 68, COMMAND_READ);
    struct conflict found;
    ck_assert(race_footprint_find_conflict(&a, &b, &found));
    ck_assert_uint_eq(found.offset, 999);
    ck_assert_uint_eq(found.bytes, 1);
    ck_assert(!race_footprint_find_conflict(&a, &c, &found));
    ck_assert(!race_footprint_find_conflict(&b, &c, &found)); /* two reads */
    ck_assert(race_footprint_find_conflict(&d, &a, &found));
    ck_assert(found.offset == 64 && found.bytes == 4);
    ck_assert(found.kind == COMMAND_READ && found.other_kind == COMMAND_WRITE);
    race_footprint_free(&a), race_footprint_free(&b), race_footprint_free(&c);
    race_footprint_free(&d);
}
END_TEST

/* A later read keeps an earlier write; a later write leaves nothing of either. */
START_TEST(a_later_access_of_a_stream_replaces_what_it_makes_redundant) {
    struct footprint old = bytes_from(0, 96, COMMAND_WRITE),
                     read = bytes_from(32, 64, COMMAND_READ),
                     write = bytes_from(33, 64, COMMAND_WRITE), probe;
    struct conflict found;
    race_footprint_supersede(&old, &read);
    ck_assert_uint_eq(old.nruns, 1);
    ck_assert_uint_eq(old.runs[0].n, 3);
    race_footprint_supersede(&old, &write);
    for (u64 at = 0; at < 96; at++) {
        probe = bytes_from(at, at + 1, COMMAND_READ);
        ck_assert_int_eq(race_footprint_find_conflict(&probe, &old, &found), at < 33 || at >= 64);
        race_footprint_free(&probe);
    }
    race_footprint_supersede(&read, &write);
    probe = bytes_from(0, 96, COMMAND_WRITE);
    ck_assert(race_footprint_find_conflict(&probe, &read, &found));
    ck_assert_uint_eq(found.offset, 32);
    race_footprint_remove_rows(&old, 0, 2);
    ck_assert(race_footprint_find_conflict(&probe, &old, &found) && found.offset == 64);
    race_footprint_free(&probe), race_footprint_free(&old), race_footprint_free(&read);
    race_footprint_free(&write);
}
END_TEST

UNIT_SUITE(watched_blocks) {
    Suite *s = suite_create("watched_blocks");
    TCase *t = tcase_create("sample"), *f = tcase_create("footprints");
    tcase_add_loop_test(t, a_sample_of_the_blocks_shows_races, 0,
                        sizeof watched_cases / sizeof *watched_cases);
    tcase_add_test(f, footprints_conflict_in_their_first_common_byte);
    tcase_add_test(f, a_later_access_of_a_stream_replaces_what_it_makes_redundant);
    suite_add_tcase(s, t);
    suite_add_tcase(s, f);
    return s;
}
