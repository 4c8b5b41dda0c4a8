/* warp_split.c — warp splits: the groups of lanes of a warp that share a program counter and a call
 * stack. core/warp.c calls it. See core.h.
 *
 * Selection. The split deepest in calls runs first, then the earliest one in the code: lanes that
 * lag catch up, and all reconverge at the first place that they share. That rule alone would let
 * lanes that spin at an earlier place starve the lane that they wait for. So a split that ran for a
 * timeslice while others were ready moves behind them. The timeslice is long in code that can't
 * spin: hardware, too, lets lanes that left a loop wait for those that are still in it, so what
 * follows executes once. Both rules depend only on the program, so a run can be repeated exactly.
 *
 * The adversarial schedule exposes what a program relies on without a guarantee of the language:
 * diverged splits stay apart until a warp sync or a barrier reconverges them, and a pseudorandom
 * sequence, the same in each run, decides which one runs next. */
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
    w->awaited_lanes = w->diverted_lanes = 0;
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

/* Returns a pseudorandom one of the ready splits. */
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
        return; /* the last one; reading it back at once would stall on the store */
    *f = w->splits[w->nsplits];
}
