/* test_definite_assignment.c — tests that a register that is read before it is written holds
 * zero, whatever ran before in its place. */
#include "grader/sim/sim.h"
#include "grader/sim/timing/timing.h"
#include "grader/tests/unit/unit.h"

#include <string.h>

/* Block 0 writes r2 under a guard, the others do not; all store it. One worker runs them one after
 * another. */
static const char kernel[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                             ".visible .entry k(.param .u64 out)\n{\n"
                             ".reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<4>;\n"
                             "ld.param.u64 %rd1, [out];\n"
                             "mov.u32 %r1, %ctaid.x;\n"
                             "setp.eq.u32 %p1, %r1, 0;\n"
                             "@%p1 mov.u32 %r2, 77;\n"
                             "mul.wide.u32 %rd2, %r1, 4;\n"
                             "add.s64 %rd3, %rd1, %rd2;\n"
                             "st.global.u32 [%rd3], %r2;\n"
                             "ret;\n}\n";

START_TEST(unassigned_registers_read_as_zero) {
    struct err e = {0};
    struct sim *s =
        sim_open(&(struct sim_options){.device = device_find("h200"), .workers = 1}, &e);
    struct sim_module *m = sim_load(s, kernel, strlen(kernel), &e);
    ck_assert_msg(m != NULL, "%s", e.text);
    uint64_t out = sim_alloc(s, 4 * sizeof(uint32_t), "out");
    struct sim_launch l = {.kernel = sim_find_kernel(m, "k"),
                           .grid = {4, 1, 1},
                           .block = {1, 1, 1},
                           .params = &out,
                           .param_bytes = 8};
    struct sim_result r;
    sim_launch(s, &l, &r);
    uint32_t actual[4];
    ck_assert_int_eq(sim_read(s, out, actual, sizeof actual), SIM_OK);
    ck_assert_uint_eq(actual[0], 77);
    for (int i = 1; i < 4; i++) ck_assert_uint_eq(actual[i], 0);
    sim_result_free(&r);
    sim_close(s);
}
END_TEST

UNIT_SUITE(definite_assignment) {
    Suite *s = suite_create("definite_assignment");
    TCase *t = tcase_create("assigned");
    tcase_add_test(t, unassigned_registers_read_as_zero);
    suite_add_tcase(s, t);
    return s;
}
