/* lanes_mem.h — what loads, stores and atomics share, whatever the memory: lanes_mem.c says how they work. */
#pragma once
#include "grader/sim/core/taint.h"
#include "grader/sim/count/pattern.h"
#include "grader/sim/insn/lanes.h"

/* The lanes' accesses to one memory: lanes_mem_global.c, lanes_mem_shared.c (`ea`: offsets in the block's),
 * lanes_mem_local.c (in the thread's). */
void ISAFN(lane_access_global)(struct exec *x, const struct op *o, const struct mem_desc *d, u32 stat, const u64 *ea,
                               u32 mask);
void ISAFN(lane_access_shared)(struct exec *x, const struct op *o, const struct mem_desc *d, u32 stat, const u64 *ea,
                               u32 mask);
void ISAFN(lane_access_local)(struct exec *x, const struct op *o, const struct mem_desc *d, u32 stat, const u64 *ea,
                              u32 mask);
/* lanes_cluster.c: shared memory of the cluster's blocks. Addresses as code/cluster.h has them; statistics of what lies in
 * the lane's own block, and in others. */
void ISAFN(lane_access_cluster)(struct exec *x, const struct op *o, const struct mem_desc *d, u32 own, u32 other,
                                u64 ea[32], u32 mask);
/* lanes_mem_move.c: between the registers and `p + rel[l]` of each lane. `shape`: of the pattern, where it is known. */
void ISAFN(lane_move)(const struct exec *x, const struct mem_desc *d, unsigned char *p, const s32 *rel, u32 mask,
                      u8 shape);

static inline u32 access_span(const struct mem_desc *d) {
    return (u32)d->width * d->count;
} /* bytes that a lane accesses */

static inline enum race_access race_kind(const struct mem_desc *d) {
    if (d->verb == MEM_ATOM) return RACE_EXCHANGE;
    if (d->verb == MEM_RED || (d->verb == MEM_STORE && d->strong)) return RACE_UPDATE;
    return d->verb == MEM_STORE ? RACE_WRITE : d->strong ? RACE_OBSERVE : d->rechecked ? RACE_PEEK : RACE_READ;
}

/* ---- the pattern of an access ---- */

/* Fills rel; returns false where lanes lie further apart than 32 bits tell. */
static inline bool relate(struct mem_memo *m, const u64 *ea, u32 mask, u8 space, u32 span, s32 *rel) {
    u64 base = ea[__builtin_ctz(mask)], far = 0;
    u32 diff = 0;
    if (mask == ~0u) {
        LANES {
            u64 r = ea[l] - base;
            rel[l] = (s32)r;
            far |= r + 0x40000000u;
            diff |= (u32)(rel[l] ^ m->relative[l]);
        }
    } else {
        LANES {
            u64 r = (mask >> l & 1) ? ea[l] - base : 0;
            rel[l] = (s32)r;
            far |= r + 0x40000000u;
            diff |= (u32)(rel[l] ^ m->relative[l]);
        }
    }
    if (far >> 31) return false;
    if (__builtin_expect((diff | (m->mask ^ mask) | !m->valid) != 0, 0)) ISAFN(pattern_fill)(m, rel, mask, space, span);
    return true;
}

/* ---- which bytes were written: marks of undefined values are even (core/taint.h) ---- */

static inline bool all_written(const unsigned char *w, u32 n) {
    unsigned char all = 1;
    for (u32 i = 0; i < n; i++) all &= w[i];
    return all;
}

/* Words of the shadow, all lanes at once: the usual width. */
static inline bool words_written(const unsigned char *w, const s32 *rel) {
    u32 all = 0x01010101;
    LANES all &= *(const u32 *)(w + rel[l]);
    return all == 0x01010101;
}

/* ---- atomics ---- */

/* All lanes' places are written; what an atomic leaves is written too. */
static inline bool atomic_written(const unsigned char *w, const s32 *rel, u32 mask, u32 width) {
    if (width == 4) return words_written(w, rel);
    bool all = true;
    ACTIVE(mask) all &= all_written(w + rel[l], width);
    return all;
}

/* Counts an atomic and fills rel; false where lanes lie too far apart for a pattern. */
static inline bool count_atomic(struct exec *x, const struct mem_desc *d, u32 stat, u8 space, const u64 ea[32],
                                u32 mask, s32 *rel) {
    struct mem_memo *m = &x->memos[stat];
    if (!relate(m, ea, mask, space, d->width, rel)) {
        ISAFN(pattern_count_far)(x->stats[stat], ea, mask, d->width);
        return false;
    }
    u32 phase = (u32)ea[__builtin_ctz(mask)] & 31;
    bool one = m->shape == SHAPE_UNIFORM &&
               (d->aggregate == AGGREGATE_ALWAYS || (d->aggregate == AGGREGATE_WHOLE_WARPS && mask == ~0u));
    (one ? pattern_count_aggregated : pattern_count)(x->stats[stat], m, phase, space, d->width);
    return true;
}
