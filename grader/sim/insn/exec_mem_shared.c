/* exec_mem_shared.c — loads and stores of shared memory; addresses are offsets in the block's
 * shared memory. See exec_mem.c. */
#include "grader/sim/core/source_location.h"
#include "grader/sim/insn/exec_mem.h"
#include "grader/sim/count/inflight.h"
#include "grader/sim/race/async.h"

#include <string.h>

static const char *dynamic_shared_advice(const struct exec *x) {
    return x->worker->launch->request->dynamic_shared
               ? " (the launch's third argument is the size of `extern __shared__` arrays in bytes)"
               : "";
}

static bool check_shared_access_bounds(struct exec *x, const struct op *o, const struct mem_desc *d,
                                       unsigned lane, u64 offset) {
    u32 span = access_span(d);
    if (offset < x->shared_bytes && offset + span <= x->shared_bytes && !(offset & (span - 1)))
        return true;
    char location[128];
    describe_shared_byte(x->worker->launch, offset, location, sizeof location);
    if (offset & (span - 1))
        core_fault(x, SIM_FAULT_MISALIGNED, o, lane, offset,
                   "accesses %u bytes at %s, which does not begin at a multiple of %u", span,
                   location, span);
    else
        core_fault(x, SIM_FAULT_OUT_OF_BOUNDS, o, lane, offset,
                   "accesses %u bytes at %s, of which the block has %u bytes%s", span, location,
                   x->shared_bytes, dynamic_shared_advice(x));
    return false;
}

static void check_initialized_shared(struct exec *x, const struct op *o, const struct mem_desc *d,
                                     unsigned lane, u64 offset) {
    const unsigned char *w = x->shared_written + offset;
    if (!all_initialized(w, access_span(d))) undef_access(x, o, d, lane, offset, w, SPACE_SHARED);
}

/* Marks stored bytes as initialized. */
static void mark_stored_shared(struct exec *x, const struct mem_desc *d, u64 base, const s32 *rel,
                               u32 mask, u8 shape) {
    u32 span = access_span(d);
    unsigned char *w = x->shared_written + base;
    if (shape == PATTERN_UNIT_STRIDE) memset(w, 1, 32 * span);
    else if (span == 4) FOR_ACTIVE_LANES(mask) * (u32 *)(w + rel[l]) = 0x01010101;
    else FOR_ACTIVE_LANES(mask) memset(w + rel[l], 1, span);
}

/* Reports loads of bytes that are not initialized. */
static void check_loaded_shared(struct exec *x, const struct op *o, const struct mem_desc *d,
                                u64 base, const s32 *rel, u32 mask, u8 shape) {
    u32 span = access_span(d);
    unsigned char *w = x->shared_written + base;
    if (shape == PATTERN_UNIFORM && span_initialized(w, span)) return;
    if (shape == PATTERN_UNIT_STRIDE && row_initialized(w, span)) return;
    if (span == 4 && words_initialized(w, rel)) return;
    FOR_ACTIVE_LANES(mask) check_initialized_shared(x, o, d, l, base + (u64)(s64)rel[l]);
}

enum { SECTOR_BYTES = 32 };

/* Returns the load of a cp.async from its store: the op `target` before it. */
static const struct op *load_of_async_copy(const struct op *store) { return store - store->target; }

/* Starts tracking the copy of a cp.async, at its store. Its load had the lanes that copy all of
 * their bytes. */
static void issue_async_copy(struct exec *x, const struct op *o, u64 base, const s32 *rel, u32 mask,
                             u32 span) {
    const struct op *load = load_of_async_copy(o);
    u64 from[32];
    ISAFN(lane_addresses)(x, load, &x->mems[load->aux], from);
    race_async_issue(x, o, base, rel, mask, span, from, mask_at(x, load->guard) ^ load->guard_xor);
}

/* Counts the bytes of a cp.async. Bytes that several lanes copy move once: no more than the sectors
 * hold, which the load has just counted. */
static void count_async_copy(struct exec *x, const struct op *o, u32 mask, u32 span) {
    const struct op *load = load_of_async_copy(o);
    const struct mem_desc *d = &x->mems[load->aux];
    const struct access_pattern *m = &x->pattern_cache[d->stat];
    u64 from[32];
    ISAFN(lane_addresses)(x, load, d, from);
    u32 alignment = (u32)from[__builtin_ctz(mask)] % SECTOR_BYTES,
        bytes = span * (u32)__builtin_popcount(mask);
    bool is_counted = m->valid && m->valid_alignments >> alignment & 1;
    u32 max_sectors = is_counted ? m->sectors_by_alignment[alignment] : 32 /* one a lane */,
        max_bytes = SECTOR_BYTES * max_sectors;
    inflight_issue(x, o, d->stat, bytes < max_bytes ? bytes : max_bytes);
}

/* Reports an access that is in the block's shared memory but outside the array from which its
 * address is computed; a device doesn't notice it. */
static void check_array(struct exec *x, const struct op *o, const struct mem_desc *d, u64 base,
                        const s32 *rel, u32 mask) {
    u32 span = access_span(d);
    FOR_ACTIVE_LANES(mask) {
        u64 offset = base + (u64)(s64)rel[l];
        char location[128], array[128];
        if (offset >= d->array_begin && offset + span <= d->array_end) continue;
        describe_shared_byte(x->worker->launch, offset, location, sizeof location);
        describe_shared_variable(x->worker->launch, d->array_begin, array, sizeof array);
        core_fault(x, SIM_FAULT_SHARED_ARRAY_BOUNDS, o, l, offset,
                   "indexes %s of %u bytes and %s %s", array, d->array_end - d->array_begin,
                   d->verb == MEM_LOAD    ? "reads"
                   : d->verb == MEM_STORE ? "writes"
                                          : "updates",
                   location);
    }
}

static inline bool is_in_array(const struct mem_desc *d, const struct access_pattern *m, u64 base,
                               u32 span) {
    u64 low = base + (u64)(s64)m->min_offset;
    return !d->array_end ||
           (low >= d->array_begin &&
            low + (u64)((s64)m->max_offset - m->min_offset) + span <= d->array_end);
}

static bool pattern_fits_shared(const struct exec *x, const struct access_pattern *m, u64 base,
                                u32 span) {
    u64 low = base + (u64)(s64)m->min_offset;
    return low < x->shared_bytes &&
           low + (u64)((s64)m->max_offset - m->min_offset) + span <= x->shared_bytes &&
           !(((u32)base | m->offset_bits) & (span - 1));
}

/* Does the access. `m`: its pattern, if it fits, else NULL. Whether a store can race depends on
 * whether the bytes were initialized before it. */
static inline void perform_shared_access(struct exec *x, const struct op *o,
                                         const struct mem_desc *d, struct access_pattern *m,
                                         u64 base, const s32 *rel, u32 mask) {
    u32 span = access_span(d);
    u8 shape = m ? m->shape : PATTERN_ANY;
    if (x->sanitize && d->array_end && (!m || !is_in_array(d, m, base, span)))
        check_array(x, o, d, base, rel, mask);
    if (__builtin_expect(d->is_cp_async, false)) count_async_copy(x, o, mask, span);
    if (x->sanitize && d->verb == MEM_LOAD) check_loaded_shared(x, o, d, base, rel, mask, shape);
    if (x->sanitize && d->is_cp_async) issue_async_copy(x, o, base, rel, mask, span);
    if (x->sanitize) ISAFN(race_shared_access)(x, o, m, base, rel, mask, span, race_access_of(d));
    if (x->sanitize && d->verb != MEM_LOAD && !d->is_cp_async)
        mark_stored_shared(x, d, base, rel, mask, shape);
    ISAFN(lane_move)(x, d, x->shared + base, rel, mask, shape);
}

bool ISAFN(lane_access_shared_reused)(struct exec *x, const struct op *o, const struct mem_desc *d,
                                      u32 mask) {
    struct access_pattern *m = &x->pattern_cache[d->stat];
    if (!reuses_address(x, d, m, mask) || !pattern_fits_shared(x, m, m->base, access_span(d)))
        return false;
    if (d->merged_bytes != MERGED_INTO_OTHER)
        pattern_count(x->stats[d->stat], m, 0, SPACE_SHARED, access_span(d));
    perform_shared_access(x, o, d, m, m->base, m->lane_offset, mask);
    return true;
}

void ISAFN(lane_access_shared)(struct exec *x, const struct op *o, const struct mem_desc *d,
                               u32 stat, const u64 *ea, u32 mask) {
    u32 span = access_span(d);
    struct access_pattern *m = &x->pattern_cache[stat];
    u64 base = ea[__builtin_ctz(mask)];
    const s32 *rel = update_pattern(m, ea, mask, SPACE_SHARED, span);
    if (rel && d->merged_bytes != MERGED_INTO_OTHER)
        pattern_count(x->stats[stat], m, 0, SPACE_SHARED, span);
    TRACE(x, o, SPACE_SHARED, stat, ea, mask);
    if (d->same_address_as) record_address_reuse(x, d, m);
    if (rel && pattern_fits_shared(x, m, base, span)) {
        perform_shared_access(x, o, d, m, base, rel, mask);
        return;
    }
    FOR_ACTIVE_LANES(mask) if (!check_shared_access_bounds(x, o, d, l, ea[l])) mask &= ~(1u << l);
    if (!mask || !rel) return;
    s32 lane_offset[32];
    base = ea[__builtin_ctz(mask)];
    FOR_LANES lane_offset[l] = (mask >> l & 1) ? (s32)(ea[l] - base) : 0;
    perform_shared_access(x, o, d, NULL, base, lane_offset, mask);
}

/* ---- for atomics ---- */

bool ISAFN(lane_may_access_shared)(struct exec *x, const struct op *o, const struct mem_desc *d,
                                   unsigned lane, u64 offset) {
    if (!check_shared_access_bounds(x, o, d, lane, offset)) return false;
    if (!x->sanitize) return true;
    check_initialized_shared(x, o, d, lane, offset);
    memset(x->shared_written + offset, 1, d->width);
    static const s32 zero_offsets[32];
    ISAFN(race_shared_access)
    (x, o, NULL, offset, zero_offsets, 1u << lane, d->width, race_access_of(d));
    return true;
}

bool ISAFN(lane_count_atomic_shared)(struct exec *x, const struct op *o, const struct mem_desc *d,
                                     u32 stat, const u64 ea[32], u32 mask) {
    struct access_pattern *m = &x->pattern_cache[stat];
    u64 base = ea[__builtin_ctz(mask)];
    const s32 *rel = count_atomic(x, d, stat, SPACE_SHARED, ea, mask);
    if (!rel || !pattern_fits_shared(x, m, base, d->width)) return false;
    if (!x->sanitize) return true;
    if (!is_in_array(d, m, base, d->width)) check_array(x, o, d, base, rel, mask);
    if (!atomic_initialized(x->shared_written + base, rel, mask, d->width)) return false;
    ISAFN(race_shared_access)(x, o, m, base, rel, mask, d->width, race_access_of(d));
    return true;
}
