/* warpgroup.h — checks that all four warps of a warpgroup execute its wgmmas, and that a
 * wgmma.fence follows each change of the registers that a wgmma uses. */
#pragma once
#include "grader/sim/code/warpgroup.h"
#include "grader/sim/core/core.h"

struct race_warpgroups;
/* Resets the state when a block starts; frees it. */
void race_warpgroup_start(struct block *b, const struct launch *l);
void race_warpgroup_free(struct block *b);
/* Checks a wgmma that a warp is about to execute. */
void race_warpgroup_check_wgmma(struct exec *x, const struct op *o, const struct warpgroup_desc *w);
void race_warpgroup_fence(struct exec *x);
/* Executes an op `wgmma.note` (code/wgmma_fence_check.c): records the write of a register. */
void race_warpgroup_record_write(struct exec *x, const struct op *o);
/* Returns true if each warp of the finished block has executed all wgmmas of its warpgroup. */
bool race_warpgroup_is_complete(struct exec *x);
