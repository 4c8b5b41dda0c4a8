/* invariants.h — checks the invariants of every module that the PTX parser returns, for any
 * text: the decoder follows its indices and pointers without checks. The mutation test and the
 * fuzzer use it. */
#pragma once
#include "grader/sim/ptx/ptx.h"

#include <string.h>

static bool operand_holds(const struct ptx_func *f, const struct ptx_operand *op, unsigned depth) {
    if (op->reg < -1 || op->reg >= (int)f->nregs || op->second_reg < -2 ||
        op->second_reg >= (int)f->nregs)
        return false;
    switch (op->kind) {
    case PTX_OP_REG: return op->reg >= 0 && op->type == f->regs[op->reg].type;
    case PTX_OP_IMM:
        return op->type == PTX_S64 || op->type == PTX_U64 || op->type == PTX_F32 ||
               op->type == PTX_F64;
    case PTX_OP_SREG:
    case PTX_OP_FUNC: return op->name && op->name[0];
    case PTX_OP_VAR: return op->var && op->var->name;
    case PTX_OP_ADDRESS: return op->reg < 0 || !op->var;
    case PTX_OP_LABEL: return op->target <= f->ninsns;
    case PTX_OP_TABLE: return op->target < f->ntables;
    case PTX_OP_SINK: return op->reg == -1;
    case PTX_OP_VECTOR:
    case PTX_OP_LIST: break;
    }
    if (depth > 8) return false;
    for (unsigned i = 0; i < op->nitems; i++)
        if (!operand_holds(f, &op->items[i], depth + 1)) return false;
    return true;
}

static bool insn_holds(const struct ptx_module *m, const struct ptx_func *f,
                       const struct ptx_insn *insn) {
    if (!insn->opcode || insn->loc >= m->nlocs || !insn->ptx_line) return false;
    if (insn->guard < -1 || insn->guard >= (int)f->nregs) return false;
    if (insn->guard >= 0 && f->regs[insn->guard].type != PTX_PRED) return false;
    for (unsigned i = 0; i < insn->noperands; i++)
        if (!operand_holds(f, &insn->operands[i], 0)) return false;
    return true;
}

static bool func_holds(const struct ptx_module *m, const struct ptx_func *f) {
    if (!f->name || (f->ninsns && !f->has_body)) return false;
    for (unsigned i = 0; i < f->ninsns; i++)
        if (!insn_holds(m, f, &f->insns[i])) return false;
    for (unsigned i = 0; i < f->ntables; i++)
        for (unsigned j = 0; j < f->tables[i].ntargets; j++)
            if (f->tables[i].targets[j] > f->ninsns) return false;
    for (unsigned i = 0; i < f->nvars; i++)
        if (!f->vars[i]->name || !f->vars[i]->align) return false;
    return true;
}

static bool var_holds(const struct ptx_module *m, const struct ptx_var *v) {
    if (!v->name || !v->align || (v->align & (v->align - 1)) || (v->nrelocs && !v->init))
        return false;
    unsigned char sum = 0;
    for (uint64_t i = 0; v->init && i < v->bytes; i++) sum ^= v->init[i]; /* readable to its end */
    for (unsigned i = 0; i < v->nrelocs; i++) {
        const struct ptx_reloc *r = &v->relocs[i];
        if ((r->size != 4 && r->size != 8) || r->offset + r->size > v->bytes + (sum & 0))
            return false;
        if (!ptx_module_var(m, r->symbol) && !ptx_module_func(m, r->symbol)) return false;
    }
    return true;
}

static bool module_holds(const struct ptx_module *m) {
    for (unsigned i = 0; i < m->nvars; i++)
        if (!var_holds(m, m->vars[i])) return false;
    for (unsigned i = 0; i < m->nfuncs; i++)
        if (!func_holds(m, m->funcs[i]) || ptx_module_func(m, m->funcs[i]->name) != m->funcs[i])
            return false;
    for (unsigned i = 0; i < m->nlocs; i++) {
        const struct ptx_loc *l = &m->locs[i];
        if (l->file >= m->nfiles || (i && l->inlined_at >= i) ||
            (l->function && strlen(l->function) > PTX_MAX_TEXT))
            return false;
    }
    return m->nlocs && m->target;
}

/* For one text: a module that holds, or an error that names a line. Anything else is our bug. */
static bool ptx_text_holds(const char *text, size_t n) {
    struct arena a = {0};
    struct err e = {0};
    const struct ptx_module *m = ptx_parse(&a, text, n, &e);
    bool ok = m ? e.kind == ERR_NONE && module_holds(m)
                : e.kind != ERR_NONE && !strncmp(e.text, "PTX line ", 9);
    arena_free(&a);
    return ok;
}
