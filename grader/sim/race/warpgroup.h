/* warpgroup.h — what a warpgroup owes to its products besides their matrices: all four of its
 * warps, and wgmma.fence behind what was done to the registers that they use. */
#pragma once
#include "grader/sim/code/warpgroup.h"
#include "grader/sim/core/core.h"

struct race_warpgroups;
/* A block starts; its memory goes. */
void race_warpgroup_start(struct block *b, const struct launch *l);
void race_warpgroup_free(struct block *b);
/* A warp comes to a product, with registers of its own. */
void race_warpgroup_check_wgmma(struct exec *x, const struct op *o, const struct warpgroup_desc *w);
void race_warpgroup_fence(struct exec *x);
/* An op `wgmma.note` (code/wgmma_fence_check.c). */
void race_warpgroup_record_write(struct exec *x, const struct op *o);
/* The block's threads are done: whether each warp came to all products of its warpgroup. */
bool race_warpgroup_is_complete(struct exec *x);
