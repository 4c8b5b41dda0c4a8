/* warp_split.c — the groups of lanes of a warp that share a place in the code. See core.h.
 *
 * Choice. Deepest call first, then the earliest place in the code: lanes that lag catch up, and all
 * meet at the first place that they share. That alone would let lanes that spin on an earlier place
 * starve the one that they wait for; so a fragment that ran for the launch's patience of
 * instructions while others were ready goes behind them in turn. Where the code has nothing to wait
 * by, patience is long: hardware lets lanes that left a loop wait for those that are still in it,
 * and what follows is executed once. Both rules depend on nothing but the program, so a run can be
 * repeated exactly.
 *
 * The hostile schedule shows what a program relies on that the language does not promise: diverged
 * fragments stay apart until a rendezvous (.sync, a block barrier) brings them together, and which
 * of them runs next is drawn by lot, from a sequence that is the same in each run. */
#include "grader/sim/core/core.h"

#include <assert.h>
#include <string.h>

u8 split_timeslice_log2(const struct sim_func *c) { return c->may_spin ? 11 : 24; }

void split_init(struct warp *w, u32 lanes, u32 pc) {
    w->live_lanes = lanes;
    w->nsplits = lanes ? 1 : 0;
    w->splits[0] = (struct warp_split){.pc = pc, .mask = lanes};
    w->warp_insns = 0;
    w->fetched_ticket = w->at_grid_barrier = w->at_sync_point = false, w->timeslice_start = 0;
    memset(w->bar_arrived_lanes, 0, sizeof w->bar_arrived_lanes);
    w->cluster_arrived_lanes = w->cluster_released_lanes = w->fenced_lanes = 0;
}

static void reconverge_splits(struct warp *w, bool adversarial) {
    for (u32 i = 0; i < w->nsplits; i++)
        for (u32 j = i + 1; j < w->nsplits;) {
            struct warp_split *a = &w->splits[i], *b = &w->splits[j];
            bool same = a->pc == b->pc && a->context == b->context && a->state == b->state &&
                        a->state == SPLIT_READY;
            same = same && (!adversarial || (a->reconverged && b->reconverged));
            if (!same) {
                j++;
                continue;
            }
            a->mask |= b->mask;
            if (b->vruntime < a->vruntime) a->vruntime = b->vruntime;
            *b = w->splits[--w->nsplits];
        }
}

static bool runs_before(const struct worker *k, const struct warp_split *a,
                        const struct warp_split *b) {
    u8 timeslice_log2 = k->launch->timeslice_log2;
    if (a->vruntime >> timeslice_log2 != b->vruntime >> timeslice_log2)
        return a->vruntime < b->vruntime;
    u32 da = k->contexts[a->context].depth, db = k->contexts[b->context].depth;
    return da != db ? da > db : a->pc < b->pc;
}

/* One of those that can run, by lot. */
static struct warp_split *select_random(struct warp *w) {
    u32 ready = 0, ready_index[32];
    for (u32 i = 0; i < w->nsplits; i++)
        if (w->splits[i].state == SPLIT_READY) ready_index[ready++] = i;
    if (!ready) return NULL;
    u64 random_bits = (w->warp_insns * 32 + w->index + 1) * 0x9e3779b97f4a7c15ull;
    struct warp_split *f = &w->splits[ready_index[(random_bits >> 33) % ready]];
    f->reconverged = 0;
    return f;
}

struct warp_split *split_select(struct worker *k, struct warp *w) {
    bool adversarial = k->launch->adversarial_schedule;
    if (w->nsplits > 1) reconverge_splits(w, adversarial);
    if (adversarial) return select_random(w);
    struct warp_split *selected = NULL;
    for (u32 i = 0; i < w->nsplits; i++)
        if (w->splits[i].state == SPLIT_READY &&
            (!selected || runs_before(k, &w->splits[i], selected)))
            selected = &w->splits[i];
    return selected;
}

void split_diverge(struct warp *w, struct warp_split *f, u32 lanes, u32 pc) {
    assert(lanes && !(lanes & ~f->mask) && lanes != f->mask && w->nsplits < 32);
    struct warp_split *n = &w->splits[w->nsplits++];
    f->reconverged = 0;
    *n = *f;
    n->mask = lanes;
    n->pc = pc;
    f->mask &= ~lanes;
}

void split_exit(struct warp *w, struct warp_split *f, u32 lanes) {
    assert(!(lanes & ~f->mask) && !(f->mask & ~w->live_lanes));
    w->live_lanes &= ~lanes;
    f->mask &= ~lanes;
    if (f->mask || f == &w->splits[--w->nsplits])
        return; /* the last: reading back at once what was just written waits for it */
    *f = w->splits[w->nsplits];
}
