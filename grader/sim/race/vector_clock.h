/* vector_clock.h — what orders some threads of a block with some others: barriers of a part of a warp,
 * named barriers, mbarriers, seeing what another thread left. See vector_clock.c. */
#pragma once
#include "grader/sim/core/core.h"

/* A time: an interval for shared memory, a tick for global memory. What another warp did before it
 * is ordered. */
struct vector_clock {
    u32 sync_epoch[32], logical_clock[32]; /* by warp */
};
enum { MBARRIER_CLOCK_SLOTS = 32 };

struct vector_clocks {
    struct vector_clock warp_clock[32]; /* by warp: what it may rely on */
    struct vector_clock
        named_barrier_clock[BARRIERS_PER_BLOCK]; /* of warps that came by bar.arrive */
    struct vector_clock mbarrier_arrival_clock[MBARRIER_CLOCK_SLOTS],
        mbarrier_phase_clock[MBARRIER_CLOCK_SLOTS]; /* of mbarriers: what came to it, to the last
                                                       phase's end */
    u32 *lane_clock[32]; /* by warp, NULL = nothing yet: [lane][other], the other's last interval of
                       the warp that the lane saw */
};

/* A block starts; its memory goes; its intervals begin anew. */
void race_vector_clocks_reset(struct block *b);
void race_vector_clocks_free(struct block *b);
/* A warp was handed something: all that was done in the block is ordered before what it does from
 * now on. */
void race_acquire(struct block *b, const struct warp *w, const struct launch *l);
/* An mbarrier of the block's own memory: a lane initialises it, which is a plain store; a warp
 * arrives, its phase ends, a warp has seen that. */
void race_mbarrier_init(struct exec *x, const struct op *o, u32 lane, u32 offset);
void race_mbarrier_arrive(struct exec *x, u32 offset, bool first /* lane of its instruction */);
void race_mbarrier_complete_phase(struct exec *x, u32 offset);
void race_mbarrier_acquire(struct exec *x, u32 offset);
/* Lanes of a part of a warp met. */
void race_sync_lanes(struct block *b, const struct warp *w, u32 lanes);
/* Whether what a lane of the warp did in that interval of it is ordered before what `lane` does
 * now. */
bool race_lane_is_ordered(const struct block *b, const struct warp *w, u32 lane, u32 other,
                          u32 sync_epoch);

static inline u32 race_observed_sync_epoch(const struct block *b, u32 warp, u32 other) {
    u32 observed = b->vector_clocks ? b->vector_clocks->warp_clock[warp].sync_epoch[other] : 0;
    return observed > b->block_sync_epoch ? observed : b->block_sync_epoch;
}
static inline u32 race_observed_clock(const struct block *b, u32 warp, u32 other) {
    u32 observed = b->vector_clocks ? b->vector_clocks->warp_clock[warp].logical_clock[other] : 0;
    return observed > b->logical_clock ? observed : b->logical_clock;
}
