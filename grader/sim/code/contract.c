/* contract.c — products that ptxas adds up in one rounding.
 *
 * PTX leaves it to the assembler whether `mul` and the `add` or `sub` behind it, all without a
 * rounding mode, are one fused multiply-add. nvcc 13 writes a * b - c so, and a * b + c where the
 * product has further uses. ptxas does it where every use of the product is such a sum in the same
 * basic block; then the product itself is never made. Of a sum of two products it takes the one
 * that has fewer uses, or the first; the other is made. Not across a call or a fence, not where one
 * of the two flushes subnormals and the other does not, not where the product is clamped, guarded
 * or negated. All of this was read off the machine code of 60 small kernels (ptxas 13.0, sm_90):
 * grader/tests/unit/test_contract.c has them, docs/simgpu.md says what is left out. */
#include "grader/sim/code/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = UINT32_MAX };

/* Of an instruction. */
struct contraction {
    u32 product[2]; /* a sum: the instructions that make its operands, NONE where they may not be
                       taken in */
    u32 found;      /* a product: how many sums could take it in */
    bool taken;     /* a product: every use takes it in, so that it is not made */
};

/* What a register holds while a block is gone through. */
struct value {
    u32 product, block;     /* the instruction that made it, in which block */
    u32 writes, sources[2]; /* how often it was written; the same of the product's sources when it
                               was made */
};

struct contracting {
    const struct decoder *d;
    struct contraction *of;
    struct value *at;
    u32 block;
};

/* ---- which instructions ---- */

struct arithmetic {
    char family[8], type[8];
    bool ftz, sat;
};

/* A mul, add or sub of floats that names no rounding. */
static bool arithmetic(const struct ptx_insn *in, struct arithmetic *a) {
    static const char *const types[] = {"f32", "f64", "f16", "f16x2", "bf16", "bf16x2"};
    char part[64];
    *a = (struct arithmetic){.ftz = decode_opcode_has(in->opcode, "ftz"),
                             .sat = decode_opcode_has(in->opcode, "sat")};
    unsigned last = 1u + a->ftz + a->sat;
    if (!decode_opcode_part(in->opcode, 0, a->family, sizeof a->family)) return false;
    if (strcmp(a->family, "mul") && strcmp(a->family, "add") && strcmp(a->family, "sub"))
        return false;
    if (!decode_opcode_part(in->opcode, last, a->type, sizeof a->type)) return false;
    bool known = false;
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++) known |= !strcmp(a->type, types[i]);
    return known && !decode_opcode_part(in->opcode, last + 1, part, sizeof part) &&
           in->noperands == 3 && in->operands[0].kind == PTX_OP_REG && in->operands[0].reg >= 0;
}

static int row_of_fma(const struct arithmetic *a, char name[64], unsigned *dropped) {
    snprintf(name, 64, "fma.rn%s%s.%s", a->ftz ? ".ftz" : "", a->sat ? ".sat" : "", a->type);
    return decode_row_of(name, dropped);
}

static int row_of_neg(const struct arithmetic *a) {
    char name[64];
    unsigned dropped;
    snprintf(name, sizeof name, "neg.%s", a->type);
    return decode_row_of(name, &dropped);
}

/* Not every type has every modifier, and what the text says may be no instruction at all. */
static bool exists(const struct ptx_insn *product, const struct ptx_insn *sum,
                   const struct arithmetic *a) {
    char name[64];
    unsigned dropped;
    return decode_row_of(product->opcode, &dropped) >= 0 &&
           decode_row_of(sum->opcode, &dropped) >= 0 && row_of_fma(a, name, &dropped) >= 0 &&
           row_of_neg(a) >= 0;
}

static bool is_product(const struct ptx_insn *in) {
    struct arithmetic a;
    return arithmetic(in, &a) && !strcmp(a.family, "mul") && !a.sat && in->guard < 0;
}

static bool fits(const struct ptx_insn *sum, const struct ptx_insn *product) {
    struct arithmetic s, p;
    return arithmetic(sum, &s) && arithmetic(product, &p) && strcmp(s.family, "mul") &&
           s.ftz == p.ftz && !strcmp(s.type, p.type) && exists(product, sum, &s);
}

static bool ends_block(const char *opcode) {
    static const char *const ends[] = {"bra", "brx", "ret", "exit", "call", "membar", "fence"};
    for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++)
        if (!strncmp(opcode, ends[i], strlen(ends[i]))) return true;
    return false;
}

/* ---- who uses what ---- */

static u32 writes_of(const struct contracting *c, const struct ptx_operand *p) {
    return p->kind == PTX_OP_REG && p->reg >= 0 ? c->at[p->reg].writes : 0;
}

/* The product that operand k of a sum is, if its sources still hold what they held. */
static u32 product_in(const struct contracting *c, const struct ptx_insn *sum, unsigned k) {
    const struct ptx_operand *p = &sum->operands[k];
    if (p->kind != PTX_OP_REG || p->reg < 0) return NONE;
    const struct value *v = &c->at[p->reg];
    if (v->product == NONE || v->block != c->block) return NONE;
    const struct ptx_insn *product = &c->d->f->insns[v->product];
    for (unsigned i = 0; i < 2; i++)
        if (writes_of(c, &product->operands[1 + i]) != v->sources[i]) return NONE;
    return fits(sum, product) ? v->product : NONE;
}

static void note_sum(struct contracting *c, u32 i) {
    const struct ptx_insn *in = &c->d->f->insns[i];
    for (unsigned k = 0; k < 2; k++) c->of[i].product[k] = product_in(c, in, 1 + k);
    for (unsigned k = 0; k < 2; k++)
        if (c->of[i].product[k] != NONE) c->of[c->of[i].product[k]].found++;
}

static void note_writes(struct contracting *c, const struct ptx_operand *p) {
    int written[] = {p->kind == PTX_OP_REG ? p->reg : -1, p->second};
    for (unsigned i = 0; i < 2; i++)
        if (written[i] >= 0) c->at[written[i]].writes++, c->at[written[i]].product = NONE;
    for (unsigned i = 0; i < p->nitems; i++) note_writes(c, &p->items[i]);
}

static void note_product(struct contracting *c, u32 i) {
    const struct ptx_insn *in = &c->d->f->insns[i];
    struct value *v = &c->at[in->operands[0].reg];
    v->product = i, v->block = c->block;
    for (unsigned k = 0; k < 2; k++) v->sources[k] = writes_of(c, &in->operands[1 + k]);
}

static void go_through(struct contracting *c, const unsigned char *leader) {
    const struct ptx_func *f = c->d->f;
    for (u32 i = 0; i < f->ninsns; i++) {
        const struct ptx_insn *in = &f->insns[i];
        struct arithmetic a;
        c->of[i] = (struct contraction){.product = {NONE, NONE}};
        c->block += leader[i];
        if (arithmetic(in, &a) && strcmp(a.family, "mul")) note_sum(c, i);
        if (in->noperands && decode_writes_first_operand(in)) note_writes(c, &in->operands[0]);
        if (is_product(in)) note_product(c, i);
        c->block += ends_block(in->opcode);
    }
}

/* ---- which are taken in ---- */

/* A register that is written twice holds several products, and its uses cannot be told apart. */
static void choose_products(struct contracting *c) {
    const struct ptx_func *f = c->d->f;
    for (u32 i = 0; i < f->ninsns; i++) {
        if (!c->of[i].found) continue;
        int r = f->insns[i].operands[0].reg;
        c->of[i].taken = c->of[i].found == c->d->reads[r] && c->at[r].writes == 1;
    }
}

static bool can_take(const struct contracting *c, u32 product) {
    return product != NONE && c->of[product].taken;
}

/* One product each: the other one has to be made, and its other sums are sums. */
static void choose_sums(struct contracting *c) {
    for (u32 i = 0; i < c->d->f->ninsns; i++) {
        u32 *p = c->of[i].product;
        if (!can_take(c, p[0]) || !can_take(c, p[1])) continue;
        if (p[0] == p[1]) c->of[p[0]].taken = false;
        else c->of[p[c->of[p[1]].found >= c->of[p[0]].found]].taken = false;
    }
}

static bool has_product(const struct ptx_func *f) {
    for (u32 i = 0; i < f->ninsns; i++)
        if (is_product(&f->insns[i])) return true;
    return false;
}

void decode_find_contractions(struct decoder *d) {
    const struct ptx_func *f = d->f;
    d->contractions = NULL;
    if (d->m->options->ptx_counters || !has_product(f)) return;
    unsigned char *leader = xcalloc(f->ninsns + 1, 1);
    struct contracting c = {.d = d, .at = xcalloc(f->nregs + 1ul, sizeof *c.at)};
    c.of = d->contractions = xcalloc(f->ninsns, sizeof *c.of);
    for (u32 r = 0; r < f->nregs; r++) c.at[r].product = NONE;
    decode_mark_leaders(f, leader);
    go_through(&c, leader);
    choose_products(&c);
    choose_sums(&c);
    free(leader), free(c.at);
}

/* ---- what becomes of them ---- */

/* The operand with its sign turned round; not an instruction of its own in machine code. */
static bool negated(struct decoder *d, const struct ptx_operand *p, const struct arithmetic *a,
                    ref *out) {
    const struct insn_row *r = &insn_rows[row_of_neg(a)];
    ref from;
    if (!decode_source(d, p, (enum ptx_type)r->src[0], &from)) return false;
    struct op *o = decode_emit_named(d, r->name);
    o->src[0] = from, o->weight = 0;
    *out = o->dst = decode_slot_new(d, ptx_type_bytes((enum ptx_type)r->dst));
    return true;
}

static bool operand(struct decoder *d, const struct ptx_operand *p, bool minus,
                    const struct arithmetic *a, enum ptx_type t, ref *out) {
    return minus ? negated(d, p, a, out) : decode_source(d, p, t, out);
}

/* a * b + c, a * b - c or c - a * b: operand k of the sum is the product. */
static bool fused(struct decoder *d, const struct ptx_insn *product, unsigned k) {
    const struct ptx_insn *sum = d->in;
    struct arithmetic a;
    char name[64];
    unsigned dropped;
    arithmetic(sum, &a);
    bool minus = !strcmp(a.family, "sub");
    int row = row_of_fma(&a, name, &dropped);
    enum ptx_type t = (enum ptx_type)insn_rows[row].src[0];
    ref src[3];
    if (!operand(d, &product->operands[1], minus && k == 2, &a, t, &src[0]) ||
        !decode_source(d, &product->operands[2], t, &src[1]) ||
        !operand(d, &sum->operands[3 - k], minus && k == 1, &a, t, &src[2]))
        return false;
    return decode_emit_float(d, row, name, dropped, src, &sum->operands[0]);
}

bool decode_contracted(struct decoder *d, u32 i) {
    const struct contraction *c = &d->contractions[i];
    if (c->taken) return true;
    for (unsigned k = 0; k < 2; k++)
        if (c->product[k] != NONE && d->contractions[c->product[k]].taken)
            return fused(d, &d->f->insns[c->product[k]], 1 + k);
    return decode_insn(d);
}
