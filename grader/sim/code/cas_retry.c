/* cas_retry.c — finds plain loads whose value a later atomic of the same function verifies. The
 * decoder calls it for each function.
 *
 * "Read, then do the atomic only if it looks useful" is a pattern that hardware allows, as in the
 * Programming Guide's own loop around atomicCAS: old = *address; do { assumed = old; old =
 * atomicCAS(address, assumed, …); } while (assumed != old). The loaded value may be out of date;
 * then the atomic finds out. An atomic verifies an earlier load if it has the same address, in the
 * same registers, and
 *
 *   - it is a compare-and-swap that compares with the loaded value, or with one computed from it;
 *     or
 *   - it may be skipped once it has been done (exchange, minimum, maximum, and, or), and the loaded
 *     value only decides: it reaches no store, address, call or other atomic.
 *
 * race/ reports such a read that races with other threads' atomics as a note, not as a hazard. */
#include "grader/sim/code/decode.h"

#include <stdlib.h>
#include <string.h>

struct derived_values {
    const struct sim_module *m;
    const struct sim_func *c;
    unsigned char *is_derived; /* by 4 bytes of the frame: computed from the loaded value */
};

static bool is_derived_ref(const struct derived_values *v, ref r) {
    return r != REF_NONE && ref_base(r) == BASE_FRAME && v->is_derived[ref_offset(r) / 4];
}

static bool has_mnemonic(const struct op *o, const char *name) {
    return strcmp(insn_opcodes[o->opcode].name, name) == 0;
}

static bool is_memory(const struct op *o) {
    return has_mnemonic(o, "ld") || has_mnemonic(o, "st") || has_mnemonic(o, "atom");
}

/* Marks the op's result if it is computed from the loaded value; returns true on a change.
 * Predicates aren't marked, since they only decide. */
static bool propagate_derived(struct derived_values *v, const struct op *o) {
    bool is_derived = false;
    if (o->kind != OP_LANEWISE || is_memory(o) || o->dst == REF_NONE ||
        ref_base(o->dst) != BASE_FRAME)
        return false;
    if (insn_opcodes[o->opcode].form == FORM_SETP) return false;
    for (u32 i = 0; i < MAX_SRC_OPERANDS; i++) is_derived |= is_derived_ref(v, o->src[i]);
    if (!is_derived || v->is_derived[ref_offset(o->dst) / 4]) return false;
    v->is_derived[ref_offset(o->dst) / 4] = true;
    return true;
}

static void compute_derived(struct derived_values *v, ref loaded) {
    v->is_derived[ref_offset(loaded) / 4] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 i = v->c->first_op; i < v->m->nops; i++)
            changed |= propagate_derived(v, &v->m->ops[i]);
    }
}

/* Returns true if the op uses the value for more than a decision. `atom`: the verifying atomic. */
static bool escapes(const struct derived_values *v, const struct op *o, const struct op *atom) {
    if (o->kind == OP_WARP_SYNC) return is_derived_ref(v, o->src[0]);
    if (o == atom || o->kind != OP_LANEWISE || !is_memory(o)) return o->kind == OP_CALL;
    const struct mem_desc *d = &v->m->mems[o->aux];
    bool has_escaped = is_derived_ref(v, o->src[0]);
    for (u32 e = 0; d->verb == MEM_STORE && e < d->count; e++)
        has_escaped |= is_derived_ref(v, d->reg[e]);
    return has_escaped || (d->verb >= MEM_ATOM &&
                           (is_derived_ref(v, d->operand[0]) || is_derived_ref(v, d->operand[1])));
}

static bool is_control_only(const struct derived_values *v, const struct op *atom) {
    for (u32 i = v->c->first_op; i < v->m->nops; i++)
        if (escapes(v, &v->m->ops[i], atom)) return false;
    return true;
}

/* Returns true if at most one op of the function writes it; a parameter has none. */
static bool has_single_def(const struct sim_module *m, const struct sim_func *c, ref r) {
    u32 n = 0;
    if (r == REF_NONE || ref_base(r) != BASE_FRAME) return true;
    for (u32 i = c->first_op; i < m->nops; i++)
        n += m->ops[i].kind == OP_LANEWISE && m->ops[i].dst == r;
    return n < 2;
}

/* An address: a register plus an offset. */
struct base_offset {
    ref base;
    s64 offset;
};

static const struct op *find_single_def(const struct sim_module *m, const struct sim_func *c,
                                        ref r) {
    const struct op *found = NULL;
    if (r == REF_NONE || ref_base(r) != BASE_FRAME) return NULL;
    for (u32 i = c->first_op; i < m->nops; i++) {
        if (m->ops[i].kind != OP_LANEWISE || m->ops[i].dst != r) continue;
        if (found || ref_base(m->ops[i].guard) == BASE_FRAME) return NULL;
        found = &m->ops[i];
    }
    return found;
}

static s64 const_value(const struct sim_module *m, ref r, bool wide) {
    s64 v = 0;
    s32 word;
    memcpy(&v, m->consts + ref_offset(r), 8);
    memcpy(&word, m->consts + ref_offset(r), 4);
    return wide ? v : word;
}

/* Traces an address back through additions of constants, moves and conversions. */
static struct base_offset resolve_address(const struct sim_module *m, const struct sim_func *c,
                                          struct base_offset p) {
    enum { MAX_STEPS = 8 };
    for (u32 i = 0; i < MAX_STEPS; i++) {
        const struct op *o = find_single_def(m, c, p.base);
        const char *name = o ? insn_opcodes[o->opcode].name : "";
        bool wide = !strncmp(name, "add.s64", 7) || !strncmp(name, "add.u64", 7),
             sum = wide || !strncmp(name, "add.s32", 7) || !strncmp(name, "add.u32", 7);
        if (sum && o->src[1] != REF_NONE && ref_base(o->src[1]) == BASE_CONST)
            p.offset += const_value(m, o->src[1], wide);
        else if (strncmp(name, "mov.", 4) && strcmp(name, "cvta")) break;
        p.base = o->src[0];
    }
    return p;
}

static bool same_address(const struct sim_module *m, const struct sim_func *c,
                         const struct op *load, const struct op *atom) {
    const struct mem_desc *d = &m->mems[load->aux], *a = &m->mems[atom->aux];
    if (d->width != a->width || (d->space == SPACE_SHARED) != (a->space == SPACE_SHARED))
        return false;
    struct base_offset p = resolve_address(m, c, (struct base_offset){load->src[0], load->imm}),
                       q = resolve_address(m, c, (struct base_offset){atom->src[0], atom->imm});
    return p.base == q.base && p.offset == q.offset;
}

static bool verifies_load(const struct sim_module *m, const struct sim_func *c,
                          const struct op *load, const struct op *atom) {
    const struct mem_desc *a = &m->mems[atom->aux];
    bool is_skippable = a->atom == ATOM_EXCH || a->atom == ATOM_MIN || a->atom == ATOM_MAX ||
                        a->atom == ATOM_AND || a->atom == ATOM_OR;
    if ((!is_skippable && a->atom != ATOM_CAS) || !same_address(m, c, load, atom)) return false;
    struct derived_values v = {m, c, xcalloc(c->frame_bytes / 4 + 1, 1)};
    compute_derived(&v, m->mems[load->aux].reg[0]);
    bool is_compared = a->atom == ATOM_CAS && is_derived_ref(&v, a->operand[0]),
         ok = is_compared || is_control_only(&v, atom);
    free(v.is_derived);
    return ok;
}

static bool is_candidate_load(const struct sim_module *m, const struct sim_func *c,
                              const struct op *o) {
    if (o->kind != OP_LANEWISE || !has_mnemonic(o, "ld")) return false;
    const struct mem_desc *d = &m->mems[o->aux];
    bool space = d->space == SPACE_GLOBAL || d->space == SPACE_GENERIC || d->space == SPACE_SHARED;
    if (!space || d->strong || d->count != 1 || d->reg[0] == REF_NONE) return false;
    return ref_base(d->reg[0]) == BASE_FRAME && has_single_def(m, c, o->src[0]);
}

void decode_find_cas_retries(struct decoder *d) {
    /* Of a function. Each one costs a scan of the function for every load of its address. */
    enum { MAX_ATOMS = 64 };
    const struct sim_module *m = d->m;
    u32 atoms[MAX_ATOMS], n = 0;
    for (u32 i = d->c->first_op; i < m->nops && n < MAX_ATOMS; i++)
        if (m->ops[i].kind == OP_LANEWISE && has_mnemonic(&m->ops[i], "atom")) atoms[n++] = i;
    for (u32 i = d->c->first_op; n && i < m->nops; i++) {
        if (!is_candidate_load(m, d->c, &m->ops[i])) continue;
        bool is_verified = false;
        for (u32 k = 0; k < n && !is_verified; k++)
            is_verified = atoms[k] > i && verifies_load(m, d->c, &m->ops[i], &m->ops[atoms[k]]);
        if (is_verified) m->mems[m->ops[i].aux].verified_by_atomic = true;
    }
}
