/* test_timing_polls.c — tests blocks that poll what other blocks write: how often they poll,
 * derived by hand, and how long it takes (core/clock_scheduler.c). */
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/timing_spec.h"

/* One thread a block. %d10: the block's word. The code in between determines how the block finds
 * out about the blocks before it. */
#define BEGIN                                                                                   \
    ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"       \
    ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %d<30>;\n"                                   \
    "ld.param.u64 %d0, [p];\nmov.u32 %r2, %ctaid.x;\nmul.wide.u32 %d9, %r2, 8;\nadd.s64 %d10, " \
    "%d0, %d9;\n"                                                                               \
    "mov.u64 %d1, 1;\nmov.u64 %d2, 2;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra SAY;\n"
#define END "SAY: st.volatile.global.u64 [%d10], %d2;\nret;\n}\n"
/* Waits for the block before this one. */
static const char chained_kernel[] =
    BEGIN "LOOK: ld.volatile.global.u64 %d11, [%d10+-8];\nsetp.eq.s64 %p2, "
          "%d11, 0;\n@%p2 bra LOOK;\n" END;
/* Stores 1, and polls back from block to block until one has stored 2. */
static const char look_back_kernel[] =
    BEGIN "st.volatile.global.u64 [%d10], %d1;\nmov.u64 %d12, %d10;\n"
          "NEXT: sub.s64 %d12, %d12, 8;\n"
          "LOOK: ld.volatile.global.u64 %d11, [%d12];\nsetp.eq.s64 %p2, %d11, 0;\n@%p2 bra LOOK;\n"
          "setp.eq.s64 %p3, %d11, 1;\n@%p3 bra NEXT;\n" END;
/* Waits for the block after this one. */
static const char look_forward_kernel[] = BEGIN
    "mov.u32 %r3, %nctaid.x;\nsub.u32 %r3, %r3, 1;\nsetp.eq.u32 %p4, %r2, %r3;\n@%p4 bra SAY;\n"
    "LOOK: ld.volatile.global.u64 %d11, [%d10+8];\nsetp.eq.s64 %p2, %d11, 0;\n@%p2 bra LOOK;\n" END;

struct poll_run {
    struct time_estimate t;
    struct sim_counters n;
};

static struct poll_run run_polls(const char *text, unsigned blocks, bool timed) {
    struct kernel_rig r = rig_open(text);
    struct poll_run out = {0};
    uint64_t p = sim_alloc(r.sim, 8 * blocks, "p");
    sim_fill(r.sim, p, 0, 8 * blocks);
    struct sim_launch l = {.kernel = sim_find_kernel(r.module, "k"),
                           .grid = {blocks, 1, 1},
                           .block = {1, 1, 1},
                           .params = &p,
                           .param_bytes = 8};
    struct time_options o = {.full_grid = true};
    struct sim_result result;
    sim_set_registers(l.kernel, 32, 0);
    if (timed) ck_assert(time_launch(r.sim, &l, &o, &result, &out.t));
    else sim_launch(r.sim, &l, &result);
    ck_assert_int_eq(result.fault, SIM_FAULT_NONE);
    out.n = result.counters;
    sim_result_free(&result);
    rig_close(&r);
    return out;
}

/* Without modelled time blocks run one after another: each finds the one before it done, with
 * one poll. */
START_TEST(serial_blocks_poll_once) {
    ck_assert_uint_eq(run_polls(chained_kernel, 100, false).n.global_load_requests, 99);
    ck_assert_uint_eq(run_polls(look_back_kernel, 100, false).n.global_load_requests, 99);
}
END_TEST

/* All blocks start at about the same time and poll once in each round, block i in round k at
 * block i - k. It reads a 2 there if that block had its own `delay` rounds before: 1 if a value
 * stored at the end of a round is visible in the next, 2 if it is just too late for that. Block
 * 0 knows from the start. So the rounds are 1 2 2 3 3 3 4 4 4 4 …, or 1 2 3 3 4 4 5 5 5 …: about
 * the square root of twice the number, where a chain takes as many as there are blocks. */
static unsigned count_poll_rounds(unsigned blocks, unsigned delay) {
    unsigned at[200] = {0}, sum = 0;
    for (unsigned i = 1; i < blocks; i++) {
        for (at[i] = 1; at[i] < i && at[i - at[i]] + delay > at[i];) at[i]++;
        sum += at[i];
    }
    return sum;
}

START_TEST(decoupled_look_back_polls_logarithmically_often) {
    ck_assert_uint_eq(count_poll_rounds(11, 1), 1 + 2 + 2 + 3 + 3 + 3 + 4 + 4 + 4 + 4);
    uint64_t polls = run_polls(look_back_kernel, 120, true).n.global_load_requests;
    ck_assert_msg(polls >= count_poll_rounds(120, 1) && polls <= count_poll_rounds(120, 2),
                  "%lu looks, not %u to %u", polls, count_poll_rounds(120, 1),
                  count_poll_rounds(120, 2));
}
END_TEST

/* A link of the chain: the word is found by a look that began after it was said, and is there one
 * way to L2 and back later (390 cycles on the H200). So a link is one look, or two at worst, and
 * block i makes i of them, or 2 i: 1 + 2 + ... + 127 = 8128 in all. */
START_TEST(each_link_of_a_chain_costs_an_l2_round_trip) {
    struct poll_run few = run_polls(chained_kernel, 64, true),
                    many = run_polls(chained_kernel, 128, true);
    double cycles = (many.t.seconds - few.t.seconds) * device_find("h200")->clock_hz / 64,
           l2 = device_find("h200")->lat_l2;
    ck_assert_msg(cycles > l2 && cycles < 2.5 * l2, "%g cycles a link, %g to L2 and back", cycles,
                  l2);
    ck_assert_msg(many.n.global_load_requests >= 8128 && many.n.global_load_requests <= 2 * 8128,
                  "%lu looks", (unsigned long)many.n.global_load_requests);
    ck_assert(!many.t.blocks_depend);
}
END_TEST

/* A look-back over as many blocks takes about 16 polls, not 120. */
START_TEST(look_back_is_faster_than_a_chain) {
    double chained = run_polls(chained_kernel, 120, true).t.seconds,
           look_back_s = run_polls(look_back_kernel, 120, true).t.seconds,
           one = run_polls(chained_kernel, 1, true).t.seconds;
    ck_assert_msg((chained - one) > 5 * (look_back_s - one), "%g and %g us", chained * 1e6,
                  look_back_s * 1e6);
}
END_TEST

/* Blocks of a second wave begin when others end: 132 SMs of 32 blocks can't hold all 5000 at one
 * time. */
START_TEST(later_waves_find_their_predecessors_done) {
    struct poll_run s = run_polls(look_back_kernel, 5000, true);
    ck_assert(!s.t.blocks_depend);
    ck_assert_uint_gt(s.n.global_load_requests, 4999);
}
END_TEST

/* Block 0 waits for the last block; the others wait for nothing. */
static const char wait_for_last_kernel[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
    ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %d<30>;\nld.param.u64 %d0, [p];\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %nctaid.x;\nsub.u32 %r3, %r3, 1;\n"
    "mul.wide.u32 %d9, %r3, 8;\nadd.s64 %d10, %d0, %d9;\nsetp.eq.u32 %p1, %r2, 0;\n"
    "@!%p1 bra SAY;\nLOOK: ld.volatile.global.u64 %d11, [%d10];\nsetp.eq.s64 %p2, %d11, 0;\n"
    "@%p2 bra LOOK;\nret;\nSAY: setp.eq.u32 %p3, %r2, %r3;\nmov.u64 %d2, 2;\n"
    "@%p3 st.volatile.global.u64 [%d10], %d2;\nret;\n}\n";

/* Blocks may wait for later ones if all are resident: 132 SMs hold 4224. Beyond, a block that gets
 * nowhere in 64 timeslices though all before it are done waits for one that may never start. */
START_TEST(waiting_for_later_blocks_is_modelled_if_all_are_resident) {
    ck_assert(!run_polls(look_forward_kernel, 200, true).t.blocks_depend);
    ck_assert(!run_polls(wait_for_last_kernel, 4224, true).t.blocks_depend);
    ck_assert(run_polls(wait_for_last_kernel, 4225, true).t.blocks_depend);
}
END_TEST

#define THREAD_0                                                                          \
    ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p) {\n" \
    ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %d<30>;\nld.param.u64 %d0, [p];\n"
/* Barriers of the whole grid written by hand, 16 in a row: arrivals are counted in one word. */
static const char hand_barrier_kernel[] = THREAD_0
    "mov.u32 %r1, %nctaid.x;\nmov.u32 %r2, 0;\nmov.u32 %r6, 0;\n"
    "AGAIN: add.u32 %r2, %r2, %r1;\nmembar.gl;\nred.global.add.u32 [%d0], 1;\n"
    "LOOK: ld.volatile.global.u32 %r3, [%d0];\nsetp.lt.u32 %p1, %r3, %r2;\n@%p1 bra LOOK;\n"
    "membar.gl;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p2, %r6, 16;\n@%p2 bra AGAIN;\nret;\n}\n";
/* A lock that each block takes once, by ticket. */
static const char ticket_lock_kernel[] = THREAD_0
    "atom.global.add.u32 %r1, [%d0+4], 1;\n"
    "LOOK: ld.volatile.global.u32 %r2, [%d0];\nsetp.ne.u32 %p1, %r2, %r1;\n@%p1 bra LOOK;\n"
    "membar.gl;\nld.volatile.global.u32 %r3, [%d0+256];\nadd.u32 %r3, %r3, 1;\n"
    "st.volatile.global.u32 [%d0+256], %r3;\nmembar.gl;\nadd.u32 %r1, %r1, 1;\n"
    "st.volatile.global.u32 [%d0], %r1;\nret;\n}\n";

static double us(const char *text, unsigned blocks) {
    return run_polls(text, blocks, true).t.seconds * 1e6;
}

/* Measured on an H200 (grader/tests/timing/waiting-h200.tsv): what 15 barriers of 33 blocks add to
 * one; what 99 more blocks add at a lock. How late a poll is depends on where L2 keeps the word. */
START_TEST(waiting_takes_as_long_as_on_a_gpu) {
    double launch = device_find("h200")->launch_seconds * 1e6;
    ck_about(us(hand_barrier_kernel, 33) - launch, 16 * (20.448 - 7.136) / 15, 0.2);
    ck_about(us(ticket_lock_kernel, 132) - us(ticket_lock_kernel, 33), 118.528 - 32.160, 0.2);
}
END_TEST

/* Polling by an atomic that adds 0 takes as long: a link takes at least one L2 latency. */
START_TEST(atomics_that_add_zero_are_polls) {
    static const char polled[] =
        BEGIN "add.s64 %d12, %d10, -8;\nLOOK: atom.global.add.u64 %d11, [%d12], 0;\n"
              "setp.eq.s64 %p2, %d11, 0;\n@%p2 bra LOOK;\n" END;
    double one = run_polls(polled, 1, true).t.seconds,
           many = run_polls(polled, 120, true).t.seconds;
    ck_assert_msg((many - one) * device_find("h200")->clock_hz > 119 * device_find("h200")->lat_l2,
                  "%g us", many * 1e6);
}
END_TEST

UNIT_SUITE(timing_polls) {
    Suite *s = suite_create("timing_polls");
    TCase *t = tcase_create("looks");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, serial_blocks_poll_once);
    tcase_add_test(t, decoupled_look_back_polls_logarithmically_often);
    tcase_add_test(t, each_link_of_a_chain_costs_an_l2_round_trip);
    tcase_add_test(t, look_back_is_faster_than_a_chain);
    tcase_add_test(t, later_waves_find_their_predecessors_done);
    tcase_add_test(t, waiting_for_later_blocks_is_modelled_if_all_are_resident);
    tcase_add_test(t, waiting_takes_as_long_as_on_a_gpu);
    tcase_add_test(t, atomics_that_add_zero_are_polls);
    suite_add_tcase(s, t);
    return s;
}
