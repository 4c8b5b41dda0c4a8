/* facts.c — see facts.h. Both analyses are the compiler's usual ones, kept small: registers start
 * with everything known and lose what some instruction that writes them does not keep, until
 * nothing changes.
 *
 * Lanes agree on a register if they agree on all that it is made from and on the way to it. The
 * second is judged by the layout of the code: between a branch that lanes take differently and its
 * target some lanes are missing, so a register written both there and elsewhere, and read behind,
 * differs; so does one that changes in a loop which lanes leave one by one. That is how ptxas
 * treats it, as its machine code for small kernels shows (nvcc 13.0, sm_75, sm_80, sm_90). */
#include "grader/sim/code/facts.h"

#include <stdlib.h>
#include <string.h>

enum { UNSEEN = KNOWN_BITS + 1, MOST_PASSES = 64, MOST_STEPS = 1 << 24 };

struct known {
    u8 bits, residue;
};

struct search {
    const struct decoder *d;
    const struct ptx_func *f;
    struct reg_facts *regs;
    u32 *defs, *inside, *last_use; /* by register: writes, writes in the region at hand, the last
                                      instruction that reads */
    u64 steps;                     /* spent on regions */
};

static struct known exactly(u64 value) {
    return (struct known){KNOWN_BITS, (u8)(value & ((1 << KNOWN_BITS) - 1))};
}
static struct known low_bits(u32 bits, u64 value) {
    bits = bits > KNOWN_BITS ? KNOWN_BITS : bits;
    return (struct known){(u8)bits, (u8)(value & ((1u << bits) - 1))};
}
static u32 fewer(u32 a, u32 b) { return a < b ? a : b; }

/* Zero bits at the end, as far as known. */
static u32 zeros(struct known k) { return k.residue ? (u32)__builtin_ctz(k.residue) : k.bits; }

static struct known join(struct known a, struct known b) {
    if (a.bits == UNSEEN) return b;
    if (b.bits == UNSEEN) return a;
    u32 differ = (u32)(a.residue ^ b.residue), bits = fewer(a.bits, b.bits);
    return low_bits(differ ? fewer(bits, (u32)__builtin_ctz(differ)) : bits, a.residue);
}

/* ---- low bits ---- */

static struct known of_variable(const struct search *s, const struct ptx_operand *p) {
    const struct decoder *d = s->d;
    for (u32 i = 0; i < d->nshareds; i++)
        if (d->shareds[i].var == p->var) return exactly(d->shareds[i].offset + (u64)p->offset);
    bool dynamic = p->var->space == PTX_SHARED && !p->var->bytes; /* begins at a multiple of 16 */
    return dynamic ? low_bits(4, (u64)p->offset) : low_bits(0, 0);
}

static struct known of_operand(const struct search *s, const struct ptx_insn *in, unsigned k) {
    if (k >= in->noperands) return low_bits(0, 0);
    const struct ptx_operand *p = &in->operands[k];
    if (p->kind == PTX_OP_IMM) return exactly(p->value);
    if (p->kind == PTX_OP_VAR) return of_variable(s, p);
    if (p->kind != PTX_OP_REG || p->reg < 0) return low_bits(0, 0);
    return (struct known){s->regs[p->reg].bits, s->regs[p->reg].residue};
}

static struct known product(struct known a, struct known b) {
    u32 bits = fewer(a.bits + zeros(b), b.bits + zeros(a));
    return low_bits(bits, (u64)a.residue * b.residue);
}

static struct known sum(struct known a, struct known b, bool minus) {
    return low_bits(fewer(a.bits, b.bits),
                    minus ? (u64)a.residue - b.residue : (u64)a.residue + b.residue);
}

static struct known shifted(struct known a, const struct ptx_insn *in, bool left) {
    const struct ptx_operand *by = in->noperands > 2 ? &in->operands[2] : NULL;
    if (!by || by->kind != PTX_OP_IMM || by->value > 63) return low_bits(0, 0);
    u32 n = (u32)by->value;
    if (left) return low_bits(a.bits + n, n > KNOWN_BITS ? 0 : (u64)a.residue << n);
    return a.bits > n ? low_bits(a.bits - n, a.residue >> n) : low_bits(0, 0);
}

static struct known masked(struct known a, struct known b) {
    u32 both = fewer(a.bits, b.bits), zero = zeros(a) > zeros(b) ? zeros(a) : zeros(b);
    return low_bits(both > zero ? both : zero, a.residue & b.residue);
}

static bool is_integer(enum ptx_type t) {
    const char *name = ptx_type_name(t);
    return t != PTX_BF16 && t != PTX_BF16X2 && (name[0] == 'b' || name[0] == 'u' || name[0] == 's');
}

static struct known result(const struct search *s, const struct ptx_insn *in) {
    char family[32], second[32] = "";
    if (!decode_opcode_part(in->opcode, 0, family, sizeof family) ||
        !is_integer(decode_opcode_type(in->opcode)))
        return low_bits(0, 0);
    decode_opcode_part(in->opcode, 1, second, sizeof second);
    struct known a = of_operand(s, in, 1), b = of_operand(s, in, 2), c = of_operand(s, in, 3);
    if (a.bits == UNSEEN || b.bits == UNSEEN || c.bits == UNSEEN) return (struct known){UNSEEN, 0};
    bool low = strcmp(second, "lo") == 0 || strcmp(second, "wide") == 0;
    if (strcmp(family, "mov") == 0 || strcmp(family, "cvta") == 0) return a;
    if (strcmp(family, "cvt") == 0)
        return is_integer(ptx_type_of(second, strlen(second))) ? a : low_bits(0, 0);
    if (strcmp(family, "add") == 0) return sum(a, b, false);
    if (strcmp(family, "sub") == 0) return sum(a, b, true);
    if (strcmp(family, "mul") == 0) return low ? product(a, b) : low_bits(0, 0);
    if (strcmp(family, "mad") == 0) return low ? sum(product(a, b), c, false) : low_bits(0, 0);
    if (strcmp(family, "shl") == 0) return shifted(a, in, true);
    if (strcmp(family, "shr") == 0) return shifted(a, in, false);
    if (strcmp(family, "and") == 0) return masked(a, b);
    if (strcmp(family, "or") == 0) return low_bits(fewer(a.bits, b.bits), a.residue | b.residue);
    if (strcmp(family, "xor") == 0) return low_bits(fewer(a.bits, b.bits), a.residue ^ b.residue);
    if (strcmp(family, "selp") == 0 || strcmp(family, "min") == 0 || strcmp(family, "max") == 0)
        return join(a, b);
    return low_bits(0, 0);
}

/* The operand's registers, which are written, know no more than `k`. */
static bool lose_bits(struct search *s, const struct ptx_operand *p, struct known k) {
    bool changed = false;
    for (unsigned i = 0; i < p->nitems; i++) changed |= lose_bits(s, &p->items[i], low_bits(0, 0));
    if (p->kind != PTX_OP_REG || p->reg < 0) return changed;
    struct reg_facts *r = &s->regs[p->reg];
    struct known now = join((struct known){r->bits, r->residue}, k);
    changed |= now.bits != r->bits;
    r->bits = now.bits;
    r->residue = now.residue;
    return changed;
}

static void find_bits(struct search *s) {
    bool changed = true;
    for (u32 i = 0; i < s->f->nregs; i++) s->regs[i].bits = UNSEEN;
    for (u32 pass = 0; changed && pass < MOST_PASSES; pass++) {
        changed = false;
        for (u32 i = 0; i < s->f->ninsns; i++) {
            const struct ptx_insn *in = &s->f->insns[i];
            if (in->noperands && decode_writes_first_operand(in))
                changed |= lose_bits(s, &in->operands[0], result(s, in));
        }
    }
    for (u32 i = 0; i < s->f->nregs; i++)
        if (changed || s->regs[i].bits == UNSEEN) s->regs[i].bits = s->regs[i].residue = 0;
}

/* ---- lanes that agree ---- */

/* Special registers that are the same for the whole block. */
static bool same_in_block(const char *name) {
    static const char *const names[] = {"%ctaid",           "%nctaid",      "%ntid",
                                        "%gridid",          "%nwarpid",     "%smid",
                                        "%nsmid",           "%envreg",      "%dynamic_smem_size",
                                        "%total_smem_size", "%cluster_nct", "%nclusterid"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0) return true;
    return false;
}

static bool agrees(const struct search *s, const struct ptx_operand *p) {
    for (unsigned i = 0; i < p->nitems; i++)
        if (!agrees(s, &p->items[i])) return false;
    if (p->kind == PTX_OP_SREG) return same_in_block(p->name);
    return (p->kind != PTX_OP_REG && p->kind != PTX_OP_ADDRESS) || p->reg < 0 ||
           s->regs[p->reg].uniform;
}

static bool is_parameter(const struct ptx_func *f, const struct ptx_operand *p) {
    for (unsigned i = 0; f->is_entry && i < f->nparams; i++)
        if (p->var == &f->params[i]) return true;
    return false;
}

/* Whether the instruction gives each lane the same if its sources do. */
static bool keeps_agreement(const struct search *s, const struct ptx_insn *in) {
    static const char *const never[] = {"atom",       "shfl", "vote",    "match", "redux",
                                        "activemask", "call", "barrier", "bar",   "isspacep"};
    char family[32];
    decode_opcode_part(in->opcode, 0, family, sizeof family);
    for (unsigned i = 0; i < sizeof never / sizeof *never; i++)
        if (strcmp(never[i], family) == 0) return false;
    if (strcmp(family, "ld") != 0) return true;
    if (decode_opcode_has(in->opcode, "local") || decode_opcode_has(in->opcode, "volatile") ||
        decode_opcode_has(in->opcode, "relaxed"))
        return false;
    return !decode_opcode_has(in->opcode, "param") ||
           (in->noperands > 1 && is_parameter(s->f, &in->operands[1]));
}

static bool lose_agreement(struct search *s, const struct ptx_operand *p) {
    bool changed = false;
    for (unsigned i = 0; i < p->nitems; i++) changed |= lose_agreement(s, &p->items[i]);
    int regs[] = {p->kind == PTX_OP_REG ? p->reg : -1, p->second};
    for (unsigned i = 0; i < 2; i++) {
        if (regs[i] < 0) continue;
        changed |= s->regs[regs[i]].uniform;
        s->regs[regs[i]].uniform = false;
    }
    return changed;
}

static bool pass_over(struct search *s) {
    bool changed = false;
    for (u32 i = 0; i < s->f->ninsns; i++) {
        const struct ptx_insn *in = &s->f->insns[i];
        if (!in->noperands || !decode_writes_first_operand(in)) continue;
        bool same = keeps_agreement(s, in) && (in->guard < 0 || s->regs[in->guard].uniform);
        for (unsigned k = 1; same && k < in->noperands; k++) same = agrees(s, &in->operands[k]);
        if (!same) changed |= lose_agreement(s, &in->operands[0]);
    }
    return changed;
}

static void count_defs(const struct ptx_operand *p, u32 *defs) {
    for (unsigned i = 0; i < p->nitems; i++) count_defs(&p->items[i], defs);
    if (p->kind == PTX_OP_REG && p->reg >= 0) defs[p->reg]++;
    if (p->second >= 0) defs[p->second]++;
}

static void note_use(const struct ptx_operand *p, u32 at, u32 *last) {
    for (unsigned i = 0; i < p->nitems; i++) note_use(&p->items[i], at, last);
    if ((p->kind == PTX_OP_REG || p->kind == PTX_OP_ADDRESS) && p->reg >= 0) last[p->reg] = at;
}

static void count_all(struct search *s) {
    for (u32 i = 0; i < s->f->ninsns; i++) {
        const struct ptx_insn *in = &s->f->insns[i];
        bool writes = in->noperands && decode_writes_first_operand(in);
        if (writes) count_defs(&in->operands[0], s->defs);
        if (in->guard >= 0) s->last_use[in->guard] = i;
        for (unsigned k = writes; k < in->noperands; k++)
            note_use(&in->operands[k], i, s->last_use);
    }
}

static bool part_region(struct search *s, const struct ptx_operand *p, u32 end, bool loop) {
    bool changed = false;
    for (unsigned i = 0; i < p->nitems; i++) changed |= part_region(s, &p->items[i], end, loop);
    int regs[] = {p->kind == PTX_OP_REG ? p->reg : -1, p->second};
    for (unsigned i = 0; i < 2; i++) {
        if (regs[i] < 0 || !s->regs[regs[i]].uniform || s->defs[regs[i]] < 2) continue;
        if (!loop && (s->defs[regs[i]] == s->inside[regs[i]] || s->last_use[regs[i]] < end))
            continue;
        s->regs[regs[i]].uniform = false;
        changed = true;
    }
    return changed;
}

/* Some lanes are missing in [first, end). */
static bool region(struct search *s, u32 first, u32 end, bool loop) {
    bool changed = false;
    for (u32 i = first; i < end; i++)
        if (s->f->insns[i].noperands && decode_writes_first_operand(&s->f->insns[i]))
            count_defs(&s->f->insns[i].operands[0], s->inside);
    for (u32 i = first; i < end; i++)
        if (s->f->insns[i].noperands && decode_writes_first_operand(&s->f->insns[i]))
            changed |= part_region(s, &s->f->insns[i].operands[0], end, loop);
    memset(s->inside, 0, s->f->nregs * sizeof *s->inside);
    s->steps += (end - first) + s->f->nregs / 8;
    return changed;
}

static bool pass_branches(struct search *s) {
    bool changed = false;
    for (u32 i = 0; i < s->f->ninsns && s->steps < MOST_STEPS; i++) {
        const struct ptx_insn *in = &s->f->insns[i];
        if (strncmp(in->opcode, "bra", 3) != 0 || in->guard < 0 || s->regs[in->guard].uniform)
            continue;
        for (unsigned k = 0; k < in->noperands; k++) {
            u32 to = in->operands[k].target;
            if (in->operands[k].kind != PTX_OP_LABEL) continue;
            changed |= to > i ? region(s, i + 1, to, false) : region(s, to, i + 1, true);
        }
    }
    return changed;
}

/* What cannot be judged: registers written in several places. */
static void doubt_all(struct search *s) {
    for (u32 i = 0; i < s->f->nregs; i++)
        if (s->defs[i] > 1) s->regs[i].uniform = false;
    while (pass_over(s))
        ;
}

static void find_agreement(struct search *s) {
    bool changed = true, table = false;
    for (u32 i = 0; i < s->f->nregs; i++) s->regs[i].uniform = true;
    for (u32 i = 0; i < s->f->ninsns; i++) table |= strncmp(s->f->insns[i].opcode, "brx", 3) == 0;
    count_all(s);
    for (u32 pass = 0; changed && pass < MOST_PASSES && s->steps < MOST_STEPS; pass++) {
        changed = pass_over(s);
        changed |= pass_branches(s);
    }
    if (changed || table || s->steps >= MOST_STEPS) doubt_all(s);
}

struct reg_facts *decode_facts_find(const struct decoder *d, bool uniform) {
    const struct ptx_func *f = d->f;
    struct search s = {.d = d, .f = f, .regs = xcalloc(f->nregs + 1, sizeof *s.regs)};
    find_bits(&s);
    if (!uniform) return s.regs;
    s.defs = xcalloc(f->nregs * 3ul + 1, sizeof *s.defs);
    s.inside = s.defs + f->nregs;
    s.last_use = s.inside + f->nregs;
    find_agreement(&s);
    free(s.defs);
    return s.regs;
}
