/* livelock.h — finds blocks that only wait: whatever time they get, nothing changes any more.
 * core/launch.c and core/clock_scheduler.c call it after each round of their blocks. */
#pragma once
#include "grader/sim/core/core.h"

struct livelock_detector {
    u8 phase;         /* enum, livelock.c */
    u32 round;        /* of this attempt */
    u64 next_attempt; /* instructions of the worker's blocks, see livelock_found */
    u64 min_distance;
    u64 *segment_runs; /* the worker's, when the attempt began */
    u64 *vruntimes;    /* of ready splits, then */
    u32 nvruntimes, vruntimes_capacity;
    u8 *counters; /* by 4 bytes of a function's frame: a counter; livelock_counters.c */
    u64 block_hash, memory_hash;
    u64 global_requests; /* when the attempt began */
    u32 nsegments;       /* that had run when the counters were determined */
};

/* Ends the attempt: a block has ended or started. */
void livelock_reset(struct livelock_detector *d);
void livelock_close(struct livelock_detector *d);
/* Call this after a round in which all live blocks of the worker ran and none ended or started.
 * `executed`: warp instructions of the worker's blocks so far. Returns true if the blocks only
 * repeat themselves, with no effect: then the launch never ends. */
bool livelock_found(struct livelock_detector *d, struct worker *k, u64 executed);
/* Reports what the lowest block waits for, as the launch's fault. */
void livelock_report(struct worker *k);

/* livelock_counters.c: marks the registers that the ops of the segments executed since
 * `segment_runs` change, but that decide nothing there: no branch, address or stored value.
 * `counters` has a byte for each 4 bytes of a frame. Returns false if there are none. */
bool livelock_find_counters(const struct worker *k, const u64 *segment_runs, u8 *counters);
/* Returns true if the segment was executed since then. */
static inline bool livelock_has_run(const struct worker *k, const u64 *segment_runs, u32 segment) {
    return k->segment_runs[segment] != segment_runs[segment];
}
