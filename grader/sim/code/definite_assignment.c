/* definite_assignment.c — finds the registers of a function that may be read before they are
 * written. The decoder calls it for each function.
 *
 * Such a read returns the old contents of the slot, which depend on what the worker ran before; so
 * the core zeroes these slots when the function is entered. Compilers hardly ever produce one, so
 * the list is short and costs nothing. A register is assigned at a point if it is written on all
 * paths that lead there (dataflow.c). A write under a guard doesn't count. */
#include "grader/sim/code/decode.h"

#include <stdlib.h>
#include <string.h>

/* Marks registers of operand p that are read but not in `assigned`. */
static void record_unassigned_reads(u64 *maybe_unassigned, const struct ptx_operand *p,
                                    const u64 *assigned) {
    if ((p->kind == PTX_OP_REG || p->kind == PTX_OP_ADDRESS) && p->reg >= 0 &&
        !decode_has_bit(assigned, p->reg))
        decode_set_bit(maybe_unassigned, p->reg);
    for (unsigned i = 0; i < p->nitems; i++)
        record_unassigned_reads(maybe_unassigned, &p->items[i], assigned);
}

static void record_assignments(const struct ptx_operand *p, u64 *assigned) {
    if (p->kind == PTX_OP_REG && p->reg >= 0) decode_set_bit(assigned, p->reg);
    if (p->second_reg >= 0) decode_set_bit(assigned, p->second_reg);
    for (unsigned i = 0; i < p->nitems; i++) record_assignments(&p->items[i], assigned);
}

/* Returns true if the instruction also reads the operand that it writes: a product of wgmma is
 * added to its first operand, unless its scale-d says otherwise. */
static bool reads_result(const struct ptx_insn *in) {
    return !strncmp(in->opcode, "wgmma.mma_async", 15);
}

/* Tracks assignments; once the solution is known, marks the unassigned reads. */
static void transfer(void *maybe_unassigned, const struct ptx_insn *in, u64 *assigned,
                     bool is_solved) {
    bool writes = decode_writes_first_operand(in);
    if (is_solved && in->guard >= 0 && !decode_has_bit(assigned, in->guard))
        decode_set_bit(maybe_unassigned, in->guard);
    for (unsigned k = writes && !reads_result(in); is_solved && k < in->noperands; k++)
        record_unassigned_reads(maybe_unassigned, &in->operands[k], assigned);
    if (writes && in->noperands && in->guard < 0) record_assignments(&in->operands[0], assigned);
}

static void save_zero_ranges(struct decoder *d, const u64 *maybe_unassigned) {
    const struct ptx_func *f = d->f;
    d->c->zero_ranges = arena_array(&d->m->arena, struct frame_range, f->nregs);
    for (unsigned i = 0; i < f->nregs; i++) {
        unsigned bytes = decode_reg_bytes(f->regs[i].type);
        if (maybe_unassigned && !decode_has_bit(maybe_unassigned, (int)i)) continue;
        d->c->zero_ranges[d->c->nzero_ranges++] =
            (struct frame_range){ref_offset(d->regs[i]), bytes == 1 ? 4 : bytes * 32};
    }
}

void decode_find_unassigned(struct decoder *d) {
    if (!d->f->ninsns || !d->f->nregs) return;
    u64 *maybe_unassigned = xcalloc((d->f->nregs + 63) / 64, sizeof *maybe_unassigned);
    struct dataflow_problem flow = {.transfer = transfer, .user = maybe_unassigned};
    /* A function that is too large for the analysis has all of its registers zeroed. */
    save_zero_ranges(d, decode_run_dataflow(d->f, &flow) ? maybe_unassigned : NULL);
    free(maybe_unassigned);
}
