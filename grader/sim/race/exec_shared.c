/* exec_shared.c — records accesses to shared memory in shadow cells, and finds races.
 *
 * Each cell (a word; a byte in kernels with narrower accesses) has two epochs: of its last write
 * and of its last reads. An epoch has the block's sync epoch, the thread, and the warp's sync
 * epoch. Two accesses of different threads, one of them a write, race unless a barrier lies between
 * them; a warp barrier orders lanes of its warp. Atomics and strong (volatile, relaxed …) accesses
 * don't race with each other. A lane that observes another thread's atomic or strong store acquires
 * from it, except from a lane that runs in lockstep with it: for its warp that counts as a barrier,
 * which can hide a race but never reports one in a correct lock or flag. vector_clock.c handles
 * synchronization of some threads only. Silent stores, which leave the value as it was, are not
 * reported: many threads may set one flag.
 *
 * Most sync epochs only read, so nothing can race and no epochs are needed. The reads are therefore
 * deferred: they are kept in the history, and the sync epoch's first access of another kind writes
 * them to the shadow cells, in their order. */
#include "grader/sim/race/exec_race.h"
#include "grader/sim/core/repeated_loads.h"
#include "grader/sim/race/vector_clock.h"
#include "grader/sim/race/proxy.h"
#include "grader/sim/race/race.h"
#include "grader/sim/core/source_location.h"

#include <stdio.h>
#include <string.h>

/* ---- epochs ---- */

#define FIELD(from, to)  ((1u << (to)) - (1u << (from)))
#define EPOCH_KIND(kind) ((u32)(kind) << EPOCH_KIND_SHIFT)

static inline u32 epoch_kind(u32 epoch) {
    return (epoch & FIELD(EPOCH_KIND_SHIFT, EPOCH_SYNC_SHIFT)) >> EPOCH_KIND_SHIFT;
}

/* These return all ones or 0: of an epoch, then of the bits in which two epochs differ. */
static inline u32 is_kind(u32 epoch, u32 kind) {
    return TRUTH_MASK((epoch & FIELD(EPOCH_KIND_SHIFT, EPOCH_SYNC_SHIFT)) == EPOCH_KIND(kind));
}
static inline u32 same_sync_epoch(u32 diff) { return TRUTH_MASK(diff >> EPOCH_SYNC_SHIFT == 0); }
static inline u32 same_thread(u32 diff) {
    return TRUTH_MASK((diff & FIELD(EPOCH_LANE_SHIFT, EPOCH_KIND_SHIFT)) == 0);
}
static inline u32 same_warp(u32 diff) {
    return TRUTH_MASK((diff & FIELD(EPOCH_WARP_SHIFT, EPOCH_KIND_SHIFT)) == 0);
}
static inline u32 same_warp_epoch(u32 diff) {
    return TRUTH_MASK((diff & FIELD(0, EPOCH_LANE_SHIFT)) == 0);
}

/* Returns all ones if `epoch` counts as one of atomics for the thread of `current`. A plain write
 * that its own warp has updated since does so for that warp only. */
static inline u32 is_atomic_epoch(u32 epoch, u32 current) {
    u32 any_atomic = TRUTH_MASK((epoch & FIELD(EPOCH_KIND_SHIFT, EPOCH_SYNC_SHIFT)) >=
                                EPOCH_KIND(EPOCH_ATOMIC_THREAD));
    return any_atomic & (~is_kind(epoch, EPOCH_WRITE_THEN_ATOMIC) | same_warp(epoch ^ current));
}

/* What a warp has observed, where only some of the block's threads were ordered since its last
 * barrier (vector_clock.c): by warp, and for its own warp, the first sync epoch that is not ordered
 * before it. Where `by_warp` is NULL, that is the current sync epoch. */
struct observed_epochs {
    const u32 *by_warp;
    u32 own_warp;
    const u32
        *gap_by_warp; /* by_warp, or earlier where an acquire has a gap (struct acquire_gap) */
};
static const struct observed_epochs block_synced;

static inline u32 is_recent_since(u32 prior, u32 current, const u32 *by_warp) {
    return by_warp
               ? TRUTH_MASK(prior >> EPOCH_SYNC_SHIFT >= by_warp[prior >> EPOCH_WARP_SHIFT & 31])
               : same_sync_epoch(prior ^ current);
}
static inline u32 is_recent(u32 prior, u32 current, struct observed_epochs v) {
    return is_recent_since(prior, current, v.by_warp);
}
static inline u32 is_recent_in_warp(u32 prior, u32 current, struct observed_epochs v) {
    return v.by_warp ? TRUTH_MASK((prior & FIELD(0, EPOCH_LANE_SHIFT)) >= v.own_warp)
                     : same_warp_epoch(prior ^ current);
}

/* Returns all ones if nothing orders a plain access of epoch `current` after `prior`, else 0. It
 * returns ones too often for lanes of one warp of which only some synchronized, and for warps of
 * which only some lanes did: races_with() tests these more closely. */
static inline u32 is_concurrent(u32 prior, u32 current, struct observed_epochs v) {
    u32 diff = prior ^ current;
    u32 single_thread = is_kind(prior, EPOCH_THREAD) | is_kind(prior, EPOCH_ATOMIC_THREAD) |
                        is_kind(prior, EPOCH_WRITE_THEN_ATOMIC);
    u32 many_warps = is_kind(prior, EPOCH_WARPS) | is_kind(prior, EPOCH_ATOMIC_WARPS);
    u32 warp_ordered = same_warp(diff) & ~many_warps & ~is_recent_in_warp(prior, current, v);
    return is_recent_since(prior, current, v.gap_by_warp) & ~(single_thread & same_thread(diff)) &
           ~warp_ordered;
}

/* Returns a cell's read epoch after one more read: of one thread, of lanes of one warp, or of
 * several warps. Reads by lanes of the same warp before its last barrier no longer matter: they
 * are ordered for this warp, and to other warps the new read stands for them. */
static inline u32 join_read(u32 old, u32 current, struct observed_epochs v) {
    u32 diff = old ^ current;
    u32 warps = is_kind(old, EPOCH_WARPS) | ~same_warp(diff);
    u32 lanes = ~(same_thread(diff) & is_kind(old, EPOCH_THREAD)) & ~warps & same_warp_epoch(diff);
    return current | (is_recent(old, current, v) &
                      ((warps & EPOCH_KIND(EPOCH_WARPS)) | (lanes & EPOCH_KIND(EPOCH_LANES))));
}

/* Does the same for a cell's write epoch after an atomic. It keeps that there was a plain store in
 * this sync epoch, even by the same thread: another warp's atomic may come before that store. */
static inline u32 join_atomic(u32 old, u32 current, struct observed_epochs v) {
    u32 diff = old ^ current, recent = is_recent(old, current, v),
        was_atomic = recent & is_atomic_epoch(old, current);
    u32 plain_write =
        recent & same_warp(diff) & (~was_atomic | is_kind(old, EPOCH_WRITE_THEN_ATOMIC));
    u32 warps = is_kind(old, EPOCH_ATOMIC_WARPS) | ~same_warp(diff);
    u32 lanes =
        ~(same_thread(diff) & is_kind(old, EPOCH_ATOMIC_THREAD)) & ~warps & same_warp_epoch(diff);
    u32 kind_offset = (warps & (EPOCH_ATOMIC_WARPS - EPOCH_ATOMIC_THREAD)) |
                      (lanes & (EPOCH_ATOMIC_LANES - EPOCH_ATOMIC_THREAD));
    return current + EPOCH_KIND(plain_write ? EPOCH_WRITE_THEN_ATOMIC
                                            : EPOCH_ATOMIC_THREAD + (was_atomic & kind_offset));
}

static struct block_access block_access_of(u32 epoch) {
    return (struct block_access){GAP_SHARED, race_epoch_thread(epoch) / 32,
                                 race_epoch_thread(epoch) % 32, epoch >> EPOCH_SYNC_SHIFT,
                                 epoch & FIELD(0, EPOCH_LANE_SHIFT)};
}

static void report_shared_race(struct exec *x, const struct mem_access *t, u32 lane, u64 cell,
                               u32 prior, bool prior_wrote) {
    const struct launch *l = x->worker->launch;
    u64 offset = cell << l->shared_shift;
    u32 thread = race_epoch_thread(prior), kind = epoch_kind(prior);
    bool single_thread =
        kind == EPOCH_THREAD || kind == EPOCH_ATOMIC_THREAD || kind == EPOCH_WRITE_THEN_ATOMIC;
    bool atomics = kind >= EPOCH_ATOMIC_THREAD && kind != EPOCH_WRITE_THEN_ATOMIC,
         is_own_thread = thread == x->warp->index * 32 + lane;
    const char *past_verb = !prior_wrote ? "read" : atomics ? "updated" : "wrote";
    /* The epoch has the last thread, which may not be the one that wrote. */
    bool any_lane = is_own_thread || kind == EPOCH_WRITE_THEN_ATOMIC;
    struct history_query w = {offset,
                              (u32)x->block->linear,
                              is_own_thread ? -1 : (int)thread / 32,
                              any_lane ? -1 : (int)thread % 32,
                              true,
                              race_access_kind(past_verb)};
    bool is_same_warp = thread / 32 == x->warp->index && !is_own_thread && kind != EPOCH_WARPS &&
                        kind != EPOCH_ATOMIC_WARPS && kind != EPOCH_WRITE_THEN_ATOMIC;
    struct block_access prior_access = block_access_of(prior);
    char actor[64] = "other threads", name[32], location[128], other_text[160];
    describe_thread(l, thread, name, sizeof name);
    if (!is_own_thread)
        snprintf(actor, sizeof actor, "thread %s%s", name, single_thread ? "" : " and others");
    if (single_thread || is_own_thread)
        race_describe_other(x, &w, actor, past_verb, other_text, sizeof other_text);
    else race_describe_many(x, &w, actor, past_verb, other_text, sizeof other_text);
    describe_shared_element(l, offset, x->mems[t->o->aux].width, location, sizeof location);
    atomic_store(&x->worker->launch->has_shared_race, true);
    core_fault(x, SIM_FAULT_SHARED_RACE, t->o, lane, offset, "%s %s, which %s, with no %s",
               t->kind == RACE_WRITE ? "writes"
               : t->kind == RACE_RED ? "updates"
                                     : "reads",
               location, other_text,
               is_same_warp                                     ? "barrier or __syncwarp() between"
               : race_is_in_acquire_gap(x, lane, &prior_access) ? race_acquire_gap_text
                                                                : "barrier between");
}

/* Returns true if the epoch's thread is another active lane of this warp: it runs in lockstep. */
static bool in_lockstep(const struct exec *x, u32 lane, u32 epoch) {
    u32 thread = race_epoch_thread(epoch);
    if (thread == x->warp->index * 32 + lane) return false;
    if (epoch_kind(epoch) == EPOCH_ATOMIC_WARPS) return false; /* It stands for other warps, too. */
    return thread / 32 == x->warp->index && (x->active_mask >> thread % 32 & 1);
}

/* Returns true if the epoch's lane is ordered before `lane`, although its warp as a whole is not.
 * False for several lanes, which the epoch does not name. */
static bool lane_is_ordered(const struct exec *x, u32 lane, u32 prior, u32 current) {
    u32 kind = epoch_kind(prior), at = (x->warp->sync_epoch & ~(RACE_WARP_SYNC_EPOCHS - 1u)) |
                                       (prior & FIELD(0, EPOCH_LANE_SHIFT));
    if (!same_warp(prior ^ current) || kind == EPOCH_WARPS || kind == EPOCH_ATOMIC_WARPS)
        return false;
    if (kind == EPOCH_LANES || kind == EPOCH_ATOMIC_LANES) return !same_warp_epoch(prior ^ current);
    return race_lane_is_ordered(x->block, x->warp, lane, race_epoch_thread(prior) % 32, at);
}

/* Returns true if the lane's warp has observed the epoch's access, and this lane, too. */
static bool is_acquired(const struct exec *x, u32 lane, u32 prior, u32 current,
                        struct observed_epochs v) {
    struct block_access a = block_access_of(prior);
    return !is_recent(prior, current, v) && !race_is_in_acquire_gap(x, lane, &a);
}

static bool races_with(const struct exec *x, u32 lane, u32 prior, u32 current,
                       struct observed_epochs v) {
    return is_concurrent(prior, current, v) &&
           !(v.by_warp &&
             (lane_is_ordered(x, lane, prior, current) || is_acquired(x, lane, prior, current, v)));
}

/* Checks and records a lane's access to one cell. */
static void check_shared_cell(struct exec *x, const struct mem_access *t, u32 lane, u64 cell,
                              struct observed_epochs v) {
    u32 *w = x->block->write_epochs + cell, *r = x->block->read_epochs + cell,
        current = race_shared_epoch(x, lane);
    bool read = t->kind == RACE_READ || t->kind == RACE_STRONG_LOAD ||
                t->kind == RACE_READ_REVALIDATED,
         strong = t->kind == RACE_RED || (t->kind == RACE_STRONG_LOAD && !in_lockstep(x, lane, *w));
    bool after_write =
             races_with(x, lane, *w, current, v) && !(strong && is_atomic_epoch(*w, current)),
         after_read = !read && races_with(x, lane, *r, current, v);
    if ((after_write || after_read) && t->kind == RACE_WRITE &&
        race_is_silent_store(x, t, lane, cell, x->worker->launch->shared_shift, x->shared))
        return;
    if (after_write && t->kind == RACE_READ_REVALIDATED && is_atomic_epoch(*w, current))
        return race_report_revalidated_read(x, t, lane);
    if (after_write || after_read)
        report_shared_race(x, t, lane, cell, after_write ? *w : *r, after_write);
    if (t->kind == RACE_READ || (t->kind == RACE_READ_REVALIDATED && !is_atomic_epoch(*w, current)))
        *r = join_read(*r, current, v);
    else if (t->kind == RACE_RED) *w = join_atomic(*w, current, v);
    else if (t->kind == RACE_WRITE) *w = current;
}

/* Checks bytes [byte, byte + bytes) of each lane's access. */
static void check_shared_lanes(struct exec *x, const struct mem_access *t, u32 byte, u32 bytes,
                               struct observed_epochs v) {
    u32 shift = x->worker->launch->shared_shift;
    FOR_ACTIVE_LANES(t->mask)
    for (u64 from = t->base + byte + (u64)(s64)t->lane_offset[l], g = from >> shift;
         g <= (from + bytes - 1) >> shift; g++)
        check_shared_cell(x, t, l, g, v);
}

/* Returns the lanes that observe another thread's atomic or strong store. `include_lockstep`: also
 * that of a lane in lockstep, as an atomic does. */
static u32 lanes_that_observe(const struct exec *x, const struct mem_access *t,
                              bool include_lockstep, struct observed_epochs v) {
    u32 shift = x->worker->launch->shared_shift, observing = 0;
    FOR_ACTIVE_LANES(t->mask) {
        u32 w = x->block->write_epochs[(t->base + (u64)(s64)t->lane_offset[l]) >> shift];
        if (is_atomic_epoch(w, race_shared_epoch(x, l)) &&
            races_with(x, l, w, race_shared_epoch(x, l), v) &&
            (include_lockstep || !in_lockstep(x, l, w)))
            observing |= 1u << l;
    }
    return observing;
}

/* These lanes acquire from the threads whose stores they observe. A word that several threads
 * updated names the last one only, and may order all of them. */
static void acquire_by_lanes(struct exec *x, const struct mem_access *t, u32 lanes) {
    u32 shift = x->worker->launch->shared_shift;
    race_acquire_by(x, t->o);
    FOR_ACTIVE_LANES(lanes) {
        u32 w = x->block->write_epochs[(t->base + (u64)(s64)t->lane_offset[l]) >> shift];
        struct block_access release = block_access_of(w);
        if (epoch_kind(w) != EPOCH_ATOMIC_THREAD) release.lane_time = UINT32_MAX;
        race_note_acquire(x, l, &release);
    }
}

/* Checks a read of one word for each lane, all lanes at once; returns false, before any change, if
 * the lanes must be checked one by one. `lane0_epoch` is the epoch of lane 0. */
static inline __attribute__((always_inline)) bool
check_reads_inline(const u32 *w, u32 *r, u32 lane0_epoch, const struct lane_pattern *p, u32 mask,
                   struct observed_epochs v) {
    u32 written[32], old[32], new_epoch[32], bad = 0, duplicate_mask = p->duplicate_mask;
    const s32 *rel = p->lane_offset;
    FOR_LANES written[l] = w[rel[l] >> 2];
    FOR_LANES old[l] = r[rel[l] >> 2];
    FOR_LANES {
        u32 current = lane0_epoch + ((u32)l << EPOCH_LANE_SHIFT),
            joined = join_read(old[l], current, v);
        u32 is_duplicate = is_kind(joined, EPOCH_THREAD) & TRUTH_MASK(duplicate_mask >> l & 1);
        bad |= is_concurrent(written[l], current, v) & TRUTH_MASK(mask >> l & 1);
        new_epoch[l] = joined | (is_duplicate & EPOCH_KIND(EPOCH_LANES));
    }
    if (bad) return false;
    FOR_ACTIVE_LANES(p->first_lane_mask) r[rel[l] >> 2] = new_epoch[l];
    return true;
}

static bool check_reads(const u32 *w, u32 *r, u32 lane0_epoch, const struct lane_pattern *p,
                        u32 mask, struct observed_epochs v) {
    return v.by_warp ? check_reads_inline(w, r, lane0_epoch, p, mask, v)
                     : check_reads_inline(w, r, lane0_epoch, p, mask, block_synced);
}

static inline __attribute__((always_inline)) bool
check_writes_inline(struct exec *x, const struct access_pattern *m, u64 base, const s32 *rel,
                    u32 mask, u32 span, struct observed_epochs v) {
    u32 *w = x->block->write_epochs + base / 4, *r = x->block->read_epochs + base / 4,
        lane0_epoch = race_shared_epoch(x, 0);
    u32 written[32], read[32], bad = 0;
    if (m->duplicate_mask) return false; /* Several lanes of this instruction write one word. */
    bool is_contiguous = m->shape == PATTERN_UNIT_STRIDE && span == 4;
    if (is_contiguous) {
        FOR_LANES written[l] = w[l];
        FOR_LANES read[l] = r[l];
    } else {
        FOR_LANES written[l] = w[rel[l] >> 2];
        FOR_LANES read[l] = r[rel[l] >> 2];
    }
    FOR_LANES {
        u32 current = lane0_epoch + ((u32)l << EPOCH_LANE_SHIFT);
        bad |= (is_concurrent(written[l], current, v) | is_concurrent(read[l], current, v)) &
               TRUTH_MASK(mask >> l & 1);
    }
    if (bad) return false;
    if (is_contiguous) FOR_LANES w[l] = lane0_epoch + ((u32)l << EPOCH_LANE_SHIFT);
    else FOR_ACTIVE_LANES(mask) w[rel[l] >> 2] = lane0_epoch + ((u32)l << EPOCH_LANE_SHIFT);
    return true;
}

static bool check_writes(struct exec *x, const struct access_pattern *m, u64 base, const s32 *rel,
                         u32 mask, u32 span, struct observed_epochs v) {
    return v.by_warp ? check_writes_inline(x, m, base, rel, mask, span, v)
                     : check_writes_inline(x, m, base, rel, mask, span, block_synced);
}

static inline __attribute__((always_inline)) bool
check_updates_inline(struct exec *x, const struct access_pattern *m, u64 base, const s32 *rel,
                     u32 mask, struct observed_epochs v) {
    u32 *w = x->block->write_epochs + base / 4, *r = x->block->read_epochs + base / 4,
        lane0_epoch = race_shared_epoch(x, 0);
    u32 written[32], read[32], new_epoch[32], bad = 0, duplicate_mask = m->duplicate_mask;
    FOR_LANES written[l] = w[rel[l] >> 2];
    FOR_LANES read[l] = r[rel[l] >> 2];
    FOR_LANES {
        u32 current = lane0_epoch + ((u32)l << EPOCH_LANE_SHIFT),
            atomic = is_atomic_epoch(written[l], current);
        bad |= ((is_concurrent(written[l], current, v) & ~atomic) |
                is_concurrent(read[l], current, v)) &
               TRUTH_MASK(mask >> l & 1);
        u32 joined = join_atomic(written[l], current, v),
            single_atomic = is_kind(joined, EPOCH_ATOMIC_THREAD);
        new_epoch[l] = joined + (single_atomic & TRUTH_MASK(duplicate_mask >> l & 1) &
                                 EPOCH_KIND(EPOCH_ATOMIC_LANES - EPOCH_ATOMIC_THREAD));
    }
    if (bad) return false;
    FOR_ACTIVE_LANES(m->first_lane_mask) w[rel[l] >> 2] = new_epoch[l];
    return true;
}

static bool check_updates(struct exec *x, const struct access_pattern *m, u64 base, const s32 *rel,
                          u32 mask, struct observed_epochs v) {
    return v.by_warp ? check_updates_inline(x, m, base, rel, mask, v)
                     : check_updates_inline(x, m, base, rel, mask, block_synced);
}

/* Checks a read of one word by all lanes, which takes one epoch. */
static bool check_broadcast_read(const u32 *w, u32 *r, u32 lane0_epoch, u32 mask,
                                 struct observed_epochs v) {
    u32 current = lane0_epoch + ((u32)__builtin_ctz(mask) << EPOCH_LANE_SHIFT);
    if (is_recent_since(*w, current, v.gap_by_warp)) return false;
    bool others =
        is_recent(*r, current, v) && (epoch_kind(*r) == EPOCH_WARPS || !same_warp(*r ^ current));
    u32 kind = others              ? EPOCH_WARPS
               : mask & (mask - 1) ? EPOCH_LANES
                                   : epoch_kind(join_read(*r, current, v));
    *r = current | EPOCH_KIND(kind);
    return true;
}

static bool check_deferred_words(const u32 *w, u32 *r, u32 lane0_epoch,
                                 const struct lane_pattern *p, u32 mask) {
    return p->shape == PATTERN_UNIFORM ? check_broadcast_read(w, r, lane0_epoch, mask, block_synced)
                                       : check_reads(w, r, lane0_epoch, p, mask, block_synced);
}

/* ---- deferred reads ---- */

static struct lane_pattern pattern_of(const struct access_pattern *m) {
    struct lane_pattern p = {.low = m->min_offset,
                             .first_lane_mask = m->first_lane_mask,
                             .duplicate_mask = m->duplicate_mask,
                             .shape = m->shape};
    memcpy(p.lane_offset, m->lane_offset, sizeof p.lane_offset);
    return p;
}

/* Returns the index of the access pattern in `patterns`; adds it unless it is there since reads are
 * deferred. */
static u32 save_pattern(struct race_shadow *p, struct access_pattern *m) {
    if (m->pattern_slot > p->deferred.first_pattern) return m->pattern_slot - 1;
    p->patterns[p->npatterns % RACE_PATTERN_CACHE_SIZE] = pattern_of(m);
    m->pattern_slot = ++p->npatterns;
    return m->pattern_slot - 1;
}

static void flush_deferred_read(const struct deferred_reads *b, const struct access_record *e,
                                const struct lane_pattern *p) {
    u64 base = e->low - (u64)(s64)p->low;
    s32 high = p->low;
    FOR_ACTIVE_LANES(e->mask) high = p->lane_offset[l] > high ? p->lane_offset[l] : high;
    u64 span = e->high - base - (u64)(s64)high;
    for (u64 at = base / 4; at < (base + span) / 4; at++)
        check_deferred_words(b->write_epochs + at, b->read_epochs + at, e->epoch, p, e->mask);
}

static void flush_deferred_reads(struct race_shadow *p) {
    for (u32 i = p->deferred.first_record; p->deferred.read_epochs && i != p->nrecords; i++) {
        const struct access_record *e = &p->history[i % RACE_HISTORY_SIZE];
        if (e->shared && e->epoch)
            flush_deferred_read(&p->deferred, e,
                                &p->patterns[e->pattern % RACE_PATTERN_CACHE_SIZE]);
    }
    p->deferred.read_epochs = NULL;
}

static void begin_deferring_reads(struct exec *x) {
    struct race_shadow *p = x->worker->race_shadow;
    const struct block *b = x->block;
    if (p->deferred.read_epochs) flush_deferred_reads(p);
    p->deferred = (struct deferred_reads){flush_deferred_reads, b->write_epochs, b->read_epochs,
                                          p->nrecords, p->npatterns};
}

/* Returns true if so many more reads can't be deferred. */
static bool is_deferral_full(const struct race_shadow *p, u32 n) {
    return p->npatterns - p->deferred.first_pattern + n > RACE_PATTERN_CACHE_SIZE ||
           p->nrecords - p->deferred.first_record + n > RACE_HISTORY_SIZE;
}

/* Defers a plain read. */
static void defer_read(struct exec *x, const struct op *o, u32 stat, struct access_pattern *m,
                       u64 base, u32 span) {
    struct race_shadow *p = x->worker->race_shadow;
    if (p->deferred.read_epochs != x->block->read_epochs || is_deferral_full(p, 1))
        begin_deferring_reads(x);
    struct access_record *e =
        race_record_access(x, o, stat, true, base + (u64)(s64)m->min_offset,
                           base + (u64)(s64)m->max_offset + span, m->mask, RACE_READ);
    e->pattern = save_pattern(p, m);
    e->epoch = race_shared_epoch(x, 0);
}

/* Prepares for an access that is no plain read: to the end of the sync epoch, shadow cells are
 * needed. */
static void require_epochs(struct exec *x) {
    struct race_shadow *p = x->worker->race_shadow;
    if (p->deferred.read_epochs == x->block->read_epochs) flush_deferred_reads(p);
    x->block->recorded_epoch = x->block->sync_epoch;
}

/* Checks one word for each lane of an access that has a pattern; false if the lanes must be checked
 * one by one. */
static bool check_words(struct exec *x, const struct access_pattern *m, const struct mem_access *t,
                        u64 at, struct observed_epochs v) {
    if (t->kind == RACE_RED) return check_updates(x, m, at, t->lane_offset, t->mask, v);
    if (t->kind == RACE_WRITE) return check_writes(x, m, at, t->lane_offset, t->mask, t->span, v);
    const u32 *w = x->block->write_epochs + at / 4;
    u32 *r = x->block->read_epochs + at / 4, lane0_epoch = race_shared_epoch(x, 0);
    if (m->shape == PATTERN_UNIFORM) return check_broadcast_read(w, r, lane0_epoch, t->mask, v);
    struct lane_pattern pattern = pattern_of(m);
    return check_reads(w, r, lane0_epoch, &pattern, t->mask, v);
}

static struct observed_epochs observed_epochs_of(const struct exec *x, u32 by_warp[32],
                                                 u32 gap_by_warp[32]) {
    const struct block *b = x->block;
    const struct warp *w = x->warp;
    if (b->sync_epoch == b->block_sync_epoch && w->sync_epoch == w->warp_sync_epoch)
        return block_synced;
    for (u32 i = 0; i < 32; i++) by_warp[i] = race_observed_sync_epoch(b, w->index, i);
    for (u32 i = 0; i < 32; i++) gap_by_warp[i] = race_gap_start(b, w->index, i, by_warp[i]);
    bool same_epoch_range =
        w->warp_sync_epoch / RACE_WARP_SYNC_EPOCHS == w->sync_epoch / RACE_WARP_SYNC_EPOCHS;
    return (struct observed_epochs){
        by_warp, same_epoch_range ? w->warp_sync_epoch % RACE_WARP_SYNC_EPOCHS : 0, gap_by_warp};
}

static __attribute__((noinline)) void check_shared_access(struct exec *x, const struct op *o,
                                                          u32 stat, struct access_pattern *m,
                                                          const struct mem_access *t,
                                                          bool by_words) {
    bool is_atom = t->kind == RACE_ATOM, acquires = is_atom || t->kind == RACE_STRONG_LOAD;
    struct mem_access u = *t;
    s32 low = m ? m->min_offset : 0, high = m ? m->max_offset : 0;
    FOR_ACTIVE_LANES(m ? 0 : t->mask)
    low = t->lane_offset[l] < low ? t->lane_offset[l] : low,
    high = t->lane_offset[l] > high ? t->lane_offset[l] : high;
    race_record_access(x, o, stat, true, t->base + (u64)(s64)low,
                       t->base + (u64)(s64)high + t->span, t->mask, t->kind);
    if (x->block->remote_write_epochs) FOR_ACTIVE_LANES(t->mask)
    race_cluster_access(x, x->block, o, l, t->base + (u64)(s64)t->lane_offset[l], t->span, t->kind);
    if (x->block->proxy && (t->kind == RACE_WRITE || t->kind == RACE_RED || is_atom)) {
        bool async = x->mems[o->aux].is_bulk ||
                     (x->mems[o->aux].is_cp_async && !x->worker->launch->ptx_order);
        FOR_ACTIVE_LANES(t->mask)
        race_proxy_write(x, o, l, t->base + (u64)(s64)t->lane_offset[l], t->span, async);
    }
    if (x->mems[o->aux].is_release) race_block_fence(x);
    require_epochs(x);
    if (is_atom) u.kind = RACE_RED;
    u32 by_warp[32], gap_by_warp[32], observing;
    struct observed_epochs v = observed_epochs_of(x, by_warp, gap_by_warp);
    if (acquires && (observing = lanes_that_observe(x, &u, is_atom, v)) != 0) {
        acquire_by_lanes(x, &u, observing);
        v = observed_epochs_of(x, by_warp, gap_by_warp);
    }
    if (!by_words) check_shared_lanes(x, &u, 0, t->span, v);
    for (u32 byte = 0; by_words && byte < t->span; byte += 4)
        if (!check_words(x, m, &u, t->base + byte, v)) check_shared_lanes(x, &u, byte, 4, v);
}

/* Returns true if a plain read of words can be deferred. */
static bool may_defer_reads(const struct exec *x) {
    return x->worker->launch->shared_shift == 2 &&
           x->block->recorded_epoch < x->block->block_sync_epoch && !x->block->remote_write_epochs;
}

void ISAFN(race_shared_access)(struct exec *x, const struct op *o, struct access_pattern *m,
                               u64 base, const s32 *rel, u32 mask, u32 span,
                               enum race_access_kind access) {
    const struct mem_desc *d = &x->mems[o->aux];
    u32 stat = d->stat + (d->space == SPACE_GENERIC);
    bool by_words = m && span % 4 == 0 && x->worker->launch->shared_shift == 2 &&
                    access != RACE_STRONG_LOAD && access != RACE_READ_REVALIDATED;
    if (by_words && access == RACE_READ && may_defer_reads(x))
        return defer_read(x, o, stat, m, base, span);
    struct mem_access t = {o, base, rel, mask, span, access, 0};
    check_shared_access(x, o, stat, m, &t, by_words);
}

/* Defers plain reads. What all of them share is a record that each one completes. */
static void defer_reads(struct exec *x, const struct repeated_load *loads, u32 n, const u64 *base,
                        struct access_pattern *const *m) {
    struct race_shadow *p = x->worker->race_shadow;
    struct access_record record = {.mask = m[0]->mask,
                                   .block = (u32)x->block->linear,
                                   .warp = x->warp->index,
                                   .epoch = race_shared_epoch(x, 0),
                                   .shared = true,
                                   .access_kind = ACCESS_READ};
    u32 first = p->nrecords;
    for (u32 i = 0; i < n; i++) {
        const struct access_pattern *pattern = m[loads[i].group];
        const struct mem_desc *d = &x->mems[x->worker->launch->ops[loads[i].op].aux];
        u64 at = base[loads[i].group] + loads[i].delta;
        record.low = at + (u64)(s64)pattern->min_offset;
        record.high = at + (u64)(s64)pattern->max_offset + (u32)d->width * d->count;
        record.op = loads[i].op, record.stat = loads[i].stat;
        record.pattern = save_pattern(p, m[loads[i].group]);
        p->history[(first + i) % RACE_HISTORY_SIZE] = record;
    }
    p->nrecords = first + n;
}

void ISAFN(race_shared_reads)(struct exec *x, const struct repeated_load *loads, u32 n,
                              const u64 *base, struct access_pattern *const *m, u32 mask) {
    const struct op *ops = x->worker->launch->ops;
    struct race_shadow *p = x->worker->race_shadow;
    if (may_defer_reads(x)) {
        if (p->deferred.read_epochs != x->block->read_epochs || is_deferral_full(p, n))
            begin_deferring_reads(x);
        return defer_reads(x, loads, n, base, m);
    }
    for (const struct repeated_load *e = loads; e < loads + n; e++) {
        const struct op *o = ops + e->op;
        struct access_pattern *pattern = m[e->group];
        ISAFN(race_shared_access)
        (x, o, pattern, base[e->group] + e->delta, pattern->lane_offset, mask,
         (u32)x->mems[o->aux].width * x->mems[o->aux].count, RACE_READ);
    }
}
