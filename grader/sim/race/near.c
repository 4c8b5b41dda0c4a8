/* near.c — lanes of one warp in global memory.
 *
 * Notes of global memory tell warps apart, not lanes: that would double them. What lanes of a warp do to each other mostly
 * happens within a few instructions, so each warp keeps its last accesses to memory that the launch may change, since
 * its lanes were last ordered: RACE_NEAR reads, as many stores and atomics. An access is compared with those that overlap it. Most
 * of these have the same lanes at the same places, or lanes a constant stride apart, and are done with at once; the others are
 * looked at lane by lane, up to RACE_NEAR_LOOKS times in a launch. So this misses what lies further back, and invents
 * nothing. Where a lane sees what others may have left (a strong load, an atomic whose result is used), all of the warp counts
 * as ordered. */
#include "grader/sim/race/partial.h"
#include "grader/sim/race/race.h"

#include <string.h>

enum { ONE_LANE = UINT32_MAX /* instead of a pattern */ };

static void forget(struct race_near *n) {
    for (u32 i = 0; i < 2; i++) n->list[i].n = 0, n->list[i].low = UINT64_MAX, n->list[i].high = 0;
}

void race_near_forget(struct race_plane *p, u32 warp) {
    if (p) forget(&p->near[warp]);
}

/* ---- patterns ---- */

static s32 stride_of(const struct mem_memo *m) {
    u32 first = (u32)__builtin_ctz(m->mask), last = 31 - (u32)__builtin_clz(m->mask);
    s32 stride = last > first ? m->relative[last] / (s32)(last - first) : 0;
    for (u32 lanes = m->mask; lanes; lanes &= lanes - 1) {
        u32 l = (u32)__builtin_ctz(lanes);
        if (m->relative[l] != stride * (s32)(l - first)) return 0;
    }
    return stride;
}

static bool is_kept(const struct race_plane *p, u32 pattern) { return p->npatterns - pattern <= RACE_PATTERNS; }

static u32 keep(struct race_plane *p, struct mem_memo *m) {
    if (!(m->mask & (m->mask - 1))) return ONE_LANE;
    if (m->kept && is_kept(p, m->kept - 1)) return m->kept - 1;
    if (p->waiting.read && p->npatterns - p->waiting.pattern >= RACE_PATTERNS) p->waiting.stamp(p);
    struct race_pattern *q = &p->patterns[p->npatterns % RACE_PATTERNS];
    *q = (struct race_pattern){
        .low = m->low, .stride = stride_of(m), .leaders = m->leaders, .twins = m->twins, .shape = m->shape};
    memcpy(q->relative, m->relative, sizeof q->relative);
    m->kept = ++p->npatterns;
    return m->kept - 1;
}

static u64 address_of(const struct race_near_access *e, const struct race_pattern *q, u32 lane) {
    return e->base + (u64)(s64)(q ? q->relative[lane] : 0);
}

/* Where lane 0 is, or would be. */
static s64 origin_of(const struct race_near_access *e, s32 stride) {
    return (s64)e->base - (s64)stride * __builtin_ctz(e->mask);
}

/* True if it is certain that no two lanes of these two accesses meet. */
static bool are_apart(const struct race_near_access *a, const struct race_pattern *p, const struct race_near_access *b,
                      const struct race_pattern *q) {
    u32 span = a->span > b->span ? a->span : b->span;
    if (!p || !q || !p->stride || p->stride != q->stride || (u32)(p->stride < 0 ? -p->stride : p->stride) < span)
        return false;
    s64 apart = origin_of(a, p->stride) - origin_of(b, p->stride), near = -apart / p->stride;
    for (s64 k = near - 1; k <= near + 1; k++) {
        s64 d = apart + k * p->stride;
        if (k && k > -32 && k < 32 && d < (s64)b->span && -d < (s64)a->span) return false;
    }
    return true;
}

/* ---- two accesses ---- */

static void report(struct exec *x, const struct touch *t, u32 lane, u64 at, const struct race_near_access *e,
                   u32 other) {
    static const char *const verbs[] = {"reads", "writes", "updates"}, *const did[] = {"read", "wrote", "updated"};
    u8 mine = t->access == RACE_READ ? PAST_READ : t->access == RACE_WRITE ? PAST_WRITE : PAST_UPDATE;
    char where[256], who[160];
    race_describe_place(x, t, SIM_BASE + at, where, sizeof where);
    race_describe_op(x, x->warp->index * 32 + other, e->op, did[e->did], who, sizeof who);
    core_fault(x, SIM_FAULT_BLOCK_RACE, t->o, lane, SIM_BASE + at,
               "%s %s, which %s in the same warp, with no __syncwarp() between", verbs[mine], where, who);
}

/* The lanes of e, but for the lane itself, that overlap [first, first + span). */
static u32 lanes_at(const struct race_near_access *e, const u64 at[32], u32 lane, u64 first, u32 span) {
    u32 hit = 0;
    for (u32 l = 0; l < 32; l++) hit |= (u32)((at[l] < first + span) & (first < at[l] + e->span)) << l;
    return hit & e->mask & ~(1u << lane);
}

static bool look_at_lane(struct exec *x, const struct touch *t, u32 lane, u64 first, const struct race_near_access *e,
                         const u64 at[32]) {
    u32 shift = x->worker->launch->global_shift;
    for (u32 m = lanes_at(e, at, lane, first, t->span); m; m &= m - 1) {
        u32 other = (u32)__builtin_ctz(m);
        u64 meet = at[other] > first ? at[other] : first;
        if (race_lane_ordered(x->block, x->warp, lane, other, e->step)) continue;
        if (t->access == RACE_WRITE && race_changes_nothing(x, t, lane, meet >> shift, shift, x->memory->bytes))
            continue;
        report(x, t, lane, meet, e, other);
        return true;
    }
    return false;
}

static bool compare(struct exec *x, const struct touch *t, const struct race_near_access *mine,
                    const struct race_near_access *e) {
    struct race_plane *p = x->worker->plane;
    const struct race_pattern *q = mine->pattern == ONE_LANE ? NULL : &p->patterns[mine->pattern % RACE_PATTERNS],
                              *r = e->pattern == ONE_LANE ? NULL : &p->patterns[e->pattern % RACE_PATTERNS];
    if (r && !is_kept(p, e->pattern)) return false;
    if (!q && !r && mine->mask == e->mask) return false;
    if (are_apart(mine, q, e, r) || p->near_looks++ >= RACE_NEAR_LOOKS) return false;
    u64 at[32];
    bool told = false;
    for (u32 l = 0; l < 32; l++) at[l] = address_of(e, r, l);
    for (u32 m = mine->mask; m; m &= m - 1) {
        u32 lane = (u32)__builtin_ctz(m);
        told |= look_at_lane(x, t, lane, address_of(mine, q, lane), e, at);
    }
    return told;
}

/* True if something was told. */
static bool look_at_list(struct exec *x, const struct touch *t, const struct race_near_access *mine,
                         const struct race_near_list *list) {
    if (mine->low >= list->high || mine->high <= list->low) return false;
    for (u32 i = list->n, least = i > RACE_NEAR ? i - RACE_NEAR : 0; i-- > least;) {
        const struct race_near_access *e = &list->at[i % RACE_NEAR];
        if (mine->low >= e->high || mine->high <= e->low || (mine->did == PAST_UPDATE && e->did == PAST_UPDATE))
            continue;
        if (compare(x, t, mine, e)) return true;
    }
    return false;
}

static void add(struct race_near_list *list, const struct race_near_access *e) {
    const struct race_near_access *last = &list->at[(list->n - 1) % RACE_NEAR];
    if (list->n && last->op == e->op && last->base == e->base && last->pattern == e->pattern && last->step == e->step &&
        last->mask == e->mask)
        return;
    list->at[list->n++ % RACE_NEAR] = *e;
    if (e->low < list->low) list->low = e->low;
    if (e->high > list->high) list->high = e->high;
}

void race_near(struct exec *x, struct mem_memo *m, const struct touch *t) {
    struct race_plane *p = x->worker->plane;
    struct race_near *n = &p->near[x->warp->index];
    if (t->access == RACE_PEEK) return;
    if (n->since != x->block->tick || n->whole != x->warp->whole || t->access == RACE_OBSERVE) forget(n);
    n->since = x->block->tick;
    n->whole = x->warp->whole;
    if (t->access == RACE_OBSERVE) return;
    u8 did = t->access == RACE_READ ? PAST_READ : t->access == RACE_WRITE ? PAST_WRITE : PAST_UPDATE;
    struct race_near_access mine = {.base = t->base,
                                    .low = t->base + (u64)(s64)m->low,
                                    .high = t->base + (u64)(s64)m->high + t->span,
                                    .op = (u32)(t->o - x->worker->launch->ops),
                                    .mask = t->mask,
                                    .span = t->span,
                                    .step = x->warp->interval,
                                    .pattern = keep(p, m),
                                    .did = did};
    if (!look_at_list(x, t, &mine, &n->list[1]) && did != PAST_READ) look_at_list(x, t, &mine, &n->list[0]);
    add(&n->list[did != PAST_READ], &mine);
}
