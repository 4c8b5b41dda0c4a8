/* async.c — tracks copies in flight and reports accesses that come too early. See async.h.
 *
 * The simulator moves a copy's bytes when the copy is issued. A GPU may do so, too, but a program
 * must not rely on it: until a thread has waited for the copy, the target's shadow bytes are
 * UNDEF_PENDING, and a read of them is reported. A copy completes when its thread waits for its
 * group, or when any thread sees the end of the mbarrier phase at which it arrives. Then both ends
 * are checked. If the target was stored to, or the source changed in the meantime, that access came
 * too early.
 *
 * The thread that waited for a group counts as the writer of the target at that moment, so other
 * threads still need a barrier. They need none after an mbarrier: the end of its phase is itself a
 * barrier.
 *
 * Lanes of one instruction may copy the same bytes to the same target, as the idle lanes of
 * cooperative_groups::memcpy_async do. The first one that completes ends the copy for all. */
#include "grader/sim/race/async.h"
#include "common/grow.h"
#include "grader/sim/core/source_location.h"
#include "grader/sim/core/undef.h"
#include "grader/sim/race/wgmma_pending.h"
#include "grader/sim/race/race.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32, COUNTERS_PER_WARP = 2 * LANES /* one for cp.async, one for bulk copies */ };

/* Both arrays of committed_groups lie in one allocation. */
static struct async_copies *get_or_create_copies(const struct exec *x, struct block *b) {
    struct async_copies **a = &b->async_copies;
    u64 nwarps = x->worker->launch->nwarps;
    if (*a) return *a;
    *a = xcalloc(1, sizeof **a);
    (*a)->committed_groups[false] = xcalloc(nwarps * COUNTERS_PER_WARP, sizeof(u32));
    (*a)->committed_groups[true] = (*a)->committed_groups[false] + nwarps * LANES;
    return *a;
}

/* Returns the bytes of an element that a memory instruction accesses. */
static u32 element_width(const struct exec *x, const struct op *o) { return x->mems[o->aux].width; }

static void discard_copies(struct async_copies *a) {
    for (u32 i = 0; i < a->n; i++) free(a->copies[i].tile);
    a->n = 0;
}

void race_async_free(struct block *b) {
    if (!b->async_copies) return;
    discard_copies(b->async_copies);
    free(b->async_copies->copies);
    free(b->async_copies->committed_groups[false]);
    free(b->async_copies);
    b->async_copies = NULL;
}

void race_async_reset_block(struct block *b) {
    if (!b->async_copies) return;
    discard_copies(b->async_copies);
    memset(b->async_copies->committed_groups[false], 0,
           (u64)b->nwarps * COUNTERS_PER_WARP * sizeof(u32));
}

/* Returns the current warp's counters, by lane. */
static u32 *warp_committed_groups(struct exec *x, bool bulk) {
    return get_or_create_copies(x, x->block)->committed_groups[bulk] + x->warp->index * LANES;
}

static struct async_copy *add_async_copy(struct async_copies *a) {
    GROW(a->copies, a->n + 1, a->capacity, 16);
    return &a->copies[a->n++];
}

/* ---- reports ---- */

/* Returns the newest copy into the shared memory at `offset`, and its lane; NULL if there is none.
 */
static const struct async_copy *find_copy_into(const struct async_copies *a, u64 offset,
                                               u32 *copy_lane) {
    if (!a) return NULL;
    for (u32 i = a->n; i-- > 0;) {
        const struct async_copy *c = &a->copies[i];
        if (c->kind == ASYNC_BULK_FROM_SHARED) continue;
        for (u32 m = c->lanes_in_flight; m; m &= m - 1) {
            *copy_lane = (u32)__builtin_ctz(m);
            if (offset - c->shared[*copy_lane] < c->bytes) return c;
        }
    }
    return NULL;
}

static void describe_copy(const struct exec *x, const struct async_copy *c, u32 lane, char *out,
                          size_t size) {
    const struct launch *l = x->worker->launch;
    const u32 *index = c->issuer->index;
    char actor[64], block_text[64] = "";
    describe_thread(l, c->warp * LANES + lane, actor, sizeof actor);
    if (c->issuer != x->block)
        snprintf(block_text, sizeof block_text, " of block (%u,%u,%u)", index[0], index[1],
                 index[2]);
    snprintf(out, size, "the copy that thread %s%s began in line %u", actor, block_text,
             source_location_line(l, (u32)(c->o - l->ops)));
}

void race_async_report_unfinished(struct exec *x, struct block *b, const struct op *o, u32 lane,
                                  u64 offset, u32 bytes, const char *verb) {
    char location[128], copy_text[192] = "a copy into it";
    u32 copy_lane = 0;
    while (bytes && b->shared_written[offset] != UNDEF_PENDING) offset++, bytes--;
    const struct async_copy *c = find_copy_into(b->async_copies, offset, &copy_lane);
    if (c) describe_copy(x, c, copy_lane, copy_text, sizeof copy_text);
    describe_shared_element(x->worker->launch, offset, c ? element_width(x, c->o) : 0, location,
                            sizeof location);
    core_fault(x, SIM_FAULT_ASYNC_HAZARD, o, lane, offset,
               "%s %s while %s is in flight: nothing has waited for it", verb, location, copy_text);
}

static void report_target_overwritten(struct exec *x, const struct op *o, u32 waiting_lane,
                                      const struct async_copy *c, u32 lane, u64 offset) {
    const struct launch *l = x->worker->launch;
    char location[128], actor[64], copy_text[192];
    describe_shared_element(l, offset, element_width(x, c->o), location, sizeof location);
    describe_thread(l, race_epoch_thread(x->block->write_epochs[offset >> l->shared_shift]), actor,
                    sizeof actor);
    describe_copy(x, c, lane, copy_text, sizeof copy_text);
    core_fault(x, SIM_FAULT_ASYNC_HAZARD, o, waiting_lane, offset,
               "waits for %s, but thread %s wrote to its target, %s, before that", copy_text, actor,
               location);
}

/* Reports that the end of a copy in global memory, or in shared memory, was overwritten. */
static void report_end_overwritten(struct exec *x, const struct op *o, u32 waiting_lane,
                                   const struct async_copy *c, u32 lane, const char *end,
                                   bool is_shared) {
    char location[256], copy_text[192];
    describe_copy(x, c, lane, copy_text, sizeof copy_text);
    u32 width = element_width(x, c->o);
    if (is_shared)
        describe_shared_element(x->worker->launch, c->shared[lane], width, location,
                                sizeof location);
    else memory_describe_element(x->memory, c->global[lane], width, location, sizeof location);
    core_fault(
        x, SIM_FAULT_ASYNC_HAZARD, o, waiting_lane, is_shared ? c->shared[lane] : c->global[lane],
        "waits for %s, but its %s, %s, was overwritten before that", copy_text, end, location);
}

/* ---- a copy ends ---- */

/* Returns the offset of the first byte that was stored to, or -1: a store clears UNDEF_PENDING. */
static int find_overwritten(const unsigned char *shadow, u32 bytes) {
    for (u32 i = 0; i < bytes; i++)
        if (shadow[i] == UNDEF_INITIALIZED) return (int)i;
    return -1;
}

/* Returns true if the copy's source still holds what was copied, or can't be compared: it was
 * freed, or the copy fills a part of its target with zeroes. */
static bool source_is_intact(const struct exec *x, const struct async_copy *c, u32 lane) {
    const unsigned char *shared = x->shared + c->shared[lane];
    if (c->kind == ASYNC_BULK_FROM_SHARED)
        return memory_hash(shared, c->bytes, 0) == c->source_hash;
    if (c->tile) {
        bool is_live =
            memory_find_range(x->memory, c->tile->low, c->tile->high - c->tile->low) >= 0;
        return !is_live || memory_tile_hash(x->memory, c->tile) == c->source_hash;
    }
    if (!(c->compared_lanes >> lane & 1) ||
        memory_find_range(x->memory, c->global[lane], c->bytes) < 0)
        return true;
    return !memcmp(shared, x->memory->bytes + (c->global[lane] - SIM_BASE), c->bytes);
}

/* The same for the target of a copy out of shared memory. */
static bool global_target_is_intact(const struct exec *x, const struct async_copy *c, u32 lane) {
    if (!(c->compared_lanes >> lane & 1) ||
        memory_find_range(x->memory, c->global[lane], c->bytes) < 0)
        return true;
    return memory_hash(x->memory->bytes + (c->global[lane] - SIM_BASE), c->bytes, 0) ==
           c->source_hash;
}

static void complete_from_shared(struct exec *x, const struct op *o, u32 waiting_lane,
                                 const struct async_copy *c, u32 lane) {
    if (!source_is_intact(x, c, lane))
        report_end_overwritten(x, o, waiting_lane, c, lane, "source", true);
    else if (!global_target_is_intact(x, c, lane))
        report_end_overwritten(x, o, waiting_lane, c, lane, "target", false);
}

/* Notes that the lane has completed for its duplicates: the target is initialized, not overwritten.
 */
static void settle_duplicates(struct async_copies *a, const struct async_copy *c, u32 lane) {
    for (u32 i = 0; i < a->n; i++) {
        struct async_copy *d = &a->copies[i];
        if (d->o != c->o || d->warp != c->warp) continue;
        for (u32 m = d->duplicate_lanes; m; m &= m - 1) {
            u32 other = (u32)__builtin_ctz(m);
            if (d->shared[other] == c->shared[lane] && d->global[other] == c->global[lane])
                d->settled_lanes |= m & -m;
        }
    }
}

/* Completes lane `lane` of c: lane `waiting_lane` has waited for it at `o`. */
static void complete_lane(struct exec *x, const struct op *o, u32 waiting_lane,
                          const struct async_copy *c, u32 lane) {
    if (c->kind == ASYNC_BULK_FROM_SHARED) {
        complete_from_shared(x, o, waiting_lane, c, lane);
        return;
    }
    unsigned char *shadow = x->shared_written + c->shared[lane];
    int overwritten = find_overwritten(shadow, c->bytes);
    bool is_settled = c->settled_lanes >> lane & 1;
    if (c->duplicate_lanes >> lane & 1) settle_duplicates(x->block->async_copies, c, lane);
    if (overwritten >= 0 && !is_settled)
        report_target_overwritten(x, o, waiting_lane, c, lane, c->shared[lane] + (u64)overwritten);
    else if (!source_is_intact(x, c, lane))
        report_end_overwritten(x, o, waiting_lane, c, lane, "source", false);
    for (u32 i = 0; i < c->bytes; i++)
        if (shadow[i] == UNDEF_PENDING) shadow[i] = UNDEF_INITIALIZED;
}

/* Records the wait as the thread's write of the target, for races with other threads. The detector
 * may have deferred the block's reads so far (race.h): they came before this write. */
static void set_write_epoch(struct exec *x, const struct async_copy *c, u32 lane) {
    const struct launch *l = x->worker->launch;
    if (x->worker->race_shadow->deferred.read_epochs == x->block->read_epochs)
        x->worker->race_shadow->deferred.flush(x->worker->race_shadow);
    x->block->recorded_epoch = x->block->sync_epoch;
    u32 first = c->shared[lane] >> l->shared_shift,
        last = (c->shared[lane] + c->bytes - 1) >> l->shared_shift;
    for (u32 g = first; g <= last; g++) x->block->write_epochs[g] = race_shared_epoch(x, lane);
}

/* Removes copies whose lanes have all completed. */
static void remove_completed(struct async_copies *a) {
    u32 retained = 0;
    for (u32 i = 0; i < a->n; i++) {
        if (!a->copies[i].lanes_in_flight) {
            free(a->copies[i].tile);
            continue;
        }
        if (retained != i) a->copies[retained] = a->copies[i];
        retained++;
    }
    a->n = retained;
}

/* When a block ends, another one gets its shared memory, which a bulk copy may still read. A report
 * is in the name of the current warp, so each copy's own becomes that. */
void race_async_check_exit(struct exec *x) {
    struct block *b = x->block;
    for (u32 i = 0; b->async_copies && i < b->async_copies->n; i++) {
        const struct async_copy *c = &b->async_copies->copies[i];
        if (c->kind != ASYNC_BULK_FROM_SHARED || !c->lanes_in_flight) continue;
        char location[128];
        u32 lane = (u32)__builtin_ctz(c->lanes_in_flight);
        describe_shared_element(x->worker->launch, c->shared[lane], element_width(x, c->o),
                                location, sizeof location);
        x->warp = &b->warps[c->warp];
        core_fault(x, SIM_FAULT_ASYNC_HAZARD, c->o, lane, c->shared[lane],
                   "begins a copy that may still read %s when the block ends: nothing has waited "
                   "for it",
                   location);
    }
}

/* ---- instructions ---- */

static void add_group_copy(struct exec *x, const struct async_copy *template, u32 lanes,
                           u32 group) {
    struct async_copy *c = add_async_copy(get_or_create_copies(x, x->block));
    *c = *template;
    c->lanes_in_flight = lanes;
    c->group = group;
}

/* Reports a copy into shared memory that an earlier copy in flight will write, too. */
static void check_target_not_in_flight(struct exec *x, struct block *b, const struct op *o,
                                       u32 lane, u32 at, u32 bytes) {
    bool is_pending = false;
    for (u32 i = 0; i < bytes; i++) is_pending |= b->shared_written[at + i] == UNDEF_PENDING;
    if (is_pending) race_async_report_unfinished(x, b, o, lane, at, bytes, "copies to");
}

/* Adds the lane and the earlier one of `mask` that makes the same copy to the duplicates. */
static void find_duplicate(struct async_copy *c, u32 mask, u32 lane) {
    for (u32 m = mask & ((1u << lane) - 1); m; m &= m - 1) {
        u32 other = (u32)__builtin_ctz(m);
        if (c->shared[other] == c->shared[lane] && c->global[other] == c->global[lane]) {
            c->duplicate_lanes |= (m & -m) | 1u << lane;
            return;
        }
    }
}

/* Marks the targets. One that is marked already is an earlier lane's, too. */
static void mark_pending(struct exec *x, struct async_copy *c, u32 mask) {
    for (u32 m = mask; m; m &= m - 1) {
        u32 lane = (u32)__builtin_ctz(m);
        unsigned char *target = x->shared_written + c->shared[lane];
        if (c->bytes && *target == UNDEF_PENDING) find_duplicate(c, mask, lane);
        memset(target, UNDEF_PENDING, c->bytes);
    }
}

void race_async_issue(struct exec *x, const struct op *o, u64 base, const s32 *lane_offsets,
                      u32 mask, u32 bytes, const u64 *global, u32 full_mask) {
    struct async_copy c = {.o = o,
                           .compared_lanes = full_mask & mask,
                           .warp = x->warp->index,
                           .bytes = bytes,
                           .kind = ASYNC_PER_THREAD,
                           .issuer = x->block};
    const u32 *groups = warp_committed_groups(x, false);
    for (u32 m = mask; m; m &= m - 1) {
        u32 lane = (u32)__builtin_ctz(m);
        c.shared[lane] = (u32)(base + (u64)(s64)lane_offsets[lane]);
        c.global[lane] = global[lane];
        check_target_not_in_flight(x, x->block, o, lane, c.shared[lane], bytes);
    }
    mark_pending(x, &c, mask);
    for (u32 remaining = mask; remaining;) { /* one record for the lanes of each group */
        u32 group = groups[__builtin_ctz(remaining)], group_mask = 0;
        for (u32 m = remaining; m; m &= m - 1)
            group_mask |= groups[__builtin_ctz(m)] == group ? m & -m : 0;
        add_group_copy(x, &c, group_mask, group);
        remaining &= ~group_mask;
    }
}

/* Reports a copy into memory that a wgmma in flight still reads. */
static void check_wgmma_readers(struct exec *x, struct block *b, const struct op *o, u32 lane,
                                u32 shared, u32 bytes) {
    const struct launch *l = x->worker->launch;
    char location[128], actor[64];
    u32 thread;
    const struct op *reader = race_wgmma_reader(b, shared, bytes, &thread);
    if (!reader) return;
    describe_thread(l, thread, actor, sizeof actor);
    describe_shared_element(l, shared, element_width(x, o), location, sizeof location);
    core_fault(x, SIM_FAULT_ASYNC_HAZARD, o, lane, shared,
               "copies to %s, which the wgmma that the warp of thread %s began in line %u still "
               "reads: nothing has waited for it",
               location, actor, source_location_line(l, (u32)(reader - l->ops)));
}

/* Reports a copy into memory that an earlier bulk copy may still read: a copy out of shared memory
 * may read its source until its thread has waited for the copy's group. */
static void check_bulk_readers(struct exec *x, struct block *b, const struct op *o, u32 lane,
                               u32 shared, u32 bytes) {
    const struct async_copies *a = get_or_create_copies(x, b);
    for (u32 i = 0; i < a->n; i++) {
        const struct async_copy *c = &a->copies[i];
        u32 copy_lane = (u32)__builtin_ctz(c->lanes_in_flight);
        if (c->kind != ASYNC_BULK_FROM_SHARED || shared >= c->shared[copy_lane] + c->bytes ||
            c->shared[copy_lane] >= shared + bytes)
            continue;
        char location[128], copy_text[192];
        describe_copy(x, c, copy_lane, copy_text, sizeof copy_text);
        describe_shared_element(x->worker->launch, shared, element_width(x, o), location,
                                sizeof location);
        core_fault(x, SIM_FAULT_ASYNC_HAZARD, o, lane, shared,
                   "copies to %s, which %s still reads: nothing has waited for it", location,
                   copy_text);
        return;
    }
}

static struct async_copy make_bulk_copy(struct exec *x, const struct op *o, enum async_kind kind,
                                        u32 lane, u32 shared, u32 bytes) {
    struct async_copy c = {.o = o,
                           .lanes_in_flight = 1u << lane,
                           .warp = x->warp->index,
                           .group = warp_committed_groups(x, true)[lane],
                           .bytes = bytes,
                           .kind = (u8)kind,
                           .issuer = x->block};
    c.shared[lane] = shared;
    return c;
}

/* The copy's undefined bytes have their marks already, and keep them. */
static void issue_bulk(struct exec *x, struct block *b, u32 lane, const struct async_copy *c) {
    u32 shared = c->shared[lane];
    if (c->kind != ASYNC_BULK_FROM_SHARED) {
        check_target_not_in_flight(x, b, c->o, lane, shared, c->bytes);
        check_wgmma_readers(x, b, c->o, lane, shared, c->bytes);
        check_bulk_readers(x, b, c->o, lane, shared, c->bytes);
        for (u32 i = 0; i < c->bytes; i++)
            if (b->shared_written[shared + i] == UNDEF_INITIALIZED)
                b->shared_written[shared + i] = UNDEF_PENDING;
    }
    *add_async_copy(get_or_create_copies(x, b)) = *c;
}

void race_async_bulk(struct exec *x, struct block *b, const struct op *o, enum async_kind kind,
                     u32 lane, u32 shared, u64 global, u32 bytes, u32 mbarrier_plus_1, u8 phase) {
    struct async_copy c = make_bulk_copy(x, o, kind, lane, shared, bytes);
    c.compared_lanes = global ? 1u << lane : 0;
    c.global[lane] = global;
    c.mbarrier_plus_1 = mbarrier_plus_1;
    c.phase = phase;
    if (kind == ASYNC_BULK_FROM_SHARED) c.source_hash = memory_hash(b->shared + shared, bytes, 0);
    issue_bulk(x, b, lane, &c);
}

void race_async_tile(struct exec *x, struct block *b, const struct op *o, enum async_kind kind,
                     u32 lane, u32 shared, const struct memory_tile *t, u32 mbarrier_plus_1,
                     u8 phase) {
    struct async_copy c =
        make_bulk_copy(x, o, kind, lane, shared, (u32)memory_tile_shared_bytes(t));
    c.global[lane] = t->low;
    c.mbarrier_plus_1 = mbarrier_plus_1;
    c.phase = phase;
    if (kind == ASYNC_BULK_FROM_SHARED) c.source_hash = memory_hash(b->shared + shared, c.bytes, 0);
    else if (!memory_tile_is_outside(t)) {
        c.tile = xmalloc(sizeof *t);
        *c.tile = *t;
        c.source_hash = memory_tile_hash(x->memory, t);
    }
    issue_bulk(x, b, lane, &c);
}

void race_async_commit(struct exec *x, u32 mask, bool bulk) {
    u32 *groups = warp_committed_groups(x, bulk);
    for (; mask; mask &= mask - 1) groups[__builtin_ctz(mask)]++;
}

void race_async_wait(struct exec *x, const struct op *o, u32 mask, u32 max_pending, bool bulk) {
    struct async_copies *a = get_or_create_copies(x, x->block);
    const u32 *groups = warp_committed_groups(x, bulk);
    bool any = false;
    for (u32 i = 0; i < a->n; i++) {
        struct async_copy *c = &a->copies[i];
        if (c->warp != x->warp->index ||
            c->kind != (bulk ? ASYNC_BULK_FROM_SHARED : ASYNC_PER_THREAD))
            continue;
        for (u32 m = c->lanes_in_flight & mask; m; m &= m - 1) {
            u32 lane = (u32)__builtin_ctz(m);
            if (max_pending != RACE_WAIT_FOR_ALL && c->group + max_pending >= groups[lane])
                continue;
            complete_lane(x, o, lane, c, lane);
            if (c->kind == ASYNC_PER_THREAD) set_write_epoch(x, c, lane);
            c->lanes_in_flight &= ~(1u << lane);
        }
        any |= !c->lanes_in_flight;
    }
    if (any) remove_completed(a);
}

void race_async_arrive(struct exec *x, u32 lane, u32 offset, u8 phase) {
    struct async_copies *a = get_or_create_copies(x, x->block);
    for (u32 i = 0, n = a->n; i < n; i++) {
        struct async_copy *c = &a->copies[i];
        if (c->warp != x->warp->index || c->kind != ASYNC_PER_THREAD || c->mbarrier_plus_1 ||
            !(c->lanes_in_flight >> lane & 1))
            continue;
        if (c->lanes_in_flight != 1u << lane) { /* the lane's part becomes a record of its own */
            c->lanes_in_flight &= ~(1u << lane);
            struct async_copy split = *c;
            split.lanes_in_flight = 1u << lane;
            c = add_async_copy(a);
            *c = split;
        }
        c->mbarrier_plus_1 = offset + 1;
        c->phase = phase;
    }
}

void race_async_phase_complete(struct exec *x, const struct op *o, u32 lane, u32 offset, u8 phase) {
    struct async_copies *a = get_or_create_copies(x, x->block);
    bool any = false;
    for (u32 i = 0; i < a->n; i++) {
        struct async_copy *c = &a->copies[i];
        if (c->mbarrier_plus_1 != offset + 1 || c->phase != phase) continue;
        for (u32 m = c->lanes_in_flight; m; m &= m - 1)
            complete_lane(x, o, lane, c, (u32)__builtin_ctz(m));
        c->lanes_in_flight = 0;
        any = true;
    }
    if (any) remove_completed(a);
}
