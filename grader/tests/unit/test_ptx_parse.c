/* test_ptx_parse.c — tests the PTX grammar on short texts written by hand, from which each
 * expected value can be read. */
#include "grader/sim/ptx/ptx.h"
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#define PTX_HEADER ".version 8.4\n.target sm_80\n.address_size 64\n"

static struct arena arena;

static const struct ptx_module *parse(const char *text) {
    struct err e = {0};
    const struct ptx_module *m = ptx_parse(&arena, text, strlen(text), &e);
    ck_assert_msg(m != NULL, "%s", e.text);
    return m;
}

/* A kernel `k` with a few registers around the given statements, which start on line 6. */
static const struct ptx_func *parse_kernel(const char *body) {
    char *text = rig_printf(
        &arena,
        PTX_HEADER
        ".visible .entry k(.param .u64 a, .param .align 8 .b8 s[24]) {\n"
        ".reg .pred %%p<4>; .reg .b32 %%r<9>; .reg .f32 %%f<9>; .reg .b64 %%rd<9>;\n%s\n}\n",
        body);
    return ptx_module_func(parse(text), "k");
}

static void release(void) { arena_free(&arena); }

static const char *reg_name(const struct ptx_func *f, int reg) {
    ck_assert_int_ge(reg, 0);
    ck_assert_int_lt(reg, (int)f->nregs);
    return f->regs[reg].name;
}

START_TEST(the_module_header_is_parsed) {
    const struct ptx_module *m = parse(
        "// a comment\n.version 9.0 /* and\nanother */\n.target sm_90a, debug\n.address_size 64\n");
    ck_assert_uint_eq(m->version_major, 9);
    ck_assert_uint_eq(m->version_minor, 0);
    ck_assert_str_eq(m->target, "sm_90a");
    ck_assert_uint_eq(m->nfuncs + m->nvars, 0);
    ck_assert_uint_eq(m->nlocs, 1);
}
END_TEST

START_TEST(registers_and_guards_are_parsed) {
    const struct ptx_func *f =
        parse_kernel("add.s32 %r7, %r1, -5;\n@!%p2 mov.b64 %rd3, {%r1, %r7};");
    ck_assert_uint_eq(f->nregs, 4); /* %r7 %r1 %p2 %rd3: what is never named is not there */
    const struct ptx_insn *add = &f->insns[0], *mov = &f->insns[1];
    ck_assert_str_eq(add->opcode, "add.s32");
    ck_assert_uint_eq(add->ptx_line, 6);
    ck_assert_int_eq(add->guard, -1);
    ck_assert_uint_eq(add->noperands, 3);
    ck_assert_str_eq(reg_name(f, add->operands[0].reg), "%r7");
    ck_assert_int_eq(add->operands[0].type, PTX_B32);
    ck_assert_int_eq((int64_t)add->operands[2].value, -5);
    ck_assert_int_eq(add->operands[2].type, PTX_S64);
    ck_assert_str_eq(reg_name(f, mov->guard), "%p2");
    ck_assert(mov->guard_negated);
    ck_assert_int_eq(mov->operands[1].kind, PTX_OP_VECTOR);
    ck_assert_uint_eq(mov->operands[1].nitems, 2);
    ck_assert_int_eq(mov->operands[1].items[1].reg, add->operands[0].reg);
}
END_TEST

static const struct {
    const char *text;
    enum ptx_type type;
    uint64_t value;
} immediates[] = {
    {"0x1F", PTX_S64, 31},
    {"0b101", PTX_S64, 5},
    {"017", PTX_S64, 15},
    {"0", PTX_S64, 0},
    {"42U", PTX_U64, 42},
    {"-1", PTX_S64, UINT64_MAX},
    {"0xFFFFFFFFFFFFFFFF", PTX_U64, UINT64_MAX},
    {"-9223372036854775808", PTX_U64, 1ull << 63},
    {"0f3F800000", PTX_F32, 0x3f800000},
    {"0F7fc00001", PTX_F32, 0x7fc00001},
    {"-0f3F800000", PTX_F32, 0xbf800000},
    {"0d3FF8000000000000", PTX_F64, 0x3ff8000000000000},
    {"1.5", PTX_F64, 0x3ff8000000000000},
    {"-2.", PTX_F64, 0xc000000000000000},
    {"25e-2", PTX_F64, 0x3fd0000000000000},
    {".5", PTX_F64, 0x3fe0000000000000},
    {"WARP_SZ", PTX_S64, 32},
    {"WARP_SZ-1", PTX_S64, 31},
    {"(1+2)*3", PTX_S64, 9},
    {"1+2*3-4", PTX_S64, 3},
    {"-1+2", PTX_S64, 1},
    {"-(7/2)", PTX_S64, (uint64_t)-3},
    {"~0", PTX_S64, UINT64_MAX},
    {"(1<<5)|3&2^1", PTX_S64, 35},
    {"-16>>2", PTX_S64, (uint64_t)-4},
    {"10-3-2", PTX_S64, 5},
    {"-9223372036854775807-1", PTX_S64, 1ull << 63},
};

START_TEST(immediates_have_their_type_and_value) {
    const struct ptx_func *f =
        parse_kernel(rig_printf(&arena, "mov.b64 %%rd1, %s;", immediates[_i].text));
    const struct ptx_operand *op = &f->insns[0].operands[1];
    ck_assert_int_eq(op->kind, PTX_OP_IMM);
    ck_assert_int_eq(op->type, immediates[_i].type);
    ck_assert_uint_eq(op->value, immediates[_i].value);
}
END_TEST

START_TEST(address_operands_are_parsed) {
    const struct ptx_module *m = parse(
        PTX_HEADER
        ".global .align 4 .b8 g[64];\n.visible .entry k(.param .u64 a) {\n.reg .b32 %r<9>; .reg "
        ".b64 "
        "%rd<2>;\n"
        "ld.u32 %r1, [%rd1];\nld.u32 %r1, [%rd1+8];\nld.u32 %r1, [%rd1+-4*2];\nld.u32 %r1, "
        "[%rd1-8];\n"
        "ld.u32 %r1, [g+4];\nld.u32 %r1, [64];\nld.param.u64 %rd1, [a];\nmov.u64 %rd1, g+12;\n}");
    const struct ptx_func *f = ptx_module_func(m, "k");
    const int64_t offsets[] = {0, 8, -8, -8, 4, 64, 0};
    for (int i = 0; i < 7; i++) {
        const struct ptx_operand *op = &f->insns[i].operands[1];
        ck_assert_int_eq(op->kind, PTX_OP_ADDRESS);
        ck_assert_int_eq(op->offset, offsets[i]);
        ck_assert_int_eq(op->reg >= 0, i < 4);
    }
    ck_assert_ptr_eq(f->insns[4].operands[1].var, ptx_module_var(m, "g"));
    ck_assert_ptr_null(f->insns[5].operands[1].var);
    ck_assert_ptr_eq(f->insns[6].operands[1].var, &f->params[0]);
    const struct ptx_operand *value = &f->insns[7].operands[1];
    ck_assert_int_eq(value->kind, PTX_OP_VAR);
    ck_assert_int_eq(value->offset, 12);
}
END_TEST

START_TEST(register_pairs_and_sinks_are_parsed) {
    const struct ptx_func *f = parse_kernel(
        "setp.lt.and.s32 %p1|%p2, %r1, 3, !%p3;\nshfl.sync.down.b32 %r2|_, %r1, 1, 31, -1;\n"
        "mov.b64 {_, %r3}, %rd1;\natom.add.u32 _, [%rd1], 1;");
    ck_assert_str_eq(reg_name(f, f->insns[0].operands[0].second_reg), "%p2");
    ck_assert(f->insns[0].operands[3].negated);
    ck_assert_int_eq(f->insns[1].operands[0].second_reg, -2);
    ck_assert_int_eq(f->insns[1].operands[1].second_reg, -1);
    ck_assert_int_eq(f->insns[2].operands[0].items[0].kind, PTX_OP_SINK);
    ck_assert_int_eq(f->insns[3].operands[0].kind, PTX_OP_SINK);
}
END_TEST

START_TEST(special_registers_and_opcodes_are_recognized) {
    const struct ptx_func *f =
        parse_kernel("mov.u32 %r1, %tid.x;\nmov.u64 %rd1, %clock64;\nmov.u32 %r1, "
                     "%lanemask_lt;\nmov.u32 %r1, %envreg2;\n"
                     "ld.global.L2::128B .v4 .f32 {%f1,%f2,%f3,%f4}, [%rd1];\nret;");
    const char *names[] = {"%tid.x", "%clock64", "%lanemask_lt", "%envreg2"};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(f->insns[i].operands[1].kind, PTX_OP_SREG);
        ck_assert_str_eq(f->insns[i].operands[1].name, names[i]);
    }
    ck_assert_str_eq(f->insns[4].opcode, "ld.global.L2::128B.v4.f32");
    ck_assert_uint_eq(f->insns[5].noperands, 0);
}
END_TEST

/* Both blocks have a label `done`, and the outer one has one as well: a branch goes to the
 * innermost. */
START_TEST(labels_are_scoped) {
    const struct ptx_func *f = parse_kernel("top: bra done;\n{ bra done; bra out; done: bra top; "
                                            "}\n{ again: bra again; bra done; done: }\n"
                                            "out: ret;\ndone:");
    const uint32_t targets[] = {7, 3, 6, 0, 4, 6};
    ck_assert_uint_eq(f->ninsns, 7);
    for (int i = 0; i < 6; i++) {
        ck_assert_int_eq(f->insns[i].operands[0].kind, PTX_OP_LABEL);
        ck_assert_uint_eq(f->insns[i].operands[0].target, targets[i]);
    }
}
END_TEST

/* The inner %r<2> hides %r0 and %r1 only; afterwards the outer ones are back. */
START_TEST(registers_are_scoped) {
    const struct ptx_func *f = parse_kernel(
        "mov.b32 %r1, %r5;\n{ .reg .f32 %r<2>; mov.b32 %r1, %r5; }\nmov.b32 %r1, %r5;");
    const struct ptx_operand *outer = f->insns[0].operands, *inner = f->insns[1].operands,
                             *after = f->insns[2].operands;
    ck_assert_int_ne(inner[0].reg, outer[0].reg);
    ck_assert_int_eq(inner[0].type, PTX_F32);
    ck_assert_int_eq(inner[1].reg, outer[1].reg);
    ck_assert_int_eq(after[0].reg, outer[0].reg);
}
END_TEST

static const char calls[] = PTX_HEADER
    ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);\n"
    ".func (.reg .f32 out) inner (.reg .f32 in);\n"
    ".visible .entry k() {\n.reg .b32 %r<3>; .reg .b64 %rd<3>; .reg .f32 %f<3>;\n"
    "{ .param .b64 param0; .param .b32 retval0; st.param.b64 [param0+0], %rd1; call.uni (retval0), "
    "vprintf, (param0, param0); }\n"
    "{ .param .align 8 .b8 param0[24]; .param .b32 retval0; proto : .callprototype (.param .b32 _) "
    "_ "
    "(.param .align 8 .b8 _[24], .param .b32 _) .noreturn;\n"
    "call (retval0), %rd2, (param0), proto; }\n"
    "call (%f1), inner, (%f2);\ncall inner;\nret;\n}\n"
    ".func (.reg .f32 out) inner (.reg .f32 in) { add.f32 out, in, 0f3F800000; ret; }\n";

START_TEST(call_sequences_are_parsed) {
    const struct ptx_module *m = parse(calls);
    const struct ptx_func *k = ptx_module_func(m, "k"), *inner = ptx_module_func(m, "inner");
    ck_assert_uint_eq(m->nfuncs, 3);
    ck_assert(ptx_module_func(m, "vprintf")->is_extern && !ptx_module_func(m, "vprintf")->has_body);
    ck_assert_uint_eq(k->nvars, 4); /* two param0 and two retval0 */
    const struct ptx_insn *direct = &k->insns[1], *indirect = &k->insns[2];
    ck_assert_int_eq(direct->operands[0].kind, PTX_OP_LIST);
    ck_assert_int_eq(direct->operands[1].kind, PTX_OP_FUNC);
    ck_assert_str_eq(direct->operands[1].name, "vprintf");
    ck_assert_uint_eq(direct->operands[2].nitems, 2);
    ck_assert_ptr_ne(direct->operands[2].items[0].var, indirect->operands[2].items[0].var);
    ck_assert_uint_eq(indirect->operands[2].items[0].var->bytes, 24);
    ck_assert_int_eq(indirect->operands[3].kind, PTX_OP_TABLE);
    const struct ptx_table *proto = &k->tables[indirect->operands[3].target];
    ck_assert_str_eq(proto->name, "proto");
    ck_assert_uint_eq(proto->nrets, 1);
    ck_assert_uint_eq(proto->nparams, 2);
    ck_assert_uint_eq(proto->params[0].bytes, 24);
    ck_assert_uint_eq(k->insns[4].noperands, 1);
    ck_assert_int_eq(inner->params[0].space, PTX_REG);
    ck_assert_str_eq(reg_name(inner, inner->insns[0].operands[1].reg), "in");
    ck_assert(inner->has_body);
}
END_TEST

START_TEST(branch_tables_are_resolved) {
    const struct ptx_func *f = parse_kernel(
        "brx.idx %r1, later;\nsoon: .branchtargets one, two, one;\nbrx.idx.uni %r1, soon;\n"
        "later: .branchtargets two;\none: ret;\ntwo: ret;");
    ck_assert_uint_eq(f->ntables, 2);
    ck_assert_int_eq(f->insns[0].operands[1].kind, PTX_OP_TABLE);
    ck_assert_int_eq(f->insns[1].operands[1].kind, PTX_OP_TABLE);
    ck_assert_str_eq(f->tables[f->insns[0].operands[1].target].name, "later");
    const struct ptx_table *soon = &f->tables[f->insns[1].operands[1].target];
    ck_assert_uint_eq(soon->ntargets, 3);
    ck_assert_uint_eq(soon->targets[0], 2);
    ck_assert_uint_eq(soon->targets[1], 3);
    ck_assert_uint_eq(soon->targets[2], 2);
}
END_TEST

START_TEST(function_headers_are_parsed) {
    const struct ptx_module *m = parse(
        PTX_HEADER
        ".func die() .noreturn;\n.visible .entry k .maxntid 16, 8 .reqntid 32,1,1 .minnctapersm 2 "
        ".maxnreg 40\n"
        ".explicitcluster .reqnctapercluster 2, 1, 1 .maxclusterrank 8 .pragma \"x\"; { ret; }\n"
        ".weak .func die() { trap; }\n.func other();\n.alias other, die;\n.entry p(.param .u64 "
        ".ptr .global .align 16 q) { exit; }\n");
    const struct ptx_func *k = ptx_module_func(m, "k"), *die = ptx_module_func(m, "die"),
                          *other = ptx_module_func(m, "other");
    ck_assert(k->is_entry && k->is_visible && k->explicit_cluster);
    ck_assert_uint_eq(k->maxntid[0] * 10000 + k->maxntid[1] * 100 + k->maxntid[2], 160801);
    ck_assert_uint_eq(k->reqntid[0], 32);
    ck_assert_uint_eq(k->minnctapersm, 2);
    ck_assert_uint_eq(k->maxnreg, 40);
    ck_assert_uint_eq(k->reqnctapercluster[0], 2);
    ck_assert_uint_eq(k->maxclusterrank, 8);
    ck_assert(die->noreturn && die->is_weak && die->has_body);
    ck_assert(other->has_body && other->insns == die->insns);
    ck_assert_str_eq(other->name, "other");
    ck_assert(ptx_module_func(m, "p")->params[0].ptr);
    ck_assert_uint_eq(ptx_module_func(m, "p")->params[0].align, 16);
    ck_assert_ptr_null(ptx_module_func(m, "nobody"));
    ck_assert_ptr_null(ptx_module_var(m, "k"));
}
END_TEST

START_TEST(modules_own_static_variables) {
    const struct ptx_module *m =
        parse(PTX_HEADER ".visible .entry k() { .shared .align 16 .b8 tile[4224]; .global "
                         ".u32 once; st.u32 [once], 1; { .shared .b32 s; } ret; }");
    const struct ptx_func *k = ptx_module_func(m, "k");
    ck_assert_uint_eq(k->nvars, 2);
    ck_assert_str_eq(k->vars[0]->name, "tile");
    ck_assert_uint_eq(k->vars[0]->bytes, 4224);
    ck_assert_uint_eq(k->vars[0]->align, 16);
    ck_assert_uint_eq(k->vars[1]->align, 4);
    ck_assert_uint_eq(m->nvars, 1);
    ck_assert_ptr_eq(k->insns[0].operands[0].var, m->vars[0]);
}
END_TEST

UNIT_SUITE(ptx_parse) {
    Suite *s = suite_create("ptx_parse");
    TCase *c = tcase_create("grammar");
    tcase_add_checked_fixture(c, NULL, release);
    tcase_add_test(c, the_module_header_is_parsed);
    tcase_add_test(c, registers_and_guards_are_parsed);
    tcase_add_loop_test(c, immediates_have_their_type_and_value, 0,
                        (int)(sizeof immediates / sizeof *immediates));
    tcase_add_test(c, address_operands_are_parsed);
    tcase_add_test(c, register_pairs_and_sinks_are_parsed);
    tcase_add_test(c, special_registers_and_opcodes_are_recognized);
    tcase_add_test(c, labels_are_scoped);
    tcase_add_test(c, registers_are_scoped);
    tcase_add_test(c, call_sequences_are_parsed);
    tcase_add_test(c, branch_tables_are_resolved);
    tcase_add_test(c, function_headers_are_parsed);
    tcase_add_test(c, modules_own_static_variables);
    suite_add_tcase(s, c);
    return s;
}
