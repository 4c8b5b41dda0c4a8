/* race.h — what lanes_race.c notes and obs/race.c reports. */
#pragma once
#include "grader/sim/core/core.h"

/* Who a shared-memory stamp stands for. */
enum { RACE_ONE, RACE_LANES /* of one warp */, RACE_WARPS, RACE_ATOMIC_ONE, RACE_ATOMIC_MANY };
enum { RACE_INTERVALS = 1 << 13, RACE_MANY_BLOCKS = 0xffff, RACE_SAME_VALUE = 0xfffe /* many wrote, all the same */ };

/* core/block.c: a barrier of the block (or of a warp) passed. */
void race_next_interval(struct block *b, const struct launch *l);
void race_next_warp_interval(struct block *b, struct warp *w, const struct launch *l);

/* obs/race.c: planes for each worker of a launch, and the races between blocks at its end. */
bool race_open(struct launch *l);
void race_report(struct launch *l, struct sim_result *out);
void race_close(struct launch *l);
