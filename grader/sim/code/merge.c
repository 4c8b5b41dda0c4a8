/* merge.c — what ptxas makes of accesses to shared memory and of atomics, marked so that counters
 * follow the hardware.
 *
 * Adjacent loads. Scalar loads of 4 or 8 bytes from one base register that fall into one block of
 * 16 bytes become one 128-bit load if they name three or four of its words, one 64-bit load if they
 * name both words of an aligned half; the base's low bits must be known. Stores do the same where
 * they fill the 16 or 8 bytes. Nothing moves over a branch target, a barrier or a store to shared
 * memory (for stores: an access to it); stores to global memory do not matter. volatile accesses,
 * bytes and halves are not merged.
 *
 * Atomics. An integer reduction of 32 bits (add, and, or, xor, min, max) whose address is the same
 * in all lanes is done by one lane with the warp's total; so is an addition whose result is used.
 * Where the value differs between lanes, devices before compute capability 8.0, and additions whose
 * result is used, do so only when the whole warp is there.
 *
 * All of this was read off the machine code of small kernels (nvcc 13.0 for sm_75, sm_80 and
 * sm_90): docs/counters.md. */
#include "grader/sim/code/facts.h"
#include "grader/sim/device.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_MEMBERS = 64, MOST_GROUPS = 16 };

struct member {
    u32 op;
    s64 offset;
    u8 bytes;
};

/* Accesses that may be merged: one base, one guard, nothing between that forbids it. */
struct group {
    bool store;
    ref base, guard;
    u32 flip, n;
    struct member member[MOST_MEMBERS];
};

struct merging {
    struct decoder *d;
    struct reg_facts *facts;
    int *reg_at; /* register in a frame slot (offset / 64), or -1 */
    struct group group[MOST_GROUPS];
    u32 ngroups;
};

static const struct reg_facts *facts_of(const struct merging *m, ref r) {
    static const struct reg_facts none;
    int reg = ref_base(r) == BASE_FRAME && ref_offset(r) / 64 < m->d->frame / 64
                  ? m->reg_at[ref_offset(r) / 64]
                  : -1;
    return reg >= 0 && m->d->regs[reg] == r ? &m->facts[reg] : &none;
}

/* Known low bits of an address in shared memory. */
static struct reg_facts base_facts(const struct merging *m, ref base) {
    if (base == REF_NONE) return (struct reg_facts){.bits = KNOWN_BITS};
    u32 slot = ref_offset(base);
    if (ref_base(base) == BASE_CONST)
        return (struct reg_facts){.bits = KNOWN_BITS, .residue = m->d->m->consts[slot] & 63};
    if (ref_base(base) == BASE_BLOCK &&
        (slot == B_DYNAMIC_32 * SLOT_BYTES || slot == B_DYNAMIC_64 * SLOT_BYTES))
        return (struct reg_facts){.bits = 4};
    return *facts_of(m, base);
}

/* ---- a group to merged accesses ---- */

static void mark_merged(struct merging *m, const struct group *g, u64 members, u32 width) {
    for (bool leader = true; members; members &= members - 1, leader = false) {
        const struct op *o = &m->d->m->ops[g->member[__builtin_ctzll(members)].op];
        m->d->m->mems[o->aux].merge = leader ? width : MERGED_AWAY;
    }
}

/* The words of [from, from + bytes) that the group's members name, each once; *members: which those
 * are. */
static u32 words_in(const struct group *g, s64 from, u32 bytes, u64 *members) {
    u32 words = 0;
    *members = 0;
    for (u32 i = 0; i < g->n; i++) {
        s64 into = g->member[i].offset - from;
        if (into < 0 || into + g->member[i].bytes > bytes) continue;
        u32 these = (g->member[i].bytes == 8 ? 3u : 1u) << (into / 4);
        if (words & these) continue;
        words |= these;
        *members |= 1ull << i;
    }
    return words;
}

static bool several(u64 members) { return (members & (members - 1)) != 0; }

static void merge_half(struct merging *m, const struct group *g, s64 from) {
    u64 members;
    if (words_in(g, from, 8, &members) == 3 && several(members)) mark_merged(m, g, members, 8);
}

static void merge_block(struct merging *m, const struct group *g, s64 from) {
    u64 members;
    u32 words = words_in(g, from, 16, &members);
    bool whole = g->store ? words == 15 : __builtin_popcount(words) >= 3;
    if (whole && several(members)) {
        mark_merged(m, g, members, 16);
        return;
    }
    merge_half(m, g, from);
    merge_half(m, g, from + 8);
}

static void close_group(struct merging *m, struct group *g) {
    struct reg_facts f = base_facts(m, g->base);
    u32 unit = f.bits >= 4 ? 16 : 8;
    s64 done[MOST_MEMBERS];
    for (u32 i = 0; i < g->n && f.bits >= 3; i++) {
        s64 at = g->member[i].offset + f.residue % unit,
            from = (at & -(s64)unit) - f.residue % unit;
        bool seen = false;
        for (u32 j = 0; j < i; j++) seen |= done[j] == from;
        done[i] = from;
        if (seen) continue;
        if (unit == 16) merge_block(m, g, from);
        else merge_half(m, g, from);
    }
    *g = m->group[--m->ngroups];
}

enum { LOADS = 1, STORES = 2 };
static void close_kinds(struct merging *m, int kinds) {
    for (u32 i = m->ngroups; i--;)
        if (kinds & (m->group[i].store ? STORES : LOADS)) close_group(m, &m->group[i]);
}

static void close_base(struct merging *m, ref base) {
    for (u32 i = m->ngroups; i--;)
        if (m->group[i].base == base) close_group(m, &m->group[i]);
}

/* ---- collecting groups ---- */

static struct group *group_for(struct merging *m, const struct op *o, bool store) {
    for (u32 i = 0; i < m->ngroups; i++) {
        struct group *g = &m->group[i];
        if (g->store != store || g->base != o->src[0] || g->guard != o->guard || g->flip != o->flip)
            continue;
        if (g->n < MOST_MEMBERS) return g;
        close_group(m, g);
        break;
    }
    if (m->ngroups == MOST_GROUPS) close_group(m, &m->group[0]);
    struct group *g = &m->group[m->ngroups++];
    *g = (struct group){.store = store, .base = o->src[0], .guard = o->guard, .flip = o->flip};
    return g;
}

static bool can_merge(const struct mem_desc *d) {
    u32 bytes = (u32)d->width * d->count;
    return d->space == SPACE_SHARED && !d->strong && d->width >= 4 && (bytes == 4 || bytes == 8);
}

static void take_load(struct merging *m, u32 i, const struct op *o, const struct mem_desc *d) {
    if (d->space == SPACE_SHARED || d->space == SPACE_GENERIC) close_kinds(m, STORES);
    if (can_merge(d)) {
        struct group *g = group_for(m, o, false);
        g->member[g->n++] = (struct member){i, o->imm, (u8)(d->width * d->count)};
    }
    for (u32 e = 0; e < d->count; e++) close_base(m, d->reg[e]);
}

static void take_store(struct merging *m, u32 i, const struct op *o, const struct mem_desc *d) {
    if (d->space != SPACE_SHARED && d->space != SPACE_GENERIC) return;
    close_kinds(m, LOADS);
    if (!can_merge(d)) {
        close_kinds(m, STORES);
        return;
    }
    struct group *g = group_for(m, o, true);
    for (u32 k = m->ngroups; k--;) /* one store may overwrite what another base names */
        if (m->group[k].store && m->group[k].base != g->base) {
            close_group(m, &m->group[k]);
            g = group_for(m, o, true);
        }
    g->member[g->n++] = (struct member){i, o->imm, (u8)(d->width * d->count)};
}

/* ---- atomics ---- */

static bool is_uniform(const struct merging *m, ref r) {
    if (r == REF_NONE || ref_base(r) == BASE_CONST || ref_base(r) == BASE_BLOCK) return true;
    return ref_base(r) == BASE_FRAME && facts_of(m, r)->uniform;
}

static bool totals(const struct mem_desc *d) {
    bool word = d->type == PTX_U32 || d->type == PTX_S32 || d->type == PTX_B32;
    return word && (d->atom == ATOM_ADD || d->atom == ATOM_AND || d->atom == ATOM_OR ||
                    d->atom == ATOM_XOR || d->atom == ATOM_MIN || d->atom == ATOM_MAX);
}

static void aggregate(struct merging *m, const struct op *o, struct mem_desc *d) {
    bool old = m->d->m->options->device->cc_major < 8, used = d->verb == MEM_ATOM;
    if (!totals(d) || (used && d->atom != ATOM_ADD) ||
        (d->space != SPACE_GLOBAL && d->space != SPACE_SHARED))
        return;
    if (!is_uniform(m, o->src[0])) return;
    bool same_value = d->atom == ATOM_ADD && is_uniform(m, d->operand[0]);
    d->aggregate = same_value || (!old && !used) ? AGGREGATE_ALWAYS : AGGREGATE_WHOLE_WARPS;
}

/* ---- a function ---- */

static void take(struct merging *m, u32 i) {
    struct sim_module *module = m->d->m;
    const struct op *o = &module->ops[i];
    const char *name = insn_rows[o->row].name;
    bool ld = strcmp(name, "ld") == 0, st = strcmp(name, "st") == 0,
         atom = strcmp(name, "atom") == 0;
    if (ld) take_load(m, i, o, &module->mems[o->aux]);
    if (st) take_store(m, i, o, &module->mems[o->aux]);
    if (atom) aggregate(m, o, &module->mems[o->aux]);
    bool other_memory = !ld && !st && insn_rows[o->row].pipe == PIPE_LSU;
    if (o->kind != OP_LANES || other_memory) close_kinds(m, LOADS | STORES);
    if (!ld && !st) close_base(m, o->dst);
}

static bool has_memory(const struct decoder *d, bool *atomics) {
    bool shared = false;
    *atomics = false;
    for (u32 i = 0; i < d->f->ninsns; i++) {
        const char *op = d->f->insns[i].opcode;
        shared |= decode_opcode_has(op, "shared") || decode_opcode_has(op, "shared::cta");
        *atomics |= strncmp(op, "atom", 4) == 0 || strncmp(op, "red.", 4) == 0;
    }
    return shared || *atomics;
}

void decode_merge_memory(struct decoder *d) {
    bool atomics;
    if (d->m->options->ptx_counters || !has_memory(d, &atomics)) return;
    struct merging *m = xcalloc(1, sizeof *m);
    m->d = d;
    m->facts = decode_facts_find(d, atomics);
    m->reg_at = xcalloc(d->frame / 64 + 1, sizeof *m->reg_at);
    for (u32 i = 0; i <= d->frame / 64; i++) m->reg_at[i] = -1;
    for (u32 i = 0; i < d->f->nregs; i++)
        if (decode_reg_bytes(d->f->regs[i].type) >= 4)
            m->reg_at[ref_offset(d->regs[i]) / 64] = (int)i;
    for (u32 i = d->c->first_op; i < d->m->nops; i++) take(m, i);
    free(m->facts);
    free(m->reg_at);
    free(m);
}
