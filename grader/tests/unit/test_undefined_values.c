/* test_undefined_values.c — tests values that come from reads of uninitialized memory
 * (grader/sim/core/undef.h): which bits of a result they make undefined, and what is reported.
 * Each case is a few instructions between a load and a store. */
#include "common/buf.h"
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

#include <string.h>

/* %r1 and %rd1 are undefined in even lanes and 0; %r2 is 0, %r3 is ~0, %p1 is `%r1 == 0`, %p2
 * false, %p3 true. */
static const char before[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry f(.param .u64 raw, .param .u64 to) {\n"
    ".reg .b16 %h<9>; .reg .b32 %r<32>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<9>;\n"
    "ld.param.u64 %rd7, [raw]; ld.param.u64 %rd8, [to];\n"
    "mov.u32 %r20, %tid.x; mul.wide.u32 %rd6, %r20, 8; add.u64 %rd7, %rd7, %rd6; add.u64 %rd8, "
    "%rd8, %rd6;\n"
    "mov.u32 %r2, 0; mov.u32 %r3, -1; setp.ne.u32 %p2, %r2, 0; setp.eq.u32 %p3, %r2, 0;\n"
    "ld.global.u32 %r1, [%rd7]; cvt.u64.u32 %rd1, %r1; setp.eq.u32 %p1, %r1, 0; mov.u32 %r9, 0;\n";

static const struct rule {
    const char *code;  /* leaves its result in %r9 */
    const char *bytes; /* of lane 0's, low to high: x is undefined; of lane 1's where more follow */
} rules[] = {
    {"mov.u32 %r9, %r1;", "xxxx ...."},
    {"add.u32 %r9, %r1, 1;", "xxxx ...."},
    {"mul.lo.u32 %r9, %r1, 0;", "xxxx"},
    {"mov.u32 %r9, %r3;", "...."},
    /* A defined operand decides. */
    {"and.b32 %r9, %r1, %r2;", "...."},
    {"and.b32 %r9, %r1, 65280;", ".x.."},
    {"and.b32 %r9, 255, %r1;", "x..."},
    {"or.b32 %r9, %r1, %r3;", "...."},
    {"or.b32 %r9, %r1, 65535;", "..xx"},
    {"xor.b32 %r9, %r1, %r3;", "xxxx"},
    {"not.b32 %r9, %r1;", "xxxx"},
    /* Bits that move. */
    {"shl.b32 %r9, %r1, 8;", ".xxx"},
    {"shr.u32 %r9, %r1, 16;", "xx.."},
    {"shr.s32 %r9, %r1, 16;", "xxxx"},
    {"prmt.b32 %r9, %r1, %r3, 0x4167;", "..x."},
    {"bfe.u32 %r9, %r1, 4, 8;", "x..."},
    {"bfi.b32 %r9, %r1, %r3, 8, 8;", ".x.."},
    {"shl.b32 %r9, %r3, %r1;", "xxxx"},
    {"cvt.u16.u32 %h1, %r1; cvt.u32.u16 %r9, %h1;", "xx.."},
    {"cvt.u16.u32 %h1, %r1; cvt.s32.s16 %r9, %h1;", "xxxx"},
    {"mov.b32 {%h1, %h2}, %r1; mov.u16 %h3, 7; mov.b32 %r9, {%h3, %h2};", "..xx"},
    {"mov.b64 %rd2, {%r1, %r3}; mov.b64 {%r8, %r9}, %rd2;", "...."},
    {"mov.b64 %rd2, {%r1, %r3}; mov.b64 {%r9, %r8}, %rd2;", "xxxx"},
    {"mov.u16 %h3, 7; mov.b32 {%h1, %h2}, %r1; mov.b32 %r8, {%h3, %h2}; add.rn.f16x2 %r9, %r8, "
     "%r8;",
     "..xx"},
    /* Selections. */
    {"selp.b32 %r9, %r1, %r3, %p2;", "...."},
    {"selp.b32 %r9, %r1, %r3, %p3;", "xxxx"},
    {"selp.b32 %r9, %r2, %r3, %p1;", "xxxx"},
    {"selp.b32 %r9, %r3, %r3, %p1;", "...."},
    {"mov.u32 %r9, 5; @%p2 mov.u32 %r9, %r1;", "...."},
    {"mov.u32 %r9, 5; @%p1 mov.u32 %r9, 6;", "xxxx"},
    {"mov.u32 %r9, %r1; @%p3 mov.u32 %r9, 6;", "...."},
    {"slct.b32.s32 %r9, %r3, %r1, %r2;", "...."},
    {"slct.b32.s32 %r9, %r1, %r3, %r2;", "xxxx"},
    /* Predicates. */
    {"and.pred %p4, %p1, %p2; selp.b32 %r9, %r2, %r3, %p4;", "...."},
    {"and.pred %p4, %p1, %p3; selp.b32 %r9, %r2, %r3, %p4;", "xxxx"},
    {"or.pred %p4, %p3, %p1; selp.b32 %r9, %r2, %r3, %p4;", "...."},
    {"not.pred %p4, %p1; and.pred %p4, %p4, %p2; selp.b32 %r9, %r2, %r3, %p4;", "...."},
    {"setp.lt.and.u32 %p4, %r1, 5, %p2; selp.b32 %r9, %r2, %r3, %p4;", "...."},
    {"setp.lt.and.u32 %p4, %r1, 5, !%p2; selp.b32 %r9, %r2, %r3, %p4;", "xxxx"},
    {"setp.lt.and.u32 %p4, %r3, 5, %p1; selp.b32 %r9, %r2, %r3, %p4;", "...."},
    {"setp.gt.and.u32 %p4, %r3, 5, %p1; selp.b32 %r9, %r2, %r3, %p4;", "xxxx"},
    {"setp.gt.or.u32 %p4, %r3, 5, %p1; selp.b32 %r9, %r2, %r3, %p4;", "...."},
    {"setp.lt.or.u32 %p4|%p5, %r3, 5, %p1; selp.b32 %r9, %r2, %r3, %p5;", "...."},
    {"setp.lt.and.u32 %p4|%p5, %r3, 5, %p1; selp.b32 %r9, %r2, %r3, %p5;", "xxxx"},
    /* The carry. */
    {"add.cc.u32 %r8, %r1, %r3; addc.u32 %r9, %r2, %r2;", "xxxx"},
    {"add.cc.u32 %r8, %r2, %r3; addc.u32 %r9, %r2, %r2;", "...."},
    /* Lanes. */
    {"shfl.sync.bfly.b32 %r9, %r1, 1, 31, -1;", ".... xxxx"},
    {"vote.sync.ballot.b32 %r9, %p1, -1;", "xxxx xxxx"},
    {"setp.ne.u32 %p4, %r1, 0; or.pred %p4, %p4, %p3; vote.sync.ballot.b32 %r9, %p4, -1;", "...."},
    {"vote.sync.any.pred %p4, %p1, -1; selp.b32 %r9, 1, 2, %p4;", "...."}, /* odd lanes are true */
    {"vote.sync.all.pred %p4, %p1, -1; selp.b32 %r9, 1, 2, %p4;", "xxxx"},
    {"redux.sync.add.u32 %r9, %r1, -1;", "xxxx xxxx"},
    /* Memory. */
    {"st.global.u32 [%rd7+256], %r1; ld.global.u16 %r9, [%rd7+258];", "xx.."},
    {"st.global.u32 [%rd7+256], %r1; st.global.u8 [%rd7+257], 1; ld.global.u32 %r9, [%rd7+256];",
     "x.xx"},
};

static void result_of(const char *code, struct kernel_rig *r, uint64_t *to,
                      struct sim_result *out) {
    struct buf text = {0};
    buf_printf(&text, "%s%s\nst.global.u32 [%%rd8], %%r9; ret; }\n", before, code);
    *r = rig_open_with(buf_str(&text), (struct rig_options){.sanitize = true});
    buf_free(&text);
    uint64_t raw = sim_alloc(r->sim, 512, "raw");
    *to = sim_alloc(r->sim, 256, "to");
    sim_fill(r->sim, *to, 0, 256);
    for (int lane = 1; lane < 32; lane += 2) sim_fill(r->sim, raw + 8 * lane, 0, 8);
    uint64_t params[] = {raw, *to};
    *out = rig_run(r, "f", 1, 32, params, sizeof params);
}

START_TEST(undefined_bits_propagate_by_the_rules) {
    const struct rule *rule = &rules[_i];
    struct kernel_rig r;
    struct sim_result result;
    struct sim_report report;
    uint64_t to;
    result_of(rule->code, &r, &to, &result);
    ck_assert_msg(result.fault == SIM_FAULT_NONE && !result.nreports, "%s: %s", rule->code,
                  result.nreports ? result.reports[0].text : "");
    for (const char *s = rule->bytes; *s; s++) {
        uint64_t at = (uint64_t)(s - rule->bytes), lane = at / 5;
        if (*s == ' ') continue;
        bool undefined = sim_check_undefined(r.sim, to + lane * 8 + at % 5, 1, &report);
        ck_assert_msg(undefined == (*s == 'x'), "%s: byte %d of lane %d", rule->code, (int)(at % 5),
                      (int)lane);
    }
    sim_result_free(&result);
    rig_close(&r);
}
END_TEST

static const struct decision {
    const char *code, *text; /* NULL: nothing decides */
    unsigned count;
} decisions[] = {
    {"@%p1 bra L; mov.u32 %r9, 1; L:", "branches on it", 16},
    {"and.pred %p4, %p1, %p2; @%p4 bra L; mov.u32 %r9, 1; L:", NULL, 0},
    {"add.u64 %rd2, %rd8, %rd1; ld.global.u32 %r9, [%rd2];", "uses it as an address", 16},
    {"@%p1 st.global.u32 [%rd8], 1;", "decides by it whether to run", 16},
    {"atom.global.add.u32 %r9, [%rd8], %r1;", "updates memory atomically with it", 16},
    {"red.global.add.u32 [%rd7], 1;", "reads 4 uninitialized bytes", 16},
    {"st.global.u32 [%rd7], %r1; red.global.add.u32 [%rd7], 1;", "updates it atomically", 16},
    {"not.b32 %r8, %r1; shfl.sync.idx.b32 %r9, %r2, 0, 31, %r8;", "passes it as a member mask", 16},
    {"bar.red.and.pred %p4, 0, %p1;", "reduces it over the block", 16},
    {"mov.u32 %r1, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra L; L:", NULL, 0}, /* all overwritten */
};

START_TEST(decisions_on_undefined_values_are_reported) {
    const struct decision *d = &decisions[_i];
    struct kernel_rig r;
    struct sim_result result;
    uint64_t to;
    result_of(d->code, &r, &to, &result);
    const struct sim_report *report = rig_report(&result, SIM_FAULT_UNINITIALIZED);
    ck_assert_msg(!report == !d->text, "%s: %s", d->code,
                  report ? report->text : "nothing is reported");
    ck_assert_msg(!report || strstr(report->text, d->text), "%s: %s", d->code,
                  report ? report->text : "");
    ck_assert_msg(!report || report->count == d->count, "%s: %d times", d->code,
                  report ? (int)report->count : 0);
    sim_result_free(&result);
    rig_close(&r);
}
END_TEST

/* A matrix product: uninitialized rows make only their own rows of the result undefined. */
START_TEST(undefined_matrix_rows_stay_in_their_result_rows) {
    struct kernel_rig r;
    struct sim_result result;
    struct sim_report report;
    uint64_t to;
    result_of("mov.u32 %r4, 0; mov.f32 %f1, 0f00000000; setp.lt.u32 %p4, %r20, 8; selp.b32 %r5, "
              "%r1, %r2, %p4;\n"
              "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f2, %f3, %f4, %f5}, {%r5, %r2}, "
              "{%r2}, {%f1, %f1, "
              "%f1, %f1};\n"
              "mov.b32 %r9, %f2; mov.b32 %r10, %f4; st.global.u32 [%rd8+4], %r10;",
              &r, &to, &result);
    ck_assert_msg(!result.nreports, "%s", result.nreports ? result.reports[0].text : "");
    for (uint64_t lane = 0; lane < 32;
         lane++) { /* lanes 0 to 7 hold rows 0 and 1 of a in their first register */
        ck_assert_int_eq(sim_check_undefined(r.sim, to + lane * 8, 4, &report), lane < 8);
        ck_assert(!sim_check_undefined(r.sim, to + lane * 8 + 4, 4, &report));
    }
    sim_result_free(&result);
    rig_close(&r);
}
END_TEST

UNIT_SUITE(undefined_values) {
    Suite *suite = suite_create("undefined_values");
    TCase *tc = tcase_create("rules");
    tcase_add_loop_test(tc, undefined_bits_propagate_by_the_rules, 0, sizeof rules / sizeof *rules);
    tcase_add_test(tc, undefined_matrix_rows_stay_in_their_result_rows);
    suite_add_tcase(suite, tc);
    tc = tcase_create("decisions");
    tcase_add_loop_test(tc, decisions_on_undefined_values_are_reported, 0,
                        sizeof decisions / sizeof *decisions);
    suite_add_tcase(suite, tc);
    return suite;
}
