/* access_merging.c — marks the accesses to shared memory that ptxas merges, and the atomics that it
 * aggregates, so that counters follow the hardware. The decoder calls it for each function.
 *
 * Adjacent loads. Scalar loads of 4 or 8 bytes from one base register that fall into one block of
 * 16 bytes become one 128-bit load if they use three or four of its words, one 64-bit load if they
 * use both words of an aligned half; the base's low bits must be known. Stores do the same where
 * they fill the 16 or 8 bytes. No access moves across a branch target, a barrier or a store to
 * shared memory (a store: across any access to it); stores to global memory don't matter. volatile
 * accesses, bytes and halves are not merged.
 *
 * Atomics. One lane does an integer reduction of 32 bits (add, and, or, xor, min, max) with the
 * warp's total if the address is the same in all lanes; so it does an addition whose result is
 * used. If the value differs between lanes, devices before compute capability 8.0, and additions
 * whose result is used, do so only for full warps.
 *
 * All of this was read off the machine code of small kernels (nvcc 13.0 for sm_75, sm_80 and
 * sm_90): docs/counters.md. */
#include "grader/sim/code/reg_analysis.h"
#include "grader/sim/device.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_GROUP_ACCESSES = 64, MAX_GROUPS = 16 };

struct group_access {
    u32 op;
    s64 offset;
    u8 bytes;
};

/* Accesses that may be merged: they share a base and a guard, and nothing between them forbids
 * it. */
struct access_group {
    bool store;
    ref base, guard;
    u32 guard_xor, n;
    struct group_access accesses[MAX_GROUP_ACCESSES];
};

struct merge_ctx {
    struct decoder *d;
    struct reg_analysis *reg_analysis;
    int *slot_reg; /* register in a frame slot (offset / 64), or -1 */
    struct access_group groups[MAX_GROUPS];
    u32 ngroups;
};

static const struct reg_analysis *reg_analysis_of(const struct merge_ctx *m, ref r) {
    static const struct reg_analysis none;
    int reg = ref_base(r) == BASE_FRAME && ref_offset(r) / 64 < m->d->frame_bytes / 64
                  ? m->slot_reg[ref_offset(r) / 64]
                  : -1;
    return reg >= 0 && m->d->regs[reg] == r ? &m->reg_analysis[reg] : &none;
}

/* Returns the known low bits of an address in shared memory. */
static struct reg_analysis base_known_bits(const struct merge_ctx *m, ref base) {
    if (base == REF_NONE) return (struct reg_analysis){.known_bits = MAX_KNOWN_BITS};
    u32 slot = ref_offset(base);
    if (ref_base(base) == BASE_CONST)
        return (struct reg_analysis){.known_bits = MAX_KNOWN_BITS,
                                     .known_low_bits = m->d->m->consts[slot] & 63};
    if (ref_base(base) == BASE_BLOCK &&
        (slot == B_DYN_SHARED_BASE32 * SLOT_BYTES || slot == B_DYN_SHARED_BASE64 * SLOT_BYTES))
        return (struct reg_analysis){.known_bits = 4};
    return *reg_analysis_of(m, base);
}

/* ---- merging a group ---- */

static void mark_merged(struct merge_ctx *m, const struct access_group *g, u64 members, u32 width) {
    for (bool leader = true; members; members &= members - 1, leader = false) {
        const struct op *o = &m->d->m->ops[g->accesses[__builtin_ctzll(members)].op];
        m->d->m->mems[o->aux].merged_bytes = leader ? width : MERGED_INTO_OTHER;
    }
}

/* Returns how many words of [from, from + bytes) the group's members cover; *members: a bit for
 * each of these members. */
static u32 covered_words(const struct access_group *g, s64 from, u32 bytes, u64 *members) {
    u32 words = 0;
    *members = 0;
    for (u32 i = 0; i < g->n; i++) {
        s64 offset_in = g->accesses[i].offset - from;
        if (offset_in < 0 || offset_in + g->accesses[i].bytes > bytes) continue;
        u32 access_words = (g->accesses[i].bytes == 8 ? 3u : 1u) << (offset_in / 4);
        if (words & access_words) continue;
        words |= access_words;
        *members |= 1ull << i;
    }
    return words;
}

static bool has_multiple(u64 members) { return (members & (members - 1)) != 0; }

static void merge_8_bytes(struct merge_ctx *m, const struct access_group *g, s64 from) {
    u64 members;
    if (covered_words(g, from, 8, &members) == 3 && has_multiple(members))
        mark_merged(m, g, members, 8);
}

static void merge_16_bytes(struct merge_ctx *m, const struct access_group *g, s64 from) {
    u64 members;
    u32 words = covered_words(g, from, 16, &members);
    bool can_merge_all = g->store ? words == 15 : __builtin_popcount(words) >= 3;
    if (can_merge_all && has_multiple(members)) {
        mark_merged(m, g, members, 16);
        return;
    }
    merge_8_bytes(m, g, from);
    merge_8_bytes(m, g, from + 8);
}

static void flush_group(struct merge_ctx *m, struct access_group *g) {
    struct reg_analysis f = base_known_bits(m, g->base);
    u32 unit = f.known_bits >= 4 ? 16 : 8;
    s64 starts[MAX_GROUP_ACCESSES];
    for (u32 i = 0; i < g->n && f.known_bits >= 3; i++) {
        s64 at = g->accesses[i].offset + f.known_low_bits % unit,
            from = (at & -(s64)unit) - f.known_low_bits % unit;
        bool is_duplicate = false;
        for (u32 j = 0; j < i; j++) is_duplicate |= starts[j] == from;
        starts[i] = from;
        if (is_duplicate) continue;
        if (unit == 16) merge_16_bytes(m, g, from);
        else merge_8_bytes(m, g, from);
    }
    *g = m->groups[--m->ngroups];
}

enum { LOAD_GROUPS = 1, STORE_GROUPS = 2 };
static void flush_groups_of_kind(struct merge_ctx *m, int kinds) {
    for (u32 i = m->ngroups; i--;)
        if (kinds & (m->groups[i].store ? STORE_GROUPS : LOAD_GROUPS))
            flush_group(m, &m->groups[i]);
}

static void flush_groups_of_base(struct merge_ctx *m, ref base) {
    for (u32 i = m->ngroups; i--;)
        if (m->groups[i].base == base) flush_group(m, &m->groups[i]);
}

/* ---- collecting groups ---- */

static struct access_group *find_group(struct merge_ctx *m, const struct op *o, bool store) {
    for (u32 i = 0; i < m->ngroups; i++) {
        struct access_group *g = &m->groups[i];
        if (g->store != store || g->base != o->src[0] || g->guard != o->guard ||
            g->guard_xor != o->guard_xor)
            continue;
        if (g->n < MAX_GROUP_ACCESSES) return g;
        flush_group(m, g);
        break;
    }
    if (m->ngroups == MAX_GROUPS) flush_group(m, &m->groups[0]);
    struct access_group *g = &m->groups[m->ngroups++];
    *g = (struct access_group){
        .store = store, .base = o->src[0], .guard = o->guard, .guard_xor = o->guard_xor};
    return g;
}

static bool can_merge(const struct mem_desc *d) {
    u32 bytes = (u32)d->width * d->count;
    return d->space == SPACE_SHARED && !d->strong && d->width >= 4 && (bytes == 4 || bytes == 8);
}

static void process_load(struct merge_ctx *m, u32 i, const struct op *o, const struct mem_desc *d) {
    if (d->space == SPACE_SHARED || d->space == SPACE_GENERIC)
        flush_groups_of_kind(m, STORE_GROUPS);
    if (can_merge(d)) {
        struct access_group *g = find_group(m, o, false);
        g->accesses[g->n++] = (struct group_access){i, o->imm, (u8)(d->width * d->count)};
    }
    for (u32 e = 0; e < d->count; e++) flush_groups_of_base(m, d->reg[e]);
}

static void process_store(struct merge_ctx *m, u32 i, const struct op *o,
                          const struct mem_desc *d) {
    if (d->space != SPACE_SHARED && d->space != SPACE_GENERIC) return;
    flush_groups_of_kind(m, LOAD_GROUPS);
    if (!can_merge(d)) {
        flush_groups_of_kind(m, STORE_GROUPS);
        return;
    }
    struct access_group *g = find_group(m, o, true);
    for (u32 k = m->ngroups; k--;) /* a store may overwrite a word that another base addresses */
        if (m->groups[k].store && m->groups[k].base != g->base) {
            flush_group(m, &m->groups[k]);
            g = find_group(m, o, true);
        }
    g->accesses[g->n++] = (struct group_access){i, o->imm, (u8)(d->width * d->count)};
}

/* ---- atomics ---- */

static bool is_uniform_ref(const struct merge_ctx *m, ref r) {
    if (r == REF_NONE || ref_base(r) == BASE_CONST || ref_base(r) == BASE_BLOCK) return true;
    return ref_base(r) == BASE_FRAME && reg_analysis_of(m, r)->is_uniform;
}

static bool is_aggregatable(const struct mem_desc *d) {
    bool word = d->type == PTX_U32 || d->type == PTX_S32 || d->type == PTX_B32;
    return word && (d->atom == ATOM_ADD || d->atom == ATOM_AND || d->atom == ATOM_OR ||
                    d->atom == ATOM_XOR || d->atom == ATOM_MIN || d->atom == ATOM_MAX);
}

static void set_warp_aggregation(struct merge_ctx *m, const struct op *o, struct mem_desc *d) {
    bool is_pre_sm80 = m->d->m->options->device->cc_major < 8, is_result_used = d->verb == MEM_ATOM;
    if (!is_aggregatable(d) || (is_result_used && d->atom != ATOM_ADD) ||
        (d->space != SPACE_GLOBAL && d->space != SPACE_SHARED))
        return;
    if (!is_uniform_ref(m, o->src[0])) return;
    bool same_value = d->atom == ATOM_ADD && is_uniform_ref(m, d->operand[0]);
    d->warp_aggregation =
        same_value || (!is_pre_sm80 && !is_result_used) ? AGGREGATE_ALWAYS : AGGREGATE_FULL_WARPS;
}

/* ---- constant memory ---- */

/* ptxas loads a word whose address is uniform into a uniform register or makes it an operand, else
 * each lane into its register. */
static void mark_lane_address(struct merge_ctx *m, const struct op *o, struct mem_desc *d) {
    d->has_lane_address = d->space == SPACE_CONST && !is_uniform_ref(m, o->src[0]);
}

/* ---- a function ---- */

static void process_op(struct merge_ctx *m, u32 i) {
    struct sim_module *module = m->d->m;
    const struct op *o = &module->ops[i];
    const char *name = insn_opcodes[o->opcode].name;
    bool ld = strcmp(name, "ld") == 0, st = strcmp(name, "st") == 0,
         atom = strcmp(name, "atom") == 0;
    if (ld) mark_lane_address(m, o, &module->mems[o->aux]);
    if (ld) process_load(m, i, o, &module->mems[o->aux]);
    if (st) process_store(m, i, o, &module->mems[o->aux]);
    if (atom) set_warp_aggregation(m, o, &module->mems[o->aux]);
    bool other_memory = !ld && !st && insn_opcodes[o->opcode].pipe == PIPE_LSU;
    if (o->kind != OP_LANEWISE || other_memory) flush_groups_of_kind(m, LOAD_GROUPS | STORE_GROUPS);
    if (!ld && !st) flush_groups_of_base(m, o->dst);
}

static bool has_memory(const struct decoder *d, bool *needs_uniformity) {
    bool shared = false;
    *needs_uniformity = false;
    for (u32 i = 0; i < d->f->ninsns; i++) {
        const char *op = d->f->insns[i].opcode;
        shared |= decode_opcode_has(op, "shared") || decode_opcode_has(op, "shared::cta");
        *needs_uniformity |= strncmp(op, "atom", 4) == 0 || strncmp(op, "red.", 4) == 0 ||
                             decode_opcode_has(op, "const");
    }
    return shared || *needs_uniformity;
}

void decode_merge_accesses(struct decoder *d) {
    bool needs_uniformity;
    if (d->m->options->ptx_counters || !has_memory(d, &needs_uniformity)) return;
    struct merge_ctx *m = xcalloc(1, sizeof *m);
    m->d = d;
    m->reg_analysis = decode_analyze_registers(d, needs_uniformity);
    m->slot_reg = xcalloc(d->frame_bytes / 64 + 1, sizeof *m->slot_reg);
    for (u32 i = 0; i <= d->frame_bytes / 64; i++) m->slot_reg[i] = -1;
    for (u32 i = 0; i < d->f->nregs; i++)
        if (decode_reg_bytes(d->f->regs[i].type) >= 4)
            m->slot_reg[ref_offset(d->regs[i]) / 64] = (int)i;
    for (u32 i = d->c->first_op; i < d->m->nops; i++) process_op(m, i);
    free(m->reg_analysis);
    free(m->slot_reg);
    free(m);
}
