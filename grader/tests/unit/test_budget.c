/* test_budget.c — tests the budget of a launch: it counts warp instructions, and adds a cost for
 * operations that take much longer to simulate than one instruction. The clock, of
 * processor time, is only the last resort. */
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* `product`: twenty rounds of a product of 16 x 8 x 8 numbers, 1024 in all, and three other
 * instructions. */
static const char programs[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry nothing() { ret; }\n"
    ".visible .entry twenty() {\n.reg .pred %p; .reg .b32 %r0;\nmov.u32 %r0, 20;\n"
    "L: add.s32 %r0, %r0, -1;\nsetp.ne.s32 %p, %r0, 0;\n@%p bra L;\nret;\n}\n"
    ".visible .entry million() {\n.reg .pred %p; .reg .b32 %r0;\nmov.u32 %r0, 1000000;\n"
    "L: add.s32 %r0, %r0, -1;\nsetp.ne.s32 %p, %r0, 0;\n@%p bra L;\nret;\n}\n"
    ".visible .entry product() {\n.reg .pred %p; .reg .b32 %r<4>; .reg .f32 %f<4>;\n"
    "mov.u32 %r0, 20;\nmov.u32 %r1, 0;\nmov.f32 %f0, 0f00000000;\nmov.f32 %f1, "
    "%f0;\nmov.f32 %f2, %f0;\nmov.f32 %f3, %f0;\n"
    "L: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r1}, "
    "{%r1}, {%f0, %f1, %f2, %f3};\n"
    "add.s32 %r0, %r0, -1;\nsetp.ne.s32 %p, %r0, 0;\n@%p bra L;\nret;\n}\n"
    ".visible .entry endless() {\n.reg .pred %p; .reg .b32 %r<4>; .reg .f32 %f<4>;\n"
    "mov.u32 %r0, 20;\nmov.u32 %r1, 0;\nmov.f32 %f0, 0f00000000;\nmov.f32 %f1, "
    "%f0;\nmov.f32 %f2, %f0;\nmov.f32 %f3, %f0;\n"
    "L: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r1}, "
    "{%r1}, {%f0, %f1, %f2, %f3};\n"
    "add.s32 %r0, %r0, -1;\nsetp.eq.s32 %p, %r0, %r0;\n@%p bra L;\nret;\n}\n";

static enum sim_fault run(struct kernel_rig *r, const char *kernel, unsigned blocks,
                          unsigned threads) {
    struct sim_result result = rig_run(r, kernel, blocks, threads, NULL, 0);
    enum sim_fault fault = result.fault;
    sim_result_free(&result);
    return fault;
}

/* 87 instructions (6 and twenty times 4, and the last), products of 20 x 32 plain instructions:
 * 640. */
START_TEST(matrix_multiplies_are_charged_by_their_cost) {
    struct kernel_rig r =
        rig_open_with(programs, (struct rig_options){.workers = 1 + (unsigned)_i});
    sim_set_budget(r.sim, 500, 0);
    ck_assert_int_eq(run(&r, "product", 1, 32), SIM_FAULT_INSN_BUDGET);
    sim_set_budget(r.sim, 800, 0);
    ck_assert_int_eq(run(&r, "product", 1, 32), SIM_FAULT_NONE);
    rig_close(&r);
}
END_TEST

/* A budget of 10000 is used up after 313 rounds of 32, which are 1258 instructions: the block does
 * not go on until these are. */
START_TEST(an_endless_loop_of_matrix_multiplies_exhausts_the_budget) {
    struct kernel_rig r = rig_open(programs);
    sim_set_budget(r.sim, 10000, 0);
    struct sim_result result = rig_run(&r, "endless", 1, 32, NULL, 0);
    ck_assert_int_eq(result.fault, SIM_FAULT_INSN_BUDGET);
    ck_assert_uint_lt(result.counters.inst_executed, 2000);
    sim_result_free(&result);
    rig_close(&r);
}
END_TEST

/* A hundred empty blocks execute a hundred instructions, but cost far more work. */
START_TEST(block_launches_are_charged_by_their_cost) {
    struct kernel_rig r =
        rig_open_with(programs, (struct rig_options){.workers = 1 + (unsigned)_i});
    sim_set_budget(r.sim, 1000, 0);
    ck_assert_int_eq(run(&r, "nothing", 10, 32), SIM_FAULT_NONE);
    ck_assert_int_eq(run(&r, "nothing", 100, 32), SIM_FAULT_INSN_BUDGET);
    ck_assert_int_eq(run(&r, "nothing", 10, 1024), SIM_FAULT_INSN_BUDGET);
    rig_close(&r);
}
END_TEST

/* 62 instructions a launch: each has 100 for itself, and two that share them have too few. */
START_TEST(launches_share_a_budget) {
    struct kernel_rig r = rig_open(programs);
    sim_set_budget(r.sim, 100, 0);
    for (int i = 0; i < 3; i++) ck_assert_int_eq(run(&r, "twenty", 1, 32), SIM_FAULT_NONE);
    for (int i = 0; i < 2; i++) { /* whole again at each call */
        sim_begin_shared_budget(r.sim);
        ck_assert_int_eq(run(&r, "twenty", 1, 32), SIM_FAULT_NONE);
        ck_assert_int_eq(run(&r, "twenty", 1, 32), SIM_FAULT_INSN_BUDGET);
    }
    sim_begin_shared_budget(r.sim);
    sim_set_budget(r.sim, 1000, 0);
    ck_assert_int_eq(run(&r, "product", 1, 32), SIM_FAULT_NONE);
    ck_assert_int_eq(run(&r, "product", 1, 32), SIM_FAULT_INSN_BUDGET);
    rig_close(&r);
}
END_TEST

/* Starts a process that stops this one most of the time, as a busy machine does. */
static pid_t slow_down(void) {
    pid_t self = getpid(), child = fork();
    for (int i = 0; child == 0 && i < 50; i++) {
        usleep(1000);
        kill(self, SIGSTOP);
        usleep(60000);
        kill(self, SIGCONT);
    }
    if (child == 0) _exit(0);
    return child;
}

/* The launch needs about 20 ms of processor time, and then over a second on the wall. */
START_TEST(a_busy_machine_does_not_use_up_the_time) {
    struct kernel_rig r =
        rig_open_with(programs, (struct rig_options){.workers = 1 + (unsigned)_i});
    sim_set_budget(r.sim, 0, 0.5);
    pid_t child = slow_down();
    enum sim_fault fault = run(&r, "million", 1, 32);
    waitpid(child, NULL, 0);
    ck_assert_int_eq(fault, SIM_FAULT_NONE);
    sim_set_budget(r.sim, 0, 1e-4);
    ck_assert_int_eq(run(&r, "million", 1, 32), SIM_FAULT_TIMEOUT);
    rig_close(&r);
}
END_TEST

UNIT_SUITE(budget) {
    Suite *suite = suite_create("budget");
    TCase *tc = tcase_create("what is counted");
    tcase_add_loop_test(tc, matrix_multiplies_are_charged_by_their_cost, 0, 2);
    tcase_add_test(tc, an_endless_loop_of_matrix_multiplies_exhausts_the_budget);
    tcase_add_loop_test(tc, block_launches_are_charged_by_their_cost, 0, 2);
    tcase_add_test(tc, launches_share_a_budget);
    tcase_add_loop_test(tc, a_busy_machine_does_not_use_up_the_time, 0, 2);
    suite_add_tcase(suite, tc);
    return suite;
}
