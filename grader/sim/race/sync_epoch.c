/* sync_epoch.c — the race detector's clocks: the sync epochs of a block and of a warp, which begin
 * at their barriers, and a worker's ticks, which advance at each barrier and each block. The core
 * calls these functions through race_callbacks. */
#include "grader/sim/race/async.h"
#include "grader/sim/race/lane_order.h"
#include "grader/sim/race/wgmma_pending.h"
#include "grader/sim/race/vector_clock.h"
#include "grader/sim/race/proxy.h"
#include "grader/sim/race/race.h"
#include "grader/sim/race/warpgroup.h"

#include <string.h>

/* Drops the block's deferred reads: no later access can race with them. */
static void discard_deferred_reads(const struct block *b) {
    if (b->race_shadow && b->race_shadow->deferred.read_epochs == b->read_epochs)
        b->race_shadow->deferred.read_epochs = NULL;
}

static void clear_shared_epochs(struct block *b, const struct launch *l) {
    memset(b->write_epochs, 0, shadow_epochs_bytes(l));
    memset(b->read_epochs, 0, shadow_epochs_bytes(l));
    b->sync_epoch = 1;
    b->recorded_epoch = 0;
}

u32 race_advance_clock(struct block *b) {
    if (++b->race_shadow->logical_clock == RACE_CLOCK_LIMIT) race_reset_clock(b->race_shadow);
    return b->race_shadow->logical_clock;
}

/* Orders all that was done so far before all that follows, for all threads of the block. */
static void mark_block_synced(struct block *b, const struct launch *l) {
    b->block_sync_epoch = b->sync_epoch;
    b->logical_clock = race_advance_clock(b);
    if (l->tracks_happens_before) race_hb_join_block(b);
    for (u32 i = 0; b->vector_clocks && i < b->nwarps; i++)
        b->warps[i].warp_sync_epoch = b->warps[i].sync_epoch;
}

/* Writes the deferred reads of this sync epoch to the shadow cells, needed from now on. */
static void flush_block_reads(struct block *b) {
    if (b->race_shadow->deferred.read_epochs == b->read_epochs)
        b->race_shadow->deferred.flush(b->race_shadow);
    b->recorded_epoch = b->sync_epoch;
}

void race_next_sync_epoch(struct block *b, const struct launch *l) {
    if (!l->sanitize) return;
    race_proxy_sync(b);
    discard_deferred_reads(b);
    if (++b->sync_epoch == RACE_SYNC_EPOCHS) clear_shared_epochs(b, l), race_vector_clocks_reset(b);
    mark_block_synced(b, l);
}

void race_next_partial_epoch(struct block *b, const struct launch *l) {
    race_proxy_sync(b);
    flush_block_reads(b);
    if (++b->sync_epoch == RACE_SYNC_EPOCHS) {
        clear_shared_epochs(b, l);
        race_vector_clocks_reset(b);
        mark_block_synced(b, l);
    }
    b->recorded_epoch = b->sync_epoch;
    race_advance_clock(b);
}

/* Clears the block's epochs when a warp's sync epoch wraps: they hold it modulo
 * RACE_WARP_SYNC_EPOCHS. */
static void restart_warp_epochs(struct block *b, const struct launch *l) {
    u32 sync_epoch = b->sync_epoch;
    discard_deferred_reads(b);
    clear_shared_epochs(b, l);
    b->sync_epoch = sync_epoch;
}

static void next_warp_sync_epoch(struct block *b, struct warp *w, u32 lanes, bool is_fence,
                                 const struct launch *l) {
    race_lanes_sync(b, w, lanes, is_fence);
    if (l->ptx_order && !is_fence) return;
    bool is_partial = w->live_lanes & ~lanes;
    race_proxy_sync(b);
    if (is_partial) flush_block_reads(b);
    if (!(++w->sync_epoch % RACE_WARP_SYNC_EPOCHS)) restart_warp_epochs(b, l);
    if (is_partial) race_sync_lanes(b, w, lanes);
    else w->warp_sync_epoch = w->sync_epoch;
}

static void start_block(struct block *b, const struct launch *l) {
    race_hb_start(b);
    race_lanes_start(b, l);
    race_async_reset_block(b);
    race_wgmma_start(b);
    race_proxy_start(b, l);
    race_warpgroup_start(b, l);
    race_vector_clocks_reset(b);
}

static void end_block(struct block *b) {
    discard_deferred_reads(b);
    race_async_free(b);
    race_wgmma_free(b);
    race_proxy_free(b);
    race_warpgroup_free(b);
    race_vector_clocks_free(b);
    race_hb_free(b);
    race_lanes_free(b);
}

/* Returns false if the block must not end so. */
static bool exit_block(struct exec *x) {
    race_async_check_exit(x);
    return race_warpgroup_is_complete(x);
}

const struct race_callbacks race_callbacks = {.on_block_sync = race_next_sync_epoch,
                                              .on_warp_sync = next_warp_sync_epoch,
                                              .on_barrier_arrive = race_barrier_arrive,
                                              .on_barrier_release = race_barrier_release,
                                              .on_pending_copy_access =
                                                  race_async_report_unfinished,
                                              .on_block_start = start_block,
                                              .advance_clock = race_advance_clock,
                                              .on_block_exit = exit_block,
                                              .on_block_free = end_block};
