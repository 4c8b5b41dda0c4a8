/* lanes_shared.c — who touched what in shared memory.
 *
 * Each granule (a word; a byte in kernels that access less than words) has two stamps: its last
 * write and its last reads. A stamp says in which interval between block barriers that was, by
 * which thread, and in which interval between barriers of its warp. Two accesses of different
 * threads, one of them a write, race unless a barrier lies between them; lanes of one warp may also
 * be ordered by a warp barrier. Atomics and strong (volatile, relaxed …) accesses do not race with
 * each other. A lane that sees what another thread's atomic or strong store left, other than a lane
 * that runs in step with it, has been handed something over: for its warp that counts as a barrier,
 * which may hide a race but makes none of a lock or a flag. Where something orders a part of the
 * threads only: partial.c. Nor is a store told that leaves what it finds: many threads may set one
 * flag.
 *
 * Most intervals only read: then nothing can race, and nobody asks for the stamps. So the reads of
 * an interval are only kept as they come, in the list of past accesses; the interval's first access
 * of another kind has them stamped, in their order. */
#include "grader/sim/race/lanes_race.h"
#include "grader/sim/race/partial.h"
#include "grader/sim/race/proxy.h"
#include "grader/sim/race/race.h"
#include "grader/sim/core/place.h"

#include <stdio.h>
#include <string.h>

/* ---- stamps ---- */

#define FIELD(from, to) ((1u << (to)) - (1u << (from)))
#define KIND(kind)      ((u32)(kind) << STAMP_KIND)

static inline u32 stamp_kind(u32 stamp) {
    return (stamp & FIELD(STAMP_KIND, STAMP_INTERVAL)) >> STAMP_KIND;
}

/* Of a stamp, as all ones or 0. */
static inline u32 is_kind(u32 stamp, u32 kind) {
    return TRUTH_MASK((stamp & FIELD(STAMP_KIND, STAMP_INTERVAL)) == KIND(kind));
}
/* Of the bits in which two stamps differ. */
static inline u32 same_interval(u32 diff) { return TRUTH_MASK(diff >> STAMP_INTERVAL == 0); }
static inline u32 same_thread(u32 diff) {
    return TRUTH_MASK((diff & FIELD(STAMP_LANE, STAMP_KIND)) == 0);
}
static inline u32 same_warp(u32 diff) {
    return TRUTH_MASK((diff & FIELD(STAMP_WARP, STAMP_KIND)) == 0);
}
static inline u32 same_step(u32 diff) { return TRUTH_MASK((diff & FIELD(0, STAMP_LANE)) == 0); }

/* Whether the stamp is of atomics, for the one whose stamp is `mine`: a plain write of a warp that
 * has been updated since is no longer of interest to that warp, but still is to others. */
static inline u32 by_atomics(u32 stamp, u32 mine) {
    u32 some = TRUTH_MASK((stamp & FIELD(STAMP_KIND, STAMP_INTERVAL)) >= KIND(RACE_ATOMIC_ONE));
    return some & (~is_kind(stamp, RACE_WRITE_ATOMIC) | same_warp(stamp ^ mine));
}

/* What a warp may rely on, where something has ordered a part of the block's threads since the last
 * barrier of all (partial.c): from which interval on, by warp, stamps count, and from which
 * interval of its own warp. Without rows: those of the interval at hand, of the warp's interval at
 * hand. */
struct view {
    const u32 *row;
    u32 step;
};
static const struct view whole_view;

static inline u32 is_recent(u32 theirs, u32 mine, struct view v) {
    return v.row ? TRUTH_MASK(theirs >> STAMP_INTERVAL >= v.row[theirs >> STAMP_WARP & 31])
                 : same_interval(theirs ^ mine);
}
static inline u32 in_recent_step(u32 theirs, u32 mine, struct view v) {
    return v.row ? TRUTH_MASK((theirs & FIELD(0, STAMP_LANE)) >= v.step) : same_step(theirs ^ mine);
}

/* Whether an access stamped `mine` by a plain instruction may meet `theirs` without order between
 * them: all ones or 0. Of lanes of one warp, some of which met, it says so too often: clash() looks
 * closer. */
static inline u32 unordered(u32 theirs, u32 mine, struct view v) {
    u32 diff = theirs ^ mine;
    u32 one = is_kind(theirs, RACE_ONE) | is_kind(theirs, RACE_ATOMIC_ONE) |
              is_kind(theirs, RACE_WRITE_ATOMIC);
    u32 many_warps = is_kind(theirs, RACE_WARPS) | is_kind(theirs, RACE_ATOMIC_WARPS);
    u32 warp_ordered = same_warp(diff) & ~many_warps & ~in_recent_step(theirs, mine, v);
    return is_recent(theirs, mine, v) & ~(one & same_thread(diff)) & ~warp_ordered;
}

/* What the reads of a granule are after one more: by one thread, by lanes of one warp, by several
 * warps. What lanes of the same warp did before its last barrier no longer matters: that is ordered
 * for this warp, and for others this access says as much. */
static inline u32 join_read(u32 old, u32 mine, struct view v) {
    u32 diff = old ^ mine;
    u32 warps = is_kind(old, RACE_WARPS) | ~same_warp(diff);
    u32 lanes = ~(same_thread(diff) & is_kind(old, RACE_ONE)) & ~warps & same_step(diff);
    return mine |
           (is_recent(old, mine, v) & ((warps & KIND(RACE_WARPS)) | (lanes & KIND(RACE_LANES))));
}

/* The same for atomics, where no other note is of one. What a plain store left in this interval
 * stays known, even if the same thread updates it: another warp's atomic may come before the store.
 */
static inline u32 join_atomic(u32 old, u32 mine, struct view v) {
    u32 diff = old ^ mine, recent = is_recent(old, mine, v), known = recent & by_atomics(old, mine);
    u32 plain = recent & same_warp(diff) & (~known | is_kind(old, RACE_WRITE_ATOMIC));
    u32 warps = is_kind(old, RACE_ATOMIC_WARPS) | ~same_warp(diff);
    u32 lanes = ~(same_thread(diff) & is_kind(old, RACE_ATOMIC_ONE)) & ~warps & same_step(diff);
    u32 more = (warps & (RACE_ATOMIC_WARPS - RACE_ATOMIC_ONE)) |
               (lanes & (RACE_ATOMIC_LANES - RACE_ATOMIC_ONE));
    return mine + KIND(plain ? RACE_WRITE_ATOMIC : RACE_ATOMIC_ONE + (known & more));
}

static void report_shared(struct exec *x, const struct touch *t, u32 lane, u64 granule, u32 theirs,
                          bool they_wrote) {
    const struct launch *l = x->worker->launch;
    u64 offset = granule << l->shared_shift;
    u32 thread = race_stamp_thread(theirs), kind = stamp_kind(theirs);
    bool one = kind == RACE_ONE || kind == RACE_ATOMIC_ONE || kind == RACE_WRITE_ATOMIC;
    bool atomics = kind >= RACE_ATOMIC_ONE && kind != RACE_WRITE_ATOMIC,
         own = thread == x->warp->index * 32 + lane;
    const char *did = !they_wrote ? "read" : atomics ? "updated" : "wrote";
    bool any_lane =
        own ||
        kind ==
            RACE_WRITE_ATOMIC; /* the stamp has the last one, which may not be the one that wrote */
    struct race_wanted w = {offset,
                            (u32)x->block->linear,
                            own ? -1 : (int)thread / 32,
                            any_lane ? -1 : (int)thread % 32,
                            true,
                            race_did(did)};
    char who[64] = "other threads", name[32], where[128], other[160];
    describe_thread(l, thread, name, sizeof name);
    if (!own) snprintf(who, sizeof who, "thread %s%s", name, one ? "" : " and others");
    if (one || own) race_describe_other(x, &w, who, did, other, sizeof other);
    else race_describe_many(x, &w, who, did, other, sizeof other);
    describe_shared_element(l, offset, x->mems[t->o->aux].width, where, sizeof where);
    atomic_store(&x->worker->launch->has_shared_race, true);
    core_fault(x, SIM_FAULT_SHARED_RACE, t->o, lane, offset,
               "%s %s, which %s, with no barrier between",
               t->access == RACE_WRITE ? "writes"
               : t->access == RACE_RED ? "updates"
                                       : "reads",
               where, other);
}

/* The thread of the stamp is a lane that runs in step with this one. */
static bool in_step(const struct exec *x, u32 stamp) {
    u32 thread = race_stamp_thread(stamp);
    if (stamp_kind(stamp) == RACE_ATOMIC_WARPS) return false; /* others did so before */
    return thread / 32 == x->warp->index && (x->active_mask >> thread % 32 & 1);
}

/* Of a stamp that is not ordered as a whole warp's: whether its lane is. Of several lanes one does
 * not know. */
static bool lane_is_ordered(const struct exec *x, u32 lane, u32 theirs, u32 mine) {
    u32 kind = stamp_kind(theirs),
        at = (x->warp->sync_epoch & ~(RACE_WARP_INTERVALS - 1u)) | (theirs & FIELD(0, STAMP_LANE));
    if (!same_warp(theirs ^ mine) || kind == RACE_WARPS || kind == RACE_ATOMIC_WARPS) return false;
    if (kind == RACE_LANES || kind == RACE_ATOMIC_LANES) return !same_step(theirs ^ mine);
    return race_lane_ordered(x->block, x->warp, lane, race_stamp_thread(theirs) % 32, at);
}

static bool clash(const struct exec *x, u32 lane, u32 theirs, u32 mine, struct view v) {
    return unordered(theirs, mine, v) && !(v.row && lane_is_ordered(x, lane, theirs, mine));
}

/* One granule of one lane. */
static void shared_one(struct exec *x, const struct touch *t, u32 lane, u64 granule,
                       struct view v) {
    u32 *w = x->block->write_epochs + granule, *r = x->block->read_epochs + granule,
        mine = race_shared_stamp(x, lane);
    bool read = t->access == RACE_READ || t->access == RACE_STRONG_LOAD ||
                t->access == RACE_READ_REVALIDATED,
         strong = t->access == RACE_RED || (t->access == RACE_STRONG_LOAD && !in_step(x, *w));
    bool after_write = clash(x, lane, *w, mine, v) && !(strong && by_atomics(*w, mine)),
         after_read = !read && clash(x, lane, *r, mine, v);
    if ((after_write || after_read) && t->access == RACE_WRITE &&
        race_changes_nothing(x, t, lane, granule, x->worker->launch->shared_shift, x->shared))
        return;
    if (after_write && t->access == RACE_READ_REVALIDATED && by_atomics(*w, mine))
        return race_note_peek(x, t, lane);
    if (after_write || after_read)
        report_shared(x, t, lane, granule, after_write ? *w : *r, after_write);
    if (t->access == RACE_READ || (t->access == RACE_READ_REVALIDATED && !by_atomics(*w, mine)))
        *r = join_read(*r, mine, v);
    else if (t->access == RACE_RED) *w = join_atomic(*w, mine, v);
    else if (t->access == RACE_WRITE) *w = mine;
}

/* Bytes [at, at + bytes) of each lane's access. */
static void shared_slow(struct exec *x, const struct touch *t, u32 byte, u32 bytes, struct view v) {
    u32 shift = x->worker->launch->shared_shift;
    FOR_ACTIVE_LANES(t->mask)
    for (u64 from = t->base + byte + (u64)(s64)t->rel[l], g = from >> shift;
         g <= (from + bytes - 1) >> shift; g++)
        shared_one(x, t, l, g, v);
}

/* Whether a lane sees what another thread left for it. `always`: even one in step, which an atomic
 * does. */
static bool handed_over(const struct exec *x, const struct touch *t, bool always, struct view v) {
    u32 shift = x->worker->launch->shared_shift;
    FOR_ACTIVE_LANES(t->mask) {
        u32 w = x->block->write_epochs[(t->base + (u64)(s64)t->rel[l]) >> shift];
        if (by_atomics(w, race_shared_stamp(x, l)) && clash(x, l, w, race_shared_stamp(x, l), v) &&
            (always || !in_step(x, w)))
            return true;
    }
    return false;
}

/* A word of each lane, all lanes at once; false where something has to be looked at lane by lane.
 * `stamp0`: of lane 0. */
static inline __attribute__((always_inline)) bool
reads_in(const u32 *w, u32 *r, u32 stamp0, const struct race_pattern *p, u32 mask, struct view v) {
    u32 written[32], old[32], fresh[32], bad = 0, twins = p->twins;
    const s32 *rel = p->relative;
    FOR_LANES written[l] = w[rel[l] >> 2];
    FOR_LANES old[l] = r[rel[l] >> 2];
    FOR_LANES {
        u32 mine = stamp0 + ((u32)l << STAMP_LANE), joined = join_read(old[l], mine, v);
        u32 twin = is_kind(joined, RACE_ONE) & TRUTH_MASK(twins >> l & 1);
        bad |= unordered(written[l], mine, v) & TRUTH_MASK(mask >> l & 1);
        fresh[l] = joined | (twin & KIND(RACE_LANES));
    }
    if (bad) return false;
    FOR_ACTIVE_LANES(p->leaders) r[rel[l] >> 2] = fresh[l];
    return true;
}

static bool shared_read_requests_total(const u32 *w, u32 *r, u32 stamp0,
                                       const struct race_pattern *p, u32 mask, struct view v) {
    return v.row ? reads_in(w, r, stamp0, p, mask, v) : reads_in(w, r, stamp0, p, mask, whole_view);
}

static inline __attribute__((always_inline)) bool writes_in(struct exec *x,
                                                            const struct access_pattern *m,
                                                            u64 base, const s32 *rel, u32 mask,
                                                            u32 span, struct view v) {
    u32 *w = x->block->write_epochs + base / 4, *r = x->block->read_epochs + base / 4,
        stamp0 = race_shared_stamp(x, 0);
    u32 written[32], read[32], bad = 0;
    if (m->duplicate_mask) return false; /* lanes of this very instruction write one word */
    bool row = m->shape == PATTERN_UNIT_STRIDE && span == 4;
    if (row) {
        FOR_LANES written[l] = w[l];
        FOR_LANES read[l] = r[l];
    } else {
        FOR_LANES written[l] = w[rel[l] >> 2];
        FOR_LANES read[l] = r[rel[l] >> 2];
    }
    FOR_LANES {
        u32 mine = stamp0 + ((u32)l << STAMP_LANE);
        bad |= (unordered(written[l], mine, v) | unordered(read[l], mine, v)) &
               TRUTH_MASK(mask >> l & 1);
    }
    if (bad) return false;
    if (row) FOR_LANES w[l] = stamp0 + ((u32)l << STAMP_LANE);
    else FOR_ACTIVE_LANES(mask) w[rel[l] >> 2] = stamp0 + ((u32)l << STAMP_LANE);
    return true;
}

static bool shared_write_requests_total(struct exec *x, const struct access_pattern *m, u64 base,
                                        const s32 *rel, u32 mask, u32 span, struct view v) {
    return v.row ? writes_in(x, m, base, rel, mask, span, v)
                 : writes_in(x, m, base, rel, mask, span, whole_view);
}

static inline __attribute__((always_inline)) bool updates_in(struct exec *x,
                                                             const struct access_pattern *m,
                                                             u64 base, const s32 *rel, u32 mask,
                                                             struct view v) {
    u32 *w = x->block->write_epochs + base / 4, *r = x->block->read_epochs + base / 4,
        stamp0 = race_shared_stamp(x, 0);
    u32 written[32], read[32], fresh[32], bad = 0, twins = m->duplicate_mask;
    FOR_LANES written[l] = w[rel[l] >> 2];
    FOR_LANES read[l] = r[rel[l] >> 2];
    FOR_LANES {
        u32 mine = stamp0 + ((u32)l << STAMP_LANE), atomic = by_atomics(written[l], mine);
        bad |= ((unordered(written[l], mine, v) & ~atomic) | unordered(read[l], mine, v)) &
               TRUTH_MASK(mask >> l & 1);
        u32 joined = join_atomic(written[l], mine, v), alone = is_kind(joined, RACE_ATOMIC_ONE);
        fresh[l] = joined +
                   (alone & TRUTH_MASK(twins >> l & 1) & KIND(RACE_ATOMIC_LANES - RACE_ATOMIC_ONE));
    }
    if (bad) return false;
    FOR_ACTIVE_LANES(m->first_lane_mask) w[rel[l] >> 2] = fresh[l];
    return true;
}

static bool shared_updates(struct exec *x, const struct access_pattern *m, u64 base, const s32 *rel,
                           u32 mask, struct view v) {
    return v.row ? updates_in(x, m, base, rel, mask, v)
                 : updates_in(x, m, base, rel, mask, whole_view);
}

/* Lanes that read one word: one stamp for all. */
static bool shared_broadcast(const u32 *w, u32 *r, u32 stamp0, u32 mask, struct view v) {
    u32 mine = stamp0 + ((u32)__builtin_ctz(mask) << STAMP_LANE);
    if (is_recent(*w, mine, v)) return false;
    bool others = is_recent(*r, mine, v) && (stamp_kind(*r) == RACE_WARPS || !same_warp(*r ^ mine));
    u32 kind = others              ? RACE_WARPS
               : mask & (mask - 1) ? RACE_LANES
                                   : stamp_kind(join_read(*r, mine, v));
    *r = mine | KIND(kind);
    return true;
}

static bool reads_words(const u32 *w, u32 *r, u32 stamp0, const struct race_pattern *p, u32 mask) {
    return p->shape == PATTERN_UNIFORM
               ? shared_broadcast(w, r, stamp0, mask, whole_view)
               : shared_read_requests_total(w, r, stamp0, p, mask, whole_view);
}

/* ---- reads that are stamped later, or never ---- */

static struct race_pattern pattern_of(const struct access_pattern *m) {
    struct race_pattern p = {.low = m->min_offset,
                             .leaders = m->first_lane_mask,
                             .twins = m->duplicate_mask,
                             .shape = m->shape};
    memcpy(p.relative, m->lane_offset, sizeof p.relative);
    return p;
}

/* The number of the memo's pattern in the list, where it is since reads began to wait. */
static u32 keep_pattern(struct race_plane *p, struct access_pattern *m) {
    if (m->pattern_slot > p->waiting.pattern) return m->pattern_slot - 1;
    p->patterns[p->npatterns % RACE_PATTERNS] = pattern_of(m);
    m->pattern_slot = ++p->npatterns;
    return m->pattern_slot - 1;
}

static void stamp_read(const struct race_waiting *b, const struct race_past *e,
                       const struct race_pattern *p) {
    u64 base = e->low - (u64)(s64)p->low;
    s32 high = p->low;
    FOR_ACTIVE_LANES(e->mask) high = p->relative[l] > high ? p->relative[l] : high;
    u64 span = e->high - base - (u64)(s64)high;
    for (u64 at = base / 4; at < (base + span) / 4; at++)
        reads_words(b->write + at, b->read + at, e->stamp, p, e->mask);
}

static void stamp_reads(struct race_plane *p) {
    for (u32 i = p->waiting.first; p->waiting.read && i != p->npast; i++) {
        const struct race_past *e = &p->past[i % RACE_PAST];
        if (e->shared && e->stamp)
            stamp_read(&p->waiting, e, &p->patterns[e->pattern % RACE_PATTERNS]);
    }
    p->waiting.read = NULL;
}

static void begin_to_wait(struct exec *x) {
    struct race_plane *p = x->worker->race_shadow;
    const struct block *b = x->block;
    if (p->waiting.read) stamp_reads(p);
    p->waiting =
        (struct race_waiting){stamp_reads, b->write_epochs, b->read_epochs, p->npast, p->npatterns};
}

/* A plain read that may wait. */
static void wait_with_read(struct exec *x, const struct op *o, u32 stat, struct access_pattern *m,
                           u64 base, u32 span) {
    struct race_plane *p = x->worker->race_shadow;
    bool full = p->npatterns - p->waiting.pattern >= RACE_PATTERNS ||
                p->npast - p->waiting.first >= RACE_PAST;
    if (p->waiting.read != x->block->read_epochs || full) begin_to_wait(x);
    struct race_past *e = race_remember(x, o, stat, true, base + (u64)(s64)m->min_offset,
                                        base + (u64)(s64)m->max_offset + span, m->mask, RACE_READ);
    e->pattern = keep_pattern(p, m);
    e->stamp = race_shared_stamp(x, 0);
}

/* An access that is no plain read: from now on to the end of the interval stamps are needed. */
static void need_stamps(struct exec *x) {
    struct race_plane *p = x->worker->race_shadow;
    if (p->waiting.read == x->block->read_epochs) stamp_reads(p);
    x->block->recorded_epoch = x->block->sync_epoch;
}

/* A word of each lane, of an access that has a pattern; false where it has to be looked at lane by
 * lane. */
static bool words_done(struct exec *x, const struct access_pattern *m, const struct touch *t,
                       u64 at, struct view v) {
    if (t->access == RACE_RED) return shared_updates(x, m, at, t->rel, t->mask, v);
    if (t->access == RACE_WRITE)
        return shared_write_requests_total(x, m, at, t->rel, t->mask, t->span, v);
    const u32 *w = x->block->write_epochs + at / 4;
    u32 *r = x->block->read_epochs + at / 4, stamp0 = race_shared_stamp(x, 0);
    if (m->shape == PATTERN_UNIFORM) return shared_broadcast(w, r, stamp0, t->mask, v);
    struct race_pattern pattern = pattern_of(m);
    return shared_read_requests_total(w, r, stamp0, &pattern, t->mask, v);
}

static struct view view_of(const struct exec *x, u32 row[32]) {
    const struct block *b = x->block;
    const struct warp *w = x->warp;
    if (b->sync_epoch == b->block_sync_epoch && w->sync_epoch == w->warp_sync_epoch)
        return whole_view;
    for (u32 i = 0; i < 32; i++) row[i] = race_seen_interval(b, w->index, i);
    bool now = w->warp_sync_epoch / RACE_WARP_INTERVALS == w->sync_epoch / RACE_WARP_INTERVALS;
    return (struct view){row, now ? w->warp_sync_epoch % RACE_WARP_INTERVALS : 0};
}

static __attribute__((noinline)) void stamp(struct exec *x, const struct op *o, u32 stat,
                                            struct access_pattern *m, const struct touch *t,
                                            bool words) {
    bool exchange = t->access == RACE_ATOM, sees = exchange || t->access == RACE_STRONG_LOAD;
    struct touch u = *t;
    s32 low = m ? m->min_offset : 0, high = m ? m->max_offset : 0;
    FOR_ACTIVE_LANES(m ? 0 : t->mask)
    low = t->rel[l] < low ? t->rel[l] : low, high = t->rel[l] > high ? t->rel[l] : high;
    race_remember(x, o, stat, true, t->base + (u64)(s64)low, t->base + (u64)(s64)high + t->span,
                  t->mask, t->access);
    if (x->block->remote_write_epochs) FOR_ACTIVE_LANES(t->mask)
    race_cluster(x, x->block, o, l, t->base + (u64)(s64)t->rel[l], t->span, t->access);
    if (x->block->proxy && (t->access == RACE_WRITE || t->access == RACE_RED || exchange)) {
        bool async = x->mems[o->aux].is_bulk ||
                     (x->mems[o->aux].is_cp_async && !x->worker->launch->strict_order);
        FOR_ACTIVE_LANES(t->mask)
        race_proxy_write(x, o, l, t->base + (u64)(s64)t->rel[l], t->span, async);
    }
    need_stamps(x);
    if (exchange) u.access = RACE_RED;
    u32 row[32];
    struct view v = view_of(x, row);
    if (sees && handed_over(x, &u, exchange, v)) {
        race_acquire(x->block, x->warp, x->worker->launch);
        v = view_of(x, row);
    }
    if (!words) shared_slow(x, &u, 0, t->span, v);
    for (u32 byte = 0; words && byte < t->span; byte += 4)
        if (!words_done(x, m, &u, t->base + byte, v)) shared_slow(x, &u, byte, 4, v);
}

void ISAFN(race_shared)(struct exec *x, const struct op *o, struct access_pattern *m, u64 base,
                        const s32 *rel, u32 mask, u32 span, enum race_access_kind access) {
    const struct mem_desc *d = &x->mems[o->aux];
    u32 stat = d->stat + (d->space == SPACE_GENERIC);
    bool words = m && span % 4 == 0 && x->worker->launch->shared_shift == 2 &&
                 access != RACE_STRONG_LOAD && access != RACE_READ_REVALIDATED;
    if (words && access == RACE_READ && x->block->recorded_epoch < x->block->block_sync_epoch &&
        !x->block->remote_write_epochs)
        return wait_with_read(x, o, stat, m, base, span);
    struct touch t = {o, base, rel, mask, span, access, 0};
    stamp(x, o, stat, m, &t, words);
}
