/* fences.c — where wgmma.fence may be missing.
 *
 * What an instruction leaves in a register that a product of a warpgroup then uses, as its sum or
 * as its matrix a, must have a wgmma.fence behind it; so must the sum of a product for products of
 * other shapes (PTX manual, wgmma.fence). A register is in order at a point if no path leads there
 * from such an instruction without a fence. Copies between registers, selections, constants and
 * what comes from local memory are none: compilers put them anywhere, right before the product too.
 * Only in functions where a product may have a register that is out of order are its registers
 * watched, by ops that count as nothing; the others run as if this were not here. */
#include "grader/sim/code/decode.h"

#include <stdlib.h>
#include <string.h>

struct fences {
    const struct ptx_func *f;
    u64 *used;         /* registers that products use, and those that these are copied from */
    const char *shape; /* of the first product */
    bool several;      /* there are other shapes */
    bool doubtful;
};

static bool is_product(const struct ptx_insn *in) {
    return !strncmp(in->opcode, "wgmma.mma_async", 15);
}
static bool is_copy(const struct ptx_insn *in) {
    return in->noperands > 1 &&
           (!strncmp(in->opcode, "mov.", 4) || !strncmp(in->opcode, "selp.", 5));
}

/* Of what lies in local memory, or is handed to a function: code for debuggers has all variables
 * there. A pointer of no space may lead there. */
static bool is_reload(const struct ptx_insn *in) {
    static const char *const others[] = {"global", "const", "shared", "shared::cta",
                                         "shared::cluster"};
    for (u32 i = 0; i < sizeof others / sizeof *others; i++)
        if (decode_opcode_has(in->opcode, others[i])) return false;
    return !strncmp(in->opcode, "ld.", 3);
}

/* How many operands, from the second on, are copied. */
static u32 copied(const struct ptx_insn *in) {
    return !is_copy(in) ? 0 : in->opcode[0] == 's' && in->noperands > 2 ? 2 : 1;
}
static bool is_fence(const struct ptx_insn *in) { return !strncmp(in->opcode, "wgmma.fence", 11); }

/* Calls f for each register of an operand that the bits name. */
static void each(const struct ptx_operand *p, const u64 *of, void (*f)(void *user, int reg),
                 void *user) {
    if (p->kind == PTX_OP_REG && p->reg >= 0 && (!of || decode_has_bit(of, p->reg)))
        f(user, p->reg);
    for (unsigned i = 0; p->kind == PTX_OP_VECTOR && i < p->nitems; i++)
        each(&p->items[i], of, f, user);
}
static void put(void *bits, int reg) { decode_set_bit(bits, reg); }
static void take(void *bits, int reg) { ((u64 *)bits)[reg / 64] &= ~(1ull << (reg % 64)); }
static void count(void *n, int reg) { (void)reg, ++*(u32 *)n; }

static void each_copied(const struct ptx_insn *in, const u64 *of, void (*f)(void *user, int reg),
                        void *user) {
    for (u32 i = 1; i <= copied(in); i++) each(&in->operands[i], of, f, user);
}

static u32 registers(const struct ptx_operand *p, const u64 *of) {
    u32 n = 0;
    each(p, of, count, &n);
    return n;
}
static bool all_copied(const struct ptx_insn *in, const u64 *of) {
    u32 all = 0, some = 0;
    each_copied(in, NULL, count, &all);
    each_copied(in, of, count, &some);
    return all == some;
}

/* ---- what is used ---- */

static void add_product(struct fences *x, const struct ptx_insn *in) {
    char shape[64], first[64];
    unsigned at = 4 + decode_opcode_has(in->opcode, "sp"), before;
    for (u32 i = 0; i < 2 && i < in->noperands; i++)
        if (in->operands[i].kind == PTX_OP_VECTOR) each(&in->operands[i], NULL, put, x->used);
    if (!x->shape) x->shape = in->opcode;
    before = 4 + decode_opcode_has(x->shape, "sp");
    x->several |= !decode_opcode_part(in->opcode, at, shape, sizeof shape) ||
                  !decode_opcode_part(x->shape, before, first, sizeof first) ||
                  strcmp(shape, first);
}

static bool find_used(struct fences *x) {
    for (u32 i = 0; i < x->f->ninsns; i++)
        if (is_product(&x->f->insns[i])) add_product(x, &x->f->insns[i]);
    for (bool changed = x->shape != NULL; changed;) {
        changed = false;
        for (u32 i = x->f->ninsns; i-- > 0;) {
            const struct ptx_insn *in = &x->f->insns[i];
            if (!is_copy(in) || !registers(&in->operands[0], x->used)) continue;
            changed |= !all_copied(in, x->used);
            each_copied(in, NULL, put, x->used);
        }
    }
    return x->shape != NULL;
}

/* ---- what is in order ---- */

static void copy(struct fences *x, const struct ptx_insn *in, u64 *right) {
    if (!all_copied(in, right)) each(&in->operands[0], x->used, take, right);
    else if (in->guard < 0) each(&in->operands[0], x->used, put, right);
}

static void step(void *user, const struct ptx_insn *in, u64 *right, bool known) {
    struct fences *x = user;
    if (is_fence(in)) {
        memset(right, 0xff, (x->f->nregs + 63) / 64 * sizeof *right);
    } else if (is_product(in)) {
        for (u32 i = 0; i < 2 && known && i < in->noperands; i++)
            if (in->operands[i].kind == PTX_OP_VECTOR)
                x->doubtful |=
                    registers(&in->operands[i], NULL) != registers(&in->operands[i], right);
        each(&in->operands[0], NULL, x->several ? take : put, right);
    } else if (is_copy(in) || is_reload(in)) {
        copy(x, in, right);
    } else if (in->noperands && decode_writes_first_operand(in)) {
        each(&in->operands[0], x->used, take, right);
    }
}

void decode_find_unfenced(struct decoder *d) {
    struct fences x = {.f = d->f, .used = xcalloc(d->f->nregs / 64 + 1, sizeof(u64))};
    struct decode_flow flow = {.step = step, .user = &x, .at_entry = true};
    if (find_used(&x) && decode_flow(d->f, &flow) && x.doubtful) d->watched = x.used;
    else free(x.used);
}

/* ---- a function whose registers are watched ---- */

/* What it is about is no operand, lest others take it for one that is read or written. */
static void emit_note(struct decoder *d, ref to, ref from, bool joins) {
    struct op *o = decode_emit_named(d, "wgmma.note");
    o->weight = 0;
    o->imm = (s64)((u64)from << 32 | to);
    o->target = joins;
}

struct noting {
    struct decoder *d;
    ref to;
    u32 n;
};
static void note_from(void *user, int reg) {
    struct noting *n = user;
    emit_note(n->d, n->to, n->d->regs[reg], n->n++ > 0);
}
static void note_copy(void *user, int reg) {
    struct decoder *d = user;
    struct noting n = {d, d->regs[reg], 0};
    each_copied(d->in, NULL, note_from, &n);
    if (!n.n) emit_note(d, n.to, decode_slot_const(d, 0, 4), false);
}
static void note_write(void *user, int reg) {
    struct decoder *d = user;
    emit_note(d, d->regs[reg], REF_NONE, false);
}

void decode_note_registers(struct decoder *d) {
    const struct ptx_insn *in = d->in;
    if (!d->watched || !in->noperands || is_product(in)) return;
    if (is_copy(in) || is_reload(in)) each(&in->operands[0], d->watched, note_copy, d);
    else if (decode_writes_first_operand(in)) each(&in->operands[0], d->watched, note_write, d);
}
