/* rendezvous.c — what lanes do together: shuffles, votes, matches, reductions, warp barriers (the
 * .sync forms).
 *
 * A rendezvous needs all live lanes that the member mask names; they may come from different
 * places. Lanes bring their values (`bring`), the result is computed over all of them, and each
 * fragment takes its part (`deliver`). The usual case, one fragment that holds all members, takes
 * the same three steps without waiting. */
#include "grader/sim/core/taint.h"

#include <string.h>

struct exchange {
    u64 a[32];
    u32 b[32], c[32];
    u64 result[32];
    u32 truth;     /* the predicate result, by lane */
    u32 strangers; /* lanes that shuffle from one which takes no part */
    /* undefined bits of a and of the result; lanes whose b or c, whose predicate result is
     * undefined: core/taint.h */
    u64 taint[32], result_taint[32];
    u32 astray, truth_taint;
    u8 origin, from[32]; /* from: the lane that each gets a shuffled value of */
};

static unsigned char *resolve(const struct exec *x, const struct warp *w, const struct fragment *f,
                              ref r) {
    unsigned char *base = ref_base(r) == BASE_FRAME
                              ? w->frames + x->worker->contexts[f->context].frame
                              : x->base[ref_base(r)];
    return base + ref_offset(r);
}

static const struct op *op_of(const struct exec *x, const struct fragment *f) {
    return &x->worker->launch->ops[f->pc];
}
static const struct warp_sync_desc *desc_of(const struct exec *x, const struct op *o) {
    return &x->worker->launch->module->warp_syncs[o->aux];
}

static u64 lane_taint(const struct warp *w, const void *slot, ref r, u32 bytes, u64 out[32],
                      struct exchange *e) {
    u8 origin = r != REF_NONE && ref_base(r) == BASE_FRAME ? *taint_origin(w, slot) : 0;
    memset(out, 0, 32 * sizeof *out);
    if (origin) e->origin = origin;
    return origin ? taint_get(w, slot, bytes, out) : 0;
}

static void bring_taint(const struct exec *x, const struct warp *w, const struct fragment *f,
                        struct exchange *e, u32 lanes) {
    const struct op *o = op_of(x, f);
    const struct warp_sync_desc *d = desc_of(x, o);
    u32 bytes = d->kind == WARP_SYNC_VOTE ? 1 : d->wide ? 8 : 4;
    u64 bits[32];
    lane_taint(w, resolve(x, w, f, o->src[0]), o->src[0], bytes, bits, e);
    for (u32 l = 0; l < 32; l++)
        if (lanes >> l & 1) e->taint[l] = bits[l];
    for (u32 i = 1; d->kind == WARP_SYNC_SHFL && i < 3; i++)
        e->astray |= lanes & (u32)lane_taint(w, resolve(x, w, f, o->src[i]), o->src[i], 4, bits, e);
}

static void bring(const struct exec *x, const struct warp *w, const struct fragment *f,
                  struct exchange *e, u32 lanes) {
    const struct op *o = op_of(x, f);
    const struct warp_sync_desc *d = desc_of(x, o);
    if (d->kind == WARP_SYNC_BARRIER || d->kind == WARP_SYNC_ELECT) return;
    const void *a = resolve(x, w, f, o->src[0]);
    if (w->ntainted) bring_taint(x, w, f, e, lanes);
    u32 p = d->kind == WARP_SYNC_VOTE ? *(const u32 *)a ^ (u32)o->imm : 0;
    for (u32 l = 0; l < 32; l++) {
        u64 v = d->kind == WARP_SYNC_VOTE ? p >> l & 1
                : d->wide                 ? ((const u64 *)a)[l]
                                          : ((const u32 *)a)[l];
        e->a[l] = (lanes >> l & 1) ? v : e->a[l];
    }
    if (d->kind != WARP_SYNC_SHFL) return;
    const u32 *b = (const u32 *)resolve(x, w, f, o->src[1]),
              *c = (const u32 *)resolve(x, w, f, o->src[2]);
    for (u32 l = 0; l < 32; l++) {
        e->b[l] = (lanes >> l & 1) ? b[l] : e->b[l];
        e->c[l] = (lanes >> l & 1) ? c[l] : e->c[l];
    }
}

/* PTX ISA, "shfl.sync": the source lane j of each lane, and whether it lies in the lane's segment.
 */
static void shuffle(struct exchange *e, u8 mode, u32 lanes) {
    u32 strangers = 0;
    e->truth = 0;
    for (s32 l = 0; l < 32; l++) {
        s32 b = (s32)(e->b[l] & 31), c = (s32)(e->c[l] & 31), segment = (s32)(e->c[l] >> 8 & 31);
        s32 most = (l & segment) | (c & ~segment), j;
        bool in;
        if (mode == 0) j = l - b, in = j >= most;
        else if (mode == 1) j = l + b, in = j <= most;
        else if (mode == 2) j = l ^ b, in = j <= most;
        else j = (l & segment) | (b & ~segment), in = j <= most;
        if (!in) j = l;
        e->result[l] = e->a[j & 31];
        e->from[l] = (u8)(j & 31);
        e->truth |= (u32)in << l;
        strangers |= (lanes >> (j & 31) & 1) ? 0 : 1u << l;
    }
    e->strangers = strangers & lanes;
}

static void vote(struct exchange *e, u8 mode, u32 lanes) {
    u32 yes = 0;
    for (u32 l = 0; l < 32; l++) yes |= (u32)(e->a[l] & 1) << l;
    yes &= lanes;
    bool truth = mode == 0 ? yes == lanes : mode == 1 ? yes != 0 : yes == lanes || yes == 0;
    e->truth = truth ? lanes : 0;
    for (u32 l = 0; l < 32; l++) e->result[l] = yes; /* ballot */
}

static void match(struct exchange *e, u8 mode, u32 lanes) {
    bool all = true;
    for (u32 l = 0; l < 32; l++) {
        u32 same = 0;
        for (u32 j = 0; j < 32; j++) same |= (lanes >> j & 1) && e->a[j] == e->a[l] ? 1u << j : 0;
        e->result[l] = same;
        if (lanes >> l & 1) all = all && same == lanes;
    }
    e->truth = all ? lanes : 0;
    for (u32 l = 0; mode == 1 && l < 32; l++) e->result[l] = e->truth;
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

static void redux(struct exchange *e, u8 mode, bool is_signed, u32 lanes) {
    u32 total = (u32)e->a[__builtin_ctz(lanes)];
    for (u32 m = lanes & (lanes - 1); m; m &= m - 1)
        total = combine(mode, is_signed, total, (u32)e->a[__builtin_ctz(m)]);
    for (u32 l = 0; l < 32; l++) e->result[l] = total;
}

static void elect(struct exchange *e, u32 lanes) {
    u32 chosen = (u32)__builtin_ctz(lanes);
    e->truth = 1u << chosen;
    for (u32 l = 0; l < 32; l++) e->result[l] = chosen;
}

/* A vote is undefined unless a defined lane decides it. */
static void taint_vote(struct exchange *e, u8 mode, u32 lanes) {
    u32 open = 0, yes = 0;
    for (u32 l = 0; l < 32; l++)
        open |= (e->taint[l] ? 1u : 0) << l, yes |= (u32)(e->a[l] & 1) << l;
    open &= lanes;
    bool some = yes & lanes & ~open, none = ~yes & lanes & ~open;
    bool decided = mode == 0 ? none : mode == 1 ? some : some && none;
    e->truth_taint = open && !decided ? lanes : 0;
    for (u32 l = 0; l < 32; l++) e->result_taint[l] = open;
}

static void taint_exchange(const struct warp_sync_desc *d, struct exchange *e, u32 lanes) {
    u64 all = 0;
    if (d->kind == WARP_SYNC_VOTE) return taint_vote(e, d->mode, lanes);
    for (u32 l = 0; l < 32; l++) all |= lanes >> l & 1 ? e->taint[l] : 0;
    bool bitwise = d->kind == WARP_SYNC_REDUX && d->mode > 2;
    for (u32 l = 0; l < 32; l++)
        e->result_taint[l] = d->kind == WARP_SYNC_SHFL
                                 ? (e->astray >> l & 1 ? ~0ull : e->taint[e->from[l]])
                             : bitwise ? all
                                       : (all ? ~0ull : 0);
    e->truth_taint = d->kind == WARP_SYNC_SHFL ? e->astray : all ? lanes : 0;
}

/* Such a value is undefined: it is told where it decides something. */
static void taint_strangers(struct exec *x, const struct op *o, struct exchange *e) {
    u32 lane = (u32)__builtin_ctz(e->strangers);
    e->origin = taint_shuffle(x, o, lane, e->from[lane]);
    for (u32 m = e->strangers; m; m &= m - 1) e->result_taint[__builtin_ctz(m)] = ~0ull;
}

static void compute(struct exec *x, const struct op *o, struct exchange *e, u32 lanes) {
    const struct warp_sync_desc *d = desc_of(x, o);
    const struct launch *l = x->worker->launch;
    if (l->hooks)
        l->hooks->warp_interval(x->block, x->warp, lanes, d->kind == WARP_SYNC_BARRIER, l);
    switch ((enum warp_sync_kind)d->kind) {
    case WARP_SYNC_SHFL: shuffle(e, d->mode, lanes); break;
    case WARP_SYNC_VOTE: vote(e, d->mode, lanes); break;
    case WARP_SYNC_MATCH: match(e, d->mode, lanes); break;
    case WARP_SYNC_REDUX: redux(e, d->mode, d->type == PTX_S32, lanes); break;
    case WARP_SYNC_ELECT: elect(e, lanes); break;
    case WARP_SYNC_BARRIER: break;
    }
    if (e->origin) taint_exchange(d, e, lanes);
    if (e->strangers && x->sanitize) taint_strangers(x, o, e);
}

static void deliver_taint(const struct exec *x, struct warp *w, const struct fragment *f,
                          const struct exchange *e, u32 lanes) {
    const struct op *o = op_of(x, f);
    const struct warp_sync_desc *d = desc_of(x, o);
    bool predicate = d->kind == WARP_SYNC_VOTE && d->mode != 3;
    u64 truth[32];
    for (u32 l = 0; l < 32; l++) truth[l] = e->truth_taint >> l & 1;
    if (d->pred_dst != REF_NONE)
        taint_put(w, resolve(x, w, f, d->pred_dst), 1, lanes, truth, e->origin);
    if (o->dst == REF_NONE) return;
    taint_put(w, resolve(x, w, f, o->dst), predicate ? 1 : 4, lanes,
              predicate ? truth : e->result_taint, e->origin);
}

static void put_mask(u32 *dst, u32 value, u32 lanes) { *dst = (*dst & ~lanes) | (value & lanes); }

static void deliver(const struct exec *x, struct warp *w, const struct fragment *f,
                    const struct exchange *e, u32 lanes) {
    const struct op *o = op_of(x, f);
    const struct warp_sync_desc *d = desc_of(x, o);
    if (d->kind == WARP_SYNC_BARRIER) return;
    if (w->ntainted || e->origin) deliver_taint(x, w, f, e, lanes);
    if (d->pred_dst != REF_NONE) put_mask((u32 *)resolve(x, w, f, d->pred_dst), e->truth, lanes);
    if (o->dst == REF_NONE) return;
    u32 *dst = (u32 *)resolve(x, w, f, o->dst);
    if (d->kind == WARP_SYNC_VOTE && d->mode != 3) {
        put_mask(dst, e->truth, lanes);
        return;
    }
    for (u32 l = 0; l < 32; l++) dst[l] = (lanes >> l & 1) ? (u32)e->result[l] : dst[l];
}

/* Lanes of `f` whose member mask equals that of `lane`. */
static u32 same_members(const struct exec *x, const struct warp *w, const struct fragment *f,
                        u32 lane, u32 *members) {
    const u32 *m = (const u32 *)resolve(x, w, f, desc_of(x, op_of(x, f))->member_mask);
    u32 same = 0;
    for (u32 l = 0; l < 32; l++) same |= m[l] == m[lane] ? 1u << l : 0;
    *members = m[lane];
    return same & f->mask;
}

/* Lanes that have left, or that the block does not have, may be named: the others do not wait for
 * them. */
static bool mask_is_sound(struct exec *x, const struct op *o, u32 lanes, u32 members) {
    if (lanes & ~members) {
        core_fault(x, SIM_FAULT_BAD_SYNC, o, (u32)__builtin_ctz(lanes & ~members), members,
                   "is not in the member mask 0x%08x that it passes", members);
        return false;
    }
    return true;
}

/* ---- lanes that wait at different places ---- */

static bool meets(const struct exec *x, const struct fragment *a, const struct fragment *b) {
    const struct warp_sync_desc *d = desc_of(x, op_of(x, a)), *q = desc_of(x, op_of(x, b));
    return b->state == FRAG_AT_RENDEZVOUS && d->kind == q->kind && d->mode == q->mode;
}

static bool try_group(struct exec *x, struct warp *w, struct fragment *first) {
    struct fragment *group[32];
    struct exchange e = {.a = {0}};
    u32 n = 0, lanes = 0, members, others;
    same_members(x, w, first, (u32)__builtin_ctz(first->mask), &members);
    for (u32 i = 0; i < w->nfrag; i++) {
        struct fragment *f = &w->frag[i];
        if (f->state != FRAG_AT_RENDEZVOUS || !meets(x, first, f)) continue;
        same_members(x, w, f, (u32)__builtin_ctz(f->mask), &others);
        if (others != members) continue;
        group[n++] = f;
        lanes |= f->mask;
    }
    if ((members & w->live) & ~lanes) return false;
    for (u32 i = 0; i < n; i++) bring(x, w, group[i], &e, group[i]->mask);
    compute(x, op_of(x, first), &e, lanes);
    for (u32 i = 0; i < n; i++) {
        deliver(x, w, group[i], &e, group[i]->mask);
        group[i]->state = FRAG_READY;
        group[i]->met = 1;
        group[i]->pc++;
    }
    return true;
}

void rendezvous_arrive(struct exec *x, struct fragment *f, const struct op *o) {
    struct warp *w = x->warp;
    u32 members, lanes = same_members(x, w, f, (u32)__builtin_ctz(f->mask), &members);
    if (lanes != f->mask)
        fragment_split(w, f, f->mask & ~lanes, f->pc),
            rendezvous_arrive(x, &w->frag[w->nfrag - 1], o);
    if (x->faulted || !mask_is_sound(x, o, lanes, members)) return;
    if ((members & w->live) != lanes) {
        f->state = FRAG_AT_RENDEZVOUS;
        try_group(x, w, f); /* at once: other lanes of the warp may spin until these go on */
        return;
    }
    struct exchange e = {.a = {0}};
    bring(x, w, f, &e, lanes);
    compute(x, o, &e, lanes);
    deliver(x, w, f, &e, lanes);
    f->pc++;
}

bool rendezvous_resolve(struct exec *x, struct warp *w) {
    for (u32 i = 0; i < w->nfrag; i++)
        if (w->frag[i].state == FRAG_AT_RENDEZVOUS && try_group(x, w, &w->frag[i])) return true;
    return false;
}
