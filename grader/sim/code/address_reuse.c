/* address_reuse.c — finds accesses whose lanes' addresses are those of an earlier access of their
 * segment, moved by a constant: the same base register, not written in between, the same guard, the
 * same kind of memory. A segment runs without interruption, so what the earlier access found out
 * about its addresses also holds for the later one (insn/exec_mem.c). */
#include "grader/sim/code/decode.h"

#include <string.h>

/* The last access of each base in the segment, by op. The list is short; a missed access only costs
 * time. */
enum { MAX_RECENT = 32 };
struct recent_accesses {
    u32 ops[MAX_RECENT], n;
};

static bool is_reusable(const struct op *o, const struct mem_desc *d) {
    return (d->space == SPACE_SHARED || d->space == SPACE_GLOBAL || d->space == SPACE_CONST) &&
           !d->is_cp_async && !d->is_bulk && !d->is_texture && ref_base(o->src[0]) == BASE_FRAME;
}

static bool has_same_base(const struct sim_module *m, const struct op *a, const struct op *b) {
    const struct mem_desc *d = &m->mems[a->aux], *e = &m->mems[b->aux];
    return a->src[0] == b->src[0] && a->guard == b->guard && a->guard_xor == b->guard_xor &&
           d->space == e->space && d->address32 == e->address32;
}

static void process_access(struct sim_module *m, struct recent_accesses *k, u32 i) {
    const struct op *o = &m->ops[i];
    struct mem_desc *d = &m->mems[o->aux];
    if (!is_reusable(o, d)) return;
    u32 at = 0;
    while (at < k->n && !has_same_base(m, o, &m->ops[k->ops[at]])) at++;
    if (at == MAX_RECENT) return;
    if (at == k->n) k->n++;
    else {
        const struct op *earlier = &m->ops[k->ops[at]];
        d->same_address_as = m->mems[earlier->aux].stat + 1;
        d->address_delta = (int64_t)((u64)o->imm - (u64)earlier->imm);
    }
    k->ops[at] = i;
}

static void invalidate(const struct sim_module *m, struct recent_accesses *k, ref written) {
    if (written == REF_NONE) return;
    for (u32 i = k->n; i--;) {
        const struct op *o = &m->ops[k->ops[i]];
        if (o->src[0] == written || o->guard == written) k->ops[i] = k->ops[--k->n];
    }
}

/* Any op other than a load, a store or one that writes only its destinations empties the list. */
static void process_op(struct sim_module *m, struct recent_accesses *k, u32 i) {
    const struct op *o = &m->ops[i];
    const struct opcode_desc *r = &insn_opcodes[o->opcode];
    bool ld = !strcmp(r->name, "ld"), st = !strcmp(r->name, "st");
    if (o->kind != OP_LANEWISE || (r->form == FORM_CUSTOM && !ld && !st)) {
        k->n = 0;
        return;
    }
    if (ld || st) process_access(m, k, i);
    for (u32 e = 0; ld && e < m->mems[o->aux].count; e++) invalidate(m, k, m->mems[o->aux].reg[e]);
    if (!ld && !st) invalidate(m, k, o->dst);
    if (r->form == FORM_SETP || r->form == FORM_CARRY) invalidate(m, k, o->src[3]);
}

void decode_find_address_reuse(struct decoder *d) {
    struct recent_accesses k = {.n = 0};
    for (u32 i = d->c->first_op; i < d->m->nops; i++) process_op(d->m, &k, i);
}
