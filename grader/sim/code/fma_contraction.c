/* fma_contraction.c — contracts products and sums into fused multiply-adds where ptxas does. The
 * decoder calls it for each function.
 *
 * PTX lets the assembler turn `mul` and a later `add` or `sub`, all without a rounding mode, into
 * one fused multiply-add. nvcc 13 emits a * b - c so, and a * b + c if the product has further
 * uses. ptxas fuses if every use of the product is such a sum in the same basic block; then the
 * product itself is never computed. In a sum of two products it fuses the one with fewer uses, or
 * the first; it computes the other. It doesn't fuse across a call or a fence, if only one of the
 * two flushes subnormals, or if the product is clamped, guarded or negated. All of this was read
 * off the machine code of 60 small kernels (ptxas 13.0, sm_90):
 * grader/tests/unit/test_fma_contraction.c has them, docs/simgpu.md says what is left out. */
#include "grader/sim/code/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO_INDEX = UINT32_MAX };

/* What is known of one instruction. */
struct contraction {
    /* For a sum: the products that are its operands; NO_INDEX where one can't be fused. */
    u32 product_insn[2];
    u32 fusable_uses;   /* for a product: how many sums could fuse it */
    bool is_contracted; /* for a product: every use fuses it, so it is not computed */
};

/* What a register holds at the current point of a block. */
struct reg_value {
    u32 product_insn, block; /* the product that wrote it, and its block */
    /* How often it was written; the same of the product's sources when it was computed. */
    u32 version, source_versions[2];
};

struct contraction_ctx {
    const struct decoder *d;
    struct contraction *by_insn;
    struct reg_value *by_reg;
    u32 block;
};

/* ---- candidates ---- */

struct arith_op {
    char family[8], type[8];
    bool ftz, sat;
};

/* Returns true for a mul, add or sub of floats without a rounding mode. */
static bool parse_arith_op(const struct ptx_insn *in, struct arith_op *a) {
    static const char *const types[] = {"f32", "f64", "f16", "f16x2", "bf16", "bf16x2"};
    char part[64];
    *a = (struct arith_op){.ftz = decode_opcode_has(in->opcode, "ftz"),
                           .sat = decode_opcode_has(in->opcode, "sat")};
    unsigned last = 1u + a->ftz + a->sat;
    if (!decode_opcode_part(in->opcode, 0, a->family, sizeof a->family)) return false;
    if (strcmp(a->family, "mul") && strcmp(a->family, "add") && strcmp(a->family, "sub"))
        return false;
    if (!decode_opcode_part(in->opcode, last, a->type, sizeof a->type)) return false;
    bool is_float_type = false;
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
        is_float_type |= !strcmp(a->type, types[i]);
    return is_float_type && !decode_opcode_part(in->opcode, last + 1, part, sizeof part) &&
           in->noperands == 3 && in->operands[0].kind == PTX_OP_REG && in->operands[0].reg >= 0;
}

static int find_fma_opcode(const struct arith_op *a, char name[64], unsigned *dropped) {
    snprintf(name, 64, "fma.rn%s%s.%s", a->ftz ? ".ftz" : "", a->sat ? ".sat" : "", a->type);
    return decode_find_opcode(name, dropped);
}

static int find_neg_opcode(const struct arith_op *a) {
    char name[64];
    unsigned dropped;
    snprintf(name, sizeof name, "neg.%s", a->type);
    return decode_find_opcode(name, &dropped);
}

/* Returns true if the fused form exists: not every type has every modifier, and the PTX text may
 * hold invalid instructions. */
static bool has_fma_form(const struct ptx_insn *product, const struct ptx_insn *sum,
                         const struct arith_op *a) {
    char name[64];
    unsigned dropped;
    return decode_find_opcode(product->opcode, &dropped) >= 0 &&
           decode_find_opcode(sum->opcode, &dropped) >= 0 &&
           find_fma_opcode(a, name, &dropped) >= 0 && find_neg_opcode(a) >= 0;
}

static bool is_mul(const struct ptx_insn *in) {
    struct arith_op a;
    return parse_arith_op(in, &a) && !strcmp(a.family, "mul") && !a.sat && in->guard < 0;
}

static bool can_fuse(const struct ptx_insn *sum, const struct ptx_insn *product) {
    struct arith_op s, p;
    return parse_arith_op(sum, &s) && parse_arith_op(product, &p) && strcmp(s.family, "mul") &&
           s.ftz == p.ftz && !strcmp(s.type, p.type) && has_fma_form(product, sum, &s);
}

static bool ends_block(const char *opcode) {
    static const char *const ends[] = {"bra", "brx", "ret", "exit", "call", "membar", "fence"};
    for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++)
        if (!strncmp(opcode, ends[i], strlen(ends[i]))) return true;
    return false;
}

/* ---- uses of products ---- */

static u32 reg_version(const struct contraction_ctx *c, const struct ptx_operand *p) {
    return p->kind == PTX_OP_REG && p->reg >= 0 ? c->by_reg[p->reg].version : 0;
}

/* Returns the product that operand k of a sum is, if its sources are unchanged, or NO_INDEX. */
static u32 find_product(const struct contraction_ctx *c, const struct ptx_insn *sum, unsigned k) {
    const struct ptx_operand *p = &sum->operands[k];
    if (p->kind != PTX_OP_REG || p->reg < 0) return NO_INDEX;
    const struct reg_value *v = &c->by_reg[p->reg];
    if (v->product_insn == NO_INDEX || v->block != c->block) return NO_INDEX;
    const struct ptx_insn *product = &c->d->f->insns[v->product_insn];
    for (unsigned i = 0; i < 2; i++)
        if (reg_version(c, &product->operands[1 + i]) != v->source_versions[i]) return NO_INDEX;
    return can_fuse(sum, product) ? v->product_insn : NO_INDEX;
}

static void record_sum(struct contraction_ctx *c, u32 i) {
    const struct ptx_insn *in = &c->d->f->insns[i];
    for (unsigned k = 0; k < 2; k++) c->by_insn[i].product_insn[k] = find_product(c, in, 1 + k);
    for (unsigned k = 0; k < 2; k++)
        if (c->by_insn[i].product_insn[k] != NO_INDEX)
            c->by_insn[c->by_insn[i].product_insn[k]].fusable_uses++;
}

static void record_writes(struct contraction_ctx *c, const struct ptx_operand *p) {
    int written[] = {p->kind == PTX_OP_REG ? p->reg : -1, p->second_reg};
    for (unsigned i = 0; i < 2; i++)
        if (written[i] >= 0)
            c->by_reg[written[i]].version++, c->by_reg[written[i]].product_insn = NO_INDEX;
    for (unsigned i = 0; i < p->nitems; i++) record_writes(c, &p->items[i]);
}

static void record_product(struct contraction_ctx *c, u32 i) {
    const struct ptx_insn *in = &c->d->f->insns[i];
    struct reg_value *v = &c->by_reg[in->operands[0].reg];
    v->product_insn = i, v->block = c->block;
    for (unsigned k = 0; k < 2; k++) v->source_versions[k] = reg_version(c, &in->operands[1 + k]);
}

static void scan_insns(struct contraction_ctx *c, const unsigned char *leader) {
    const struct ptx_func *f = c->d->f;
    for (u32 i = 0; i < f->ninsns; i++) {
        const struct ptx_insn *in = &f->insns[i];
        struct arith_op a;
        c->by_insn[i] = (struct contraction){.product_insn = {NO_INDEX, NO_INDEX}};
        c->block += leader[i];
        if (parse_arith_op(in, &a) && strcmp(a.family, "mul")) record_sum(c, i);
        if (in->noperands && decode_writes_first_operand(in)) record_writes(c, &in->operands[0]);
        if (is_mul(in)) record_product(c, i);
        c->block += ends_block(in->opcode);
    }
}

/* ---- selection ---- */

/* Selects the products that every use can fuse. A register that is written twice holds several
 * products, whose uses can't be told apart. */
static void select_products(struct contraction_ctx *c) {
    const struct ptx_func *f = c->d->f;
    for (u32 i = 0; i < f->ninsns; i++) {
        if (!c->by_insn[i].fusable_uses) continue;
        int r = f->insns[i].operands[0].reg;
        c->by_insn[i].is_contracted =
            c->by_insn[i].fusable_uses == c->d->read_counts[r] && c->by_reg[r].version == 1;
    }
}

static bool is_contractible(const struct contraction_ctx *c, u32 product) {
    return product != NO_INDEX && c->by_insn[product].is_contracted;
}

/* A sum fuses one product. The other one has to be computed, and its other uses remain plain
 * sums. */
static void resolve_double_products(struct contraction_ctx *c) {
    for (u32 i = 0; i < c->d->f->ninsns; i++) {
        u32 *p = c->by_insn[i].product_insn;
        if (!is_contractible(c, p[0]) || !is_contractible(c, p[1])) continue;
        if (p[0] == p[1]) c->by_insn[p[0]].is_contracted = false;
        else
            c->by_insn[p[c->by_insn[p[1]].fusable_uses >= c->by_insn[p[0]].fusable_uses]]
                .is_contracted = false;
    }
}

static bool has_mul(const struct ptx_func *f) {
    for (u32 i = 0; i < f->ninsns; i++)
        if (is_mul(&f->insns[i])) return true;
    return false;
}

void decode_find_contractions(struct decoder *d) {
    const struct ptx_func *f = d->f;
    d->contractions = NULL;
    if (d->m->options->ptx_counters || !has_mul(f)) return;
    unsigned char *leader = xcalloc(f->ninsns + 1, 1);
    struct contraction_ctx c = {.d = d, .by_reg = xcalloc(f->nregs + 1ul, sizeof *c.by_reg)};
    c.by_insn = d->contractions = xcalloc(f->ninsns, sizeof *c.by_insn);
    for (u32 r = 0; r < f->nregs; r++) c.by_reg[r].product_insn = NO_INDEX;
    decode_mark_leaders(f, leader);
    scan_insns(&c, leader);
    select_products(&c);
    resolve_double_products(&c);
    free(leader), free(c.by_reg);
}

/* ---- emission ---- */

/* Emits the negation of an operand, which is no instruction of its own in machine code. */
static bool emit_negated(struct decoder *d, const struct ptx_operand *p, const struct arith_op *a,
                         ref *out) {
    const struct opcode_desc *r = &insn_opcodes[find_neg_opcode(a)];
    ref from;
    if (!decode_source(d, p, (enum ptx_type)r->src[0], &from)) return false;
    struct op *o = decode_emit_named(d, r->name);
    o->src[0] = from, o->weight = 0;
    *out = o->dst = decode_slot_new(d, ptx_type_bytes((enum ptx_type)r->dst));
    return true;
}

static bool emit_operand(struct decoder *d, const struct ptx_operand *p, bool is_subtraction,
                         const struct arith_op *a, enum ptx_type t, ref *out) {
    return is_subtraction ? emit_negated(d, p, a, out) : decode_source(d, p, t, out);
}

/* Emits a * b + c, a * b - c or c - a * b; operand k of the sum is the product. */
static bool emit_fma(struct decoder *d, const struct ptx_insn *product, unsigned k) {
    const struct ptx_insn *sum = d->insn;
    struct arith_op a;
    char name[64];
    unsigned dropped;
    parse_arith_op(sum, &a);
    bool is_subtraction = !strcmp(a.family, "sub");
    int opc = find_fma_opcode(&a, name, &dropped);
    enum ptx_type t = (enum ptx_type)insn_opcodes[opc].src[0];
    ref src[3];
    if (!emit_operand(d, &product->operands[1], is_subtraction && k == 2, &a, t, &src[0]) ||
        !decode_source(d, &product->operands[2], t, &src[1]) ||
        !emit_operand(d, &sum->operands[3 - k], is_subtraction && k == 1, &a, t, &src[2]))
        return false;
    return decode_emit_float(d, opc, name, dropped, src, &sum->operands[0]);
}

bool decode_contracted_insn(struct decoder *d, u32 i) {
    const struct contraction *c = &d->contractions[i];
    if (c->is_contracted) return true;
    for (unsigned k = 0; k < 2; k++)
        if (c->product_insn[k] != NO_INDEX && d->contractions[c->product_insn[k]].is_contracted)
            return emit_fma(d, &d->f->insns[c->product_insn[k]], 1 + k);
    return decode_insn(d);
}
