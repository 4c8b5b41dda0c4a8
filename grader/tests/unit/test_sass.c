/* test_sass.c — tests machine code: how a disassembler's listing is read (grader/sim/sass), and
 * how the time model replays it (grader/sim/timing/schedule.h). The expected cycles are sums of
 * the clocks that the listing's encodings require. */
#include "grader/sim/sass/sass.h"
#include "common/file.h"
#include "grader/tests/unit/timing_spec.h"

#include <stdlib.h>

static struct sass_insn *code;
static uint32_t n;
static struct err problem;

static bool parse(const char *text) {
    free(code);
    problem = (struct err){0};
    return sass_parse(text, strlen(text), &code, &n, &problem);
}

#define CODE "\t.section\t.text.k,\"ax\",@progbits\n"
#define LINE "\t//## File \".nv_debug_ptx_txt\", line "

/* ---- the listing ---- */

START_TEST(an_instruction_has_its_line_unit_and_control_bits) {
    /* Control bits as nvdisasm printed them for these two. */
    ck_assert(parse(
        CODE
        "k:\n" LINE "36\n"
        "        /*0010*/                   S2R R67, SR_CTAID.X ;                             /* "
        "0x0000000000437919 */\n"
        "                                                                                     /* "
        "0x000e2e0000002500 */\n" LINE "39\n"
        "        /*0040*/              @!P1 LEA R67, R67, R2, 0x8 ;                           /* "
        "0x0000000243437211 */\n"
        "                                                                                     /* "
        "0x001fc800078e40ff */\n"));
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_eq(code[0].line, 36);
    ck_assert_uint_eq(code[0].unit, SASS_VARIABLE_LATENCY);
    ck_assert_uint_eq(code[0].stall_cycles, 7);
    ck_assert_uint_eq(code[0].write_barrier, 0);
    ck_assert_uint_eq(code[0].wait_mask, 0);
    ck_assert_uint_eq(code[0].flags, SASS_BLOCK_START | SASS_FUNCTION_START);
    ck_assert_uint_eq(code[1].line, 39);
    ck_assert_uint_eq(code[1].unit, SASS_ALU);
    ck_assert_uint_eq(code[1].stall_cycles, 4);
    ck_assert_uint_eq(code[1].write_barrier, SASS_NO_BARRIER);
    ck_assert_uint_eq(code[1].read_barrier, SASS_NO_BARRIER);
    ck_assert_uint_eq(code[1].wait_mask, 1);
    ck_assert_uint_eq(code[1].flags, SASS_GUARDED);
}
END_TEST

START_TEST(sass_accesses_have_their_size_and_space) {
    ck_assert(parse(CODE "k:\n/*0*/ LDG.E.128 R4, desc[UR8][R4.64] ;\n/*1*/ STS.64 [R2], R4 "
                         ";\n/*2*/ ATOMS.CAST.SPIN "
                         "R7, [R0], R6, R7 ;\n"
                         "/*3*/ LDL.64 R2, [R1+0x18] ;\n/*4*/ REDG.E.ADD.STRONG.GPU "
                         "desc[UR4][R2.64], R5 ;\n/*5*/ LDC "
                         "R3, c[0x3][R11] ;\n"
                         "/*6*/ ULDC UR4, c[0x0][0x224] ;\n/*7*/ STL [R1], R2 ;\n"));
    static const uint8_t expected[][3] = {
        {SASS_LSU, SASS_GLOBAL, SASS_LOAD},        {SASS_LSU, SASS_SHARED, SASS_STORE},
        {SASS_LSU, SASS_SHARED, SASS_ATOMIC},      {SASS_LSU, SASS_LOCAL, SASS_LOAD},
        {SASS_LSU, SASS_GLOBAL, SASS_ATOMIC},      {SASS_LSU, SASS_CONST, SASS_LOAD},
        {SASS_UNIFORM, SASS_NONE, SASS_NO_ACCESS}, {SASS_LSU, SASS_LOCAL, SASS_STORE}};
    ck_assert_uint_eq(n, 8);
    for (unsigned i = 0; i < n; i++) {
        ck_assert_uint_eq(code[i].unit, expected[i][0]);
        ck_assert_uint_eq(code[i].space, expected[i][1]);
        ck_assert_uint_eq(code[i].verb, expected[i][2]);
    }
    ck_assert_uint_eq(code[3].local_frame_end, 0x18 + 8);
    ck_assert_uint_eq(code[7].local_frame_end, 4);
}
END_TEST

START_TEST(branches_resolve_labels_and_padding_is_dropped) {
    ck_assert(parse(CODE "k:\n/*0*/ MOV R1, R2 ;\n.L_x_4:\n/*1*/ IADD3 R1, R1, 0x1, RZ ;\n/*2*/ "
                         "@P0 BRA `(.L_x_4) ;\n/*3*/ EXIT ;\n"
                         ".L_x_9:\n/*4*/ BRA `(.L_x_9);\n/*5*/ NOP ;\n/*6*/ NOP ;\n"
                         "$__internal_0_$__cuda_sm3x_div:\n/*7*/ RET.REL.NODEC R2 `(k) ;\n"));
    ck_assert_uint_eq(n, 5);
    ck_assert_uint_eq(code[1].flags, SASS_BLOCK_START);
    ck_assert_uint_eq(code[2].target, 1);
    ck_assert_uint_eq(code[2].flags, SASS_BRANCH | SASS_GUARDED);
    ck_assert(code[3].flags & SASS_NO_FALLTHROUGH);
    ck_assert_uint_eq(code[4].flags & (SASS_INTERNAL | SASS_FUNCTION_START),
                      SASS_INTERNAL | SASS_FUNCTION_START);
}
END_TEST

/* On an H100, a multiply-add of R3, R0 and R6 takes two cycles, and one of two registers one
 * (grader/tests/timing/pieces-h100.tsv, skip-none-1024; micro-h100.tsv, fma-…). */
START_TEST(a_third_register_takes_another_cycle_unless_it_is_kept) {
    ck_assert(parse(CODE "k:\n/*0*/ FFMA R3, R3, R0, R6 ;\n/*1*/ FFMA R3, R3, R0, 0.5 ;\n"
                         "/*2*/ FFMA R5, -R3, R0, R0 ;\n/*3*/ FFMA R1, R8.reuse, R4, R2 ;\n"
                         "/*4*/ FFMA R3, R8, R5, R9 ;\n/*5*/ FFMA R3, R8, R5, R9 ;\n"
                         "/*6*/ IADD3 R1, R2, R3, R4 ;\n/*7*/ FFMA R1, R8.reuse, R4, R2 ;\n"
                         "/*8*/ LDS R2, [R9] ;\n/*9*/ FFMA R3, R8, R5, R9 ;\n"));
    static const unsigned expected[] = {1, 0, 0, 1, 0, 1, 0, 1, 0, 0};
    for (unsigned i = 0; i < n; i++)
        ck_assert_msg(code[i].bank_conflicts == expected[i], "instruction %u", i);
}
END_TEST

START_TEST(malformed_listings_are_rejected) {
    ck_assert(!parse(""));
    ck_assert(!parse("error: no such file\n"));
    ck_assert(!parse("\t.section\t.debug_line,\"\"\n/*0*/ MOV R1, R2 ;\n"));
    ck_assert_uint_eq(problem.kind, ERR_INPUT);
    struct buf many = {0};
    buf_puts(&many, CODE);
    for (unsigned i = 0; i <= SASS_MAX_INSNS; i++) buf_puts(&many, "/*0*/ NOP ;\n");
    ck_assert(!parse(buf_str(&many)));
    ck_assert_uint_eq(problem.kind, ERR_LIMIT);
    buf_free(&many);
}
END_TEST

START_TEST(out_of_bounds_records_are_rejected) {
    struct sass_insn good = {.target = SASS_NO_TARGET, .write_barrier = 7, .read_barrier = 7},
                     bad[6];
    ck_assert(sass_valid(&good, 1));
    for (unsigned i = 0; i < 6; i++) bad[i] = good;
    bad[0].unit = SASS_UNIT_COUNT, bad[1].write_barrier = 6, bad[2].wait_mask = 64,
    bad[3].stall_cycles = 16;
    bad[4].flags = SASS_BRANCH, bad[4].target = 1, bad[5].verb = 200;
    for (unsigned i = 0; i < 6; i++) ck_assert_msg(!sass_valid(&bad[i], 1), "record %u", i);
}
END_TEST

/* ---- the model ---- */

/* A chain of 64 FMAs, which ptxas unrolled by four: 33 clocks for four rounds, since a taken branch
 * takes 10 (grader/tests/timing/pieces-h100.tsv: a loop around one FMA takes 29). */
static struct kernel_spec unrolled(void) {
    struct kernel_spec s = {.blocks = SMS, .threads = 32, .n = 64};
    spec_add(&s, "fma.rn.f32 %%f0, %%f0, %%f90, %%f91;\n");
    spec_code(&s, 7, "LDC R1, c[0x0][0x28]", 1, 7, 0);
    spec_label(&s, ".L_x_0");
    for (unsigned i = 0; i < 4; i++) spec_code(&s, SPEC_LINE, "FFMA R0, R0, R2, R3", 4, 7, 0);
    spec_code(&s, SPEC_LINE + 1, "IADD3 R8, R8, 0x4, RZ", 2, 7, 0);
    spec_code(&s, SPEC_LINE + 2, "ISETP.LT.AND P0, PT, R8, R9, PT", 5, 7, 0);
    spec_code(&s, SPEC_LINE + 3, "@P0 BRA `(.L_x_0)", 5, 7, 0);
    spec_code(&s, SPEC_LINE + 4, "EXIT", 5, 7, 0);
    return s;
}

START_TEST(unrolled_loops_take_the_cycles_of_their_sass) {
    struct kernel_spec s = unrolled();
    struct time_estimate t = spec_model(&s);
    ck_assert(t.from_sass);
    double cycles = spec_cycles(&s);
    ck_about(cycles, 200 + 16 * 33, 0.05);
    s.n = 64 + 400;
    ck_about(spec_cycles(&s) - cycles, 100 * 33, 0.01);
    buf_free(&s.body), buf_free(&s.listing);
}
END_TEST

/* A loop that ptxas unrolled by four, with a remainder of 20 slow moves. With `parts`, every second
 * lane leaves after 65 of 128 iterations: it needs a remainder, the longest lane none. */
static double remainder_cycles(bool parts) {
    struct kernel_spec s = {.blocks = SMS,
                            .threads = 32,
                            .n = 128,
                            .prologue = parts ? "and.b32 %r9, %r1, 1;\nmul.lo.u32 %r9, %r9, 63;\n"
                                                "sub.u32 %r0, %r0, %r9;\n"
                                              : "\n\n\n"};
    unsigned line = SPEC_LINE + 3;
    spec_add(&s, "fma.rn.f32 %%f0, %%f0, %%f90, %%f91;\n");
    spec_code(&s, 7, "LDC R1, c[0x0][0x28]", 1, 7, 0);
    spec_label(&s, ".L_x_0");
    for (unsigned i = 0; i < 4; i++) spec_code(&s, line, "FFMA R0, R0, R2, R2", 4, 7, 0);
    spec_code(&s, line + 3, "@P0 BRA `(.L_x_0)", 5, 7, 0);
    spec_code(&s, line + 3, "@!P1 BRA `(.L_x_2)", 5, 7, 0);
    spec_label(&s, ".L_x_1");
    spec_code(&s, line, "FFMA R0, R0, R2, R2", 4, 7, 0);
    for (unsigned i = 0; i < 20; i++) spec_code(&s, line, "MOV R8, R9", 15, 7, 0);
    spec_code(&s, line + 3, "@P0 BRA `(.L_x_1)", 5, 7, 0);
    spec_label(&s, ".L_x_2");
    spec_code(&s, line + 4, "EXIT", 5, 7, 0);
    double cycles = spec_cycles(&s);
    buf_free(&s.body), buf_free(&s.listing);
    return cycles;
}

START_TEST(a_remainder_runs_if_any_lane_needs_it) {
    double all = remainder_cycles(false);
    ck_about(all, 200 + 32 * (16 + 10), 0.05);
    ck_about(remainder_cycles(true) - all, 4 + 20 * 15 + 5, 0.1);
}
END_TEST

/* A load whose result the next instruction waits for, by barrier 2. */
START_TEST(scoreboard_barriers_delay_dependent_instructions) {
    double cycles[2];
    for (unsigned has_wait = 0; has_wait < 2; has_wait++) {
        struct kernel_spec s = {.blocks = SMS, .threads = 32, .n = 100, .dynamic_shared = 256};
        spec_add(&s, "ld.shared.f32 %%f0, [%%r7];\nadd.f32 %%f1, %%f1, %%f0;\n");
        spec_label(&s, ".L_x_0");
        spec_code(&s, SPEC_LINE, "LDS R0, [R7]", 2, 2, 0);
        spec_code(&s, SPEC_LINE + 1, "FADD R1, R1, R0", 4, 7, has_wait ? 1 << 2 : 0);
        spec_code(&s, SPEC_LINE + 4, "@P0 BRA `(.L_x_0)", 5, 7, 0);
        cycles[has_wait] = spec_cycles(&s);
        buf_free(&s.body), buf_free(&s.listing);
    }
    ck_about(cycles[0], 200 + 100 * 16, 0.03);
    ck_about(cycles[1], 200 + 100 * (14 + 1 + (double)device_find("h200")->lat_shared), 0.05);
}
END_TEST

/* Two accesses to local memory an iteration that the PTX lacks: spilled registers, in 100
 * iterations of 8 warps. */
START_TEST(spilled_registers_cost_memory_accesses) {
    double cycles[2];
    for (unsigned spilled = 0; spilled < 2; spilled++) {
        struct kernel_spec s = {.blocks = SMS, .threads = 1024, .n = 100};
        spec_add(&s, "add.f32 %%f1, %%f1, %%f0;\n");
        spec_label(&s, ".L_x_0");
        spec_code(&s, SPEC_LINE, "FADD R1, R1, R0", 1, 7, 0);
        for (unsigned i = 0; i < 2 && spilled; i++)
            spec_code(&s, SPEC_LINE, i ? "LDL R4, [R1+0x8]" : "STL [R1+0x8], R4", 1, 7, 0);
        spec_code(&s, SPEC_LINE + 3, "@P0 BRA `(.L_x_0)", 5, 7, 0);
        cycles[spilled] = spec_cycles(&s);
        buf_free(&s.body), buf_free(&s.listing);
    }
    ck_assert(cycles[0] < 0.6 * cycles[1]);
    /* L1 writes through: L2 takes 40 ps for each line of 4 sectors that is stored, on an H100
     * (grader/tests/timing/terms-h100.tsv). */
    ck_about(cycles[1], 32 * 100 * SMS * 40e-12 * device_find("h200")->clock_hz, 0.1);
}
END_TEST

START_TEST(sass_that_misses_a_traced_store_is_not_replayed) {
    struct kernel_spec s = {.blocks = SMS, .threads = 32, .n = 10, .bytes = 1 << 20};
    spec_add(&s, "st.global.f32 [%%d0], %%f0;\n");
    spec_label(&s, ".L_x_0");
    spec_code(&s, SPEC_LINE, "FADD R1, R1, R0", 1, 7, 0);
    spec_code(&s, SPEC_LINE + 3, "@P0 BRA `(.L_x_0)", 5, 7, 0);
    ck_assert(!spec_model(&s).from_sass);
    buf_free(&s.body), buf_free(&s.listing);
}
END_TEST

/* Only one warp works: 2000 iterations of 64 FMAs, 4 clocks each, and 12 for the rest of the
 * loop. */
START_TEST(the_heaviest_block_is_replayed_besides_the_sample) {
    struct kernel_spec s = {.blocks = 20000,
                            .threads = 32,
                            .n = 1,
                            .full_grid = true,
                            .prologue = "setp.eq.u32 %p1, %r2, 7777;\n@%p1 mov.u32 %r0, 2000;\n"};
    unsigned line = SPEC_LINE + 2;
    spec_label(&s, ".L_x_0");
    for (unsigned i = 0; i < 64; i++) {
        spec_add(&s, "fma.rn.f32 %%f1, %%f1, %%f90, %%f91;\n");
        spec_code(&s, line++, "FFMA R0, R0, R2, R3", 4, 7, 0);
    }
    spec_code(&s, line, "IADD3 R8, R8, 0x1, RZ", 2, 7, 0);
    spec_code(&s, line + 1, "ISETP.LT.AND P0, PT, R8, R9, PT", 5, 7, 0);
    spec_code(&s, line + 2, "@P0 BRA `(.L_x_0)", 5, 7, 0);
    struct time_estimate t = spec_model_with(&s, 0, 2);
    ck_assert(t.from_sass);
    ck_about(t.seconds * device_find("h200")->clock_hz, 2000 * (64 * 4.0 + 12), 0.6);
    ck_assert_str_eq(t.uncertainty_note, "some blocks do far more work than the sampled ones");
    buf_free(&s.body), buf_free(&s.listing);
}
END_TEST

/* 100 iterations of a barrier for one warp: 2.1 clocks to arrive, 2 until it proceeds, 15 of
 * code. */
START_TEST(warps_stall_at_sass_barriers) {
    struct kernel_spec s = {.blocks = SMS, .threads = 32, .n = 100};
    spec_add(&s, "bar.sync 0;\n");
    spec_label(&s, ".L_x_0");
    spec_code(&s, SPEC_LINE, "BAR.SYNC.DEFER_BLOCKING 0x0", 5, 7, 0);
    spec_code(&s, SPEC_LINE + 3, "@P0 BRA `(.L_x_0)", 5, 7, 0);
    ck_assert(spec_model(&s).from_sass);
    double cycles = spec_cycles(&s);
    s.n = 300;
    ck_about(spec_cycles(&s) - cycles, 200 * (15 + 4.1), 0.05);
    buf_free(&s.body), buf_free(&s.listing);
}
END_TEST

UNIT_SUITE(sass) {
    Suite *s = suite_create("sass");
    TCase *listing = tcase_create("listing"), *model = tcase_create("model");
    tcase_add_test(listing, an_instruction_has_its_line_unit_and_control_bits);
    tcase_add_test(listing, sass_accesses_have_their_size_and_space);
    tcase_add_test(listing, a_third_register_takes_another_cycle_unless_it_is_kept);
    tcase_add_test(listing, branches_resolve_labels_and_padding_is_dropped);
    tcase_add_test(listing, malformed_listings_are_rejected);
    tcase_add_test(listing, out_of_bounds_records_are_rejected);
    tcase_add_test(model, unrolled_loops_take_the_cycles_of_their_sass);
    tcase_add_test(model, a_remainder_runs_if_any_lane_needs_it);
    tcase_add_test(model, scoreboard_barriers_delay_dependent_instructions);
    tcase_add_test(model, spilled_registers_cost_memory_accesses);
    tcase_add_test(model, sass_that_misses_a_traced_store_is_not_replayed);
    tcase_add_test(model, the_heaviest_block_is_replayed_besides_the_sample);
    tcase_add_test(model, warps_stall_at_sass_barriers);
    tcase_set_timeout(model, 60);
    suite_add_tcase(s, listing), suite_add_tcase(s, model);
    return s;
}
