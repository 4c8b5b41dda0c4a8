/* lanes_shared.c — who touched what in shared memory.
 *
 * Each granule (a word; a byte in kernels that access less than words) has two stamps: its last write
 * and its last reads. A stamp says in which interval between block barriers that was, by which thread, and in which
 * interval between barriers of its warp. Two accesses of different threads, one of them a write, race unless a barrier
 * lies between them; lanes of one warp may also be ordered by a warp barrier. Atomics and strong (volatile, relaxed …)
 * accesses do not race with each other. A lane that sees what another thread's atomic or strong store left, other than a
 * lane that runs in step with it, has been handed something over: that counts as a barrier, which may hide a race but
 * makes none of a lock or a flag. Nor is a store told that leaves what it finds: many threads may set one flag.
 *
 * Most intervals only read: then nothing can race, and nobody asks for the stamps. So the reads of an interval are only
 * kept as they come, in the list of past accesses; the interval's first access of another kind has them stamped, in their
 * order. */
#include "grader/sim/race/lanes_race.h"
#include "grader/sim/race/race.h"
#include "grader/sim/core/place.h"

#include <stdio.h>
#include <string.h>

/* ---- stamps ---- */

#define FIELD(from, to) ((1u << (to)) - (1u << (from)))
#define KIND(kind)      ((u32)(kind) << STAMP_KIND)

static inline u32 stamp_kind(u32 stamp) { return (stamp & FIELD(STAMP_KIND, STAMP_INTERVAL)) >> STAMP_KIND; }

/* Of a stamp, as all ones or 0. */
static inline u32 is_kind(u32 stamp, u32 kind) {
    return TRUTH((stamp & FIELD(STAMP_KIND, STAMP_INTERVAL)) == KIND(kind));
}
/* Of the bits in which two stamps differ. */
static inline u32 same_interval(u32 diff) { return TRUTH(diff >> STAMP_INTERVAL == 0); }
static inline u32 same_thread(u32 diff) { return TRUTH((diff & FIELD(STAMP_LANE, STAMP_KIND)) == 0); }
static inline u32 same_warp(u32 diff) { return TRUTH((diff & FIELD(STAMP_WARP, STAMP_KIND)) == 0); }
static inline u32 same_step(u32 diff) { return TRUTH((diff & FIELD(0, STAMP_LANE)) == 0); }

/* Whether the stamp is of atomics, for the one whose stamp is `mine`: a plain write of a warp that has been updated since is
 * no longer of interest to that warp, but still is to others. */
static inline u32 by_atomics(u32 stamp, u32 mine) {
    u32 some = TRUTH((stamp & FIELD(STAMP_KIND, STAMP_INTERVAL)) >= KIND(RACE_ATOMIC_ONE));
    return some & (~is_kind(stamp, RACE_WRITE_ATOMIC) | same_warp(stamp ^ mine));
}

/* Whether an access stamped `mine` by a plain instruction may meet `theirs` without order between them: all ones or 0. */
static inline u32 unordered(u32 theirs, u32 mine) {
    u32 diff = theirs ^ mine;
    u32 one = is_kind(theirs, RACE_ONE) | is_kind(theirs, RACE_ATOMIC_ONE) | is_kind(theirs, RACE_WRITE_ATOMIC);
    u32 many_warps = is_kind(theirs, RACE_WARPS) | is_kind(theirs, RACE_ATOMIC_WARPS);
    u32 warp_ordered = same_warp(diff) & ~many_warps & ~same_step(diff);
    return same_interval(diff) & ~(one & same_thread(diff)) & ~warp_ordered;
}

/* What the reads of a granule are after one more: by one thread, by lanes of one warp, by several warps. What lanes of the
 * same warp did before its last barrier no longer matters: that is ordered for this warp, and for others this access says
 * as much. */
static inline u32 join_read(u32 old, u32 mine) {
    u32 diff = old ^ mine;
    u32 warps = is_kind(old, RACE_WARPS) | ~same_warp(diff);
    u32 lanes = ~(same_thread(diff) & is_kind(old, RACE_ONE)) & ~warps & same_step(diff);
    return mine | (same_interval(diff) & ((warps & KIND(RACE_WARPS)) | (lanes & KIND(RACE_LANES))));
}

/* The same for atomics, where no other note is of one. What a plain store left in this interval stays known, even if the same
 * thread updates it: another warp's atomic may come before the store. */
static inline u32 join_atomic(u32 old, u32 mine) {
    u32 diff = old ^ mine, known = same_interval(diff) & by_atomics(old, mine);
    u32 plain = same_interval(diff) & same_warp(diff) & (~known | is_kind(old, RACE_WRITE_ATOMIC));
    u32 warps = is_kind(old, RACE_ATOMIC_WARPS) | ~same_warp(diff);
    u32 lanes = ~(same_thread(diff) & is_kind(old, RACE_ATOMIC_ONE)) & ~warps & same_step(diff);
    u32 more = (warps & (RACE_ATOMIC_WARPS - RACE_ATOMIC_ONE)) | (lanes & (RACE_ATOMIC_LANES - RACE_ATOMIC_ONE));
    return mine + KIND(plain ? RACE_WRITE_ATOMIC : RACE_ATOMIC_ONE + (known & more));
}

static void report_shared(struct exec *x, const struct touch *t, u32 lane, u64 granule, u32 theirs, bool they_wrote) {
    const struct launch *l = x->worker->launch;
    u64 offset = granule << l->shared_shift;
    u32 thread = race_stamp_thread(theirs), kind = stamp_kind(theirs);
    bool one = kind == RACE_ONE || kind == RACE_ATOMIC_ONE || kind == RACE_WRITE_ATOMIC;
    bool atomics = kind >= RACE_ATOMIC_ONE && kind != RACE_WRITE_ATOMIC, own = thread == x->warp->index * 32 + lane;
    const char *did = !they_wrote ? "read" : atomics ? "updated" : "wrote";
    bool any_lane =
        own || kind == RACE_WRITE_ATOMIC; /* the stamp has the last one, which may not be the one that wrote */
    struct race_wanted w = {
        offset, (u32)x->block->linear, own ? -1 : (int)thread / 32, any_lane ? -1 : (int)thread % 32,
        true,   race_did(did)};
    char who[64] = "other threads", name[32], where[128], other[160];
    place_thread(l, thread, name, sizeof name);
    if (!own) snprintf(who, sizeof who, "thread %s%s", name, one ? "" : " and others");
    if (one || own) race_describe_other(x, &w, who, did, other, sizeof other);
    else race_describe_many(x, &w, who, did, other, sizeof other);
    place_element(l, offset, x->mems[t->o->aux].width, where, sizeof where);
    atomic_store(&x->worker->launch->raced_shared, true);
    core_fault(x, SIM_FAULT_SHARED_RACE, t->o, lane, offset, "%s %s, which %s, with no barrier between",
               t->access == RACE_WRITE    ? "writes"
               : t->access == RACE_UPDATE ? "updates"
                                          : "reads",
               where, other);
}

/* The thread of the stamp is a lane that runs in step with this one. */
static bool in_step(const struct exec *x, u32 stamp) {
    u32 thread = race_stamp_thread(stamp);
    return thread / 32 == x->warp->index && (x->active >> thread % 32 & 1);
}

/* One granule of one lane. */
static void shared_one(struct exec *x, const struct touch *t, u32 lane, u64 granule) {
    u32 *w = x->block->race_write + granule, *r = x->block->race_read + granule, mine = race_shared_stamp(x, lane);
    bool read = t->access == RACE_READ || t->access == RACE_OBSERVE || t->access == RACE_PEEK,
         strong = t->access == RACE_UPDATE || (t->access == RACE_OBSERVE && !in_step(x, *w));
    bool after_write = unordered(*w, mine) && !(strong && by_atomics(*w, mine)),
         after_read = !read && unordered(*r, mine);
    if ((after_write || after_read) && t->access == RACE_WRITE &&
        race_changes_nothing(x, t, lane, granule, x->worker->launch->shared_shift, x->shared))
        return;
    if (after_write && t->access == RACE_PEEK && by_atomics(*w, mine)) return race_note_peek(x, t, lane);
    if (after_write || after_read) report_shared(x, t, lane, granule, after_write ? *w : *r, after_write);
    if (t->access == RACE_READ || (t->access == RACE_PEEK && !by_atomics(*w, mine))) *r = join_read(*r, mine);
    else if (t->access == RACE_UPDATE) *w = join_atomic(*w, mine);
    else if (t->access == RACE_WRITE) *w = mine;
}

/* Bytes [at, at + bytes) of each lane's access. */
static void shared_slow(struct exec *x, const struct touch *t, u32 byte, u32 bytes) {
    u32 shift = x->worker->launch->shared_shift;
    ACTIVE(t->mask)
    for (u64 from = t->base + byte + (u64)(s64)t->rel[l], g = from >> shift; g <= (from + bytes - 1) >> shift; g++)
        shared_one(x, t, l, g);
}

/* Whether a lane sees what another thread left for it. `always`: even one in step, which an atomic does. */
static bool handed_over(const struct exec *x, const struct touch *t, bool always) {
    u32 shift = x->worker->launch->shared_shift;
    ACTIVE(t->mask) {
        u32 w = x->block->race_write[(t->base + (u64)(s64)t->rel[l]) >> shift];
        if (by_atomics(w, race_shared_stamp(x, l)) && unordered(w, race_shared_stamp(x, l)) &&
            (always || !in_step(x, w)))
            return true;
    }
    return false;
}

/* A word of each lane, all lanes at once; false where something has to be looked at lane by lane. `stamp0`: of lane 0. */
static bool shared_reads(const u32 *w, u32 *r, u32 stamp0, const struct race_pattern *p, u32 mask) {
    u32 written[32], old[32], fresh[32], bad = 0, twins = p->twins;
    const s32 *rel = p->relative;
    LANES written[l] = w[rel[l] >> 2];
    LANES old[l] = r[rel[l] >> 2];
    LANES {
        u32 mine = stamp0 + ((u32)l << STAMP_LANE), joined = join_read(old[l], mine);
        u32 twin = is_kind(joined, RACE_ONE) & TRUTH(twins >> l & 1);
        bad |= unordered(written[l], mine) & TRUTH(mask >> l & 1);
        fresh[l] = joined | (twin & KIND(RACE_LANES));
    }
    if (bad) return false;
    ACTIVE(p->leaders) r[rel[l] >> 2] = fresh[l];
    return true;
}

static bool shared_writes(struct exec *x, const struct mem_memo *m, u64 base, const s32 *rel, u32 mask, u32 span) {
    u32 *w = x->block->race_write + base / 4, *r = x->block->race_read + base / 4, stamp0 = race_shared_stamp(x, 0);
    u32 written[32], read[32], bad = 0;
    if (m->twins) return false; /* lanes of this very instruction write one word */
    bool row = m->shape == SHAPE_DENSE && span == 4;
    if (row) {
        LANES written[l] = w[l];
        LANES read[l] = r[l];
    } else {
        LANES written[l] = w[rel[l] >> 2];
        LANES read[l] = r[rel[l] >> 2];
    }
    LANES {
        u32 mine = stamp0 + ((u32)l << STAMP_LANE);
        bad |= (unordered(written[l], mine) | unordered(read[l], mine)) & TRUTH(mask >> l & 1);
    }
    if (bad) return false;
    if (row) LANES w[l] = stamp0 + ((u32)l << STAMP_LANE);
    else ACTIVE(mask) w[rel[l] >> 2] = stamp0 + ((u32)l << STAMP_LANE);
    return true;
}

static bool shared_updates(struct exec *x, const struct mem_memo *m, u64 base, const s32 *rel, u32 mask) {
    u32 *w = x->block->race_write + base / 4, *r = x->block->race_read + base / 4, stamp0 = race_shared_stamp(x, 0);
    u32 written[32], read[32], fresh[32], bad = 0, twins = m->twins;
    LANES written[l] = w[rel[l] >> 2];
    LANES read[l] = r[rel[l] >> 2];
    LANES {
        u32 mine = stamp0 + ((u32)l << STAMP_LANE), atomic = by_atomics(written[l], mine);
        bad |= ((unordered(written[l], mine) & ~atomic) | unordered(read[l], mine)) & TRUTH(mask >> l & 1);
        u32 joined = join_atomic(written[l], mine), alone = is_kind(joined, RACE_ATOMIC_ONE);
        fresh[l] = joined + (alone & TRUTH(twins >> l & 1) & KIND(RACE_ATOMIC_LANES - RACE_ATOMIC_ONE));
    }
    if (bad) return false;
    ACTIVE(m->leaders) w[rel[l] >> 2] = fresh[l];
    return true;
}

/* Lanes that read one word: one stamp for all. */
static bool shared_broadcast(const u32 *w, u32 *r, u32 stamp0, u32 mask) {
    u32 mine = stamp0 + ((u32)__builtin_ctz(mask) << STAMP_LANE);
    if (same_interval(*w ^ mine)) return false;
    bool others = same_interval(*r ^ mine) && (stamp_kind(*r) == RACE_WARPS || !same_warp(*r ^ mine));
    u32 kind = others ? RACE_WARPS : mask & (mask - 1) ? RACE_LANES : stamp_kind(join_read(*r, mine));
    *r = mine | KIND(kind);
    return true;
}

static bool reads_words(const u32 *w, u32 *r, u32 stamp0, const struct race_pattern *p, u32 mask) {
    return p->shape == SHAPE_UNIFORM ? shared_broadcast(w, r, stamp0, mask) : shared_reads(w, r, stamp0, p, mask);
}

/* ---- reads that are stamped later, or never ---- */

static struct race_pattern pattern_of(const struct mem_memo *m) {
    struct race_pattern p = {.low = m->low, .leaders = m->leaders, .twins = m->twins, .shape = m->shape};
    memcpy(p.relative, m->relative, sizeof p.relative);
    return p;
}

/* The number of the memo's pattern in the list, where it is since reads began to wait. */
static u32 keep_pattern(struct race_plane *p, struct mem_memo *m) {
    if (m->kept > p->waiting.pattern) return m->kept - 1;
    p->patterns[p->npatterns % RACE_PATTERNS] = pattern_of(m);
    m->kept = ++p->npatterns;
    return m->kept - 1;
}

static void stamp_read(const struct race_waiting *b, const struct race_past *e, const struct race_pattern *p) {
    u64 base = e->low - (u64)(s64)p->low;
    s32 high = p->low;
    ACTIVE(e->mask) high = p->relative[l] > high ? p->relative[l] : high;
    u64 span = e->high - base - (u64)(s64)high;
    for (u64 at = base / 4; at < (base + span) / 4; at++)
        reads_words(b->write + at, b->read + at, e->stamp, p, e->mask);
}

static void stamp_reads(struct race_plane *p) {
    for (u32 i = p->waiting.first; p->waiting.read && i != p->npast; i++) {
        const struct race_past *e = &p->past[i % RACE_PAST];
        if (e->stamp) stamp_read(&p->waiting, e, &p->patterns[e->pattern % RACE_PATTERNS]);
    }
    p->waiting.read = NULL;
}

static void begin_to_wait(struct exec *x) {
    struct race_plane *p = x->worker->plane;
    const struct block *b = x->block;
    if (p->waiting.read) stamp_reads(p);
    p->waiting = (struct race_waiting){stamp_reads, b->race_write, b->race_read, p->npast, p->npatterns};
}

/* A plain read that may wait. */
static void wait_with_read(struct exec *x, const struct op *o, u32 stat, struct mem_memo *m, u64 base, u32 span) {
    struct race_plane *p = x->worker->plane;
    bool full = p->npatterns - p->waiting.pattern >= RACE_PATTERNS || p->npast - p->waiting.first >= RACE_PAST;
    if (p->waiting.read != x->block->race_read || full) begin_to_wait(x);
    struct race_past *e =
        race_remember(x, o, stat, true, base + (u64)(s64)m->low, base + (u64)(s64)m->high + span, m->mask, RACE_READ);
    e->pattern = keep_pattern(p, m);
    e->stamp = race_shared_stamp(x, 0);
}

/* An access that is no plain read: from now on to the end of the interval stamps are needed. */
static void need_stamps(struct exec *x) {
    struct race_plane *p = x->worker->plane;
    if (p->waiting.read == x->block->race_read) stamp_reads(p);
    x->block->stamped_in = x->block->interval;
}

/* A word of each lane, of an access that has a pattern; false where it has to be looked at lane by lane. */
static bool words_done(struct exec *x, const struct mem_memo *m, const struct touch *t, u64 at) {
    if (t->access == RACE_UPDATE) return shared_updates(x, m, at, t->rel, t->mask);
    if (t->access == RACE_WRITE) return shared_writes(x, m, at, t->rel, t->mask, t->span);
    const u32 *w = x->block->race_write + at / 4;
    u32 *r = x->block->race_read + at / 4, stamp0 = race_shared_stamp(x, 0);
    if (m->shape == SHAPE_UNIFORM) return shared_broadcast(w, r, stamp0, t->mask);
    struct race_pattern pattern = pattern_of(m);
    return shared_reads(w, r, stamp0, &pattern, t->mask);
}

static __attribute__((noinline)) void stamp(struct exec *x, const struct op *o, u32 stat, struct mem_memo *m,
                                            const struct touch *t, bool words) {
    bool exchange = t->access == RACE_EXCHANGE, sees = exchange || t->access == RACE_OBSERVE;
    struct touch u = *t;
    s32 low = m ? m->low : 0, high = m ? m->high : 0;
    ACTIVE(m ? 0 : t->mask) low = t->rel[l] < low ? t->rel[l] : low, high = t->rel[l] > high ? t->rel[l] : high;
    race_remember(x, o, stat, true, t->base + (u64)(s64)low, t->base + (u64)(s64)high + t->span, t->mask, t->access);
    if (x->block->far_write)
        ACTIVE(t->mask) race_cluster(x, x->block, o, l, t->base + (u64)(s64)t->rel[l], t->span, t->access);
    need_stamps(x);
    if (exchange) u.access = RACE_UPDATE;
    if (sees && handed_over(x, &u, exchange)) race_next_interval(x->block, x->worker->launch);
    if (!words) shared_slow(x, &u, 0, t->span);
    for (u32 byte = 0; words && byte < t->span; byte += 4)
        if (!words_done(x, m, &u, t->base + byte)) shared_slow(x, &u, byte, 4);
}

void ISAFN(race_shared)(struct exec *x, const struct op *o, struct mem_memo *m, u64 base, const s32 *rel, u32 mask,
                        u32 span, enum race_access access) {
    const struct mem_desc *d = &x->mems[o->aux];
    u32 stat = d->stat + (d->space == SPACE_GENERIC);
    bool words =
        m && span % 4 == 0 && x->worker->launch->shared_shift == 2 && access != RACE_OBSERVE && access != RACE_PEEK;
    if (words && access == RACE_READ && x->block->stamped_in != x->block->interval && !x->block->far_write)
        return wait_with_read(x, o, stat, m, base, span);
    struct touch t = {o, base, rel, mask, span, access, 0};
    stamp(x, o, stat, m, &t, words);
}
