/* test_slot_sharing.c — tests which registers of a kernel share slots (sim/code/slot_sharing.c),
 * and that each lane keeps its values where they do. The numbers of slots are counted by hand. */
#include "grader/sim/code/code.h"
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

#include <string.h>

#define PTX_HEADER ".version 8.0\n.target sm_75\n.address_size 64\n"

enum { LANES = 32, WORD_SLOT = 128, DOUBLE_SLOT = 256, PREDICATE_SLOT = 4, LOOP_TURNS = 40 };

static uint32_t frame_bytes(const struct kernel_rig *r) { return r->module->funcs[0].frame_bytes; }

/* Bytes of a frame with so many slots for doubles, words and predicates. */
static uint32_t frame_of(uint32_t doubles, uint32_t words, uint32_t predicates) {
    uint32_t bytes = doubles * DOUBLE_SLOT + words * WORD_SLOT + predicates * PREDICATE_SLOT;
    return (bytes + 63) / 64 * 64;
}

/* A chain: a result never shares a slot with its op's operand, so it needs two slots in turn. */
#define CHAIN                                                                         \
    "add.u32 %r2, %r1, 1;\nadd.u32 %r3, %r2, 2;\nadd.u32 %r4, %r3, 3;\nadd.u32 %r5, " \
    "%r4, 4;\nadd.u32 %r6, %r5, 5;\nst.global.u32 [%d+4], %r6;\nret;\n}\n"
#define CHAIN_BEGIN                                     \
    PTX_HEADER ".visible .entry k(.param .u64 out) {\n" \
               ".reg .b32 %r<7>; .reg .b64 %d;\n"       \
               "ld.param.u64 %d, [out];\n"
static const char chain_behind_an_atomic[] =
    CHAIN_BEGIN "atom.global.add.u32 %r1, [%d], 1;\n" CHAIN;
static const char chain_behind_a_load[] = CHAIN_BEGIN "ld.global.u32 %r1, [%d];\n" CHAIN;

static const struct {
    const char *ptx;
    uint32_t doubles, words;
} chains[] = {
    {chain_behind_an_atomic, 1, 2},
    {chain_behind_a_load, 1, 6}, /* Its blocks run one after the other. */
};

START_TEST(blocks_that_wait_for_each_other_have_small_frames) {
    struct kernel_rig r = rig_open(chains[_i].ptx);
    uint32_t words[2] = {10, 0};
    uint64_t out = sim_alloc(r.sim, sizeof words, "out");
    sim_write(r.sim, out, words, sizeof words);
    ck_assert_uint_eq(frame_bytes(&r), frame_of(chains[_i].doubles, chains[_i].words, 0));
    struct sim_result got = rig_run(&r, "k", 1, 1, &out, sizeof out);
    sim_read(r.sim, out, words, sizeof words);
    ck_assert_uint_eq(words[1], 10 + 1 + 2 + 3 + 4 + 5);
    sim_result_free(&got);
    rig_close(&r);
}
END_TEST

/* Lane t has d = &io[t], and reads n = io[0]. */
#define LANE_BEGIN                                                             \
    PTX_HEADER ".visible .entry k(.param .u64 io) {\n"                         \
               ".reg .pred %p, %q; .reg .b32 %t, %n, %i, %s, %k, %v, %a, %b, " \
               "%keep, %x, %y, %z; .reg .b64 %first, %w, %d;\n"                \
               "ld.param.u64 %first, [io];\nmov.u32 %t, %tid.x;\n"             \
               "atom.global.add.u32 %n, [%first], 0;\n"                        \
               "mul.wide.u32 %w, %t, 4;\nadd.s64 %d, %first, %w;\n"

/* Lane t leaves the loop in turn t, with a value from before the loop (keep) and one from its last
 * turn (b). Those that have left use y, which has t's slot, while others still need t. Slots:
 * first, w, d; i (a counter), t or y, n or v or z, keep, a, b. */
static const char lanes_leave_one_by_one[] = LANE_BEGIN
    "mad.lo.u32 %keep, %t, 1000, %n;\nmov.u32 %i, 0;\n"
    "NEXT:\nld.global.u32 %v, [%d];\nadd.u32 %a, %v, %t;\nadd.u32 %b, %a, %v;\n"
    "setp.ge.u32 %p, %i, %t;\n@%p bra DONE;\nadd.u32 %i, %i, 1;\nbra NEXT;\n"
    "DONE:\nadd.u32 %y, %keep, %b;\nmul.lo.u32 %z, %y, 2;\nst.global.u32 [%d+128], %z;\nret;\n}\n";
static uint32_t sum_of_leaving_lane(const uint32_t *in, uint32_t t) {
    return 2 * (1000 * t + in[0] + 2 * in[t] + t);
}

/* Lane t writes k in turn t alone, and adds it in every turn: before turn t it is zero, as nothing
 * has written it, and later it must outlast v and x. Slots: first, w, d; i, s, k, t, n, v, x; p or
 * q. */
static const char guarded_write[] =
    LANE_BEGIN "mov.u32 %i, 0;\nmov.u32 %s, %n;\n"
               "NEXT:\nsetp.eq.u32 %p, %i, %t;\n@%p add.u32 %k, %t, %n;\nadd.u32 %s, %s, %k;\n"
               "ld.global.u32 %v, [%d];\nadd.u32 %x, %v, %t;\nadd.u32 %s, %s, %x;\n"
               "add.u32 %i, %i, 1;\nsetp.lt.u32 %q, %i, 40;\n@%q bra NEXT;\n"
               "st.global.u32 [%d+128], %s;\nret;\n}\n";
static uint32_t sum_of_guarded_lane(const uint32_t *in, uint32_t t) {
    uint32_t sum = in[0];
    for (uint32_t i = 0; i < LOOP_TURNS; i++) sum += (i >= t ? t + in[0] : 0) + in[t] + t;
    return sum;
}

static const struct {
    const char *ptx;
    uint32_t words;
    uint32_t (*expected)(const uint32_t *in, uint32_t t);
} loops[] = {
    {lanes_leave_one_by_one, 6, sum_of_leaving_lane},
    {guarded_write, 7, sum_of_guarded_lane},
};

/* Runs with lanes that go on together where they can, and with lanes that don't. */
START_TEST(diverged_lanes_keep_their_values) {
    int loop = _i / 2;
    struct kernel_rig r = rig_open_with(
        loops[loop].ptx, (struct rig_options){.sanitize = true, .adversarial = _i % 2});
    uint32_t io[2 * LANES];
    uint64_t address = sim_alloc(r.sim, sizeof io, "io");
    for (uint32_t i = 0; i < 2 * LANES; i++) io[i] = i < LANES ? 5 * i + 7 : 0;
    sim_write(r.sim, address, io, sizeof io);
    ck_assert_uint_eq(frame_bytes(&r), frame_of(3, loops[loop].words, 1));
    struct sim_result got = rig_run(&r, "k", 1, LANES, &address, sizeof address);
    ck_assert_msg(got.nreports == 0, "%s", got.reports[0].text);
    sim_read(r.sim, address, io, sizeof io);
    for (uint32_t t = 0; t < LANES; t++)
        ck_assert_uint_eq(io[LANES + t], loops[loop].expected(io, t));
    sim_result_free(&got);
    rig_close(&r);
}
END_TEST

/* Even lanes load the undefined value a, which nothing uses later. Odd lanes then put b into the
 * same slot and add c, which is undefined, too: c's load is to blame. */
static const char undefined_elsewhere[] =
    PTX_HEADER ".file 1 \"k.cu\"\n.visible .entry k(.param .u64 io) {\n"
               ".reg .pred %p, %q; .reg .b32 %t, %n, %odd, %a, %b, %c, %sum; .reg .b64 %io;\n"
               ".loc 1 5 0\nld.param.u64 %io, [io];\nmov.u32 %t, %tid.x;\n"
               "atom.global.add.u32 %n, [%io], 0;\nand.b32 %odd, %t, 1;\n"
               "setp.ne.u32 %p, %odd, 0;\n@%p bra ODD;\n"
               ".loc 1 10 0\nld.global.u32 %a, [%io+4];\nst.global.u32 [%io+8], %a;\nbra DONE;\n"
               "ODD:\nadd.u32 %b, %t, %n;\n.loc 1 20 0\nld.global.u32 %c, [%io+12];\n"
               "add.u32 %sum, %b, %c;\nsetp.eq.u32 %q, %sum, 5;\n@%q bra DONE;\n"
               "st.global.u32 [%io], %t;\nDONE:\nret;\n}\n";

START_TEST(stale_undefined_values_are_not_blamed) {
    struct kernel_rig r =
        rig_open_with(undefined_elsewhere, (struct rig_options){.sanitize = true});
    uint64_t io = sim_alloc(r.sim, 16, "io");
    uint32_t zero = 0;
    sim_write(r.sim, io, &zero, sizeof zero);
    /* t, n, odd or a or b, c, sum in t's slot */
    ck_assert_uint_eq(frame_bytes(&r), frame_of(1, 4, 1));
    struct sim_result got = rig_run(&r, "k", 1, 2, &io, sizeof io);
    const struct sim_report *report = rig_report(&got, SIM_FAULT_UNINITIALIZED);
    ck_assert_ptr_nonnull(report);
    ck_assert_uint_eq(report->line, 20);
    sim_result_free(&got);
    rig_close(&r);
}
END_TEST

/* A loop that waits forever and counts its polls, in next, which is alive behind v and x. If it
 * shared their slots, no state would ever repeat (core/livelock_counters.c). */
static const char endless_poll[] =
    PTX_HEADER ".visible .entry k(.param .u64 io) {\n"
               ".reg .pred %p; .reg .b32 %v, %x, %polls, %next; .reg .b64 %io;\n"
               "ld.param.u64 %io, [io];\nmov.u32 %polls, 0;\n"
               "NEXT:\natom.global.or.b32 %v, [%io], 0;\nand.b32 %x, %v, 7;\n"
               "setp.eq.u32 %p, %x, 0;\nadd.u32 %next, %polls, 1;\nmov.u32 %polls, %next;\n"
               "@%p bra NEXT;\nst.global.u32 [%io+4], %polls;\nret;\n}\n";

START_TEST(counted_polls_still_end_as_a_deadlock) {
    struct kernel_rig r = rig_open(endless_poll);
    uint64_t io = sim_alloc(r.sim, 8, "io");
    sim_fill(r.sim, io, 0, 8);
    sim_set_budget(r.sim, 20000000, 0);
    ck_assert_uint_eq(frame_bytes(&r), frame_of(1, 4, 1));
    struct sim_result got = rig_run(&r, "k", 1, 32, &io, sizeof io);
    ck_assert_ptr_nonnull(rig_report(&got, SIM_FAULT_DEADLOCK));
    sim_result_free(&got);
    rig_close(&r);
}
END_TEST

UNIT_SUITE(slot_sharing) {
    Suite *s = suite_create("slot_sharing");
    TCase *t = tcase_create("slots");
    tcase_add_loop_test(t, blocks_that_wait_for_each_other_have_small_frames, 0,
                        sizeof chains / sizeof *chains);
    tcase_add_loop_test(t, diverged_lanes_keep_their_values, 0, 2 * sizeof loops / sizeof *loops);
    tcase_add_test(t, counted_polls_still_end_as_a_deadlock);
    tcase_add_test(t, stale_undefined_values_are_not_blamed);
    suite_add_tcase(s, t);
    return s;
}
