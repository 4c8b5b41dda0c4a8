/* segments.c — divides a module's ops into segments, which end at control ops, and notes what the
 * schedulers need to know of each. decode.c calls it after it has decoded all functions. */
#include "grader/sim/code/decode.h"

#include <string.h>

/* Returns true for an atomic addition that fetches a work index. Adding the constant 0 only
 * polls. */
static bool is_ticket_fetch(const struct sim_module *m, const struct op *o) {
    if (o->kind != OP_LANEWISE || strcmp(insn_opcodes[o->opcode].name, "atom") != 0) return false;
    const struct mem_desc *d = &m->mems[o->aux];
    u32 value = 1;
    if (ref_base(d->operand[0]) == BASE_CONST)
        memcpy(&value, m->consts + ref_offset(d->operand[0]), sizeof value);
    bool global = d->space == SPACE_GLOBAL || d->space == SPACE_GENERIC;
    return global && d->verb == MEM_ATOM && d->result != REF_NONE && value &&
           (d->atom == ATOM_ADD || d->atom == ATOM_INC || d->atom == ATOM_DEC);
}

/* Returns true if the op does nothing that another thread or the program could notice, and leads
 * every lane to one place. */
static bool is_on_exit_path(const struct op *o) {
    u8 pipe = insn_opcodes[o->opcode].pipe;
    if (o->kind == OP_LANEWISE) return pipe != PIPE_LSU && pipe != PIPE_TENSOR && pipe != PIPE_SYNC;
    bool leads_on = o->kind == OP_BRA || o->kind == OP_EXIT || o->kind == OP_RET;
    return o->kind == OP_FALLTHROUGH || (leads_on && ref_base(o->guard) != BASE_FRAME);
}

void decode_build_segments(struct sim_module *m) {
    u32 n = 0;
    for (u32 i = 0; i < m->nops; i++) n += decode_ends_segment(&m->ops[i]);
    m->segments = arena_array(&m->arena, struct segment, n);
    m->segment_of = arena_array(&m->arena, u32, m->nops + 1);
    struct segment s = {.is_exit_path = true};
    for (u32 i = 0; i < m->nops; i++) {
        s.last = i;
        s.is_exit_path &= is_on_exit_path(&m->ops[i]);
        s.insn_count += m->ops[i].weight;
        s.fetches_ticket |= is_ticket_fetch(m, &m->ops[i]);
        if (!decode_ends_segment(&m->ops[i])) continue;
        m->segments[m->nsegments] = s;
        m->segment_of[s.first] = m->nsegments++;
        s = (struct segment){.first = i + 1, .is_exit_path = true};
    }
}
