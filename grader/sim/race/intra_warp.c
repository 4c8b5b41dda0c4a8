/* intra_warp.c — finds races in global memory between lanes of one warp.
 *
 * Shadow cells of global memory distinguish warps, not lanes, which would double their size. Lanes
 * of a warp mostly race within a few instructions, so each warp keeps its last accesses to memory
 * that the launch may change, since its lanes were last ordered: INTRA_WARP_RING_SIZE reads, as
 * many stores, as many atomics. A new access is compared with those that overlap it. Most have each
 * lane at the same address, or lanes a constant stride apart, which one comparison settles; the
 * others are compared lane by lane, up to MAX_INTRA_WARP_CHECKS times in a launch. The lanes'
 * addresses are known as long as the instruction's access pattern is still the same. So this misses
 * races with older accesses, but reports no false ones. Where a lane acquires (a strong load, an
 * atomic whose result is used), the whole warp counts as ordered. */
#include "grader/sim/race/vector_clock.h"
#include "grader/sim/race/race.h"

#include <string.h>

static void reset_history(struct intra_warp_history *n) {
    for (u32 i = 0; i < ACCESS_KIND_COUNT; i++)
        n->ring[i].n = 0, n->ring[i].low = UINT64_MAX, n->ring[i].high = 0;
}

void race_intra_warp_reset(struct race_shadow *p, u32 warp) {
    if (p) reset_history(&p->intra_warp[warp]);
}

/* ---- patterns: numbered from 1 ---- */

static s32 stride_of(const struct access_pattern *m) {
    u32 first = (u32)__builtin_ctz(m->mask), last = 31 - (u32)__builtin_clz(m->mask);
    s32 stride = last > first ? m->lane_offset[last] / (s32)(last - first) : 0;
    for (u32 lanes = m->mask; lanes; lanes &= lanes - 1) {
        u32 l = (u32)__builtin_ctz(lanes);
        if (m->lane_offset[l] != stride * (s32)(l - first)) return 0;
    }
    return stride;
}

enum { STRIDE_UNKNOWN = INT32_MIN };

static u32 assign_pattern_id(struct race_shadow *p, struct access_pattern *m) {
    m->pattern_slot = ++p->nstride_patterns;
    p->pattern_strides[m->pattern_slot % INTRA_WARP_STRIDE_CACHE_SIZE] = STRIDE_UNKNOWN;
    return m->pattern_slot;
}

static s32 cached_stride(struct race_shadow *p, u32 pattern, const struct access_pattern *m) {
    s32 *stride = &p->pattern_strides[pattern % INTRA_WARP_STRIDE_CACHE_SIZE];
    if (*stride == STRIDE_UNKNOWN) *stride = stride_of(m);
    return *stride;
}

/* One of the two accesses. */
struct warp_access {
    const struct access_record *record;
    const struct access_pattern *pattern;
    u64 base;
    s32 stride;
    u32 span;
};

/* Returns false if the record's access pattern has been replaced since. */
static bool load_warp_access(const struct exec *x, const struct access_record *e,
                             const struct access_pattern *m, struct warp_access *s) {
    struct race_shadow *p = x->worker->race_shadow;
    bool single_lane = !(e->mask & (e->mask - 1));
    if (!single_lane && (m->pattern_slot != e->pattern ||
                         p->nstride_patterns - e->pattern >= INTRA_WARP_STRIDE_CACHE_SIZE))
        return false;
    u64 base = e->low - (u64)(s64)(single_lane ? 0 : m->min_offset),
        high_offset = (u64)(s64)(single_lane ? 0 : m->max_offset);
    *s = (struct warp_access){e, single_lane ? NULL : m, base,
                              single_lane ? 0 : cached_stride(p, e->pattern, m),
                              (u32)(e->high - base - high_offset)};
    return true;
}

static u64 lane_address(const struct warp_access *s, u32 lane) {
    return s->base + (u64)(s64)(s->pattern ? s->pattern->lane_offset[lane] : 0);
}

/* Returns lane 0's address, also where lane 0 is inactive. */
static s64 lane0_address(const struct warp_access *s) {
    return (s64)s->base - (s64)s->stride * __builtin_ctz(s->record->mask);
}

/* Returns true if each lane accesses the same address in both, and no two lanes share one. */
static bool have_same_addresses(const struct warp_access *a, const struct warp_access *b) {
    return a->pattern && b->pattern && a->base == b->base && a->record->mask == b->record->mask &&
           a->span == b->span && !a->pattern->duplicate_mask &&
           !memcmp(a->pattern->lane_offset, b->pattern->lane_offset,
                   sizeof a->pattern->lane_offset);
}

/* Returns true if certainly no two different lanes overlap. */
static bool are_disjoint(const struct warp_access *a, const struct warp_access *b) {
    if (have_same_addresses(a, b)) return true;
    s64 stride = a->stride < 0 ? -(s64)a->stride : a->stride,
        span = a->span > b->span ? a->span : b->span;
    if (!stride || a->stride != b->stride || stride < span)
        return !a->pattern && !b->pattern && a->record->mask == b->record->mask;
    s64 distance = lane0_address(a) - lane0_address(b),
        nearest_lane = distance < stride && -distance < stride ? 0 : -distance / a->stride;
    for (s64 k = nearest_lane - 1; k <= nearest_lane + 1; k++) {
        s64 d = distance + k * a->stride;
        if (k && k > -32 && k < 32 && d < (s64)b->span && -d < (s64)a->span) return false;
    }
    return true;
}

/* ---- two accesses ---- */

static void report(struct exec *x, const struct mem_access *t, u32 lane, u64 at,
                   const struct access_record *e, u32 other) {
    static const char *const verbs[] = {"reads", "writes", "updates"}, *const past_verbs[] = {
                                                                           "read", "wrote",
                                                                           "updated"};
    u8 current_kind = t->kind == RACE_READ    ? ACCESS_READ
                      : t->kind == RACE_WRITE ? ACCESS_WRITE
                                              : ACCESS_UPDATE;
    char location[256], actor[160];
    race_describe_address(x, t, SIM_BASE + at, location, sizeof location);
    race_describe_op(x, x->warp->index * 32 + other, e->op, past_verbs[e->access_kind], actor,
                     sizeof actor);
    core_fault(x, SIM_FAULT_INTRABLOCK_RACE, t->o, lane, SIM_BASE + at,
               "%s %s, which %s, with no barrier between: lanes of a warp need __syncwarp(), too",
               verbs[current_kind], location, actor);
}

/* Returns the other access's lanes, without `lane`, that overlap [first, first + span). */
static u32 overlapping_lanes(const struct warp_access *s, const u64 at[32], u32 lane, u64 first,
                             u32 span) {
    u32 overlap = 0;
    for (u32 l = 0; l < 32; l++)
        overlap |= (u32)((at[l] < first + span) & (first < at[l] + s->span)) << l;
    return overlap & s->record->mask & ~(1u << lane);
}

static bool check_lane(struct exec *x, const struct mem_access *t, u32 lane, u64 first,
                       const struct warp_access *s, const u64 at[32]) {
    u32 shift = x->worker->launch->global_shift;
    for (u32 m = overlapping_lanes(s, at, lane, first, t->span); m; m &= m - 1) {
        u32 other = (u32)__builtin_ctz(m);
        u64 overlap_start = at[other] > first ? at[other] : first;
        if (race_lane_is_ordered(x->block, x->warp, lane, other, s->record->epoch)) continue;
        if (t->kind == RACE_WRITE &&
            race_is_silent_store(x, t, lane, overlap_start >> shift, shift, x->memory->bytes))
            continue;
        report(x, t, lane, overlap_start, s->record, other);
        return true;
    }
    return false;
}

static bool check_access_pair(struct exec *x, const struct mem_access *t,
                              const struct warp_access *current, const struct access_record *e) {
    struct warp_access s;
    u64 at[32];
    bool reported = false;
    if (!load_warp_access(x, e, &x->pattern_cache[e->stat], &s)) return false;
    if (are_disjoint(current, &s) ||
        x->worker->race_shadow->intra_warp_checks++ >= MAX_INTRA_WARP_CHECKS)
        return false;
    for (u32 l = 0; l < 32; l++) at[l] = lane_address(&s, l);
    for (u32 m = current->record->mask; m; m &= m - 1) {
        u32 lane = (u32)__builtin_ctz(m);
        reported |= check_lane(x, t, lane, lane_address(current, lane), &s, at);
    }
    return reported;
}

/* Returns true if it reported a race. */
static __attribute__((noinline)) bool check_ring(struct exec *x, const struct mem_access *t,
                                                 const struct access_pattern *m,
                                                 const struct access_record *current,
                                                 const struct intra_warp_ring *list) {
    const struct race_shadow *p = x->worker->race_shadow;
    struct warp_access s;
    if (!load_warp_access(x, current, m, &s)) return false;
    for (u32 i = list->n, oldest = i > INTRA_WARP_RING_SIZE ? i - INTRA_WARP_RING_SIZE : 0;
         i-- > oldest;) {
        const struct access_record *e =
            &p->history[list->record_index[i % INTRA_WARP_RING_SIZE] % RACE_HISTORY_SIZE];
        if (p->nrecords - list->record_index[i % INTRA_WARP_RING_SIZE] > RACE_HISTORY_SIZE)
            return false;
        if (current->low >= e->high || current->high <= e->low) continue;
        if (check_access_pair(x, t, &s, e)) return true;
    }
    return false;
}

static bool overlaps(const struct intra_warp_ring *list, const struct access_record *e) {
    return e->low < list->high && list->low < e->high;
}

void race_check_intra_warp(struct exec *x, struct access_pattern *m, const struct mem_access *t,
                           struct access_record *e) {
    struct race_shadow *p = x->worker->race_shadow;
    struct intra_warp_history *n = &p->intra_warp[x->warp->index];
    if (t->kind == RACE_READ_REVALIDATED) return;
    if (n->block_clock != x->block->logical_clock ||
        n->warp_sync_epoch != x->warp->warp_sync_epoch || t->kind == RACE_STRONG_LOAD)
        reset_history(n);
    n->block_clock = x->block->logical_clock;
    n->warp_sync_epoch = x->warp->warp_sync_epoch;
    if (t->kind == RACE_STRONG_LOAD) return;
    e->epoch = x->warp->sync_epoch;
    e->pattern =
        m->pattern_slot || !(m->mask & (m->mask - 1)) ? m->pattern_slot : assign_pattern_id(p, m);
    for (u32 kind = 0, reported = 0; kind < ACCESS_KIND_COUNT && !reported; kind++) {
        bool harmless = kind == e->access_kind && kind != ACCESS_WRITE; /* two reads, two atomics */
        if (!harmless && overlaps(&n->ring[kind], e))
            reported = check_ring(x, t, m, e, &n->ring[kind]);
    }
    struct intra_warp_ring *list = &n->ring[e->access_kind];
    list->record_index[list->n++ % INTRA_WARP_RING_SIZE] = p->nrecords - 1;
    if (e->low < list->low) list->low = e->low;
    if (e->high > list->high) list->high = e->high;
}
