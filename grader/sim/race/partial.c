/* partial.c — order between some threads of a block.
 *
 * A barrier of all threads begins an interval, and what came before is past. Everything else that
 * orders does so for some: each warp has a list of what it has seen of every other (a vector clock,
 * as in Flanagan and Freund, "FastTrack", 2009), in intervals for shared memory and in ticks for
 * global memory; both go on where a warp leaves something for others. A warp that arrives at an
 * mbarrier or a named barrier leaves what it has seen, and what it did; who waited takes that. Who
 * sees what an atomic or a strong store left takes all that was done so far: when that was left is
 * not noted. Within a warp, barriers of its lanes are told apart where they are not of all lanes:
 * each lane has such a list of the others. mbarriers share places by their offset; two at one place
 * order more than they should, and no race is invented. */
#include "grader/sim/race/partial.h"
#include "grader/sim/race/race.h"

#include <stdlib.h>
#include <string.h>

static struct race_partial *order_of(struct block *b) {
    if (!b->vector_clocks) b->vector_clocks = xcalloc(1, sizeof *b->vector_clocks);
    return b->vector_clocks;
}

void race_order_forget(struct block *b) {
    struct race_partial *o = b->vector_clocks;
    if (!o) return;
    memset(o->seen, 0, sizeof o->seen);
    memset(o->arrived, 0, sizeof o->arrived);
    memset(o->arrives, 0, sizeof o->arrives);
    memset(o->ended, 0, sizeof o->ended);
}

void race_order_free(struct block *b) {
    for (u32 i = 0; b->vector_clocks && i < 32; i++) free(b->vector_clocks->lanes[i]);
    free(b->vector_clocks);
    b->vector_clocks = NULL;
}

static void join(struct race_times *to, const struct race_times *from) {
    for (u32 i = 0; i < 32; i++) {
        to->interval[i] = from->interval[i] > to->interval[i] ? from->interval[i] : to->interval[i];
        to->tick[i] = from->tick[i] > to->tick[i] ? from->tick[i] : to->tick[i];
    }
}

/* What the warp leaves: what it has seen, and all that it did. */
static void leave(struct race_times *at, const struct block *b, u32 warp) {
    join(at, &b->vector_clocks->seen[warp]);
    at->interval[warp] = b->sync_epoch;
    at->tick[warp] = b->race_shadow->tick;
}

void race_acquire(struct block *b, const struct warp *w, const struct launch *l) {
    struct race_times *seen = &order_of(b)->seen[w->index];
    race_advance(b, l);
    for (u32 i = 0; i < 32; i++)
        seen->interval[i] = b->sync_epoch, seen->tick[i] = b->race_shadow->tick;
    race_near_forget(b->race_shadow, w->index);
}

/* ---- named barriers ---- */

void race_arrived(struct block *b, const struct warp *w, u32 barrier, const struct launch *l) {
    struct race_partial *o = order_of(b);
    race_advance(b, l);
    leave(&o->arrived[barrier], b, w->index);
}

void race_released(struct block *b, u32 barrier, u32 warps, const struct launch *l) {
    struct race_partial *o = order_of(b);
    struct race_times all = o->arrived[barrier];
    race_advance(b, l);
    for (u32 m = warps; m; m &= m - 1) leave(&all, b, (u32)__builtin_ctz(m));
    for (u32 m = warps; m; m &= m - 1) {
        u32 w = (u32)__builtin_ctz(m);
        join(&o->seen[w], &all);
        race_near_forget(b->race_shadow, w);
    }
    o->arrived[barrier] = (struct race_times){0};
}

/* ---- mbarriers ---- */

void race_mbarrier_init(struct exec *x, const struct op *o, u32 lane, u32 offset) {
    struct block *b = x->block;
    u32 shift = x->worker->launch->shared_shift;
    race_remember(x, o, 0, true, offset, offset + 8, 1u << lane, RACE_WRITE);
    if (b->race_shadow->waiting.read == b->read_epochs)
        b->race_shadow->waiting.stamp(b->race_shadow);
    b->recorded_epoch = b->sync_epoch;
    for (u32 g = offset >> shift; g <= (offset + 7) >> shift; g++)
        b->write_epochs[g] = race_shared_stamp(x, lane);
}

static u32 place_of(u32 offset) { return offset / 8 % RACE_PLACES; }

void race_mbarrier_arrive(struct exec *x, u32 offset, bool first) {
    struct race_partial *o = order_of(x->block);
    if (first) race_advance(x->block, x->worker->launch);
    leave(&o->arrives[place_of(offset)], x->block, x->warp->index);
}

void race_mbarrier_ends(struct exec *x, u32 offset) {
    struct race_partial *o = order_of(x->block);
    join(&o->ended[place_of(offset)], &o->arrives[place_of(offset)]);
}

void race_mbarrier_seen(struct exec *x, u32 offset) {
    struct race_partial *o = order_of(x->block);
    join(&o->seen[x->warp->index], &o->ended[place_of(offset)]);
    race_near_forget(x->worker->race_shadow, x->warp->index);
}

/* ---- lanes of a warp ---- */

void race_lanes_met(struct block *b, const struct warp *w, u32 lanes) {
    u32 **all = &order_of(b)->lanes[w->index], together[32] = {0};
    if (!*all) *all = xcalloc(32 * 32ul, sizeof **all);
    for (u32 m = lanes; m; m &= m - 1) {
        const u32 *seen = *all + 32 * __builtin_ctz(m);
        for (u32 i = 0; i < 32; i++) together[i] = seen[i] > together[i] ? seen[i] : together[i];
    }
    for (u32 i = 0; i < 32; i++) together[i] = lanes >> i & 1 ? w->sync_epoch : together[i];
    for (u32 m = lanes; m; m &= m - 1)
        memcpy(*all + 32 * __builtin_ctz(m), together, sizeof together);
}

bool race_lane_ordered(const struct block *b, const struct warp *w, u32 lane, u32 other,
                       u32 interval) {
    if (interval < w->warp_sync_epoch) return true;
    const u32 *seen = b->vector_clocks ? b->vector_clocks->lanes[w->index] : NULL;
    return seen && interval < seen[32 * lane + other];
}
