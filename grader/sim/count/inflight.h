/* inflight.h — how early asynchronous copies start: the counter async_copy_byte_distance
 * (docs/counters.md). The lane functions of copies, waits and mbarriers call this.
 *
 * For each byte of a cp.async, or of a bulk copy into shared memory, the counter adds the
 * instructions that a warp executes between starting the copy and waiting for it. This measures
 * program order, not time: instructions between the two can hide the copy's latency, others can't.
 * Copies that no warp waits for count nothing. */
#pragma once
#include "grader/sim/core/core.h"

/* A warp starts a cp.async of `bytes`, counted under `stat`. */
void inflight_issue(struct exec *x, const struct op *o, u32 stat, u32 bytes);
/* cp.async.group: the warp commits a group or waits for groups. */
void inflight_group(struct exec *x, const struct op *o);
/* The warp's cp.async will arrive at the mbarrier at that offset. */
void inflight_arrive(struct exec *x, u32 mbarrier_offset);
/* A lane starts a bulk copy that will arrive at the mbarrier at that offset. */
void inflight_issue_bulk(struct exec *x, const struct op *o, u32 stat, u32 mbarrier_offset,
                         u32 bytes);
/* The warp has seen a phase of the mbarrier at that offset complete. */
void inflight_complete(struct exec *x, const struct op *o, u32 mbarrier_offset);
