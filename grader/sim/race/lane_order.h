/* lane_order.h — the order of a warp's lanes in happens_before.c: which lane releases, acquires and
 * synchronizes with which other one. See lane_order.c. */
#pragma once
#include "grader/sim/core/core.h"

/* By lane, in the worker's ticks. The accesses that it orders before what the lane does now are
 * those of other lanes of the warp before `warp_sync_clock`; those of `synced_lanes`, which it has
 * synchronized with since, before `sync_clock`; other lanes' reads before `exchange_clock`, too;
 * those of other blocks before `acquire_clock`. The rest is as in struct warp_order. */
struct lane_order {
    u32 warp_sync_clock; /* the last synchronization of all lanes */
    u32 synced_lanes[32], sync_clock[32], exchange_clock[32];
    u32 fence_clock[32], acquire_clock[32], pending_clock[32], observed_clock[32];
};

/* The lanes of a cell's last write, read and update, and of its former update. */
struct cell_lanes {
    u8 writer, reader, updater, former_updater;
};

/* The last update by another block than the one of the last update; block 0 = none, or the last
 * update is ordered after it. */
struct former_update {
    u32 epoch;
    u16 block_id;
};

/* The thread of a cell's last release, and what of its own block was not ordered before it:
 * accesses by its warp's other lanes, by those of them that it had synchronized with, reads of all
 * of them, and accesses by other warps, from these ticks on. */
struct cell_release {
    u16 block_id;
    u8 warp, lane;
    u32 lanes_from, synced_lanes, synced_lanes_from, lane_reads_from, warps_from;
    u32 store_clock;    /* the tick behind it */
    u32 acquired_clock; /* what came before it in other blocks is released, too */
};

/* An access that is recorded for a cell. */
struct lane_access {
    u16 block_id;
    u32 warp, lane, clock;
    bool is_read;
};
enum order_gap { ORDER_COMPLETE, ORDER_GAP_LANES, ORDER_GAP_WARPS };

/* At a block's start, and when it is freed. */
void race_lanes_start(struct block *b, const struct launch *l);
void race_lanes_free(struct block *b);
/* These lanes execute a fence, which begins this tick. */
void race_lanes_fence(struct block *b, const struct warp *w, u32 lanes, u32 clock);
/* These lanes wait for each other: a warp barrier, which orders memory, or a shuffle or vote, which
 * only passes on what the lanes have read. */
void race_lanes_sync(struct block *b, const struct warp *w, u32 lanes, bool orders_memory);
/* Something else ordered all lanes of the warp, and they know what the warp has acquired. */
void race_lanes_join_warp(struct block *b, const struct warp *w);
/* Returns what the lane's release at this time leaves unordered. */
struct cell_release race_lanes_release(const struct block *b, const struct warp *w, u32 lane);
/* The block observes a store of that tick, a release of what came before the tick `released`. */
void race_lanes_observe(struct block *b, u32 clock, u32 released, const struct cell_release *r);
/* Returns whether a release that the block observed left that access unordered. */
enum order_gap race_lanes_find_gap(const struct block *b, const struct lane_access *a);
