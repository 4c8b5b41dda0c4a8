/* looks.c — which instructions look at global memory for what other blocks leave there, and so may
 * wait for them: strong loads (volatile, relaxed, acquire), and atomics that change nothing, as
 * nvcc writes them: the constant 0 added, or-ed or xor-ed, a swap of a constant for itself. In
 * modules that have such, a segment begins at each place where blocks may hand each other things,
 * lest a turn go past it (core/pace.c): strong accesses and all atomics. */
#include "grader/sim/code/decode.h"

#include <string.h>

static bool reaches_global(const char *opcode) {
    static const char *const others[] = {"shared", "local", "const", "param"};
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        if (decode_opcode_has(opcode, others[i])) return false;
    return !strstr(opcode, "shared::");
}

static bool is_constant(const struct ptx_operand *o, u64 value) {
    return o->kind == PTX_OP_IMM && o->value == value;
}

static bool changes_nothing(const struct ptx_insn *in) {
    const struct ptx_operand *last = &in->operands[in->noperands - 1];
    if (decode_opcode_has(in->opcode, "cas"))
        return last->kind == PTX_OP_IMM &&
               is_constant(&in->operands[in->noperands - 2], last->value);
    bool neutral = decode_opcode_has(in->opcode, "add") || decode_opcode_has(in->opcode, "or") ||
                   decode_opcode_has(in->opcode, "xor");
    return neutral && is_constant(last, 0);
}

bool decode_is_look(const struct ptx_insn *in) {
    const char *o = in->opcode;
    if (!reaches_global(o)) return false;
    if (!strncmp(o, "atom.", 5)) return in->noperands >= 3 && changes_nothing(in);
    bool strong = decode_opcode_has(o, "volatile") || decode_opcode_has(o, "relaxed") ||
                  decode_opcode_has(o, "acquire");
    return !strncmp(o, "ld.", 3) && strong;
}

bool decode_has_looks(const struct ptx_module *m) {
    for (unsigned i = 0; i < m->nfuncs; i++)
        for (unsigned k = 0; k < m->funcs[i]->ninsns; k++)
            if (decode_is_look(&m->funcs[i]->insns[k])) return true;
    return false;
}

static bool meets(const struct decoder *d, const struct mem_desc *m) {
    bool global = m->space == SPACE_GLOBAL || m->space == SPACE_GENERIC;
    return d->looks && global && (m->strong || m->verb >= MEM_ATOM);
}

void decode_meet_begin(struct decoder *d, const struct mem_desc *m) {
    if (!meets(d, m)) return;
    decode_fall(d);
    d->c->looks |= decode_is_look(d->in);
}

void decode_meet_mark(struct decoder *d, const struct mem_desc *m, struct op *o) {
    if (meets(d, m)) o->flags |= OPF_MEETS;
}
