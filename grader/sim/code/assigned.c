/* assigned.c — which registers of a function may be read before they are written.
 *
 * Such a read gives what lies in the slot, which would depend on what the worker ran before; so these slots are zeroed
 * when the function is entered. Compilers hardly ever leave one, which keeps the list short and the cost nil. The
 * analysis is the usual one: a register is assigned at a point if it is written on all paths that lead there. A write
 * under a guard does not count. */
#include "grader/sim/code/decode.h"

#include <stdlib.h>
#include <string.h>

struct analysis {
    const struct ptx_func *f;
    unsigned char *leader;
    u32 *block_of; /* instruction -> block */
    u32 *first;    /* block -> first instruction; first[nblocks] = ninsns */
    u32 nblocks, words;
    u64 *in, *out; /* per block: bit per register */
    u64 *maybe;    /* registers read unassigned */
};

static void set(u64 *bits, int reg) { bits[reg / 64] |= 1ull << (reg % 64); }
static bool has(const u64 *bits, int reg) { return bits[reg / 64] >> (reg % 64) & 1; }

static bool ends_block(const struct ptx_insn *in) {
    return strncmp(in->opcode, "bra", 3) == 0 || strncmp(in->opcode, "brx", 3) == 0 ||
           strncmp(in->opcode, "ret", 3) == 0 || strncmp(in->opcode, "exit", 4) == 0;
}

static void find_blocks(struct analysis *a) {
    const struct ptx_func *f = a->f;
    decode_mark_leaders(f, a->leader);
    if (f->ninsns) a->leader[0] = 1;
    for (u32 i = 0; i + 1 < f->ninsns; i++)
        if (ends_block(&f->insns[i])) a->leader[i + 1] = 1;
    for (u32 i = 0; i < f->ninsns; i++) {
        if (a->leader[i]) a->first[a->nblocks++] = i;
        a->block_of[i] = a->nblocks - 1;
    }
    a->first[a->nblocks] = f->ninsns;
}

/* Reads of operand p that are not in `assigned` go to `maybe`. */
static void note_reads(struct analysis *a, const struct ptx_operand *p, const u64 *assigned) {
    if ((p->kind == PTX_OP_REG || p->kind == PTX_OP_ADDRESS) && p->reg >= 0 && !has(assigned, p->reg))
        set(a->maybe, p->reg);
    for (unsigned i = 0; i < p->nitems; i++) note_reads(a, &p->items[i], assigned);
}

static void note_writes(const struct ptx_operand *p, u64 *assigned) {
    if (p->kind == PTX_OP_REG && p->reg >= 0) set(assigned, p->reg);
    if (p->second >= 0) set(assigned, p->second);
    for (unsigned i = 0; i < p->nitems; i++) note_writes(&p->items[i], assigned);
}

/* Runs through a block from its `in`; with `reads`, notes what is read unassigned. */
static void walk(struct analysis *a, u32 block, u64 *assigned, bool reads) {
    memcpy(assigned, a->in + (size_t)block * a->words, a->words * sizeof(u64));
    for (u32 i = a->first[block]; i < a->first[block + 1]; i++) {
        const struct ptx_insn *in = &a->f->insns[i];
        bool writes = decode_writes_first_operand(in);
        if (reads && in->guard >= 0 && !has(assigned, in->guard)) set(a->maybe, in->guard);
        for (unsigned k = writes; reads && k < in->noperands; k++) note_reads(a, &in->operands[k], assigned);
        if (writes && in->noperands && in->guard < 0) note_writes(&in->operands[0], assigned);
    }
}

static bool meet(struct analysis *a, u32 to, const u64 *from) {
    u64 *in = a->in + (size_t)to * a->words, changed = 0;
    for (u32 w = 0; w < a->words; w++) {
        changed |= in[w] & ~from[w];
        in[w] &= from[w];
    }
    return changed != 0;
}

static bool pass_on(struct analysis *a, u32 block, const u64 *out) {
    const struct ptx_func *f = a->f;
    const struct ptx_insn *last = &f->insns[a->first[block + 1] - 1];
    bool changed = false, leaves = ends_block(last) && last->guard < 0;
    for (unsigned k = 0; k < last->noperands; k++) {
        const struct ptx_operand *p = &last->operands[k];
        if (p->kind == PTX_OP_LABEL && p->target < f->ninsns) changed |= meet(a, a->block_of[p->target], out);
        if (p->kind != PTX_OP_TABLE) continue;
        for (u32 t = 0; t < f->tables[p->target].ntargets; t++)
            if (f->tables[p->target].targets[t] < f->ninsns)
                changed |= meet(a, a->block_of[f->tables[p->target].targets[t]], out);
    }
    if (!leaves && block + 1 < a->nblocks) changed |= meet(a, block + 1, out);
    return changed;
}

static void solve(struct analysis *a) {
    u64 *out = a->out;
    memset(a->in, 0xff, (size_t)a->nblocks * a->words * sizeof(u64));
    memset(a->in, 0, a->words * sizeof(u64));
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 b = 0; b < a->nblocks; b++) {
            walk(a, b, out, false);
            changed |= pass_on(a, b, out);
        }
    }
    for (u32 b = 0; b < a->nblocks; b++) walk(a, b, out, true);
}

enum { MOST_BITS = 1 << 28 }; /* a function of absurd size: zero all of its registers */

static void keep(struct decoder *d, const u64 *maybe) {
    const struct ptx_func *f = d->f;
    d->c->zeroed = arena_array(&d->m->arena, struct zeroed, f->nregs);
    for (unsigned i = 0; i < f->nregs; i++) {
        unsigned bytes = decode_reg_bytes(f->regs[i].type);
        if (maybe && !has(maybe, (int)i)) continue;
        d->c->zeroed[d->c->nzeroed++] = (struct zeroed){ref_offset(d->regs[i]), bytes == 1 ? 4 : bytes * 32};
    }
}

void decode_find_unassigned(struct decoder *d) {
    const struct ptx_func *f = d->f;
    if (!f->ninsns || !f->nregs) return;
    struct analysis a = {.f = f, .words = (f->nregs + 63) / 64};
    if ((u64)f->ninsns * a.words > MOST_BITS / 64) {
        keep(d, NULL);
        return;
    }
    a.leader = xcalloc(f->ninsns + 1, 1);
    a.block_of = xcalloc(f->ninsns, sizeof *a.block_of);
    a.first = xcalloc(f->ninsns + 1, sizeof *a.first);
    find_blocks(&a);
    a.in = xcalloc((size_t)a.nblocks * a.words, sizeof(u64));
    a.out = xcalloc(a.words, sizeof(u64));
    a.maybe = xcalloc(a.words, sizeof(u64));
    solve(&a);
    keep(d, a.maybe);
    free(a.leader), free(a.block_of), free(a.first), free(a.in), free(a.out), free(a.maybe);
}
