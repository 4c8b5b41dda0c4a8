/* test_ptx_nvcc.c — tests PTX that nvcc wrote. The expected values come from the CUDA sources
 * beside the texts in grader/tests/ptx, not from the parser. */
#include "common/file.h"
#include "grader/sim/ptx/ptx.h"
#include "grader/tests/unit/unit.h"

#include <string.h>

static struct arena arena;

static void release(void) { arena_free(&arena); }

static const struct ptx_module *load(const char *path) {
    struct buf text = {0};
    struct err e = {0};
    ck_assert_msg(file_read(path, 1 << 20, &text, &e), "%s", e.text);
    const struct ptx_module *m = ptx_parse(&arena, text.data, text.size, &e);
    buf_free(&text); /* the module must not point into the text */
    ck_assert_msg(m != NULL, "%s", e.text);
    return m;
}

static const struct ptx_module *features(void) { return load("grader/tests/ptx/features.ptx"); }

static const struct ptx_insn *first(const struct ptx_func *f, const char *opcode) {
    for (unsigned i = 0; i < f->ninsns; i++)
        if (!strcmp(f->insns[i].opcode, opcode)) return &f->insns[i];
    ck_abort_msg("%s has no %s", f->name, opcode);
}

static unsigned count(const struct ptx_func *f, const char *opcode) {
    unsigned n = 0;
    for (unsigned i = 0; i < f->ninsns; i++) n += !strcmp(f->insns[i].opcode, opcode);
    return n;
}

START_TEST(template_kernels_have_their_parameters) {
    const struct ptx_module *m = features();
    ck_assert_str_eq(m->target, "sm_90");
    const struct ptx_func *f = ptx_module_func(m, "_Z4tileIfEvPT_PKS0_4Bodyi");
    ck_assert(f->is_entry && f->is_visible && f->has_body);
    ck_assert_uint_eq(f->nparams, 4);
    const unsigned bytes[] = {8, 8, 24, 4}; /* sizeof(struct Body) is 24 */
    for (int i = 0; i < 4; i++) ck_assert_uint_eq(f->params[i].bytes, bytes[i]);
    ck_assert_uint_eq(f->params[2].align, 8);
    ck_assert_uint_eq(count(f, "bar.sync"), 1);
    ck_assert_uint_eq(count(f, "ld.global.nc.f32"), 1); /* const __restrict__ */
    ck_assert_uint_eq(count(f, "ret"), 1);
    const struct ptx_insn *store = first(f, "st.global.f32");
    ck_assert_uint_eq(m->locs[store->loc].line, 41);
    ck_assert_str_eq(m->files[m->locs[store->loc].file], "features.cu");
    ck_assert_uint_eq(m->locs[first(f, "bar.sync")->loc].line, 40);
}
END_TEST

static const struct ptx_var *local(const struct ptx_func *f, const char *part) {
    for (unsigned i = 0; i < f->nvars; i++)
        if (strstr(f->vars[i]->name, part)) return f->vars[i];
    ck_abort_msg("%s has no variable %s", f->name, part);
}

START_TEST(shared_variables_have_their_sizes) {
    const struct ptx_module *m = features();
    const struct ptx_var *floats = local(ptx_module_func(m, "_Z4tileIfEvPT_PKS0_4Bodyi"), "cells");
    const struct ptx_var *doubles = local(ptx_module_func(m, "_Z4tileIdEvPT_PKS0_4Bodyi"), "cells");
    ck_assert_int_eq(floats->space, PTX_SHARED);
    ck_assert_uint_eq(floats->bytes, 32 * 33 * sizeof(float));
    ck_assert_uint_eq(doubles->bytes, 32 * 33 * sizeof(double));
    const struct ptx_var *rest = ptx_module_var(m, "rest");
    ck_assert(rest->is_extern && rest->space == PTX_SHARED && rest->bytes == 0);
}
END_TEST

/* b.position[] goes through poly(), line 24, called on line 41; square() within it, line 22, left
 * no instruction. */
START_TEST(inlined_code_has_its_call_site) {
    const struct ptx_module *m = features();
    const struct ptx_func *f = ptx_module_func(m, "_Z4tileIfEvPT_PKS0_4Bodyi");
    const struct ptx_loc *loc = &m->locs[first(f, "fma.rn.f32")->loc];
    ck_assert_uint_eq(loc->line, 24);
    ck_assert_str_eq(loc->function, "_Z4polyf");
    ck_assert_uint_ne(loc->inlined_at, 0);
    ck_assert_uint_eq(m->locs[loc->inlined_at].line, 41);
    ck_assert_uint_eq(m->locs[loc->inlined_at].inlined_at, 0);
    ck_assert_ptr_null(m->locs[loc->inlined_at].function);
}
END_TEST

START_TEST(module_variables_have_their_initial_values) {
    const struct ptx_module *m = features();
    const float weights[4] = {1.0f, -2.5f, 0.0f, 8.0f};
    const double half = 0.5;
    const int seven = -7;
    ck_assert_mem_eq(ptx_module_var(m, "weights")->init, weights, sizeof weights);
    ck_assert_int_eq(ptx_module_var(m, "weights")->space, PTX_CONST);
    ck_assert_mem_eq(ptx_module_var(m, "counter")->init, &seven, 4);
    ck_assert_mem_eq(ptx_module_var(m, "scale")->init, &half, 8);
    ck_assert(ptx_module_var(m, "scale")->is_managed);
    const struct ptx_reloc *reloc = ptx_module_var(m, "where")->relocs;
    ck_assert_str_eq(reloc->symbol, "counter");
    ck_assert(reloc->generic);
    const struct ptx_var *ops = ptx_module_var(m, "ops"), *words = ptx_module_var(m, "words");
    ck_assert_uint_eq(ops->nrelocs, 2);
    ck_assert_str_eq(ops->relocs[1].symbol, "_Z5minusf");
    ck_assert_uint_eq(words->nrelocs, 2);
    ck_assert_str_eq((const char *)ptx_module_var(m, words->relocs[1].symbol)->init, "lane");
}
END_TEST

START_TEST(calls_resolve_to_device_functions) {
    const struct ptx_module *m = features();
    const struct ptx_insn *call =
        first(ptx_module_func(m, "_Z4tileIdEvPT_PKS0_4Bodyi"), "call.uni");
    ck_assert_str_eq(call->operands[1].name, "_Z5twiceIdET_S0_");
    const struct ptx_func *callee = ptx_module_func(m, call->operands[1].name),
                          *make = ptx_module_func(m, "_Z4makei");
    ck_assert(callee->has_body && !callee->is_entry && !callee->is_extern);
    ck_assert_uint_eq(callee->rets[0].bytes, 8);
    ck_assert_uint_eq(make->rets[0].bytes, 24);
    ck_assert(ptx_module_func(m, "vprintf")->is_extern);
}
END_TEST

START_TEST(indirect_calls_have_a_prototype) {
    const struct ptx_module *m = features();
    const struct ptx_func *f = ptx_module_func(m, "_Z8indirectPfi");
    const struct ptx_insn *call = first(f, "call");
    ck_assert_int_eq(call->operands[1].kind, PTX_OP_REG);
    ck_assert_int_eq(call->operands[3].kind, PTX_OP_TABLE);
    const struct ptx_table *t = &f->tables[call->operands[3].target];
    ck_assert_uint_eq(t->nparams, 1);
    ck_assert_uint_eq(t->nrets, 1);
    ck_assert_uint_eq(t->params[0].bytes, 4);
}
END_TEST

START_TEST(launch_bounds_and_branches_are_parsed) {
    const struct ptx_func *f = ptx_module_func(features(), "_Z6choosePii");
    ck_assert_uint_eq(f->maxntid[0], 128);
    ck_assert_uint_eq(f->maxntid[1], 1);
    ck_assert_uint_eq(f->minnctapersm, 2);
    for (unsigned i = 0; i < f->ninsns; i++)
        if (!strncmp(f->insns[i].opcode, "bra", 3))
            ck_assert_uint_lt(f->insns[i].operands[0].target, f->ninsns);
}
END_TEST

/* The two asm blocks on lines 65 and 66 use the same names, each for itself. */
START_TEST(names_in_inline_assembly_are_scoped) {
    const struct ptx_module *m = features();
    const struct ptx_func *f = ptx_module_func(m, "_Z7recordsPdi");
    unsigned scoped_regs[2] = {0, 0}, blocks = 0;
    for (unsigned i = 0; i < f->ninsns; i++) {
        if (strcmp(f->insns[i].opcode, "setp.ne.s32") || m->locs[f->insns[i].loc].line < 65)
            continue;
        ck_assert_uint_lt(blocks, 2);
        scoped_regs[blocks++] = (unsigned)f->insns[i].operands[0].reg;
        ck_assert_uint_eq(f->insns[i + 1].operands[0].target, scoped_regs[1] ? i + 3 : i);
    }
    ck_assert_uint_eq(blocks, 2);
    ck_assert_uint_ne(scoped_regs[0], scoped_regs[1]);
}
END_TEST

START_TEST(cooperative_group_code_keeps_its_lines) {
    const struct ptx_module *m = load("grader/tests/ptx/coop.ptx");
    const struct ptx_func *f = ptx_module_func(m, "_Z6groupsPi");
    ck_assert_str_eq(m->target, "sm_80");
    const struct ptx_insn *shuffle = first(f, "shfl.sync.down.b32");
    ck_assert_int_ge(shuffle->operands[0].second_reg, 0);
    const struct ptx_loc *loc = &m->locs[shuffle->loc];
    while (loc->inlined_at) loc = &m->locs[loc->inlined_at];
    ck_assert_str_eq(m->files[loc->file], "coop.cu");
    ck_assert_uint_eq(loc->line, 8);
    ck_assert_int_ge(first(f, "match.all.sync.b32")->operands[0].second_reg, 0);
    ck_assert_uint_eq(first(f, "redux.sync.add.s32")->noperands, 3);
}
END_TEST

UNIT_SUITE(ptx_nvcc) {
    Suite *s = suite_create("ptx_nvcc");
    TCase *c = tcase_create("nvcc 13");
    tcase_add_checked_fixture(c, NULL, release);
    tcase_add_test(c, template_kernels_have_their_parameters);
    tcase_add_test(c, shared_variables_have_their_sizes);
    tcase_add_test(c, inlined_code_has_its_call_site);
    tcase_add_test(c, module_variables_have_their_initial_values);
    tcase_add_test(c, calls_resolve_to_device_functions);
    tcase_add_test(c, indirect_calls_have_a_prototype);
    tcase_add_test(c, launch_bounds_and_branches_are_parsed);
    tcase_add_test(c, names_in_inline_assembly_are_scoped);
    tcase_add_test(c, cooperative_group_code_keeps_its_lines);
    suite_add_tcase(s, c);
    return s;
}
