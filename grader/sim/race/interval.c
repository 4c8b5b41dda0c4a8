/* interval.c — time as the search for races knows it: intervals between barriers of a block and of
 * a warp, and the ticks of a worker, which go on at each barrier and each block. See race.h. */
#include "grader/sim/race/async.h"
#include "grader/sim/race/product.h"
#include "grader/sim/race/partial.h"
#include "grader/sim/race/proxy.h"
#include "grader/sim/race/race.h"
#include "grader/sim/race/warpgroup.h"

#include <string.h>

/* Reads that wait to be stamped will not be asked for. */
static void forget_reads(const struct block *b) {
    if (b->race_shadow && b->race_shadow->waiting.read == b->read_epochs)
        b->race_shadow->waiting.read = NULL;
}

static void forget_stamps(struct block *b, const struct launch *l) {
    memset(b->write_epochs, 0, shadow_epochs_bytes(l));
    memset(b->read_epochs, 0, shadow_epochs_bytes(l));
    b->sync_epoch = 1;
    b->recorded_epoch = 0;
}

u32 race_next_tick(struct block *b) {
    if (++b->race_shadow->tick == RACE_TICKS) race_forget_ticks(b->race_shadow);
    return b->race_shadow->tick;
}

/* All that was done so far is past, for all threads. */
static void come_together(struct block *b) {
    b->block_sync_epoch = b->sync_epoch;
    b->logical_clock = race_next_tick(b);
    for (u32 i = 0; b->vector_clocks && i < b->nwarps; i++)
        b->warps[i].warp_sync_epoch = b->warps[i].sync_epoch;
}

/* Reads of the interval at hand will be asked for from now on. */
static void stamp_reads(struct block *b) {
    if (b->race_shadow->waiting.read == b->read_epochs)
        b->race_shadow->waiting.stamp(b->race_shadow);
    b->recorded_epoch = b->sync_epoch;
}

void race_next_interval(struct block *b, const struct launch *l) {
    if (!l->sanitize) return;
    race_proxy_order(b);
    forget_reads(b);
    if (++b->sync_epoch == RACE_INTERVALS) forget_stamps(b, l), race_order_forget(b);
    come_together(b);
}

void race_advance(struct block *b, const struct launch *l) {
    race_proxy_order(b);
    stamp_reads(b);
    if (++b->sync_epoch == RACE_INTERVALS) {
        forget_stamps(b, l);
        race_order_forget(b);
        come_together(b);
    }
    b->recorded_epoch = b->sync_epoch;
    race_next_tick(b);
}

/* Intervals of a warp are told modulo RACE_WARP_INTERVALS. */
static void begin_anew(struct block *b, const struct launch *l) {
    u32 interval = b->sync_epoch;
    forget_reads(b);
    forget_stamps(b, l);
    b->sync_epoch = interval;
}

static void next_warp_interval(struct block *b, struct warp *w, u32 lanes, bool fence,
                               const struct launch *l) {
    if (l->strict_order && !fence) return;
    bool part = w->live_lanes & ~lanes;
    race_proxy_order(b);
    if (part) stamp_reads(b);
    if (!(++w->sync_epoch % RACE_WARP_INTERVALS)) begin_anew(b, l);
    if (part) race_lanes_met(b, w, lanes);
    else w->warp_sync_epoch = w->sync_epoch;
}

static void start_block(struct block *b, const struct launch *l) {
    b->fence_clock = b->relaxed_acquire_clock = 0;
    race_async_start(b);
    race_product_start(b);
    race_proxy_start(b, l);
    race_warpgroup_start(b, l);
    race_order_forget(b);
}

static void end_block(struct block *b) {
    forget_reads(b);
    race_async_free(b);
    race_product_free(b);
    race_proxy_free(b);
    race_warpgroup_free(b);
    race_order_free(b);
}

const struct race_callbacks race_hooks = {.on_block_sync = race_next_interval,
                                          .on_warp_sync = next_warp_interval,
                                          .on_barrier_arrive = race_arrived,
                                          .on_barrier_release = race_released,
                                          .on_pending_copy_access = race_async_early,
                                          .on_block_start = start_block,
                                          .advance_clock = race_next_tick,
                                          .on_block_exit = race_warpgroup_whole,
                                          .on_block_free = end_block};
