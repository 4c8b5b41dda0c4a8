/* recheck.c — plain loads of what an atomic of the same function then checks again.
 *
 * "Read, and ask an atomic if it looks worth it" is a habit that hardware allows, as in the
 * Programming Guide's own loop round atomicCAS: old = *address; do { assumed = old; old =
 * atomicCAS(address, assumed, …); } while (assumed != old). What the load gives may be out of date;
 * then the atomic says so. A load is taken to be checked again where an atomic behind it has the
 * same address, in the same registers, and
 *
 *   - is a compare-and-swap that compares with what was loaded, or something made from it; or
 *   - is one that may be skipped once it was done (exchange, minimum, maximum, and, or), and what
 * was loaded only decides: it goes into no store, address, call or other atomic.
 *
 * Such a read beside other threads' atomics is a note, no fault: race/. */
#include "grader/sim/code/decode.h"

#include <stdlib.h>
#include <string.h>

struct values {
    const struct sim_module *m;
    const struct code *c;
    unsigned char *from; /* by 4 bytes of the frame: made from what was loaded */
};

static bool is_from(const struct values *v, ref r) {
    return r != REF_NONE && ref_base(r) == BASE_FRAME && v->from[ref_offset(r) / 4];
}

static bool is_named(const struct op *o, const char *name) {
    return strcmp(insn_rows[o->row].name, name) == 0;
}

static bool is_memory(const struct op *o) {
    return is_named(o, "ld") || is_named(o, "st") || is_named(o, "atom");
}

/* Adds what the op makes of it; true if that was new. Predicates end the way: they decide. */
static bool follow(struct values *v, const struct op *o) {
    bool made = false;
    if (o->kind != OP_LANES || is_memory(o) || o->dst == REF_NONE || ref_base(o->dst) != BASE_FRAME)
        return false;
    if (insn_rows[o->row].form == FORM_SETP) return false;
    for (u32 i = 0; i < ROW_SRC; i++) made |= is_from(v, o->src[i]);
    if (!made || v->from[ref_offset(o->dst) / 4]) return false;
    v->from[ref_offset(o->dst) / 4] = true;
    return true;
}

static void close_values(struct values *v, ref loaded) {
    v->from[ref_offset(loaded) / 4] = true;
    for (bool more = true; more;) {
        more = false;
        for (u32 i = v->c->first_op; i < v->m->nops; i++) more |= follow(v, &v->m->ops[i]);
    }
}

/* Some of it goes where it does not only decide. `atom`: the atomic that checks again. */
static bool escapes(const struct values *v, const struct op *o, const struct op *atom) {
    if (o->kind == OP_RENDEZVOUS) return is_from(v, o->src[0]);
    if (o == atom || o->kind != OP_LANES || !is_memory(o)) return o->kind == OP_CALL;
    const struct mem_desc *d = &v->m->mems[o->aux];
    bool out = is_from(v, o->src[0]);
    for (u32 e = 0; d->verb == MEM_STORE && e < d->count; e++) out |= is_from(v, d->reg[e]);
    return out || (d->verb >= MEM_ATOM && (is_from(v, d->operand[0]) || is_from(v, d->operand[1])));
}

static bool only_decides(const struct values *v, const struct op *atom) {
    for (u32 i = v->c->first_op; i < v->m->nops; i++)
        if (escapes(v, &v->m->ops[i], atom)) return false;
    return true;
}

/* Written by one op of the function, or by none: a parameter. */
static bool written_once(const struct sim_module *m, const struct code *c, ref r) {
    u32 n = 0;
    if (r == REF_NONE || ref_base(r) != BASE_FRAME) return true;
    for (u32 i = c->first_op; i < m->nops; i++)
        n += m->ops[i].kind == OP_LANES && m->ops[i].dst == r;
    return n < 2;
}

/* An address as a register and what is added to it. */
struct place {
    ref base;
    s64 offset;
};

static const struct op *definition(const struct sim_module *m, const struct code *c, ref r) {
    const struct op *found = NULL;
    if (r == REF_NONE || ref_base(r) != BASE_FRAME) return NULL;
    for (u32 i = c->first_op; i < m->nops; i++) {
        if (m->ops[i].kind != OP_LANES || m->ops[i].dst != r) continue;
        if (found || ref_base(m->ops[i].guard) == BASE_FRAME) return NULL;
        found = &m->ops[i];
    }
    return found;
}

static s64 constant(const struct sim_module *m, ref r, bool wide) {
    s64 v = 0;
    s32 word;
    memcpy(&v, m->consts + ref_offset(r), 8);
    memcpy(&word, m->consts + ref_offset(r), 4);
    return wide ? v : word;
}

/* Through additions of constants and what only moves the address. */
static struct place resolve(const struct sim_module *m, const struct code *c, struct place p) {
    enum { STEPS = 8 };
    for (u32 i = 0; i < STEPS; i++) {
        const struct op *o = definition(m, c, p.base);
        const char *name = o ? insn_rows[o->row].name : "";
        bool wide = !strncmp(name, "add.s64", 7) || !strncmp(name, "add.u64", 7),
             sum = wide || !strncmp(name, "add.s32", 7) || !strncmp(name, "add.u32", 7);
        if (sum && o->src[1] != REF_NONE && ref_base(o->src[1]) == BASE_CONST)
            p.offset += constant(m, o->src[1], wide);
        else if (strncmp(name, "mov.", 4) && strcmp(name, "cvta")) break;
        p.base = o->src[0];
    }
    return p;
}

static bool same_place(const struct sim_module *m, const struct code *c, const struct op *load,
                       const struct op *atom) {
    const struct mem_desc *d = &m->mems[load->aux], *a = &m->mems[atom->aux];
    if (d->width != a->width || (d->space == SPACE_SHARED) != (a->space == SPACE_SHARED))
        return false;
    struct place p = resolve(m, c, (struct place){load->src[0], load->imm}),
                 q = resolve(m, c, (struct place){atom->src[0], atom->imm});
    return p.base == q.base && p.offset == q.offset;
}

static bool checks(const struct sim_module *m, const struct code *c, const struct op *load,
                   const struct op *atom) {
    const struct mem_desc *a = &m->mems[atom->aux];
    bool skips = a->atom == ATOM_EXCH || a->atom == ATOM_MIN || a->atom == ATOM_MAX ||
                 a->atom == ATOM_AND || a->atom == ATOM_OR;
    if ((!skips && a->atom != ATOM_CAS) || !same_place(m, c, load, atom)) return false;
    struct values v = {m, c, xcalloc(c->frame_bytes / 4 + 1, 1)};
    close_values(&v, m->mems[load->aux].reg[0]);
    bool compared = a->atom == ATOM_CAS && is_from(&v, a->operand[0]),
         ok = compared || only_decides(&v, atom);
    free(v.from);
    return ok;
}

static bool may_be(const struct sim_module *m, const struct code *c, const struct op *o) {
    if (o->kind != OP_LANES || !is_named(o, "ld")) return false;
    const struct mem_desc *d = &m->mems[o->aux];
    bool space = d->space == SPACE_GLOBAL || d->space == SPACE_GENERIC || d->space == SPACE_SHARED;
    if (!space || d->strong || d->count != 1 || d->reg[0] == REF_NONE) return false;
    return ref_base(d->reg[0]) == BASE_FRAME && written_once(m, c, o->src[0]);
}

void decode_find_rechecked(struct decoder *d) {
    enum {
        MOST_ATOMS = 64
    }; /* a function; each costs a look at all of it for each load of its place */
    const struct sim_module *m = d->m;
    u32 atoms[MOST_ATOMS], n = 0;
    for (u32 i = d->c->first_op; i < m->nops && n < MOST_ATOMS; i++)
        if (m->ops[i].kind == OP_LANES && is_named(&m->ops[i], "atom")) atoms[n++] = i;
    for (u32 i = d->c->first_op; n && i < m->nops; i++) {
        if (!may_be(m, d->c, &m->ops[i])) continue;
        bool again = false;
        for (u32 k = 0; k < n && !again; k++)
            again = atoms[k] > i && checks(m, d->c, &m->ops[i], &m->ops[atoms[k]]);
        if (again) m->mems[m->ops[i].aux].rechecked = true;
    }
}
