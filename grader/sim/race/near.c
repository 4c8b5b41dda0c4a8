/* near.c — lanes of one warp in global memory.
 *
 * Notes of global memory tell warps apart, not lanes: that would double them. What lanes of a warp
 * do to each other mostly happens within a few instructions, so each warp keeps its last accesses
 * to memory that the launch may change, since its lanes were last ordered: RACE_NEAR reads, as many
 * stores, as many atomics. An access is compared with those that overlap it. Most of these have the
 * same lanes at the same places, or lanes a constant stride apart, and are done with at once; the
 * others are looked at lane by lane, up to RACE_NEAR_LOOKS times in a launch. Where lanes lay is
 * known as long as the instruction's memo has the pattern of then. So this misses what lies further
 * back, and invents nothing. Where a lane sees what others may have left (a strong load, an atomic
 * whose result is used), all of the warp counts as ordered. */
#include "grader/sim/race/partial.h"
#include "grader/sim/race/race.h"

#include <string.h>

static void forget(struct race_near *n) {
    for (u32 i = 0; i < RACE_DID; i++)
        n->list[i].n = 0, n->list[i].low = UINT64_MAX, n->list[i].high = 0;
}

void race_near_forget(struct race_plane *p, u32 warp) {
    if (p) forget(&p->near[warp]);
}

/* ---- patterns: numbers from 1, by memo ---- */

static s32 stride_of(const struct access_pattern *m) {
    u32 first = (u32)__builtin_ctz(m->mask), last = 31 - (u32)__builtin_clz(m->mask);
    s32 stride = last > first ? m->lane_offset[last] / (s32)(last - first) : 0;
    for (u32 lanes = m->mask; lanes; lanes &= lanes - 1) {
        u32 l = (u32)__builtin_ctz(lanes);
        if (m->lane_offset[l] != stride * (s32)(l - first)) return 0;
    }
    return stride;
}

enum { NOT_ASKED = INT32_MIN };

static u32 number(struct race_plane *p, struct access_pattern *m) {
    m->pattern_slot = ++p->near_patterns;
    p->near_strides[m->pattern_slot % RACE_NEAR_PATTERNS] = NOT_ASKED;
    return m->pattern_slot;
}

static s32 stride_by_number(struct race_plane *p, u32 pattern, const struct access_pattern *m) {
    s32 *stride = &p->near_strides[pattern % RACE_NEAR_PATTERNS];
    if (*stride == NOT_ASKED) *stride = stride_of(m);
    return *stride;
}

/* One of the two accesses. */
struct side {
    const struct race_past *e;
    const struct access_pattern *m;
    u64 base;
    s32 stride;
    u32 span;
};

/* False where the pattern is not known any more. */
static bool open_side(const struct exec *x, const struct race_past *e,
                      const struct access_pattern *m, struct side *s) {
    struct race_plane *p = x->worker->race_shadow;
    bool one = !(e->mask & (e->mask - 1));
    if (!one &&
        (m->pattern_slot != e->pattern || p->near_patterns - e->pattern >= RACE_NEAR_PATTERNS))
        return false;
    u64 base = e->low - (u64)(s64)(one ? 0 : m->min_offset),
        most = (u64)(s64)(one ? 0 : m->max_offset);
    *s = (struct side){e, one ? NULL : m, base, one ? 0 : stride_by_number(p, e->pattern, m),
                       (u32)(e->high - base - most)};
    return true;
}

static u64 address_of(const struct side *s, u32 lane) {
    return s->base + (u64)(s64)(s->m ? s->m->lane_offset[lane] : 0);
}

/* Where lane 0 is, or would be. */
static s64 origin_of(const struct side *s) {
    return (s64)s->base - (s64)s->stride * __builtin_ctz(s->e->mask);
}

/* Each lane where it was before, no two at one place. */
static bool are_same(const struct side *a, const struct side *b) {
    return a->m && b->m && a->base == b->base && a->e->mask == b->e->mask && a->span == b->span &&
           !a->m->duplicate_mask &&
           !memcmp(a->m->lane_offset, b->m->lane_offset, sizeof a->m->lane_offset);
}

/* True if it is certain that no two lanes meet. */
static bool are_apart(const struct side *a, const struct side *b) {
    if (are_same(a, b)) return true;
    s64 stride = a->stride < 0 ? -(s64)a->stride : a->stride,
        span = a->span > b->span ? a->span : b->span;
    if (!stride || a->stride != b->stride || stride < span)
        return !a->m && !b->m && a->e->mask == b->e->mask;
    s64 apart = origin_of(a) - origin_of(b),
        near = apart < stride && -apart < stride ? 0 : -apart / a->stride;
    for (s64 k = near - 1; k <= near + 1; k++) {
        s64 d = apart + k * a->stride;
        if (k && k > -32 && k < 32 && d < (s64)b->span && -d < (s64)a->span) return false;
    }
    return true;
}

/* ---- two accesses ---- */

static void report(struct exec *x, const struct touch *t, u32 lane, u64 at,
                   const struct race_past *e, u32 other) {
    static const char *const verbs[] = {"reads", "writes", "updates"}, *const did[] = {"read",
                                                                                       "wrote",
                                                                                       "updated"};
    u8 mine = t->access == RACE_READ    ? PAST_READ
              : t->access == RACE_WRITE ? PAST_WRITE
                                        : PAST_UPDATE;
    char where[256], who[160];
    race_describe_place(x, t, SIM_BASE + at, where, sizeof where);
    race_describe_op(x, x->warp->index * 32 + other, e->op, did[e->did], who, sizeof who);
    core_fault(x, SIM_FAULT_INTRABLOCK_RACE, t->o, lane, SIM_BASE + at,
               "%s %s, which %s, with no barrier between: lanes of a warp need __syncwarp(), too",
               verbs[mine], where, who);
}

/* The other's lanes, but for the lane itself, that overlap [first, first + span). */
static u32 lanes_at(const struct side *s, const u64 at[32], u32 lane, u64 first, u32 span) {
    u32 hit = 0;
    for (u32 l = 0; l < 32; l++)
        hit |= (u32)((at[l] < first + span) & (first < at[l] + s->span)) << l;
    return hit & s->e->mask & ~(1u << lane);
}

static bool look_at_lane(struct exec *x, const struct touch *t, u32 lane, u64 first,
                         const struct side *s, const u64 at[32]) {
    u32 shift = x->worker->launch->global_shift;
    for (u32 m = lanes_at(s, at, lane, first, t->span); m; m &= m - 1) {
        u32 other = (u32)__builtin_ctz(m);
        u64 meet = at[other] > first ? at[other] : first;
        if (race_lane_ordered(x->block, x->warp, lane, other, s->e->stamp)) continue;
        if (t->access == RACE_WRITE &&
            race_changes_nothing(x, t, lane, meet >> shift, shift, x->memory->bytes))
            continue;
        report(x, t, lane, meet, s->e, other);
        return true;
    }
    return false;
}

static bool compare(struct exec *x, const struct touch *t, const struct side *mine,
                    const struct race_past *e) {
    struct side s;
    u64 at[32];
    bool told = false;
    if (!open_side(x, e, &x->pattern_cache[e->stat], &s)) return false;
    if (are_apart(mine, &s) || x->worker->race_shadow->near_looks++ >= RACE_NEAR_LOOKS)
        return false;
    for (u32 l = 0; l < 32; l++) at[l] = address_of(&s, l);
    for (u32 m = mine->e->mask; m; m &= m - 1) {
        u32 lane = (u32)__builtin_ctz(m);
        told |= look_at_lane(x, t, lane, address_of(mine, lane), &s, at);
    }
    return told;
}

/* True if something was told. */
static __attribute__((noinline)) bool look_at_list(struct exec *x, const struct touch *t,
                                                   const struct access_pattern *m,
                                                   const struct race_past *mine,
                                                   const struct race_near_list *list) {
    const struct race_plane *p = x->worker->race_shadow;
    struct side s;
    if (!open_side(x, mine, m, &s)) return false;
    for (u32 i = list->n, least = i > RACE_NEAR ? i - RACE_NEAR : 0; i-- > least;) {
        const struct race_past *e = &p->past[list->at[i % RACE_NEAR] % RACE_PAST];
        if (p->npast - list->at[i % RACE_NEAR] > RACE_PAST) return false;
        if (mine->low >= e->high || mine->high <= e->low) continue;
        if (compare(x, t, &s, e)) return true;
    }
    return false;
}

static bool overlaps(const struct race_near_list *list, const struct race_past *e) {
    return e->low < list->high && list->low < e->high;
}

void race_near(struct exec *x, struct access_pattern *m, const struct touch *t,
               struct race_past *e) {
    struct race_plane *p = x->worker->race_shadow;
    struct race_near *n = &p->near[x->warp->index];
    if (t->access == RACE_READ_REVALIDATED) return;
    if (n->since != x->block->logical_clock || n->whole != x->warp->warp_sync_epoch ||
        t->access == RACE_STRONG_LOAD)
        forget(n);
    n->since = x->block->logical_clock;
    n->whole = x->warp->warp_sync_epoch;
    if (t->access == RACE_STRONG_LOAD) return;
    e->stamp = x->warp->sync_epoch;
    e->pattern = m->pattern_slot || !(m->mask & (m->mask - 1)) ? m->pattern_slot : number(p, m);
    for (u32 did = 0, told = 0; did < RACE_DID && !told; did++) {
        bool harmless =
            did == e->did && did != PAST_WRITE; /* reads, or atomics, beside each other */
        if (!harmless && overlaps(&n->list[did], e)) told = look_at_list(x, t, m, e, &n->list[did]);
    }
    struct race_near_list *list = &n->list[e->did];
    list->at[list->n++ % RACE_NEAR] = p->npast - 1;
    if (e->low < list->low) list->low = e->low;
    if (e->high > list->high) list->high = e->high;
}
