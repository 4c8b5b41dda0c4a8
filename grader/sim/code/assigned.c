/* assigned.c — which registers of a function may be read before they are written.
 *
 * Such a read gives what lies in the slot, which would depend on what the worker ran before; so
 * these slots are zeroed when the function is entered. Compilers hardly ever leave one, which keeps
 * the list short and the cost nil. A register is assigned at a point if it is written on all paths
 * that lead there (flow.c). A write under a guard does not count. */
#include "grader/sim/code/decode.h"

#include <stdlib.h>

/* Reads of operand p that are not in `assigned` go to `maybe`. */
static void note_reads(u64 *maybe, const struct ptx_operand *p, const u64 *assigned) {
    if ((p->kind == PTX_OP_REG || p->kind == PTX_OP_ADDRESS) && p->reg >= 0 &&
        !decode_has_bit(assigned, p->reg))
        decode_set_bit(maybe, p->reg);
    for (unsigned i = 0; i < p->nitems; i++) note_reads(maybe, &p->items[i], assigned);
}

static void note_writes(const struct ptx_operand *p, u64 *assigned) {
    if (p->kind == PTX_OP_REG && p->reg >= 0) decode_set_bit(assigned, p->reg);
    if (p->second >= 0) decode_set_bit(assigned, p->second);
    for (unsigned i = 0; i < p->nitems; i++) note_writes(&p->items[i], assigned);
}

/* Once the solution is known, notes what is read unassigned. */
static void step(void *maybe, const struct ptx_insn *in, u64 *assigned, bool known) {
    bool writes = decode_writes_first_operand(in);
    if (known && in->guard >= 0 && !decode_has_bit(assigned, in->guard))
        decode_set_bit(maybe, in->guard);
    for (unsigned k = writes; known && k < in->noperands; k++)
        note_reads(maybe, &in->operands[k], assigned);
    if (writes && in->noperands && in->guard < 0) note_writes(&in->operands[0], assigned);
}

static void keep(struct decoder *d, const u64 *maybe) {
    const struct ptx_func *f = d->f;
    d->c->zeroed = arena_array(&d->m->arena, struct zeroed, f->nregs);
    for (unsigned i = 0; i < f->nregs; i++) {
        unsigned bytes = decode_reg_bytes(f->regs[i].type);
        if (maybe && !decode_has_bit(maybe, (int)i)) continue;
        d->c->zeroed[d->c->nzeroed++] =
            (struct zeroed){ref_offset(d->regs[i]), bytes == 1 ? 4 : bytes * 32};
    }
}

void decode_find_unassigned(struct decoder *d) {
    if (!d->f->ninsns || !d->f->nregs) return;
    u64 *maybe = xcalloc((d->f->nregs + 63) / 64, sizeof *maybe);
    struct decode_flow flow = {.step = step, .user = maybe};
    keep(d, decode_flow(d->f, &flow) ? maybe : NULL); /* of a function of absurd size, all */
    free(maybe);
}
