/* product.h — products of a warpgroup that are under way: wgmma, from its issue until its warp has
 * waited for it. Until then its results are undefined, but as what the next product adds to, and
 * the matrices that it reads in shared memory must stay as they are. */
#pragma once
#include "grader/sim/core/core.h"

enum { RACE_PRODUCT_CHUNKS = 16 * 2 + 256 * 4 }; /* of 16 bytes: what a warp reads at most */

/* What one instruction of a warp reads, by offset in shared memory / 16; zeroed to begin with. */
struct race_product {
    u32 n;
    u16 chunk[RACE_PRODUCT_CHUNKS];
};
static inline void race_product_reads(struct race_product *p, u32 offset) {
    if (p->n < RACE_PRODUCT_CHUNKS) p->chunk[p->n++] = (u16)(offset / 16);
}

struct products;
/* A block starts; its memory goes. */
void race_product_start(struct block *b);
void race_product_free(struct block *b);
/* The warp's product has been made: its n results, registers of 4 bytes, are undefined until
 * somebody waited. */
void race_product_begin(struct exec *x, const struct op *o, const struct race_product *p,
                        const ref *result, u32 n);
void race_product_commit(struct exec *x);
/* All groups but the last `left` of the warp are done. */
void race_product_wait(struct exec *x, const struct op *o, u32 left);
/* The origin (core/taint.h) of a value that is undefined for another reason than a product under
 * way, else 0. */
u8 race_product_origin(const struct exec *x, u8 origin);
/* Whether a product under way reads there; its op, and a thread of its warp. */
const struct op *race_product_reader(const struct block *b, u32 offset, u32 bytes, u32 *thread);
