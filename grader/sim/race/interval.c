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
    if (b->plane && b->plane->waiting.read == b->race_read) b->plane->waiting.read = NULL;
}

static void forget_stamps(struct block *b, const struct launch *l) {
    memset(b->race_write, 0, stamps_bytes(l));
    memset(b->race_read, 0, stamps_bytes(l));
    b->interval = 1;
    b->stamped_in = 0;
}

u32 race_next_tick(struct block *b) {
    if (++b->plane->tick == RACE_TICKS) race_forget_ticks(b->plane);
    return b->plane->tick;
}

/* All that was done so far is past, for all threads. */
static void come_together(struct block *b) {
    b->together = b->interval;
    b->tick = race_next_tick(b);
    for (u32 i = 0; b->partial && i < b->nwarps; i++) b->warps[i].whole = b->warps[i].interval;
}

/* Reads of the interval at hand will be asked for from now on. */
static void stamp_reads(struct block *b) {
    if (b->plane->waiting.read == b->race_read) b->plane->waiting.stamp(b->plane);
    b->stamped_in = b->interval;
}

void race_next_interval(struct block *b, const struct launch *l) {
    if (!l->sanitize) return;
    race_proxy_order(b);
    forget_reads(b);
    if (++b->interval == RACE_INTERVALS) forget_stamps(b, l), race_order_forget(b);
    come_together(b);
}

void race_advance(struct block *b, const struct launch *l) {
    race_proxy_order(b);
    stamp_reads(b);
    if (++b->interval == RACE_INTERVALS) {
        forget_stamps(b, l);
        race_order_forget(b);
        come_together(b);
    }
    b->stamped_in = b->interval;
    race_next_tick(b);
}

/* Intervals of a warp are told modulo RACE_WARP_INTERVALS. */
static void begin_anew(struct block *b, const struct launch *l) {
    u32 interval = b->interval;
    forget_reads(b);
    forget_stamps(b, l);
    b->interval = interval;
}

static void next_warp_interval(struct block *b, struct warp *w, u32 lanes, bool fence,
                               const struct launch *l) {
    if (l->strict && !fence) return;
    bool part = w->live & ~lanes;
    race_proxy_order(b);
    if (part) stamp_reads(b);
    if (!(++w->interval % RACE_WARP_INTERVALS)) begin_anew(b, l);
    if (part) race_lanes_met(b, w, lanes);
    else w->whole = w->interval;
}

static void start_block(struct block *b, const struct launch *l) {
    b->fenced = b->seen = 0;
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

const struct race_hooks race_hooks = {.block_interval = race_next_interval,
                                      .warp_interval = next_warp_interval,
                                      .arrived = race_arrived,
                                      .released = race_released,
                                      .early = race_async_early,
                                      .block_start = start_block,
                                      .next_tick = race_next_tick,
                                      .block_done = race_warpgroup_whole,
                                      .block_end = end_block};
