/* wgmma_pending.h — products of a warpgroup that are under way: wgmma, from its issue until its warp has
 * waited for it. Until then its results are undefined, but as what the next product adds to, and
 * the matrices that it reads in shared memory must stay as they are. */
#pragma once
#include "grader/sim/core/core.h"

enum { MAX_WGMMA_READ_CHUNKS = 16 * 2 + 256 * 4 }; /* of 16 bytes: what a warp reads at most */

/* What one instruction of a warp reads, by offset in shared memory / 16; zeroed to begin with. */
struct wgmma_reads {
    u32 n;
    u16 chunk[MAX_WGMMA_READ_CHUNKS];
};
static inline void race_wgmma_add_read(struct wgmma_reads *p, u32 offset) {
    if (p->n < MAX_WGMMA_READ_CHUNKS) p->chunk[p->n++] = (u16)(offset / 16);
}

struct wgmma_queue;
/* A block starts; its memory goes. */
void race_wgmma_start(struct block *b);
void race_wgmma_free(struct block *b);
/* The warp's product has been made: its n results, registers of 4 bytes, are undefined until
 * somebody waited. */
void race_wgmma_issue(struct exec *x, const struct op *o, const struct wgmma_reads *p,
                      const ref *result, u32 n);
void race_wgmma_commit(struct exec *x);
/* All groups but the last `left` of the warp are done. */
void race_wgmma_wait(struct exec *x, const struct op *o, u32 max_pending);
/* The origin (core/undef.h) of a value that is undefined for another reason than a product under
 * way, else 0. */
u8 race_wgmma_origin(const struct exec *x, u8 origin);
/* Whether a product under way reads there; its op, and a thread of its warp. */
const struct op *race_wgmma_reader(const struct block *b, u32 offset, u32 bytes, u32 *thread);
