/* exec_mem.h — what loads, stores and atomics of all memories share: exec_mem.c says how they
 * work. */
#pragma once
#include "grader/sim/core/undef.h"
#include "grader/sim/count/pattern.h"
#include "grader/sim/insn/exec.h"

#include <string.h>

/* The lanes' accesses to one memory. `ea`: addresses for exec_mem_global.c, offsets in the block's
 * for exec_mem_shared.c and in the thread's for exec_mem_local.c. */
void ISAFN(lane_access_global)(struct exec *x, const struct op *o, const struct mem_desc *d,
                               u32 stat, const u64 *ea, u32 mask);
void ISAFN(lane_access_shared)(struct exec *x, const struct op *o, const struct mem_desc *d,
                               u32 stat, const u64 *ea, u32 mask);
void ISAFN(lane_access_local)(struct exec *x, const struct op *o, const struct mem_desc *d,
                              u32 stat, const u64 *ea, u32 mask);
/* Do an access that repeats an earlier one's addresses. They return false, with nothing counted,
 * unless everything is as it was. */
bool ISAFN(lane_access_global_reused)(struct exec *x, const struct op *o, const struct mem_desc *d,
                                      u32 mask);
bool ISAFN(lane_access_shared_reused)(struct exec *x, const struct op *o, const struct mem_desc *d,
                                      u32 mask);
/* exec_cluster.c: accesses shared memory of the cluster's blocks. Addresses as in code/cluster.h;
 * statistics for the lane's own block and for others. */
void ISAFN(lane_access_cluster)(struct exec *x, const struct op *o, const struct mem_desc *d,
                                u32 own_stat, u32 remote_stat, u64 ea[32], u32 mask);
/* exec_mem_move.c: moves data between the registers and `p + rel[l]` of each lane. `shape`: the
 * pattern's, if known. */
void ISAFN(lane_move)(const struct exec *x, const struct mem_desc *d, unsigned char *p,
                      const s32 *rel, u32 mask, u8 shape);

/* Returns the bytes that a lane accesses. */
static inline u32 access_span(const struct mem_desc *d) { return (u32)d->width * d->count; }

static inline enum race_access_kind race_access_of(const struct mem_desc *d) {
    if (d->verb == MEM_ATOM) return RACE_ATOM;
    if (d->verb == MEM_RED || (d->verb == MEM_STORE && d->strong)) return RACE_RED;
    return d->verb == MEM_STORE    ? RACE_WRITE
           : d->strong             ? RACE_STRONG_LOAD
           : d->verified_by_atomic ? RACE_READ_REVALIDATED
                                   : RACE_READ;
}

/* ---- the pattern of an access ---- */

/* Computes the pattern; returns false if the lanes lie further apart than 32 bits can express. */
static bool rebuild_pattern(struct access_pattern *m, const u64 *ea, u32 mask, u8 space, u32 span) {
    u64 base = ea[__builtin_ctz(mask)], out_of_range = 0;
    s32 rel[32];
    FOR_LANES {
        u64 r = (mask >> l & 1) ? ea[l] - base : 0;
        rel[l] = (s32)r;
        out_of_range |= r + 0x40000000u;
    }
    if (out_of_range >> 31) return false;
    ISAFN(pattern_fill)(m, rel, mask, space, span);
    return true;
}

/* Returns the lanes' addresses relative to the first active one, which the pattern now holds. They
 * are mostly the same as before. NULL if the lanes lie too far apart. */
static inline const s32 *update_pattern(struct access_pattern *m, const u64 *ea, u32 mask, u8 space,
                                        u32 span) {
    u64 base = ea[__builtin_ctz(mask)], diff = 0;
    if (mask == ~0u) FOR_LANES diff |= (ea[l] - base) ^ (u64)(s64)m->lane_offset[l];
    else FOR_LANES diff |= ((mask >> l & 1) ? ea[l] - base : 0) ^ (u64)(s64)m->lane_offset[l];
    bool is_unchanged = !diff && m->mask == mask && m->valid;
    bool has_pattern =
        __builtin_expect(is_unchanged, 1) || rebuild_pattern(m, ea, mask, space, span);
    pattern_move(m, base);
    m->last_mask = has_pattern ? mask : 0;
    return has_pattern ? m->lane_offset : NULL;
}

/* ---- accesses that repeat an earlier one's addresses: code/address_reuse.c ---- */

/* Once the pattern is known, records whether it equals the earlier access's, so that the next time
 * it needn't be computed. */
static inline void record_address_reuse(const struct exec *x, const struct mem_desc *d,
                                        struct access_pattern *m) {
    const struct access_pattern *e = &x->pattern_cache[d->same_address_as - 1];
    if (m->last_mask && e->last_mask == m->last_mask && e->pattern_serial != m->reused_serial &&
        !memcmp(m->lane_offset, e->lane_offset, sizeof m->lane_offset))
        m->reused_serial = e->pattern_serial;
}

/* Returns true if the lanes are where the earlier access had them, moved by address_delta; m->base
 * then says where. Not when tracing, which needs each lane's address, nor while the warp holds
 * undefined values, which may let lanes skip one of the two. */
static inline bool reuses_address(const struct exec *x, const struct mem_desc *d,
                                  struct access_pattern *m, u32 mask) {
    const struct access_pattern *e = &x->pattern_cache[d->same_address_as - 1];
    if (m->reused_serial != e->pattern_serial || m->mask != mask || e->last_mask != mask ||
        x->trace || x->warp->nundef)
        return false;
    pattern_move(m, e->base + (u64)d->address_delta); /* if this wraps, it fits no memory */
    m->last_mask = mask;
    return true;
}

/* ---- init shadow: 1 = written; marks of undefined values are even (core/undef.h) ---- */

static inline bool all_initialized(const unsigned char *w, u32 n) {
    unsigned char all = 1;
    for (u32 i = 0; i < n; i++) all &= w[i];
    return all;
}

typedef u32 u32_unaligned __attribute__((aligned(1), may_alias));

/* The same for one lane's access, and for all lanes' accesses side by side. */
static inline bool span_initialized(const unsigned char *w, u32 span) {
    return span == 4 ? *(const u32_unaligned *)w == 0x01010101 : all_initialized(w, span);
}
static inline bool row_initialized(const unsigned char *w, u32 span) {
    u32 all = 0x01010101;
    for (u32 i = 0; i < span; i++)
        for (u32 k = 0; k < 8; k++) all &= ((const u32_unaligned *)w)[i * 8 + k];
    return all == 0x01010101;
}

/* The same for words of all lanes, the usual width. */
static inline bool words_initialized(const unsigned char *w, const s32 *rel) {
    u32 all = 0x01010101;
    FOR_LANES all &= *(const u32 *)(w + rel[l]);
    return all == 0x01010101;
}

/* ---- atomics ---- */

/* Returns true if the words of all active lanes are initialized; then so is what an atomic
 * leaves. */
static inline bool atomic_initialized(const unsigned char *w, const s32 *rel, u32 mask, u32 width) {
    if (width == 4) return words_initialized(w, rel);
    bool all = true;
    FOR_ACTIVE_LANES(mask) all &= all_initialized(w + rel[l], width);
    return all;
}

/* Counts an atomic. Returns the lanes' relative addresses, or NULL if they lie too far apart for a
 * pattern. */
static inline const s32 *count_atomic(struct exec *x, const struct mem_desc *d, u32 stat, u8 space,
                                      const u64 ea[32], u32 mask) {
    struct access_pattern *m = &x->pattern_cache[stat];
    const s32 *rel = update_pattern(m, ea, mask, space, d->width);
    if (!rel) {
        ISAFN(pattern_count_scattered)(x->stats[stat], ea, mask, d->width);
        return NULL;
    }
    u32 phase = (u32)ea[__builtin_ctz(mask)] & 31;
    bool is_aggregated = m->shape == PATTERN_UNIFORM &&
                         (d->warp_aggregation == AGGREGATE_ALWAYS ||
                          (d->warp_aggregation == AGGREGATE_FULL_WARPS && mask == ~0u));
    (is_aggregated ? pattern_count_aggregated : pattern_count)(x->stats[stat], m, phase, space,
                                                               d->width);
    return rel;
}
