/* reg_analysis.c — see reg_analysis.h. Both analyses are the compiler's usual ones, kept small:
 * they start with everything known, and drop what some write of a register doesn't preserve, until
 * nothing changes.
 *
 * A register is uniform if all that it is computed from is, and if all lanes took the same way to
 * it. The second is judged by the layout of the code: between a divergent branch and its target
 * some lanes are missing. So a register that is written both there and elsewhere, and read later,
 * is not uniform; nor is one that changes in a loop which lanes leave one by one. ptxas treats it
 * so, as its machine code for small kernels shows (nvcc 13.0, sm_75, sm_80, sm_90). */
#include "grader/sim/code/reg_analysis.h"

#include <stdlib.h>
#include <string.h>

enum { KNOWN_BITS_TOP = MAX_KNOWN_BITS + 1, MAX_PASSES = 64, MAX_REGION_WORK = 1 << 24 };

struct known_bits {
    u8 count, low_bits;
};

struct reg_analysis_ctx {
    const struct decoder *d;
    const struct ptx_func *f;
    struct reg_analysis *regs;
    /* By register: writes, writes in the current region, the last instruction that reads it. */
    u32 *defs, *region_defs, *last_use;
    u64 region_work; /* the work that regions have cost so far */
};

static struct known_bits known_constant(u64 value) {
    return (struct known_bits){MAX_KNOWN_BITS, (u8)(value & ((1 << MAX_KNOWN_BITS) - 1))};
}
static struct known_bits known_low(u32 bits, u64 value) {
    bits = bits > MAX_KNOWN_BITS ? MAX_KNOWN_BITS : bits;
    return (struct known_bits){(u8)bits, (u8)(value & ((1u << bits) - 1))};
}
static u32 min_u32(u32 a, u32 b) { return a < b ? a : b; }

/* Returns how many trailing zero bits are known. */
static u32 trailing_zeros(struct known_bits k) {
    return k.low_bits ? (u32)__builtin_ctz(k.low_bits) : k.count;
}

static struct known_bits join(struct known_bits a, struct known_bits b) {
    if (a.count == KNOWN_BITS_TOP) return b;
    if (b.count == KNOWN_BITS_TOP) return a;
    u32 differ = (u32)(a.low_bits ^ b.low_bits), bits = min_u32(a.count, b.count);
    return known_low(differ ? min_u32(bits, (u32)__builtin_ctz(differ)) : bits, a.low_bits);
}

/* ---- low bits ---- */

static struct known_bits known_of_variable(const struct reg_analysis_ctx *s,
                                           const struct ptx_operand *p) {
    const struct decoder *d = s->d;
    for (u32 i = 0; i < d->nshared_vars; i++)
        if (d->shared_vars[i].var == p->var)
            return known_constant(d->shared_vars[i].offset + (u64)p->offset);
    bool dynamic = p->var->space == PTX_SHARED && !p->var->bytes; /* dynamic: aligned to 16 */
    return dynamic ? known_low(4, (u64)p->offset) : known_low(0, 0);
}

static struct known_bits known_of_operand(const struct reg_analysis_ctx *s,
                                          const struct ptx_insn *in, unsigned k) {
    if (k >= in->noperands) return known_low(0, 0);
    const struct ptx_operand *p = &in->operands[k];
    if (p->kind == PTX_OP_IMM) return known_constant(p->value);
    if (p->kind == PTX_OP_VAR) return known_of_variable(s, p);
    if (p->kind != PTX_OP_REG || p->reg < 0) return known_low(0, 0);
    return (struct known_bits){s->regs[p->reg].known_bits, s->regs[p->reg].known_low_bits};
}

static struct known_bits known_mul(struct known_bits a, struct known_bits b) {
    u32 bits = min_u32(a.count + trailing_zeros(b), b.count + trailing_zeros(a));
    return known_low(bits, (u64)a.low_bits * b.low_bits);
}

static struct known_bits known_add(struct known_bits a, struct known_bits b, bool is_subtraction) {
    return known_low(min_u32(a.count, b.count),
                     is_subtraction ? (u64)a.low_bits - b.low_bits : (u64)a.low_bits + b.low_bits);
}

static struct known_bits known_shift(struct known_bits a, const struct ptx_insn *in, bool left) {
    const struct ptx_operand *by = in->noperands > 2 ? &in->operands[2] : NULL;
    if (!by || by->kind != PTX_OP_IMM || by->value > 63) return known_low(0, 0);
    u32 n = (u32)by->value;
    if (left) return known_low(a.count + n, n > MAX_KNOWN_BITS ? 0 : (u64)a.low_bits << n);
    return a.count > n ? known_low(a.count - n, a.low_bits >> n) : known_low(0, 0);
}

static struct known_bits known_and(struct known_bits a, struct known_bits b) {
    u32 both = min_u32(a.count, b.count),
        zero = trailing_zeros(a) > trailing_zeros(b) ? trailing_zeros(a) : trailing_zeros(b);
    return known_low(both > zero ? both : zero, a.low_bits & b.low_bits);
}

static bool is_integer(enum ptx_type t) {
    const char *name = ptx_type_name(t);
    return t != PTX_BF16 && t != PTX_BF16X2 && (name[0] == 'b' || name[0] == 'u' || name[0] == 's');
}

static struct known_bits known_result(const struct reg_analysis_ctx *s, const struct ptx_insn *in) {
    char family[32], second[32] = "";
    if (!decode_opcode_part(in->opcode, 0, family, sizeof family) ||
        !is_integer(decode_opcode_type(in->opcode)))
        return known_low(0, 0);
    decode_opcode_part(in->opcode, 1, second, sizeof second);
    struct known_bits a = known_of_operand(s, in, 1), b = known_of_operand(s, in, 2),
                      c = known_of_operand(s, in, 3);
    if (a.count == KNOWN_BITS_TOP || b.count == KNOWN_BITS_TOP || c.count == KNOWN_BITS_TOP)
        return (struct known_bits){KNOWN_BITS_TOP, 0};
    bool low = strcmp(second, "lo") == 0 || strcmp(second, "wide") == 0;
    if (strcmp(family, "mov") == 0 || strcmp(family, "cvta") == 0) return a;
    if (strcmp(family, "cvt") == 0)
        return is_integer(ptx_type_of(second, strlen(second))) ? a : known_low(0, 0);
    if (strcmp(family, "add") == 0) return known_add(a, b, false);
    if (strcmp(family, "sub") == 0) return known_add(a, b, true);
    if (strcmp(family, "mul") == 0) return low ? known_mul(a, b) : known_low(0, 0);
    if (strcmp(family, "mad") == 0)
        return low ? known_add(known_mul(a, b), c, false) : known_low(0, 0);
    if (strcmp(family, "shl") == 0) return known_shift(a, in, true);
    if (strcmp(family, "shr") == 0) return known_shift(a, in, false);
    if (strcmp(family, "and") == 0) return known_and(a, b);
    if (strcmp(family, "or") == 0)
        return known_low(min_u32(a.count, b.count), a.low_bits | b.low_bits);
    if (strcmp(family, "xor") == 0)
        return known_low(min_u32(a.count, b.count), a.low_bits ^ b.low_bits);
    if (strcmp(family, "selp") == 0 || strcmp(family, "min") == 0 || strcmp(family, "max") == 0)
        return join(a, b);
    return known_low(0, 0);
}

/* Reduces what is known of the operand's registers, which are written, to `k`. Returns true on a
 * change. */
static bool join_known_bits(struct reg_analysis_ctx *s, const struct ptx_operand *p,
                            struct known_bits k) {
    bool changed = false;
    for (unsigned i = 0; i < p->nitems; i++)
        changed |= join_known_bits(s, &p->items[i], known_low(0, 0));
    if (p->kind != PTX_OP_REG || p->reg < 0) return changed;
    struct reg_analysis *r = &s->regs[p->reg];
    struct known_bits joined = join((struct known_bits){r->known_bits, r->known_low_bits}, k);
    changed |= joined.count != r->known_bits;
    r->known_bits = joined.count;
    r->known_low_bits = joined.low_bits;
    return changed;
}

static void compute_known_bits(struct reg_analysis_ctx *s) {
    bool changed = true;
    for (u32 i = 0; i < s->f->nregs; i++) s->regs[i].known_bits = KNOWN_BITS_TOP;
    for (u32 iteration = 0; changed && iteration < MAX_PASSES; iteration++) {
        changed = false;
        for (u32 i = 0; i < s->f->ninsns; i++) {
            const struct ptx_insn *in = &s->f->insns[i];
            if (in->noperands && decode_writes_first_operand(in))
                changed |= join_known_bits(s, &in->operands[0], known_result(s, in));
        }
    }
    for (u32 i = 0; i < s->f->nregs; i++)
        if (changed || s->regs[i].known_bits == KNOWN_BITS_TOP)
            s->regs[i].known_bits = s->regs[i].known_low_bits = 0;
}

/* ---- uniform registers ---- */

/* Returns true for special registers that are the same for the whole block. */
static bool is_block_uniform(const char *name) {
    static const char *const names[] = {"%ctaid",           "%nctaid",      "%ntid",
                                        "%gridid",          "%nwarpid",     "%smid",
                                        "%nsmid",           "%envreg",      "%dynamic_smem_size",
                                        "%total_smem_size", "%cluster_nct", "%nclusterid"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0) return true;
    return false;
}

static bool is_uniform_operand(const struct reg_analysis_ctx *s, const struct ptx_operand *p) {
    for (unsigned i = 0; i < p->nitems; i++)
        if (!is_uniform_operand(s, &p->items[i])) return false;
    if (p->kind == PTX_OP_SREG) return is_block_uniform(p->name);
    return (p->kind != PTX_OP_REG && p->kind != PTX_OP_ADDRESS) || p->reg < 0 ||
           s->regs[p->reg].is_uniform;
}

static bool is_parameter(const struct ptx_func *f, const struct ptx_operand *p) {
    for (unsigned i = 0; f->is_entry && i < f->nparams; i++)
        if (p->var == &f->params[i]) return true;
    return false;
}

/* Returns true if the instruction's result is uniform whenever its sources are. */
static bool preserves_uniformity(const struct reg_analysis_ctx *s, const struct ptx_insn *in) {
    static const char *const divergent_ops[] = {"atom",  "shfl",       "vote", "match",
                                                "redux", "activemask", "call", "barrier",
                                                "bar",   "isspacep"};
    char family[32];
    decode_opcode_part(in->opcode, 0, family, sizeof family);
    for (unsigned i = 0; i < sizeof divergent_ops / sizeof *divergent_ops; i++)
        if (strcmp(divergent_ops[i], family) == 0) return false;
    if (strcmp(family, "ld") != 0) return true;
    if (decode_opcode_has(in->opcode, "local") || decode_opcode_has(in->opcode, "volatile") ||
        decode_opcode_has(in->opcode, "relaxed"))
        return false;
    return !decode_opcode_has(in->opcode, "param") ||
           (in->noperands > 1 && is_parameter(s->f, &in->operands[1]));
}

static bool mark_divergent(struct reg_analysis_ctx *s, const struct ptx_operand *p) {
    bool changed = false;
    for (unsigned i = 0; i < p->nitems; i++) changed |= mark_divergent(s, &p->items[i]);
    int regs[] = {p->kind == PTX_OP_REG ? p->reg : -1, p->second_reg};
    for (unsigned i = 0; i < 2; i++) {
        if (regs[i] < 0) continue;
        changed |= s->regs[regs[i]].is_uniform;
        s->regs[regs[i]].is_uniform = false;
    }
    return changed;
}

static bool propagate_divergence(struct reg_analysis_ctx *s) {
    bool changed = false;
    for (u32 i = 0; i < s->f->ninsns; i++) {
        const struct ptx_insn *in = &s->f->insns[i];
        if (!in->noperands || !decode_writes_first_operand(in)) continue;
        bool is_uniform =
            preserves_uniformity(s, in) && (in->guard < 0 || s->regs[in->guard].is_uniform);
        for (unsigned k = 1; is_uniform && k < in->noperands; k++)
            is_uniform = is_uniform_operand(s, &in->operands[k]);
        if (!is_uniform) changed |= mark_divergent(s, &in->operands[0]);
    }
    return changed;
}

static void count_defs(const struct ptx_operand *p, u32 *defs) {
    for (unsigned i = 0; i < p->nitems; i++) count_defs(&p->items[i], defs);
    if (p->kind == PTX_OP_REG && p->reg >= 0) defs[p->reg]++;
    if (p->second_reg >= 0) defs[p->second_reg]++;
}

static void record_use(const struct ptx_operand *p, u32 at, u32 *last) {
    for (unsigned i = 0; i < p->nitems; i++) record_use(&p->items[i], at, last);
    if ((p->kind == PTX_OP_REG || p->kind == PTX_OP_ADDRESS) && p->reg >= 0) last[p->reg] = at;
}

static void collect_defs_and_uses(struct reg_analysis_ctx *s) {
    for (u32 i = 0; i < s->f->ninsns; i++) {
        const struct ptx_insn *in = &s->f->insns[i];
        bool writes = in->noperands && decode_writes_first_operand(in);
        if (writes) count_defs(&in->operands[0], s->defs);
        if (in->guard >= 0) s->last_use[in->guard] = i;
        for (unsigned k = writes; k < in->noperands; k++)
            record_use(&in->operands[k], i, s->last_use);
    }
}

static bool mark_region_divergent(struct reg_analysis_ctx *s, const struct ptx_operand *p, u32 end,
                                  bool is_loop) {
    bool changed = false;
    for (unsigned i = 0; i < p->nitems; i++)
        changed |= mark_region_divergent(s, &p->items[i], end, is_loop);
    int regs[] = {p->kind == PTX_OP_REG ? p->reg : -1, p->second_reg};
    for (unsigned i = 0; i < 2; i++) {
        if (regs[i] < 0 || !s->regs[regs[i]].is_uniform || s->defs[regs[i]] < 2) continue;
        if (!is_loop && (s->defs[regs[i]] == s->region_defs[regs[i]] || s->last_use[regs[i]] < end))
            continue;
        s->regs[regs[i]].is_uniform = false;
        changed = true;
    }
    return changed;
}

/* Marks what [first, end) makes divergent, since some lanes are missing there. Returns true on a
 * change. */
static bool propagate_region_divergence(struct reg_analysis_ctx *s, u32 first, u32 end,
                                        bool is_loop) {
    bool changed = false;
    for (u32 i = first; i < end; i++)
        if (s->f->insns[i].noperands && decode_writes_first_operand(&s->f->insns[i]))
            count_defs(&s->f->insns[i].operands[0], s->region_defs);
    for (u32 i = first; i < end; i++)
        if (s->f->insns[i].noperands && decode_writes_first_operand(&s->f->insns[i]))
            changed |= mark_region_divergent(s, &s->f->insns[i].operands[0], end, is_loop);
    memset(s->region_defs, 0, s->f->nregs * sizeof *s->region_defs);
    s->region_work += (end - first) + s->f->nregs / 8;
    return changed;
}

static bool propagate_branch_divergence(struct reg_analysis_ctx *s) {
    bool changed = false;
    for (u32 i = 0; i < s->f->ninsns && s->region_work < MAX_REGION_WORK; i++) {
        const struct ptx_insn *in = &s->f->insns[i];
        if (strncmp(in->opcode, "bra", 3) != 0 || in->guard < 0 || s->regs[in->guard].is_uniform)
            continue;
        for (unsigned k = 0; k < in->noperands; k++) {
            u32 to = in->operands[k].target;
            if (in->operands[k].kind != PTX_OP_LABEL) continue;
            changed |= to > i ? propagate_region_divergence(s, i + 1, to, false)
                              : propagate_region_divergence(s, to, i + 1, true);
        }
    }
    return changed;
}

/* Marks as divergent what can't be judged: registers that are written in several places. */
static void assume_divergent(struct reg_analysis_ctx *s) {
    for (u32 i = 0; i < s->f->nregs; i++)
        if (s->defs[i] > 1) s->regs[i].is_uniform = false;
    while (propagate_divergence(s))
        ;
}

static void compute_uniformity(struct reg_analysis_ctx *s) {
    bool changed = true, has_branch_table = false;
    for (u32 i = 0; i < s->f->nregs; i++) s->regs[i].is_uniform = true;
    for (u32 i = 0; i < s->f->ninsns; i++)
        has_branch_table |= strncmp(s->f->insns[i].opcode, "brx", 3) == 0;
    collect_defs_and_uses(s);
    for (u32 iteration = 0; changed && iteration < MAX_PASSES && s->region_work < MAX_REGION_WORK;
         iteration++) {
        changed = propagate_divergence(s);
        changed |= propagate_branch_divergence(s);
    }
    if (changed || has_branch_table || s->region_work >= MAX_REGION_WORK) assume_divergent(s);
}

struct reg_analysis *decode_analyze_registers(const struct decoder *d, bool with_uniformity) {
    const struct ptx_func *f = d->f;
    struct reg_analysis_ctx s = {.d = d, .f = f, .regs = xcalloc(f->nregs + 1, sizeof *s.regs)};
    compute_known_bits(&s);
    if (!with_uniformity) return s.regs;
    s.defs = xcalloc(f->nregs * 3ul + 1, sizeof *s.defs);
    s.region_defs = s.defs + f->nregs;
    s.last_use = s.region_defs + f->nregs;
    compute_uniformity(&s);
    free(s.defs);
    return s.regs;
}
