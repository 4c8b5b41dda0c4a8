/* vector_clock.h — synchronization of some threads of a block: barriers of part of a warp, named
 * barriers, mbarriers, acquires. See vector_clock.c. */
#pragma once
#include "grader/sim/core/core.h"

/* By warp, a time before which all that the warp did is ordered: a sync epoch for shared memory, a
 * tick for global memory. */
struct vector_clock {
    u32 sync_epoch[32], logical_clock[32];
};
enum { MBARRIER_CLOCK_SLOTS = 32 };

/* What a warp's acquire from another one left unordered: accesses by that warp from the time `from`
 * to before `end`, which the warp has observed as a whole. Times are of one kind of memory, as in
 * struct vector_clock. */
struct acquire_gap {
    u32 from, end;
    /* Lanes of the releasing warp that the releasing lane had not synchronized with since
     * `lanes_from`: a sync epoch of that warp for shared memory, a tick for global memory. */
    u32 unreleased_lanes, lanes_from;
    /* Lanes of the acquiring warp that have acquired; the others will at its next synchronization,
     * when it leaves these epochs. */
    u32 acquiring_lanes, warp_epoch, lanes_epoch;
};
enum gap_memory { GAP_SHARED, GAP_GLOBAL, GAP_MEMORY_COUNT };

/* A store by a lane of the block that another lane observes, or an access that is checked. */
struct block_access {
    enum gap_memory memory;
    u32 warp, lane, time, lane_time; /* lane_time as acquire_gap.lanes_from */
};

struct vector_clocks {
    struct vector_clock warp_clock[32]; /* by warp: what it has observed */
    /* …and what its next fence orders (race_acquire_by). */
    struct vector_clock pending_clock[32];
    /* The joined clocks of the warps that arrived by bar.arrive. */
    struct vector_clock named_barrier_clock[BARRIERS_PER_BLOCK];
    /* Of mbarriers, by slot: all arrivals so far; those up to the end of the last phase. */
    struct vector_clock mbarrier_arrival_clock[MBARRIER_CLOCK_SLOTS],
        mbarrier_phase_clock[MBARRIER_CLOCK_SLOTS];
    /* By warp: [lane][other], the other lane's last sync epoch that the lane has observed; NULL
     * before the first one. Owned. */
    u32 *lane_clock[32];
    /* By acquiring warp and releasing warp. */
    struct acquire_gap gaps[GAP_MEMORY_COUNT][32][32];
    bool has_gaps;
    struct vector_clock before_acquire; /* of the last race_acquire_by, what was observed before */
};

/* Resets the clocks when a block starts or its sync epochs wrap; frees them. */
void race_vector_clocks_reset(struct block *b);
void race_vector_clocks_free(struct block *b);
/* Orders all that was done in the block before what the warp does from now on. */
void race_acquire(struct block *b, struct warp *w, const struct launch *l);
/* The op has observed an atomic or a strong store of another thread of the block. With PTX's memory
 * model, that orders what the other warps did before their last fences, once this warp executes one
 * itself; .acquire does so at once, and so does an atomic, as a block's SM keeps that order. With
 * the hardware's, it orders everything. */
void race_acquire_by(struct exec *x, const struct op *o);
/* After race_acquire_by: records which lanes that acquire ordered. `lane` observed the store
 * `release`. With the hardware's memory model, all lanes are ordered. */
void race_note_acquire(struct exec *x, u32 lane, const struct block_access *release);
/* Returns true if that access by another warp, although observed by the lane's warp, is not ordered
 * before what the lane does now. */
bool race_is_in_acquire_gap(const struct exec *x, u32 lane, const struct block_access *a);
/* What is missing then, for a report. */
extern const char race_acquire_gap_text[];
/* The warp executes a fence of any scope, or a .release operation. */
void race_block_fence(struct exec *x);
/* For an mbarrier in the block's own memory: a lane initializes it, which counts as a plain store;
 * a warp arrives; its phase completes; a warp has seen that. */
void race_mbarrier_init(struct exec *x, const struct op *o, u32 lane, u32 offset);
void race_mbarrier_arrive(struct exec *x, u32 offset, bool first /* lane of its instruction */);
void race_mbarrier_complete_phase(struct exec *x, u32 offset);
void race_mbarrier_acquire(struct exec *x, u32 offset);
/* Orders these lanes of the warp: they have synchronized. */
void race_sync_lanes(struct block *b, const struct warp *w, u32 lanes);
/* Returns true if what lane `other` did in that sync epoch of the warp is ordered before what
 * `lane` does now. */
bool race_lane_is_ordered(const struct block *b, const struct warp *w, u32 lane, u32 other,
                          u32 sync_epoch);

/* Returns from when on an access to shared memory by warp `other` may be unordered. */
static inline u32 race_gap_start(const struct block *b, u32 warp, u32 other, u32 observed) {
    if (!b->vector_clocks || !b->vector_clocks->has_gaps) return observed;
    const struct acquire_gap *g = &b->vector_clocks->gaps[GAP_SHARED][warp][other];
    u32 from = g->from > b->block_sync_epoch ? g->from : b->block_sync_epoch;
    return g->end && from < observed ? from : observed;
}
static inline u32 race_observed_sync_epoch(const struct block *b, u32 warp, u32 other) {
    u32 observed = b->vector_clocks ? b->vector_clocks->warp_clock[warp].sync_epoch[other] : 0;
    return observed > b->block_sync_epoch ? observed : b->block_sync_epoch;
}
static inline u32 race_observed_clock(const struct block *b, u32 warp, u32 other) {
    u32 observed = b->vector_clocks ? b->vector_clocks->warp_clock[warp].logical_clock[other] : 0;
    return observed > b->logical_clock ? observed : b->logical_clock;
}
