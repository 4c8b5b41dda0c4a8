/* repeats.c — which accesses have the lanes' addresses of an earlier one of their segment, moved by
 * a constant: the same base register, not written in between, the same guard, the same kind of
 * memory. A segment is executed in one go, so that what the earlier access found of its addresses
 * holds for the later one, which need not work them out again (insn/lanes_mem.c). */
#include "grader/sim/code/decode.h"

#include <string.h>

/* The last access of each base in the segment, by op. What is not found again in a short list costs
 * time, nothing else. */
enum { MOST_KNOWN = 32 };
struct known {
    u32 op[MOST_KNOWN], n;
};

static bool may_repeat(const struct op *o, const struct mem_desc *d) {
    return (d->space == SPACE_SHARED || d->space == SPACE_GLOBAL || d->space == SPACE_CONST) &&
           !d->async && !d->bulk && !d->texture && ref_base(o->src[0]) == BASE_FRAME;
}

static bool is_same(const struct sim_module *m, const struct op *a, const struct op *b) {
    const struct mem_desc *d = &m->mems[a->aux], *e = &m->mems[b->aux];
    return a->src[0] == b->src[0] && a->guard == b->guard && a->flip == b->flip &&
           d->space == e->space && d->address32 == e->address32;
}

static void take_access(struct sim_module *m, struct known *k, u32 i) {
    const struct op *o = &m->ops[i];
    struct mem_desc *d = &m->mems[o->aux];
    if (!may_repeat(o, d)) return;
    u32 at = 0;
    while (at < k->n && !is_same(m, o, &m->ops[k->op[at]])) at++;
    if (at == MOST_KNOWN) return;
    if (at == k->n) k->n++;
    else {
        const struct op *before = &m->ops[k->op[at]];
        d->like = m->mems[before->aux].stat + 1;
        d->like_by = o->imm - before->imm;
    }
    k->op[at] = i;
}

static void forget(const struct sim_module *m, struct known *k, ref written) {
    if (written == REF_NONE) return;
    for (u32 i = k->n; i--;) {
        const struct op *o = &m->ops[k->op[i]];
        if (o->src[0] == written || o->guard == written) k->op[i] = k->op[--k->n];
    }
}

/* What is neither a load, a store nor a row that writes its destinations alone is not looked into.
 */
static void take(struct sim_module *m, struct known *k, u32 i) {
    const struct op *o = &m->ops[i];
    const struct insn_row *r = &insn_rows[o->row];
    bool ld = !strcmp(r->name, "ld"), st = !strcmp(r->name, "st");
    if (o->kind != OP_LANES || (r->form == FORM_OTHER && !ld && !st)) {
        k->n = 0;
        return;
    }
    if (ld || st) take_access(m, k, i);
    for (u32 e = 0; ld && e < m->mems[o->aux].count; e++) forget(m, k, m->mems[o->aux].reg[e]);
    if (!ld && !st) forget(m, k, o->dst);
    if (r->form == FORM_SETP || r->form == FORM_CARRY) forget(m, k, o->src[3]);
}

void decode_find_repeats(struct decoder *d) {
    struct known k = {.n = 0};
    for (u32 i = d->c->first_op; i < d->m->nops; i++) take(d->m, &k, i);
}
