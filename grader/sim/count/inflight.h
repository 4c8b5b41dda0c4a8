/* inflight.h — how early asynchronous copies are asked for: the counter async_copy_byte_distance
 * (docs/counters.md).
 *
 * A byte of a cp.async, or of a bulk copy into shared memory, counts the instructions that a warp
 * executes between the one that asks for it and the one that waits for it. That is no time, but the
 * order of the program: what stands between the two can hide the copy's latency, and what stands
 * elsewhere can't. Copies that nobody waits for count nothing. */
#pragma once
#include "grader/sim/core/core.h"

/* A warp asks for `bytes` by cp.async, counted under `stat`. */
void inflight_issue(struct exec *x, const struct op *o, u32 stat, u32 bytes);
/* cp.async.group: a group ends, or the warp waits for groups. */
void inflight_group(struct exec *x, const struct op *o);
/* The warp's cp.async arrive at the mbarrier at that offset. */
void inflight_arrive(struct exec *x, u32 mbarrier_offset);
/* A bulk copy that arrives at the mbarrier at that offset. */
void inflight_issue_bulk(struct exec *x, const struct op *o, u32 stat, u32 mbarrier_offset,
                         u32 bytes);
/* The warp has seen a phase of the mbarrier at that offset end. */
void inflight_complete(struct exec *x, const struct op *o, u32 mbarrier_offset);
