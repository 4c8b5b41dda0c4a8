/* operands.c — see operands.h. */
#include "grader/sim/code/operands.h"

#include <string.h>

struct operand_visit {
    operand_visitor *visit;
    void *user;
};

static void visit_operand(const struct operand_visit *v, ref *r, enum operand_use use) {
    if (*r != REF_NONE) v->visit(v->user, r, use);
}

bool code_is_arithmetic(const struct op *o) {
    const struct opcode_desc *r = &insn_opcodes[o->opcode];
    return o->kind == OP_LANEWISE && r->form == FORM_REGULAR && r->dst != PTX_PRED &&
           r->dst != PTX_NO_TYPE && ref_base(o->dst) == BASE_FRAME;
}

static void visit_memory(const struct operand_visit *v, struct mem_desc *d) {
    bool is_move = d->verb == MEM_LOAD || d->verb == MEM_STORE;
    for (u32 i = 0; is_move && i < d->count; i++)
        visit_operand(v, &d->reg[i], d->verb == MEM_LOAD ? OPERAND_WRITE : OPERAND_READ);
    if (is_move) return;
    visit_operand(v, &d->operand[0], OPERAND_READ);
    visit_operand(v, &d->operand[1], OPERAND_READ);
    visit_operand(v, &d->result, OPERAND_WRITE);
}

static void visit_barrier(const struct operand_visit *v, struct bar_desc *b) {
    visit_operand(v, &b->id, OPERAND_READ);
    visit_operand(v, &b->count, OPERAND_READ);
    visit_operand(v, &b->pred_source, OPERAND_READ);
}

static void visit_warp_sync(const struct operand_visit *v, struct warp_sync_desc *d) {
    visit_operand(v, &d->member_mask, OPERAND_READ);
    visit_operand(v, &d->pred_dst, OPERAND_WRITE);
}

/* Visits what the op itself holds: setp's second result, and the carry flag, are in src[3]. */
static void visit_fields(const struct operand_visit *v, struct op *o) {
    u8 form = insn_opcodes[o->opcode].form;
    enum operand_use last = form == FORM_SETP    ? OPERAND_WRITE
                            : form == FORM_CARRY ? OPERAND_UPDATE
                                                 : OPERAND_READ;
    visit_operand(v, &o->guard, OPERAND_READ);
    for (u32 i = 0; i < MAX_SRC_OPERANDS; i++)
        visit_operand(v, &o->src[i], i == MAX_SRC_OPERANDS - 1 ? last : OPERAND_READ);
    visit_operand(v, &o->dst, OPERAND_WRITE);
}

static bool is_one_of(const char *name, const char *const *names, u32 n) {
    for (u32 i = 0; i < n; i++)
        if (!strcmp(names[i], name)) return true;
    return false;
}

bool code_is_access(const struct op *o) {
    static const char *const names[] = {"ld", "st", "atom"};
    return o->kind == OP_LANEWISE &&
           is_one_of(insn_opcodes[o->opcode].name, names, sizeof names / sizeof *names);
}

/* Visits the operands of an instruction with a decoder of its own. */
static bool visit_custom(const struct sim_module *m, const struct operand_visit *v, struct op *o) {
    static const char *const plain[] = {"cvta",  "isspacep", "activemask", "membar",
                                        "fence", "clock",    "nop",        "localaddr"};
    const char *name = insn_opcodes[o->opcode].name;
    struct mem_desc *d = code_is_access(o) ? &m->mems[o->aux] : NULL;
    if (!d && !is_one_of(name, plain, sizeof plain / sizeof *plain)) return false;
    if (d && (d->is_cp_async || d->is_bulk || d->is_texture)) return false;
    visit_fields(v, o);
    if (d) visit_memory(v, d);
    return true;
}

bool code_visit_operands(const struct sim_module *m, struct op *o, operand_visitor *visit,
                         void *user) {
    struct operand_visit v = {visit, user};
    bool is_custom = insn_opcodes[o->opcode].form == FORM_CUSTOM;
    switch ((enum op_kind)o->kind) {
    case OP_CALL: return false;
    case OP_LANEWISE:
        if (is_custom) return visit_custom(m, &v, o);
        break;
    case OP_BAR:
        if (m->bars[o->aux].is_cluster) return false;
        visit_barrier(&v, &m->bars[o->aux]);
        break;
    case OP_WARP_SYNC: visit_warp_sync(&v, &m->warp_syncs[o->aux]); break;
    default: break;
    }
    visit_fields(&v, o);
    return true;
}
