/* test_timing_grid.c — tests the grid barrier of a cooperative launch: its time on an H100
 * (docs/results/h100/clusters.tsv), what hides it, and that no other waiting counts as a grid
 * barrier. */
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/timing_spec.h"

/* %d20: the barrier's word. %r42: what this block adds to it, 1, and block 0 what is lacking to
 * 2^31. %p7: the thread that does so. As cooperative_groups/details/sync.h has it. */
static const char word[] = "mov.u32 %r40, %envreg2;\nmov.u32 %r41, %envreg1;\nmov.b64 %d20, {%r40, "
                           "%r41};\nadd.s64 %d20, %d20, 4;\n"
                           "mov.u32 %r41, %nctaid.x;\nmov.u32 %r42, -2147483647;\nsub.s32 %r42, "
                           "%r42, %r41;\nsetp.eq.u32 %p6, %r2, 0;\n"
                           "selp.b32 %r42, %r42, 1, %p6;\nsetp.ne.u32 %p7, %r1, 0;\n";

#define ARRIVE(n)                                                                                \
    "barrier.sync 0;\n@%p7 bra HERE" n ";\natom.add.release.gpu.u32 %r43, [%d20], %r42;\nHERE" n \
    ":\n"
#define WAIT(n)                                                       \
    "@%p7 bra GONE" n ";\nLOOK" n                                     \
    ": ld.acquire.gpu.u32 %r44, [%d20];\nxor.b32 %r45, %r44, %r43;\n" \
    "setp.gt.s32 %p5, %r45, -1;\n@%p5 bra LOOK" n ";\nGONE" n ": barrier.sync 0;\n"
#define BARRIER(n) ARRIVE(n) WAIT(n)

static const double clock_ghz = 1.98;

static struct kernel_spec grid_spec(unsigned blocks, unsigned threads, unsigned n,
                                    const char *body) {
    struct kernel_spec s = {.device = "h100",
                            .blocks = blocks,
                            .threads = threads,
                            .n = n,
                            .prologue = word,
                            .cooperative = true};
    spec_add(&s, "%s", body);
    return s;
}

static double run_us(unsigned blocks, unsigned threads, unsigned n, const char *body) {
    struct kernel_spec s = grid_spec(blocks, threads, n, body);
    struct time_estimate t = spec_model(&s);
    ck_assert(!t.blocks_depend);
    buf_free(&s.body);
    return t.seconds * 1e6;
}

static double us_per_barrier(unsigned blocks, unsigned threads, const char *body) {
    return (run_us(blocks, threads, 40, body) - run_us(blocks, threads, 8, body)) / 32;
}

START_TEST(grid_barriers_match_an_h100) {
    static const struct {
        unsigned blocks, threads;
        double us;
    } measured[] = {{1, 32, 1.096},     {1, 1024, 1.123},   {66, 256, 1.101},  {132, 32, 1.116},
                    {132, 256, 1.118},  {132, 1024, 1.136}, {264, 32, 1.283},  {264, 256, 1.292},
                    {264, 1024, 1.407}, {528, 32, 1.581},   {528, 256, 1.633}, {1056, 256, 2.240}};
    for (unsigned i = 0; i < sizeof measured / sizeof *measured; i++)
        ck_about(us_per_barrier(measured[i].blocks, measured[i].threads, BARRIER("1")),
                 measured[i].us, 0.07);
}
END_TEST

#define FMA     "fma.rn.f32 %f0, %f0, %f1, %f2;\n"
#define FMA_4   FMA FMA FMA FMA
#define FMA_16  FMA_4 FMA_4 FMA_4 FMA_4
#define FMA_64  FMA_16 FMA_16 FMA_16 FMA_16
#define FMA_448 FMA_64 FMA_64 FMA_64 FMA_64 FMA_64 FMA_64 FMA_64

/* A chain of 448 additions, 1792 cycles, 0.9 us: between arrival and wait it is hidden, before the
 * arrival it is not. */
START_TEST(work_between_arrive_and_wait_hides_a_grid_barrier) {
    ck_about(us_per_barrier(132, 128, ARRIVE("1") FMA_448 WAIT("1")), 1.118, 0.07);
    ck_about(us_per_barrier(132, 128, FMA_448 BARRIER("1")), 1.118 + 448 * 4 / clock_ghz / 1000,
             0.07);
}
END_TEST

/* `who`: puts into %p4 whether the block works in this step: 64 times a chain of 64 additions,
 * 16384 cycles and the loop's. */
static void add_conditional_work(struct kernel_spec *s, const char *predicate_code) {
    spec_add(s,
             "%s@!%%p4 bra IDLE;\nmov.u32 %%r50, 0;\nWORK:\n%sadd.s32 %%r50, %%r50, "
             "1;\nsetp.lt.s32 %%p3, %%r50, 64;\n"
             "@%%p3 bra WORK;\nIDLE:\n%s",
             predicate_code, FMA_64, BARRIER("1"));
}

static double us_per_step(unsigned blocks, const char *predicate_code) {
    struct kernel_spec few = grid_spec(blocks, 32, 8, ""), many = grid_spec(blocks, 32, 40, "");
    add_conditional_work(&few, predicate_code), add_conditional_work(&many, predicate_code);
    double us = (spec_model(&many).seconds - spec_model(&few).seconds) * 1e6 / 32;
    buf_free(&few.body), buf_free(&many.body);
    return us;
}

/* A step lasts as long as its slowest block, 8.3 us and the barrier, whoever that is: all; one of
 * the two of an SM, by turns; one of all, a later one in each step; always the same one. Without
 * load to be waited for, blocks that work by turns would take half, or next to nothing. */
START_TEST(each_grid_step_takes_as_long_as_its_slowest_block) {
    static const char *const predicates[] = {
        "setp.eq.u32 %p4, %r1, %r1;\n",
        "div.u32 %r51, %r2, 132;\nadd.u32 %r51, %r51, %r8;\nand.b32 %r51, %r51, 1;\nsetp.eq.u32 "
        "%p4, %r51, 0;\n",
        "setp.eq.u32 %p4, %r2, %r8;\n",
        "mul.lo.u32 %r51, %r8, 3;\nadd.u32 %r51, %r51, 7;\nsetp.eq.u32 %p4, %r2, %r51;\n",
        "setp.eq.u32 %p4, %r2, 131;\n",
    };
    for (unsigned i = 0; i < sizeof predicates / sizeof *predicates; i++) {
        double us = us_per_step(i == 1 ? 264 : 132, predicates[i]),
               work = 64 * 64 * 4 / clock_ghz / 1000;
        ck_assert_msg(us > 0.8 * (work + 1.1) && us < 1.3 * (work + 1.3), "%u: %g us", i, us);
    }
}
END_TEST

/* L1 has no data that other SMs wrote: a load of the same word in each step has the L2 latency,
 * 280 cycles, and not 32. */
START_TEST(a_grid_barrier_invalidates_l1) {
    double with = us_per_barrier(
        132, 32, "ld.global.u32 %r30, [%d0];\nadd.u32 %r31, %r31, %r30;\n" BARRIER("1"));
    ck_about((with - us_per_barrier(132, 32, BARRIER("1"))) * clock_ghz * 1000, 280, 0.25);
}
END_TEST

/* Launches kernel k with 20 resident blocks of two warps; `p` is its parameter. */
static struct sim_result launch_cooperatively(struct kernel_rig *r, uint64_t p) {
    struct sim_launch l = {.kernel = sim_find_kernel(r->module, "k"),
                           .grid = {20, 1, 1},
                           .block = {64, 1, 1},
                           .cooperative = true,
                           .params = &p,
                           .param_bytes = 8};
    struct sim_result result;
    sim_launch(r->sim, &l, &result);
    return result;
}

/* ---- what is counted ---- */

static const char counted[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
    ".reg .pred %p<9>; .reg .b32 %r<99>; .reg .b64 %d<99>;\n"
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n";

/* A barrier costs one addition and one poll for each block, in any order of arrival and however
 * long it waits: 3 barriers of 20 blocks. */
START_TEST(a_grid_barrier_counts_one_poll_per_block) {
    struct arena a = {0};
    struct kernel_rig r = rig_open(
        rig_printf(&a, "%s%s%sret;\n}\n", counted, word, BARRIER("1") BARRIER("2") BARRIER("3")));
    uint64_t p = sim_alloc(r.sim, 64, "p");
    struct sim_result result = launch_cooperatively(&r, p);
    ck_assert_int_eq(result.fault, SIM_FAULT_NONE);
    ck_assert_uint_eq(result.counters.atomic_operations, 60);
    ck_assert_uint_eq(result.counters.global_load_requests, 60);
    ck_assert_uint_eq(result.counters.barriers, 2 * 2 * 60);
    sim_result_free(&result);
    rig_close(&r);
    arena_free(&a);
}
END_TEST

/* Blocks add to a counter, by atomics whose result is unused, and read it behind the barrier,
 * which orders all of them, also for the block that arrived last. Without the barrier it is a
 * race. */
START_TEST(a_grid_barrier_orders_earlier_accesses) {
    for (unsigned has_barrier = 0; has_barrier < 2; has_barrier++) {
        struct arena a = {0};
        struct kernel_rig r = rig_open_with(
            rig_printf(&a,
                       "%s%sld.param.u64 %%d0, [p];\n@!%%p7 red.global.add.u32 [%%d0], "
                       "1;\n%sld.global.u32 %%r60, [%%d0];\n"
                       "mul.wide.u32 %%d1, %%r2, 4;\nadd.s64 %%d1, %%d0, %%d1;\n@!%%p7 "
                       "st.global.u32 [%%d1+64], "
                       "%%r60;\nret;\n}\n",
                       counted, word,
                       has_barrier ? BARRIER("1") : "ld.volatile.global.u32 %r61, [%d20];\n"),
            (struct rig_options){.sanitize = true});
        uint64_t p = sim_alloc(r.sim, 256, "p");
        sim_fill(r.sim, p, 0, 256);
        struct sim_result result = launch_cooperatively(&r, p);
        ck_assert_msg((result.nreports == 0) == has_barrier, "%s",
                      result.nreports ? result.reports[0].text : "nothing told");
        sim_result_free(&result);
        rig_close(&r);
        arena_free(&a);
    }
}
END_TEST

/* ---- what is no barrier of the grid ---- */

/* %d21: a word of the program's own. */
#define OWN_ARRIVAL "atom.global.add.u32 %r46, [%d0], 1;\n"
#define OWN_WAIT                                                                              \
    "add.u32 %r47, %r8, 1;\nmul.lo.u32 %r47, %r47, %r41;\nOWN: ld.volatile.global.u32 %r48, " \
    "[%d0];\n"                                                                                \
    "setp.lt.u32 %p4, %r48, %r47;\n@%p4 bra OWN;\n"

/* Flags of the program's own: alone; behind an addition whose result is used, so that blocks might
 * pass for such that share work; behind a barrier of the grid. The barrier's word, looked at by
 * additions of nothing, or by other loads than the first. */
START_TEST(custom_grid_barriers_are_not_modelled) {
    static const char *const bodies[] = {
        OWN_ARRIVAL OWN_WAIT,
        "atom.global.add.u32 %r49, [%d0+64], 1;\nadd.u32 %r50, %r50, %r49;\n" OWN_ARRIVAL OWN_WAIT,
        BARRIER("1") OWN_ARRIVAL OWN_WAIT,
        BARRIER(
            "1") "atom.global.add.u32 %r49, [%d0+64], 1;\nadd.u32 %r50, %r50, %r49;\n" OWN_ARRIVAL
            OWN_WAIT,
        "barrier.sync 0;\n@%p7 bra GONE;\natom.add.release.gpu.u32 %r43, [%d20], %r42;\n"
        "LOOK: atom.or.b32 %r44, [%d20], 0;\nxor.b32 %r45, %r44, %r43;\nsetp.gt.s32 %p5, %r45, "
        "-1;\n@%p5 bra LOOK;\n"
        "GONE: barrier.sync 0;\n",
    };
    for (unsigned i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct kernel_spec s = grid_spec(132, 32, 4, bodies[i]);
        s.bytes = 4096;
        ck_assert_msg(spec_model(&s).blocks_depend, "%s", bodies[i]);
        buf_free(&s.body);
    }
}
END_TEST

/* Someone writes to the barrier's word: its highest bit, ahead of his own arrival; the last block
 * turns it over and goes on, as if all had come; the first block adds its part in two. Nothing is
 * modelled, but of the first, who gains nothing: it costs the barrier. */
START_TEST(forged_grid_barriers_are_not_modelled_as_free) {
    static const char *const bodies[] = {
        "@%p7 bra NO;\nld.volatile.u32 %r55, [%d20];\nxor.b32 %r55, %r55, -2147483648;\n@%p6 "
        "st.volatile.u32 [%d20], "
        "%r55;\nNO:\n" BARRIER("1"),
        "barrier.sync 0;\n@%p7 bra GONE;\nsetp.eq.u32 %p3, %r2, 131;\n@%p3 atom.xor.b32 %r43, "
        "[%d20], "
        "-2147483648;\n@%p3 bra GONE;\n"
        "atom.add.release.gpu.u32 %r43, [%d20], %r42;\n"
        "LOOK: ld.acquire.gpu.u32 %r44, [%d20];\nxor.b32 %r45, %r44, %r43;\nsetp.gt.s32 %p5, %r45, "
        "-1;\n@%p5 bra "
        "LOOK;\n"
        "GONE: barrier.sync 0;\n",
        "barrier.sync 0;\n@%p7 bra GONE;\n@!%p6 bra OTHER;\natom.add.release.gpu.u32 %r43, [%d20], "
        "1073741824;\n"
        "sub.u32 %r58, %r42, 1073741824;\natom.add.release.gpu.u32 %r57, [%d20], %r58;\nbra LOOK;\n"
        "OTHER: atom.add.release.gpu.u32 %r43, [%d20], %r42;\n"
        "LOOK: ld.acquire.gpu.u32 %r44, [%d20];\nxor.b32 %r45, %r44, %r43;\nsetp.gt.s32 %p5, %r45, "
        "-1;\n@%p5 bra "
        "LOOK;\n"
        "GONE: barrier.sync 0;\n",
    };
    for (unsigned i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct kernel_spec s = grid_spec(132, 32, 1, bodies[i]);
        struct time_estimate t = spec_model(&s);
        ck_assert_msg(t.blocks_depend || (i == 0 && t.seconds > 2.9e-6 + 1.1e-6), "%u: %g us", i,
                      t.seconds * 1e6);
        buf_free(&s.body);
    }
}
END_TEST

UNIT_SUITE(timing_grid) {
    Suite *s = suite_create("timing_grid");
    TCase *c = tcase_create("grid");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, grid_barriers_match_an_h100);
    tcase_add_test(c, work_between_arrive_and_wait_hides_a_grid_barrier);
    tcase_add_test(c, each_grid_step_takes_as_long_as_its_slowest_block);
    tcase_add_test(c, a_grid_barrier_invalidates_l1);
    tcase_add_test(c, a_grid_barrier_counts_one_poll_per_block);
    tcase_add_test(c, a_grid_barrier_orders_earlier_accesses);
    tcase_add_test(c, custom_grid_barriers_are_not_modelled);
    tcase_add_test(c, forged_grid_barriers_are_not_modelled_as_free);
    suite_add_tcase(s, c);
    return s;
}
