/* inflight.c — see inflight.h.
 *
 * For copies that are waited for together two sums are enough: bytes, and bytes × the clock at
 * their start. At clock t the counter grows by bytes × t less the second sum. The clock is the
 * warp's own number of executed instructions, so the order in which the simulator runs warps
 * doesn't matter. cp.async uses the clock of the warp that starts the copy, and counts only if this
 * warp also waits for it. One lane starts a bulk copy for all warps; the first warp that sees the
 * mbarrier's phase complete has waited, by its own clock, so the second sum is kept for each warp.
 * Of more than MAX_GROUPS groups the oldest are merged; more than MAX_MBARRIERS mbarriers at a time
 * are left out. */
#include "grader/sim/count/inflight.h"
#include "common/err.h"
#include "grader/sim/code/async.h"

#include <stdlib.h>

enum { MAX_GROUPS = 16, MAX_MBARRIERS = 16 };

struct inflight_copies {
    u64 bytes, byte_clocks; /* byte_clocks: bytes × the clock at their start */
    u32 stat, mbarrier;     /* mbarrier: 1 + its offset, 0 = none */
};

struct inflight_warp {
    struct inflight_copies uncommitted, group[MAX_GROUPS], by_mbarrier[MAX_MBARRIERS];
    u32 first, next; /* groups in flight: first ... next - 1 */
};

struct inflight_bulk {
    struct inflight_copies copies;
    u64 byte_clocks[32]; /* [warp], see above */
};

/* The instructions of the current segment before an op: the search continues from the last op
 * looked up. */
struct clock_cache {
    const struct warp *warp;
    u64 executed, block_offset;
    u32 first, at;
};

struct inflight {
    struct clock_cache clock_cache;
    struct inflight_bulk bulk[MAX_MBARRIERS];
    struct inflight_warp warp[];
};

static struct inflight *inflight_of(struct exec *x) {
    struct block *b = x->block;
    if (!b->inflight_copies)
        b->inflight_copies =
            xcalloc(1, sizeof *b->inflight_copies + b->nwarps * sizeof *b->inflight_copies->warp);
    return b->inflight_copies;
}

static u32 segment_start(const struct sim_module *m, u32 op) {
    u32 low = 0, high = m->nsegments;
    while (high - low > 1) {
        u32 middle = (low + high) / 2;
        if (m->segments[middle].first <= op) low = middle;
        else high = middle;
    }
    return m->segments[low].first;
}

/* Returns how many instructions the running warp has executed before this one. */
static u64 warp_clock(struct exec *x, const struct op *o) {
    struct clock_cache *s = &inflight_of(x)->clock_cache;
    const struct op *ops = x->worker->launch->ops;
    u32 at = (u32)(o - ops), first = segment_start(x->worker->launch->module, at);
    bool is_cached = s->warp == x->warp && s->executed == x->warp->warp_insns &&
                     s->first == first && s->at <= at;
    if (!is_cached) *s = (struct clock_cache){x->warp, x->warp->warp_insns, 0, first, first};
    for (; s->at < at; s->at++) s->block_offset += ops[s->at].weight;
    return s->executed + s->block_offset;
}

static void credit_overlap(struct exec *x, struct inflight_copies *a, u64 t) {
    if (a->bytes) x->stats[a->stat][STAT_INFLIGHT] += a->bytes * t - a->byte_clocks;
    *a = (struct inflight_copies){0};
}

static void merge_copies(struct inflight_copies *to, struct inflight_copies *from) {
    if (from->bytes) to->stat = from->stat;
    to->bytes += from->bytes, to->byte_clocks += from->byte_clocks;
    from->bytes = from->byte_clocks = 0;
}

void inflight_issue(struct exec *x, const struct op *o, u32 stat, u32 bytes) {
    struct inflight_copies *a = &inflight_of(x)->warp[x->warp->index].uncommitted;
    a->stat = stat;
    a->bytes += bytes, a->byte_clocks += bytes * (warp_clock(x, o) + o->weight);
}

static void commit(struct inflight_warp *w) {
    if (w->next - w->first == MAX_GROUPS) {
        merge_copies(&w->group[(w->first + 1) % MAX_GROUPS], &w->group[w->first % MAX_GROUPS]);
        w->first++;
    }
    w->group[w->next % MAX_GROUPS] = (struct inflight_copies){0};
    merge_copies(&w->group[w->next++ % MAX_GROUPS], &w->uncommitted);
}

void inflight_group(struct exec *x, const struct op *o) {
    if (!x->block->inflight_copies) return; /* no copy was ever started */
    struct inflight_warp *w = &inflight_of(x)->warp[x->warp->index];
    u32 max_pending = o->imm == GROUP_WAIT ? o->target : 0;
    if (o->imm == GROUP_COMMIT) commit(w);
    if (o->imm != GROUP_WAIT && o->imm != GROUP_WAIT_ALL) return;
    for (; w->next - w->first > max_pending; w->first++)
        credit_overlap(x, &w->group[w->first % MAX_GROUPS], warp_clock(x, o));
    if (o->imm == GROUP_WAIT_ALL) credit_overlap(x, &w->uncommitted, warp_clock(x, o));
}

void inflight_arrive(struct exec *x, u32 mbarrier_offset) {
    if (!x->block->inflight_copies) return;
    struct inflight_warp *w = &inflight_of(x)->warp[x->warp->index];
    for (u32 i = 0; i < MAX_MBARRIERS && w->uncommitted.bytes; i++)
        if (!w->by_mbarrier[i].mbarrier || w->by_mbarrier[i].mbarrier == mbarrier_offset + 1) {
            w->by_mbarrier[i].mbarrier = mbarrier_offset + 1;
            merge_copies(&w->by_mbarrier[i], &w->uncommitted);
        }
}

void inflight_issue_bulk(struct exec *x, const struct op *o, u32 stat, u32 mbarrier_offset,
                         u32 bytes) {
    struct inflight *f = inflight_of(x);
    u32 i = 0;
    while (i < MAX_MBARRIERS && f->bulk[i].copies.mbarrier &&
           f->bulk[i].copies.mbarrier != mbarrier_offset + 1)
        i++;
    if (i == MAX_MBARRIERS) return;
    f->bulk[i].copies.mbarrier = mbarrier_offset + 1, f->bulk[i].copies.stat = stat,
    f->bulk[i].copies.bytes += bytes;
    for (u32 w = 0; w < x->block->nwarps; w++)
        f->bulk[i].byte_clocks[w] += bytes * (w == x->warp->index ? warp_clock(x, o) + o->weight
                                                                  : x->block->warps[w].warp_insns);
}

void inflight_complete(struct exec *x, const struct op *o, u32 mbarrier_offset) {
    if (!x->block->inflight_copies) return;
    struct inflight *f = inflight_of(x);
    struct inflight_warp *w = &f->warp[x->warp->index];
    for (u32 i = 0; i < MAX_MBARRIERS; i++) {
        if (w->by_mbarrier[i].mbarrier == mbarrier_offset + 1)
            credit_overlap(x, &w->by_mbarrier[i], warp_clock(x, o));
        if (f->bulk[i].copies.mbarrier != mbarrier_offset + 1) continue;
        f->bulk[i].copies.byte_clocks = f->bulk[i].byte_clocks[x->warp->index];
        credit_overlap(x, &f->bulk[i].copies, warp_clock(x, o));
        f->bulk[i] = (struct inflight_bulk){0};
    }
}
