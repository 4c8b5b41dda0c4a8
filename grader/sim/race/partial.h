/* partial.h — what orders some threads of a block with some others: barriers of a part of a warp,
 * named barriers, mbarriers, seeing what another thread left. See partial.c. */
#pragma once
#include "grader/sim/core/core.h"

/* A time: an interval for shared memory, a tick for global memory. What another warp did before it
 * is ordered. */
struct race_times {
    u32 interval[32], tick[32]; /* by warp */
};
enum { RACE_PLACES = 32 };

struct race_partial {
    struct race_times seen[32];                    /* by warp: what it may rely on */
    struct race_times arrived[BARRIERS_PER_BLOCK]; /* of warps that came by bar.arrive */
    struct race_times arrives[RACE_PLACES],
        ended[RACE_PLACES]; /* of mbarriers: what came to it, to the last phase's end */
    u32 *lanes[32]; /* by warp, NULL = nothing yet: [lane][other], the other's last interval of the
                       warp that the lane saw */
};

/* A block starts; its memory goes; its intervals begin anew. */
void race_order_forget(struct block *b);
void race_order_free(struct block *b);
/* A warp was handed something: all that was done in the block is ordered before what it does from
 * now on. */
void race_acquire(struct block *b, const struct warp *w, const struct launch *l);
/* An mbarrier of the block's own memory: a lane initialises it, which is a plain store; a warp
 * arrives, its phase ends, a warp has seen that. */
void race_mbarrier_init(struct exec *x, const struct op *o, u32 lane, u32 offset);
void race_mbarrier_arrive(struct exec *x, u32 offset, bool first /* lane of its instruction */);
void race_mbarrier_ends(struct exec *x, u32 offset);
void race_mbarrier_seen(struct exec *x, u32 offset);
/* Lanes of a part of a warp met. */
void race_lanes_met(struct block *b, const struct warp *w, u32 lanes);
/* Whether what a lane of the warp did in that interval of it is ordered before what `lane` does
 * now. */
bool race_lane_ordered(const struct block *b, const struct warp *w, u32 lane, u32 other,
                       u32 interval);

static inline u32 race_seen_interval(const struct block *b, u32 warp, u32 other) {
    u32 seen = b->vector_clocks ? b->vector_clocks->seen[warp].interval[other] : 0;
    return seen > b->block_sync_epoch ? seen : b->block_sync_epoch;
}
static inline u32 race_seen_tick(const struct block *b, u32 warp, u32 other) {
    u32 seen = b->vector_clocks ? b->vector_clocks->seen[warp].tick[other] : 0;
    return seen > b->logical_clock ? seen : b->logical_clock;
}
