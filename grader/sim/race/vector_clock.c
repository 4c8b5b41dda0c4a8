/* vector_clock.c — tracks what orders some threads of a block, for the other files of this folder.
 *
 * A barrier of all threads begins a sync epoch, and all earlier accesses are ordered. Everything
 * else orders some threads only: each warp has a vector clock (Flanagan and Freund, "FastTrack",
 * 2009) of what it has observed of every other warp, in sync epochs for shared memory and in ticks
 * for global memory. Both advance when a warp releases something. A warp that arrives at an
 * mbarrier or a named barrier releases its clock; a warp that waits there joins it. A warp that
 * observes an atomic or a strong store acquires all that was done in the block so far, because the
 * time of that store is not recorded. By PTX, only the lane that observed has acquired, and only
 * what the storing lane or those that it had synchronized with did. What the two warps have to do
 * to order their other lanes is a *gap* of that acquire (struct acquire_gap); there is one for each
 * pair of warps, the last acquire's, which can hide a race too. Where not all lanes of a warp
 * synchronize, each lane has such a clock of the other lanes. mbarriers share slots by their
 * offset: two in one slot order more than they should, which can hide a race but never reports a
 * false one. */
#include "grader/sim/race/vector_clock.h"
#include "grader/sim/race/race.h"

#include <stdlib.h>
#include <string.h>

static struct vector_clocks *vector_clocks_of(struct block *b) {
    if (!b->vector_clocks) b->vector_clocks = xcalloc(1, sizeof *b->vector_clocks);
    return b->vector_clocks;
}

void race_vector_clocks_reset(struct block *b) {
    struct vector_clocks *o = b->vector_clocks;
    if (!o) return;
    memset(o->warp_clock, 0, sizeof o->warp_clock);
    memset(o->pending_clock, 0, sizeof o->pending_clock);
    memset(o->named_barrier_clock, 0, sizeof o->named_barrier_clock);
    memset(o->mbarrier_arrival_clock, 0, sizeof o->mbarrier_arrival_clock);
    memset(o->mbarrier_phase_clock, 0, sizeof o->mbarrier_phase_clock);
    if (o->has_gaps) memset(o->gaps, 0, sizeof o->gaps);
    o->has_gaps = false;
}

void race_vector_clocks_free(struct block *b) {
    for (u32 i = 0; b->vector_clocks && i < 32; i++) free(b->vector_clocks->lane_clock[i]);
    free(b->vector_clocks);
    b->vector_clocks = NULL;
}

static void join_clock(struct vector_clock *to, const struct vector_clock *from) {
    for (u32 i = 0; i < 32; i++) {
        to->sync_epoch[i] =
            from->sync_epoch[i] > to->sync_epoch[i] ? from->sync_epoch[i] : to->sync_epoch[i];
        to->logical_clock[i] = from->logical_clock[i] > to->logical_clock[i]
                                   ? from->logical_clock[i]
                                   : to->logical_clock[i];
    }
}

/* Joins into `at` what the warp has observed and all that it did. */
static void release_clock(struct vector_clock *at, const struct block *b, u32 warp) {
    join_clock(at, &b->vector_clocks->warp_clock[warp]);
    at->sync_epoch[warp] = b->sync_epoch;
    at->logical_clock[warp] = b->race_shadow->logical_clock;
}

void race_acquire(struct block *b, struct warp *w, const struct launch *l) {
    struct vector_clock *observed = &vector_clocks_of(b)->warp_clock[w->index];
    race_next_partial_epoch(b, l);
    for (u32 i = 0; i < 32; i++)
        observed->sync_epoch[i] = b->sync_epoch,
        observed->logical_clock[i] = b->race_shadow->logical_clock;
    race_intra_warp_reset(b->race_shadow, w->index);
    race_hb_join_warp(b, w);
}

/* ---- fences within the block ---- */

void race_acquire_by(struct exec *x, const struct op *o) {
    struct block *b = x->block;
    struct warp *w = x->warp;
    const struct launch *l = x->worker->launch;
    if (!l->ptx_order) return race_acquire(b, w, l);
    struct vector_clocks *clocks = vector_clocks_of(b);
    struct vector_clock *pending = &clocks->pending_clock[w->index], fenced;
    memset(&fenced, 0, sizeof fenced);
    for (u32 i = 0; i < b->nwarps; i++)
        fenced.sync_epoch[i] = b->warps[i].order.block_fence_epoch,
        fenced.logical_clock[i] = b->warps[i].order.block_fence_clock;
    clocks->before_acquire = clocks->warp_clock[w->index];
    join_clock(&clocks->before_acquire, pending);
    join_clock(pending, &fenced);
    race_intra_warp_reset(b->race_shadow, w->index);
    if (x->mems[o->aux].is_acquire || x->mems[o->aux].verb == MEM_ATOM)
        join_clock(&clocks->warp_clock[w->index], pending);
}

const char race_acquire_gap_text[] =
    "__syncwarp() around the flag: of each warp, only the lane that stores or reads it is ordered";

static u32 time_of(const struct vector_clock *c, enum gap_memory memory, u32 warp) {
    return memory == GAP_SHARED ? c->sync_epoch[warp] : c->logical_clock[warp];
}

/* Begins a gap, or narrows it: the same accesses are released by one more lane. */
static void note_release(struct acquire_gap *g, const struct block_access *r, u32 from, u32 end) {
    if (g->end != end)
        *g = (struct acquire_gap){
            .from = from, .end = end, .unreleased_lanes = ~0u, .lanes_from = r->lane_time};
    g->unreleased_lanes &= ~(1u << r->lane);
    if (r->lane_time > g->lanes_from) g->lanes_from = r->lane_time;
}

static void note_acquirer(struct acquire_gap *g, const struct warp *w, u32 lane) {
    if (g->warp_epoch != w->sync_epoch || g->lanes_epoch != w->order.lanes_epoch)
        g->acquiring_lanes = g->acquiring_lanes ? ~0u : 0;
    g->warp_epoch = w->sync_epoch;
    g->lanes_epoch = w->order.lanes_epoch;
    g->acquiring_lanes |= 1u << lane;
}

void race_note_acquire(struct exec *x, u32 lane, const struct block_access *r) {
    struct vector_clocks *o = x->block->vector_clocks;
    struct warp *w = x->warp;
    if (!x->worker->launch->ptx_order) return;
    if (r->warp == w->index) {
        w->order.lanes_epoch = x->block->sync_epoch;
        return;
    }
    u32 from = time_of(&o->before_acquire, r->memory, r->warp),
        end = time_of(&o->pending_clock[w->index], r->memory, r->warp),
        ordered = r->memory == GAP_SHARED ? x->block->warps[r->warp].order.lanes_epoch : 0;
    struct acquire_gap *g = &o->gaps[r->memory][w->index][r->warp];
    note_release(g, r, from > ordered ? from : ordered, end);
    note_acquirer(g, w, lane);
    o->has_gaps = true;
}

bool race_is_in_acquire_gap(const struct exec *x, u32 lane, const struct block_access *a) {
    const struct block *b = x->block;
    const struct warp *w = x->warp;
    if (!b->vector_clocks || !b->vector_clocks->has_gaps || a->warp == w->index) return false;
    const struct acquire_gap *g = &b->vector_clocks->gaps[a->memory][w->index][a->warp];
    u32 barrier = a->memory == GAP_SHARED ? b->block_sync_epoch : b->logical_clock;
    u32 observed = a->memory == GAP_SHARED ? race_observed_sync_epoch(b, w->index, a->warp)
                                           : race_observed_clock(b, w->index, a->warp);
    if (observed > g->end) return false; /* Something else ordered the two warps. */
    if (a->time < g->from || a->time >= g->end || a->time < barrier) return false;
    bool is_unreleased = (g->unreleased_lanes >> a->lane & 1) && a->lane_time >= g->lanes_from,
         has_acquired = (g->acquiring_lanes >> lane & 1) || g->warp_epoch != w->sync_epoch ||
                        g->lanes_epoch != w->order.lanes_epoch;
    return is_unreleased || !has_acquired;
}

void race_block_fence(struct exec *x) {
    struct block *b = x->block;
    struct warp *w = x->warp;
    const struct launch *l = x->worker->launch;
    if (!b->race_callbacks || !l->ptx_order) return;
    if (b->vector_clocks)
        join_clock(&b->vector_clocks->warp_clock[w->index],
                   &b->vector_clocks->pending_clock[w->index]);
    race_next_partial_epoch(b, l);
    w->order.block_fence_epoch = b->sync_epoch;
    w->order.block_fence_clock = b->race_shadow->logical_clock;
}

/* ---- named barriers ---- */

void race_barrier_arrive(struct block *b, const struct warp *w, u32 barrier,
                         const struct launch *l) {
    struct vector_clocks *o = vector_clocks_of(b);
    race_next_partial_epoch(b, l);
    release_clock(&o->named_barrier_clock[barrier], b, w->index);
}

void race_barrier_release(struct block *b, u32 barrier, u32 warps, const struct launch *l) {
    struct vector_clocks *o = vector_clocks_of(b);
    struct vector_clock merged = o->named_barrier_clock[barrier];
    race_next_partial_epoch(b, l);
    for (u32 m = warps; m; m &= m - 1) release_clock(&merged, b, (u32)__builtin_ctz(m));
    for (u32 m = warps; m; m &= m - 1) {
        u32 w = (u32)__builtin_ctz(m);
        join_clock(&o->warp_clock[w], &merged);
        b->warps[w].order.lanes_epoch = b->sync_epoch;
        race_intra_warp_reset(b->race_shadow, w);
        race_hb_join_warp(b, &b->warps[w]);
    }
    o->named_barrier_clock[barrier] = (struct vector_clock){0};
}

/* ---- mbarriers ---- */

void race_mbarrier_init(struct exec *x, const struct op *o, u32 lane, u32 offset) {
    struct block *b = x->block;
    u32 shift = x->worker->launch->shared_shift;
    race_record_access(x, o, 0, true, offset, offset + 8, 1u << lane, RACE_WRITE);
    if (b->race_shadow->deferred.read_epochs == b->read_epochs)
        b->race_shadow->deferred.flush(b->race_shadow);
    b->recorded_epoch = b->sync_epoch;
    for (u32 g = offset >> shift; g <= (offset + 7) >> shift; g++)
        b->write_epochs[g] = race_shared_epoch(x, lane);
}

static u32 mbarrier_slot(u32 offset) { return offset / 8 % MBARRIER_CLOCK_SLOTS; }

void race_mbarrier_arrive(struct exec *x, u32 offset, bool first) {
    struct vector_clocks *o = vector_clocks_of(x->block);
    if (first) race_next_partial_epoch(x->block, x->worker->launch);
    release_clock(&o->mbarrier_arrival_clock[mbarrier_slot(offset)], x->block, x->warp->index);
}

void race_mbarrier_complete_phase(struct exec *x, u32 offset) {
    struct vector_clocks *o = vector_clocks_of(x->block);
    join_clock(&o->mbarrier_phase_clock[mbarrier_slot(offset)],
               &o->mbarrier_arrival_clock[mbarrier_slot(offset)]);
}

void race_mbarrier_acquire(struct exec *x, u32 offset) {
    struct vector_clocks *o = vector_clocks_of(x->block);
    join_clock(&o->warp_clock[x->warp->index], &o->mbarrier_phase_clock[mbarrier_slot(offset)]);
    x->warp->order.lanes_epoch = x->block->sync_epoch;
    race_intra_warp_reset(x->worker->race_shadow, x->warp->index);
    race_hb_join_warp(x->block, x->warp);
}

/* ---- lanes of a warp ---- */

void race_sync_lanes(struct block *b, const struct warp *w, u32 lanes) {
    u32 **lane_clocks = &vector_clocks_of(b)->lane_clock[w->index], merged[32] = {0};
    if (!*lane_clocks) *lane_clocks = xcalloc(32 * 32ul, sizeof **lane_clocks);
    for (u32 m = lanes; m; m &= m - 1) {
        const u32 *observed = *lane_clocks + 32 * __builtin_ctz(m);
        for (u32 i = 0; i < 32; i++) merged[i] = observed[i] > merged[i] ? observed[i] : merged[i];
    }
    for (u32 i = 0; i < 32; i++) merged[i] = lanes >> i & 1 ? w->sync_epoch : merged[i];
    for (u32 m = lanes; m; m &= m - 1)
        memcpy(*lane_clocks + 32 * __builtin_ctz(m), merged, sizeof merged);
}

bool race_lane_is_ordered(const struct block *b, const struct warp *w, u32 lane, u32 other,
                          u32 sync_epoch) {
    if (sync_epoch < w->warp_sync_epoch) return true;
    const u32 *observed = b->vector_clocks ? b->vector_clocks->lane_clock[w->index] : NULL;
    return observed && sync_epoch < observed[32 * lane + other];
}
