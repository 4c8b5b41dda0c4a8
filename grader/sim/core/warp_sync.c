/* warp_sync.c — operations of several lanes: shuffles, votes, matches, reductions, warp barriers
 * (the .sync forms). core/warp.c calls it.
 *
 * A warp sync needs all live lanes of its member mask; they may arrive from different places. It
 * gathers the lanes' operands (`gather_operands`), computes the result over all of them
 * (`compute_result`), and scatters it to each split (`scatter_results`). In the usual case one
 * split holds all members, and nothing waits. */
#include "grader/sim/core/undef.h"

#include <string.h>

struct warp_exchange {
    u64 a[32];
    u32 b[32], c[32];
    u64 result[32];
    u32 predicate;             /* the predicate result, by lane */
    u32 inactive_source_lanes; /* lanes that shuffle from a lane that does not take part */
    u32 members;               /* the member mask */
    /* Undefined bits of a and of the result; lanes whose b or c, or whose predicate result, is
     * undefined: core/undef.h */
    u64 undef[32], result_undef[32];
    u32 undef_operand_lanes, predicate_undef;
    u8 origin, source_lane[32]; /* source_lane: the lane whose value each lane gets */
};

static unsigned char *operand_slot(const struct exec *x, const struct warp *w,
                                   const struct warp_split *f, ref r) {
    unsigned char *base = ref_base(r) == BASE_FRAME
                              ? w->frames + x->worker->contexts[f->context].frame
                              : x->base[ref_base(r)];
    return base + ref_offset(r);
}

static const struct op *op_of(const struct exec *x, const struct warp_split *f) {
    return &x->worker->launch->ops[f->pc];
}
static const struct warp_sync_desc *desc_of(const struct exec *x, const struct op *o) {
    return &x->worker->launch->module->warp_syncs[o->aux];
}

/* Returns those of the lanes in which the operand is undefined. */
static u32 read_undef(const struct warp *w, const void *slot, ref r, u32 bytes, u32 lanes,
                      u64 out[32], struct warp_exchange *e) {
    u8 origin = r != REF_NONE && ref_base(r) == BASE_FRAME ? *undef_origin_of(w, slot) : 0;
    memset(out, 0, 32 * sizeof *out);
    lanes &= origin ? undef_get(w, slot, bytes, out) : 0;
    if (lanes) e->origin = origin;
    return lanes;
}

static void gather_undef(const struct exec *x, const struct warp *w, const struct warp_split *f,
                         struct warp_exchange *e, u32 lanes) {
    const struct op *o = op_of(x, f);
    const struct warp_sync_desc *d = desc_of(x, o);
    u32 bytes = d->kind == WARP_SYNC_VOTE ? 1 : d->wide ? 8 : 4;
    u64 bits[32];
    read_undef(w, operand_slot(x, w, f, o->src[0]), o->src[0], bytes, lanes, bits, e);
    for (u32 l = 0; l < 32; l++)
        if (lanes >> l & 1) e->undef[l] = bits[l];
    for (u32 i = 1; d->kind == WARP_SYNC_SHFL && i < 3; i++)
        e->undef_operand_lanes |=
            read_undef(w, operand_slot(x, w, f, o->src[i]), o->src[i], 4, lanes, bits, e);
}

static void gather_operands(const struct exec *x, const struct warp *w, const struct warp_split *f,
                            struct warp_exchange *e, u32 lanes) {
    const struct op *o = op_of(x, f);
    const struct warp_sync_desc *d = desc_of(x, o);
    if (d->kind == WARP_SYNC_BARRIER || d->kind == WARP_SYNC_ELECT) return;
    const void *a = operand_slot(x, w, f, o->src[0]);
    if (w->nundef) gather_undef(x, w, f, e, lanes);
    u32 p = d->kind == WARP_SYNC_VOTE ? *(const u32 *)a ^ (u32)o->imm : 0;
    for (u32 l = 0; l < 32; l++) {
        u64 v = d->kind == WARP_SYNC_VOTE ? p >> l & 1
                : d->wide                 ? ((const u64 *)a)[l]
                                          : ((const u32 *)a)[l];
        e->a[l] = (lanes >> l & 1) ? v : e->a[l];
    }
    if (d->kind != WARP_SYNC_SHFL) return;
    const u32 *b = (const u32 *)operand_slot(x, w, f, o->src[1]),
              *c = (const u32 *)operand_slot(x, w, f, o->src[2]);
    for (u32 l = 0; l < 32; l++) {
        e->b[l] = (lanes >> l & 1) ? b[l] : e->b[l];
        e->c[l] = (lanes >> l & 1) ? c[l] : e->c[l];
    }
}

/* Returns the lane whose value a lane gets, and whether that is in the lane's segment (PTX ISA,
 * "shfl.sync"). */
static inline s32 source_of(u8 mode, s32 lane, u32 b_value, u32 c_value, bool *is_in_range) {
    s32 b = (s32)(b_value & 31), c = (s32)(c_value & 31), segment = (s32)(c_value >> 8 & 31);
    s32 limit = (lane & segment) | (c & ~segment), j = mode == 0   ? lane - b
                                                       : mode == 1 ? lane + b
                                                       : mode == 2
                                                           ? lane ^ b
                                                           : (lane & segment) | (b & ~segment);
    *is_in_range = mode == 0 ? j >= limit : j <= limit;
    return (*is_in_range ? j : lane) & 31;
}

static void shuffle(struct warp_exchange *e, u8 mode, u32 lanes) {
    u32 inactive = 0;
    e->predicate = 0;
    for (s32 l = 0; l < 32; l++) {
        bool is_in_range;
        s32 j = source_of(mode, l, e->b[l], e->c[l], &is_in_range);
        e->result[l] = e->a[j];
        e->source_lane[l] = (u8)j;
        e->predicate |= (u32)is_in_range << l;
        inactive |= (lanes >> j & 1) ? 0 : 1u << l;
    }
    e->inactive_source_lanes = inactive & lanes;
}

static void vote(struct warp_exchange *e, u8 mode, u32 lanes) {
    u32 ballot = 0;
    for (u32 l = 0; l < 32; l++) ballot |= (u32)(e->a[l] & 1) << l;
    ballot &= lanes;
    bool result = mode == 0   ? ballot == lanes
                  : mode == 1 ? ballot != 0
                              : ballot == lanes || ballot == 0;
    e->predicate = result ? lanes : 0;
    for (u32 l = 0; l < 32; l++) e->result[l] = ballot; /* ballot */
}

static void match(struct warp_exchange *e, u8 mode, u32 lanes) {
    bool all_match = true;
    for (u32 l = 0; l < 32; l++) {
        u32 same = 0;
        for (u32 j = 0; j < 32; j++) same |= (lanes >> j & 1) && e->a[j] == e->a[l] ? 1u << j : 0;
        e->result[l] = same;
        if (lanes >> l & 1) all_match = all_match && same == lanes;
    }
    e->predicate = all_match ? lanes : 0;
    for (u32 l = 0; mode == 1 && l < 32; l++) e->result[l] = e->predicate;
}

static u32 combine(u8 mode, bool is_signed, u32 a, u32 b) {
    switch (mode) {
    case 0: return a + b;
    case 1: return is_signed ? ((s32)a < (s32)b ? a : b) : a < b ? a : b;
    case 2: return is_signed ? ((s32)a > (s32)b ? a : b) : a > b ? a : b;
    case 3: return a & b;
    case 4: return a | b;
    default: return a ^ b;
    }
}

static void redux(struct warp_exchange *e, u8 mode, bool is_signed, u32 lanes) {
    u32 total = (u32)e->a[__builtin_ctz(lanes)];
    for (u32 m = lanes & (lanes - 1); m; m &= m - 1)
        total = combine(mode, is_signed, total, (u32)e->a[__builtin_ctz(m)]);
    for (u32 l = 0; l < 32; l++) e->result[l] = total;
}

static void elect(struct warp_exchange *e, u32 lanes) {
    u32 elected = (u32)__builtin_ctz(lanes);
    e->predicate = 1u << elected;
    for (u32 l = 0; l < 32; l++) e->result[l] = elected;
}

/* A vote is undefined unless a defined lane decides it. */
static void propagate_vote_undef(struct warp_exchange *e, u8 mode, u32 lanes) {
    u32 undef_lanes = 0, ballot = 0;
    for (u32 l = 0; l < 32; l++)
        undef_lanes |= (e->undef[l] ? 1u : 0) << l, ballot |= (u32)(e->a[l] & 1) << l;
    undef_lanes &= lanes;
    bool has_true = ballot & lanes & ~undef_lanes, has_false = ~ballot & lanes & ~undef_lanes;
    bool is_decided = mode == 0 ? has_false : mode == 1 ? has_true : has_true && has_false;
    e->predicate_undef = undef_lanes && !is_decided ? lanes : 0;
    for (u32 l = 0; l < 32; l++) e->result_undef[l] = undef_lanes;
}

static void propagate_undef(const struct warp_sync_desc *d, struct warp_exchange *e, u32 lanes) {
    u64 all = 0;
    if (d->kind == WARP_SYNC_VOTE) return propagate_vote_undef(e, d->mode, lanes);
    for (u32 l = 0; l < 32; l++) all |= lanes >> l & 1 ? e->undef[l] : 0;
    bool bitwise = d->kind == WARP_SYNC_REDUX && d->mode > 2;
    for (u32 l = 0; l < 32; l++)
        e->result_undef[l] =
            d->kind == WARP_SYNC_SHFL
                ? (e->undef_operand_lanes >> l & 1 ? ~0ull : e->undef[e->source_lane[l]])
            : bitwise ? all
                      : (all ? ~0ull : 0);
    e->predicate_undef = d->kind == WARP_SYNC_SHFL ? e->undef_operand_lanes : all ? lanes : 0;
}

/* Marks values shuffled from inactive lanes as undefined: they are reported where they decide
 * something. */
static void mark_inactive_sources(struct exec *x, const struct op *o, struct warp_exchange *e) {
    u32 lane = (u32)__builtin_ctz(e->inactive_source_lanes);
    e->origin = undef_shuffle_origin(x, o, lane, e->source_lane[lane], e->members);
    for (u32 m = e->inactive_source_lanes; m; m &= m - 1) e->result_undef[__builtin_ctz(m)] = ~0ull;
}

static void record_sync(struct exec *x, const struct warp_sync_desc *d, u32 lanes) {
    if (x->block->race_callbacks)
        x->block->race_callbacks->on_warp_sync(x->block, x->warp, lanes,
                                               d->kind == WARP_SYNC_BARRIER && !d->is_unordered,
                                               x->worker->launch);
}

static void compute_result(struct exec *x, const struct op *o, struct warp_exchange *e, u32 lanes) {
    const struct warp_sync_desc *d = desc_of(x, o);
    record_sync(x, d, lanes);
    switch ((enum warp_sync_kind)d->kind) {
    case WARP_SYNC_SHFL: shuffle(e, d->mode, lanes); break;
    case WARP_SYNC_VOTE: vote(e, d->mode, lanes); break;
    case WARP_SYNC_MATCH: match(e, d->mode, lanes); break;
    case WARP_SYNC_REDUX: redux(e, d->mode, d->type == PTX_S32, lanes); break;
    case WARP_SYNC_ELECT: elect(e, lanes); break;
    case WARP_SYNC_BARRIER: break;
    }
    if (e->origin) propagate_undef(d, e, lanes);
    if (e->inactive_source_lanes && x->sanitize) mark_inactive_sources(x, o, e);
}

static void scatter_undef(const struct exec *x, struct warp *w, const struct warp_split *f,
                          const struct warp_exchange *e, u32 lanes) {
    const struct op *o = op_of(x, f);
    const struct warp_sync_desc *d = desc_of(x, o);
    bool is_predicate = d->kind == WARP_SYNC_VOTE && d->mode != 3;
    u64 predicate_bits[32];
    for (u32 l = 0; l < 32; l++) predicate_bits[l] = e->predicate_undef >> l & 1;
    if (d->pred_dst != REF_NONE)
        undef_put(w, operand_slot(x, w, f, d->pred_dst), 1, lanes, predicate_bits, e->origin);
    if (o->dst == REF_NONE) return;
    undef_put(w, operand_slot(x, w, f, o->dst), is_predicate ? 1 : 4, lanes,
              is_predicate ? predicate_bits : e->result_undef, e->origin);
}

static void put_mask(u32 *dst, u32 value, u32 lanes) { *dst = (*dst & ~lanes) | (value & lanes); }

static void scatter_results(const struct exec *x, struct warp *w, const struct warp_split *f,
                            const struct warp_exchange *e, u32 lanes) {
    const struct op *o = op_of(x, f);
    const struct warp_sync_desc *d = desc_of(x, o);
    if (d->kind == WARP_SYNC_BARRIER) return;
    if (w->nundef || e->origin) scatter_undef(x, w, f, e, lanes);
    if (d->pred_dst != REF_NONE)
        put_mask((u32 *)operand_slot(x, w, f, d->pred_dst), e->predicate, lanes);
    if (o->dst == REF_NONE) return;
    u32 *dst = (u32 *)operand_slot(x, w, f, o->dst);
    if (d->kind == WARP_SYNC_VOTE && d->mode != 3) {
        put_mask(dst, e->predicate, lanes);
        return;
    }
    for (u32 l = 0; l < 32; l++) dst[l] = (lanes >> l & 1) ? (u32)e->result[l] : dst[l];
}

/* Returns the lanes of `f` whose member mask equals that of `lane`. */
static u32 same_members(const struct exec *x, const struct warp *w, const struct warp_split *f,
                        u32 lane, u32 *members) {
    const u32 *m = (const u32 *)operand_slot(x, w, f, desc_of(x, op_of(x, f))->member_mask);
    u32 same = 0;
    for (u32 l = 0; l < 32; l++) same |= m[l] == m[lane] ? 1u << l : 0;
    *members = m[lane];
    return same & f->mask;
}

/* Checks that the lanes are in their member mask. It may also have lanes that exited, or that the
 * block does not have: nothing waits for them. */
static bool check_member_mask(struct exec *x, const struct op *o, u32 lanes, u32 members) {
    if (lanes & ~members) {
        core_fault(x, SIM_FAULT_BAD_SYNC, o, (u32)__builtin_ctz(lanes & ~members), members,
                   "is not in the member mask 0x%08x that it passes (lanes 0x%08x are there)",
                   members, lanes);
        return false;
    }
    return true;
}

/* ---- lanes that wait at different places ---- */

u32 warp_sync_members(const struct exec *x, const struct warp *w, const struct warp_split *f) {
    u32 members;
    same_members(x, w, f, (u32)__builtin_ctz(f->mask), &members);
    return members;
}

/* Finds the lanes that some split of the warp waits for. */
static void update_awaited_lanes(const struct exec *x, struct warp *w) {
    w->awaited_lanes = 0;
    for (u32 i = 0; i < w->nsplits; i++)
        if (w->splits[i].state == SPLIT_AT_WARP_SYNC)
            w->awaited_lanes |=
                warp_sync_members(x, w, &w->splits[i]) & w->live_lanes & ~w->splits[i].mask;
    w->diverted_lanes &= w->awaited_lanes;
}

/* Reports members that did other work while these lanes waited for them, and then exited: a thread
 * that has not exited must execute the sync that names it (Programming Guide, "Warp Vote
 * Functions"). Had they gone straight to their exit, they would count as exited. */
static void check_diverted_members(struct exec *x, const struct op *o, u32 lanes, u32 members) {
    static const char *const names[] = {
        [WARP_SYNC_SHFL] = "shuffles", [WARP_SYNC_VOTE] = "votes",
        [WARP_SYNC_MATCH] = "matches", [WARP_SYNC_BARRIER] = "waits at __syncwarp()",
        [WARP_SYNC_REDUX] = "reduces", [WARP_SYNC_ELECT] = "elects"};
    struct warp *w = x->warp;
    u32 missing = w->diverted_lanes & members & ~lanes & ~w->live_lanes;
    if (!missing || !x->sanitize) return;
    core_fault(x, SIM_FAULT_MEMBER_MASK, o, (u32)__builtin_ctz(lanes), members,
               "%s with member mask 0x%08x, but only lanes 0x%08x are there (divergent threads in "
               "warp): lane %u took another branch and exited without it",
               names[desc_of(x, o)->kind], members, lanes, (u32)__builtin_ctz(missing));
}

static bool is_same_sync(const struct exec *x, const struct warp_split *a,
                         const struct warp_split *b) {
    const struct warp_sync_desc *d = desc_of(x, op_of(x, a)), *q = desc_of(x, op_of(x, b));
    return b->state == SPLIT_AT_WARP_SYNC && d->kind == q->kind && d->mode == q->mode;
}

static bool try_complete(struct exec *x, struct warp *w, struct warp_split *first) {
    struct warp_split *group[32];
    struct warp_exchange e = {.a = {0}};
    u32 n = 0, lanes = 0, members, others;
    same_members(x, w, first, (u32)__builtin_ctz(first->mask), &members);
    for (u32 i = 0; i < w->nsplits; i++) {
        struct warp_split *f = &w->splits[i];
        if (f->state != SPLIT_AT_WARP_SYNC || !is_same_sync(x, first, f)) continue;
        same_members(x, w, f, (u32)__builtin_ctz(f->mask), &others);
        if (others != members) continue;
        group[n++] = f;
        lanes |= f->mask;
    }
    if ((members & w->live_lanes) & ~lanes) return false;
    if (w->diverted_lanes) check_diverted_members(x, op_of(x, first), lanes, members);
    e.members = members;
    for (u32 i = 0; i < n; i++) gather_operands(x, w, group[i], &e, group[i]->mask);
    compute_result(x, op_of(x, first), &e, lanes);
    for (u32 i = 0; i < n; i++) {
        scatter_results(x, w, group[i], &e, group[i]->mask);
        group[i]->state = SPLIT_READY;
        group[i]->reconverged = 1;
        group[i]->pc++;
    }
    update_awaited_lanes(x, w);
    return true;
}

/* ---- the usual shuffle: the whole warp is there, and all lanes shuffle by the same distance ----
 */

static bool is_uniform(const u32 *r) {
    u32 diff = 0;
    for (u32 l = 1; l < 32; l++) diff |= r[l] ^ r[0];
    return !diff;
}

/* The sources of the last distance in this thread; most shuffles of a kernel repeat a few. */
static const u8 *uniform_sources(u8 mode, u32 b, u32 c, u32 *in_range) {
    enum { ENTRIES = 64 };
    static _Thread_local struct {
        u32 key, in_range; /* key: 0 = empty */
        u8 source[32];
    } table[ENTRIES];
    unsigned i = (b ^ c ^ c >> 8 ^ (u32)mode << 4) % ENTRIES;
    u32 key = 1u << 31 | (u32)mode << 20 | (c >> 8 & 31) << 10 | (c & 31) << 5 | (b & 31);
    if (table[i].key != key) {
        table[i].key = key, table[i].in_range = 0;
        for (s32 l = 0; l < 32; l++) {
            bool is_in_range;
            table[i].source[l] = (u8)source_of(mode, l, b, c, &is_in_range);
            table[i].in_range |= (u32)is_in_range << l;
        }
    }
    *in_range = table[i].in_range;
    return table[i].source;
}

/* Returns false, with nothing done, if the shuffle is another one. */
static bool try_uniform_shuffle(struct exec *x, struct warp_split *f, const struct op *o) {
    struct warp *w = x->warp;
    const struct warp_sync_desc *d = desc_of(x, o);
    if (d->kind != WARP_SYNC_SHFL || w->nundef || f->mask != ~0u || o->dst == REF_NONE)
        return false;
    const u32 *a = (const u32 *)operand_slot(x, w, f, o->src[0]),
              *b = (const u32 *)operand_slot(x, w, f, o->src[1]),
              *c = (const u32 *)operand_slot(x, w, f, o->src[2]);
    if (d->wide || !is_uniform(b) || !is_uniform(c)) return false;
    u32 in_range, result[32], *dst = (u32 *)operand_slot(x, w, f, o->dst);
    const u8 *source = uniform_sources(d->mode, *b, *c, &in_range);
    record_sync(x, d, ~0u);
    for (u32 l = 0; l < 32; l++) result[l] = a[source[l]];
    memcpy(dst, result, sizeof result);
    if (d->pred_dst != REF_NONE) *(u32 *)operand_slot(x, w, f, d->pred_dst) = in_range;
    return true;
}

static void exchange(struct exec *x, const struct warp_split *f, const struct op *o, u32 lanes,
                     u32 members) {
    struct warp_exchange e = {.members = members};
    gather_operands(x, x->warp, f, &e, lanes);
    compute_result(x, o, &e, lanes);
    scatter_results(x, x->warp, f, &e, lanes);
}

void warp_sync_arrive(struct exec *x, struct warp_split *f, const struct op *o) {
    struct warp *w = x->warp;
    u32 members, lanes = same_members(x, w, f, (u32)__builtin_ctz(f->mask), &members);
    if (lanes != f->mask)
        split_diverge(w, f, f->mask & ~lanes, f->pc),
            warp_sync_arrive(x, &w->splits[w->nsplits - 1], o);
    if (x->faulted || !check_member_mask(x, o, lanes, members)) return;
    if ((members & w->live_lanes) != lanes) {
        f->state = SPLIT_AT_WARP_SYNC;
        /* at once: other lanes of the warp may spin until these proceed */
        if (!try_complete(x, w, f)) update_awaited_lanes(x, w);
        return;
    }
    if (!try_uniform_shuffle(x, f, o)) exchange(x, f, o, lanes, members);
    f->pc++;
}

bool warp_sync_resolve(struct exec *x, struct warp *w) {
    for (u32 i = 0; i < w->nsplits; i++)
        if (w->splits[i].state == SPLIT_AT_WARP_SYNC && try_complete(x, w, &w->splits[i]))
            return true;
    return false;
}
