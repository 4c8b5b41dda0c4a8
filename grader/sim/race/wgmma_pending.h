/* wgmma_pending.h — wgmmas in flight, from their issue until their warp has waited for them. Until
 * then the results are undefined, except as the sums of a later wgmma, and the matrices in shared
 * memory must not change. */
#pragma once
#include "grader/sim/core/core.h"

enum { MAX_WGMMA_READ_CHUNKS = 16 * 2 + 256 * 4 }; /* chunks of 16 bytes that a warp reads */

/* The chunks that one instruction of a warp reads: offsets in shared memory / 16. Starts zeroed. */
struct wgmma_reads {
    u32 n;
    u16 chunk[MAX_WGMMA_READ_CHUNKS];
};
static inline void race_wgmma_add_read(struct wgmma_reads *p, u32 offset) {
    if (p->n < MAX_WGMMA_READ_CHUNKS) p->chunk[p->n++] = (u16)(offset / 16);
}

struct wgmma_queue;
/* Resets a block's wgmmas when it starts; frees them. */
void race_wgmma_start(struct block *b);
void race_wgmma_free(struct block *b);
/* Records the warp's wgmma: its n results, registers of 4 bytes, are undefined until the warp has
 * waited. */
void race_wgmma_issue(struct exec *x, const struct op *o, const struct wgmma_reads *p,
                      const ref *result, u32 n);
void race_wgmma_commit(struct exec *x);
/* Completes all groups of the warp but the last `max_pending`. */
void race_wgmma_wait(struct exec *x, const struct op *o, u32 max_pending);
/* Returns the origin (core/undef.h), or 0 if it is that of a wgmma in flight. */
u8 race_wgmma_origin(const struct exec *x, u8 origin);
/* Returns the op of a wgmma in flight that reads there, and a thread of its warp; NULL if none. */
const struct op *race_wgmma_reader(const struct block *b, u32 offset, u32 bytes, u32 *thread);
