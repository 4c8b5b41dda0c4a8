/* test_insn_approx.c — the approximate functions against libm in f64: within the bounds that the PTX manual states, and
 * the same bits at every level of vector instructions.
 *
 * make check looks at a sample of operands; APPROX_ALL=1 build/tests/unit at all 2^32 (some minutes a function). The
 * largest errors found that way stand in grader/sim/insn/lanes_approx.h. */
#include "grader/sim/code/insn.h"
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 1 << 15, SAMPLED_BATCHES = 4, THREADS = 256 };

static double reciprocal_root(double v) { return 1 / sqrt(v); }
static double reciprocal(double v) { return 1 / v; }

/* log2 of the largest error allowed: relative, or absolute where the result is below 1 and `absolute` says so. */
static const struct function {
    const char *opcode;
    double (*exact)(double);
    double bound, absolute; /* absolute: the bound for |operand| in [low, high]; 0 = none */
    float low, high;        /* beyond these the bound does not hold */
} functions[] = {
    {"ex2.approx.f32", exp2, -22, 0, -126, 127.9f},
    {"lg2.approx.f32", log2, -22, -22.6, 0x1p-149f, 0x1.fffffep127f},
    {"sin.approx.f32", sin, 0, -20.5, -6.2831853f, 6.2831853f},
    {"cos.approx.f32", cos, 0, -20.5, -6.2831853f, 6.2831853f},
    {"sin.approx.f32", sin, 0, -14.7, -314.15926f, 314.15926f},
    {"cos.approx.f32", cos, 0, -14.7, -314.15926f, 314.15926f},
    {"rsqrt.approx.f32", reciprocal_root, -22.9, 0, 0x1p-149f, 0x1.fffffep127f},
    {"sqrt.approx.f32", sqrt, -23, 0, 0x1p-149f, 0x1.fffffep127f},
    {"rcp.approx.f32", reciprocal, -23, 0, 0x1p-126f, 0x1p126f},
    {"tanh.approx.f32", tanh, -11, 0, -80, 80},
};

static float bits_to_float(u32 bits) {
    float v;
    memcpy(&v, &bits, 4);
    return v;
}

static void check_value(const struct function *f, float operand, float got) {
    double want = f->exact(operand), error = fabs(got - want);
    bool absolute = f->absolute < 0 && (f->bound == 0 || (operand > 0.5f && operand < 2));
    double allowed = absolute ? exp2(f->absolute) : exp2(f->bound) * fabs(want);
    ck_assert_msg(error <= allowed, "%s of %a gives %a, not %a: an error of 2^%.1f", f->opcode, (double)operand,
                  (double)got, want, log2(absolute ? error : error / fabs(want)));
}

/* The operands of a batch: bits spread over all floats by an odd multiplier, or, where the bounds hold for a narrow range
 * only, half of them within it. */
static void choose(const struct function *f, u32 batch, bool all, float *operands) {
    for (u32 i = 0; i < BATCH; i++) {
        u32 n = batch * BATCH + i;
        operands[i] = bits_to_float(all ? n : n * 2654435761u + 12345u);
        if (!all && (i & 1) && f->high < 1000)
            operands[i] = f->low + (f->high - f->low) * (float)(n * 2654435761u >> 8) * 0x1p-24f;
    }
}

static void open_kernel(char *ptx, size_t size, const char *opcode) {
    snprintf(
        ptx, size,
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 from, .param .u64 to) {\n"
        ".reg .b32 %%r<8>; .reg .f32 %%f<4>; .reg .b64 %%q<8>;\nld.param.u64 %%q1, [from];\nld.param.u64 %%q2, [to];\n"
        "mov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, %%ctaid.x;\nmad.lo.u32 %%r1, %%r2, %d, %%r1;\nmul.wide.u32 %%q3, %%r1, "
        "4;\n"
        "add.u64 %%q1, %%q1, %%q3;\nadd.u64 %%q2, %%q2, %%q3;\nld.global.f32 %%f1, [%%q1];\n%s %%f2, %%f1;\n"
        "st.global.f32 [%%q2], %%f2;\nret;\n}\n",
        THREADS, opcode);
}

static void run_batch(struct kernel_rig *rig, const float *operands, float *results) {
    static const u64 bytes = BATCH * sizeof(float);
    u64 from = sim_alloc(rig->sim, bytes, "operands"), to = sim_alloc(rig->sim, bytes, "results"),
        params[] = {from, to};
    sim_write(rig->sim, from, operands, bytes);
    struct sim_result r = rig_run(rig, "k", BATCH / THREADS, THREADS, params, sizeof params);
    ck_assert_int_eq(r.fault, SIM_FAULT_NONE);
    sim_read(rig->sim, to, results, bytes);
    sim_result_free(&r);
    sim_free(rig->sim, from);
    sim_free(rig->sim, to);
}

START_TEST(errors_are_within_the_bounds) {
    static float operands[BATCH], results[BATCH], others[BATCH];
    const struct function *f = &functions[_i];
    bool all = getenv("APPROX_ALL") != NULL;
    char ptx[2048];
    open_kernel(ptx, sizeof ptx, f->opcode);
    for (unsigned level = 2; level <= 4 && lanes_level(level); level++) {
        lanes_force(level);
        struct kernel_rig rig = rig_open(ptx);
        for (u32 batch = 0; batch < (all ? (u32)((1ull << 32) / BATCH) : SAMPLED_BATCHES); batch++) {
            choose(f, batch, all, operands);
            run_batch(&rig, operands, results);
            for (u32 i = 0; i < BATCH; i++)
                if (operands[i] >= f->low && operands[i] <= f->high && operands[i] != 0)
                    check_value(f, operands[i], results[i]);
            if (batch == 0 && level > 2) ck_assert_mem_eq(results, others, sizeof results);
            if (batch == 0) memcpy(others, results, sizeof results);
        }
        rig_close(&rig);
        if (all) break;
    }
    lanes_force(0);
}
END_TEST

UNIT_SUITE(insn_approx) {
    Suite *suite = suite_create("insn_approx");
    TCase *tc = tcase_create("approximations");
    tcase_set_timeout(tc, getenv("APPROX_ALL") ? 36000 : 60);
    tcase_add_loop_test(tc, errors_are_within_the_bounds, 0, sizeof functions / sizeof *functions);
    suite_add_tcase(suite, tc);
    return suite;
}
