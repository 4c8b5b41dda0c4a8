/* global_polls.c — finds the instructions by which a block may wait for another block through
 * global memory: strong loads (volatile, relaxed, acquire), and atomics that change nothing, as
 * nvcc emits them (add, or, xor of the constant 0; a compare-and-swap of a constant for itself). In
 * modules that have such polls, every strong access and every atomic begins a segment, so that a
 * block's turn can end there (core/clock_scheduler.c). */
#include "grader/sim/code/decode.h"

#include <string.h>

static bool may_access_global(const char *opcode) {
    static const char *const other_spaces[] = {"shared", "local", "const", "param"};
    for (unsigned i = 0; i < sizeof other_spaces / sizeof *other_spaces; i++)
        if (decode_opcode_has(opcode, other_spaces[i])) return false;
    return !strstr(opcode, "shared::");
}

static bool is_constant(const struct ptx_operand *o, u64 value) {
    return o->kind == PTX_OP_IMM && o->value == value;
}

static bool is_no_op_atomic(const struct ptx_insn *in) {
    const struct ptx_operand *last = &in->operands[in->noperands - 1];
    if (decode_opcode_has(in->opcode, "cas"))
        return last->kind == PTX_OP_IMM &&
               is_constant(&in->operands[in->noperands - 2], last->value);
    bool has_neutral_zero = decode_opcode_has(in->opcode, "add") ||
                            decode_opcode_has(in->opcode, "or") ||
                            decode_opcode_has(in->opcode, "xor");
    return has_neutral_zero && is_constant(last, 0);
}

bool decode_is_global_poll(const struct ptx_insn *in) {
    const char *o = in->opcode;
    if (!may_access_global(o)) return false;
    if (!strncmp(o, "atom.", 5)) return in->noperands >= 3 && is_no_op_atomic(in);
    bool strong = decode_opcode_has(o, "volatile") || decode_opcode_has(o, "relaxed") ||
                  decode_opcode_has(o, "acquire");
    return !strncmp(o, "ld.", 3) && strong;
}

bool decode_may_sync_with_host(const struct ptx_insn *in) {
    const char *o = in->opcode;
    bool is_system_scope = decode_opcode_has(o, "sys") || decode_opcode_has(o, "volatile") ||
                           decode_opcode_has(o, "mmio");
    return decode_is_global_poll(in) || (is_system_scope && may_access_global(o));
}

bool decode_has_global_polls(const struct ptx_module *m) {
    for (unsigned i = 0; i < m->nfuncs; i++)
        for (unsigned k = 0; k < m->funcs[i]->ninsns; k++)
            if (decode_is_global_poll(&m->funcs[i]->insns[k])) return true;
    return false;
}

static bool is_interblock_access(const struct decoder *d, const struct mem_desc *m) {
    bool global = m->space == SPACE_GLOBAL || m->space == SPACE_GENERIC;
    return d->module_polls_global && global && (m->strong || m->verb >= MEM_ATOM);
}

void decode_begin_interblock_sync(struct decoder *d, const struct mem_desc *m) {
    if (!is_interblock_access(d, m)) return;
    decode_emit_fallthrough(d);
    d->c->polls_global |= decode_is_global_poll(d->insn);
}

void decode_mark_interblock_sync(struct decoder *d, const struct mem_desc *m, struct op *o) {
    if (is_interblock_access(d, m)) o->flags |= OPF_INTERBLOCK_SYNC;
}
