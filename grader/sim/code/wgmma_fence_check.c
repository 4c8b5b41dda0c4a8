/* wgmma_fence_check.c — finds functions in which a wgmma.fence may be missing, and has the
 * registers of these checked. The decoder calls it.
 *
 * If an instruction writes a register that a wgmma later uses, as its sum or as its matrix a, a
 * wgmma.fence must follow the write; the same holds for the sum of one wgmma used by one of another
 * shape (PTX manual, wgmma.fence). A register is *fenced* at a point if on every path there a fence
 * follows the last such write. Copies between registers, selections, constants and reloads from
 * local memory don't count as writes: compilers place them anywhere, even right before the wgmma.
 * Registers are checked, by ops that are not counted, only in functions where a wgmma may use an
 * unfenced one; all other functions run unchanged. */
#include "grader/sim/code/decode.h"

#include <stdlib.h>
#include <string.h>

struct fence_check {
    const struct ptx_func *f;
    u64 *wgmma_regs; /* a bit for each register that a wgmma uses, or that is copied to one */
    const char *first_opcode; /* opcode of the first wgmma */
    bool has_mixed_shapes;    /* not all have its shape */
    bool has_unfenced_use;
};

static bool is_wgmma(const struct ptx_insn *in) {
    return !strncmp(in->opcode, "wgmma.mma_async", 15);
}
static bool is_copy(const struct ptx_insn *in) {
    return in->noperands > 1 &&
           (!strncmp(in->opcode, "mov.", 4) || !strncmp(in->opcode, "selp.", 5));
}

/* Returns true for a load that may come from local memory or from a parameter of a function: debug
 * code keeps all variables there. A generic address may point there. */
static bool is_reload(const struct ptx_insn *in) {
    static const char *const others[] = {"global", "const", "shared", "shared::cta",
                                         "shared::cluster"};
    for (u32 i = 0; i < sizeof others / sizeof *others; i++)
        if (decode_opcode_has(in->opcode, others[i])) return false;
    return !strncmp(in->opcode, "ld.", 3);
}

/* Returns how many operands, from the second one on, the instruction copies. */
static u32 copied_operand_count(const struct ptx_insn *in) {
    return !is_copy(in) ? 0 : in->opcode[0] == 's' && in->noperands > 2 ? 2 : 1;
}
static bool is_fence(const struct ptx_insn *in) { return !strncmp(in->opcode, "wgmma.fence", 11); }

/* Calls f for each register of an operand that is in `of`, or for all if `of` is NULL. */
static void for_each_reg(const struct ptx_operand *p, const u64 *of, void (*f)(void *user, int reg),
                         void *user) {
    if (p->kind == PTX_OP_REG && p->reg >= 0 && (!of || decode_has_bit(of, p->reg)))
        f(user, p->reg);
    for (unsigned i = 0; p->kind == PTX_OP_VECTOR && i < p->nitems; i++)
        for_each_reg(&p->items[i], of, f, user);
}
static void set_bit(void *bits, int reg) { decode_set_bit(bits, reg); }
static void clear_bit(void *bits, int reg) { ((u64 *)bits)[reg / 64] &= ~(1ull << (reg % 64)); }
static void count_reg(void *n, int reg) { (void)reg, ++*(u32 *)n; }

static void for_each_copied_reg(const struct ptx_insn *in, const u64 *of,
                                void (*f)(void *user, int reg), void *user) {
    for (u32 i = 1; i <= copied_operand_count(in); i++) for_each_reg(&in->operands[i], of, f, user);
}

static u32 count_registers(const struct ptx_operand *p, const u64 *of) {
    u32 n = 0;
    for_each_reg(p, of, count_reg, &n);
    return n;
}
static bool are_all_copied(const struct ptx_insn *in, const u64 *of) {
    u32 all = 0, listed = 0;
    for_each_copied_reg(in, NULL, count_reg, &all);
    for_each_copied_reg(in, of, count_reg, &listed);
    return all == listed;
}

/* ---- registers that wgmma uses ---- */

static void add_wgmma(struct fence_check *x, const struct ptx_insn *in) {
    char shape[64], first[64];
    unsigned at = 4 + decode_opcode_has(in->opcode, "sp"), before;
    for (u32 i = 0; i < 2 && i < in->noperands; i++)
        if (in->operands[i].kind == PTX_OP_VECTOR)
            for_each_reg(&in->operands[i], NULL, set_bit, x->wgmma_regs);
    if (!x->first_opcode) x->first_opcode = in->opcode;
    before = 4 + decode_opcode_has(x->first_opcode, "sp");
    x->has_mixed_shapes |= !decode_opcode_part(in->opcode, at, shape, sizeof shape) ||
                           !decode_opcode_part(x->first_opcode, before, first, sizeof first) ||
                           strcmp(shape, first);
}

static bool find_wgmma_regs(struct fence_check *x) {
    for (u32 i = 0; i < x->f->ninsns; i++)
        if (is_wgmma(&x->f->insns[i])) add_wgmma(x, &x->f->insns[i]);
    for (bool changed = x->first_opcode != NULL; changed;) {
        changed = false;
        for (u32 i = x->f->ninsns; i-- > 0;) {
            const struct ptx_insn *in = &x->f->insns[i];
            if (!is_copy(in) || !count_registers(&in->operands[0], x->wgmma_regs)) continue;
            changed |= !are_all_copied(in, x->wgmma_regs);
            for_each_copied_reg(in, NULL, set_bit, x->wgmma_regs);
        }
    }
    return x->first_opcode != NULL;
}

/* ---- fenced registers ---- */

static void transfer_copy(struct fence_check *x, const struct ptx_insn *in, u64 *fenced) {
    if (!are_all_copied(in, fenced))
        for_each_reg(&in->operands[0], x->wgmma_regs, clear_bit, fenced);
    else if (in->guard < 0) for_each_reg(&in->operands[0], x->wgmma_regs, set_bit, fenced);
}

static void transfer(void *user, const struct ptx_insn *in, u64 *fenced, bool is_solved) {
    struct fence_check *x = user;
    if (is_fence(in)) {
        memset(fenced, 0xff, (x->f->nregs + 63) / 64 * sizeof *fenced);
    } else if (is_wgmma(in)) {
        for (u32 i = 0; i < 2 && is_solved && i < in->noperands; i++)
            if (in->operands[i].kind == PTX_OP_VECTOR)
                x->has_unfenced_use |= count_registers(&in->operands[i], NULL) !=
                                       count_registers(&in->operands[i], fenced);
        for_each_reg(&in->operands[0], NULL, x->has_mixed_shapes ? clear_bit : set_bit, fenced);
    } else if (is_copy(in) || is_reload(in)) {
        transfer_copy(x, in, fenced);
    } else if (in->noperands && decode_writes_first_operand(in)) {
        for_each_reg(&in->operands[0], x->wgmma_regs, clear_bit, fenced);
    }
}

void decode_find_missing_fences(struct decoder *d) {
    struct fence_check x = {.f = d->f, .wgmma_regs = xcalloc(d->f->nregs / 64 + 1, sizeof(u64))};
    struct dataflow_problem flow = {.transfer = transfer, .user = &x, .all_set_at_entry = true};
    if (find_wgmma_regs(&x) && decode_run_dataflow(d->f, &flow) && x.has_unfenced_use)
        d->fence_checked = x.wgmma_regs;
    else free(x.wgmma_regs);
}

/* ---- ops that check registers ---- */

/* Emits an op that notes a write or copy. The registers go into its imm, not its operands, so that
 * other analyses don't see them as read or written. */
static void emit_fence_note(struct decoder *d, ref to, ref from, bool is_join) {
    struct op *o = decode_emit_named(d, "wgmma.note");
    o->weight = 0;
    o->imm = (s64)((u64)from << 32 | to);
    o->target = is_join;
}

struct fence_note_ctx {
    struct decoder *d;
    ref to;
    u32 n;
};
static void emit_source_note(void *user, int reg) {
    struct fence_note_ctx *n = user;
    emit_fence_note(n->d, n->to, n->d->regs[reg], n->n++ > 0);
}
static void emit_copy_note(void *user, int reg) {
    struct decoder *d = user;
    struct fence_note_ctx n = {d, d->regs[reg], 0};
    for_each_copied_reg(d->insn, NULL, emit_source_note, &n);
    if (!n.n) emit_fence_note(d, n.to, decode_slot_const(d, 0, 4), false);
}
static void emit_write_note(void *user, int reg) {
    struct decoder *d = user;
    emit_fence_note(d, d->regs[reg], REF_NONE, false);
}

void decode_emit_fence_notes(struct decoder *d) {
    const struct ptx_insn *in = d->insn;
    if (!d->fence_checked || !in->noperands || is_wgmma(in)) return;
    if (is_copy(in) || is_reload(in))
        for_each_reg(&in->operands[0], d->fence_checked, emit_copy_note, d);
    else if (decode_writes_first_operand(in))
        for_each_reg(&in->operands[0], d->fence_checked, emit_write_note, d);
}
