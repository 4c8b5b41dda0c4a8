/* async.c — tracks copies in flight and reports accesses that come too early. See async.h.
 *
 * A copy moves its bytes when it is issued, which is one of the orders that a program must allow
 * for. But the program must not rely on it: until a thread has waited for the copy, the targets'
 * shadow bytes are UNDEF_PENDING, and a read of them is reported. A copy completes when its thread
 * waits for its group, or when any thread sees the end of the mbarrier phase at which it arrives.
 * Then both ends are checked: a target that was stored to, or a source that no longer holds what
 * was copied, was accessed too early. The thread that waited for a group counts as the writer of
 * the target at that moment, so other threads still need a barrier. After an mbarrier they don't:
 * the end of its phase is one. */
#include "grader/sim/race/async.h"
#include "common/grow.h"
#include "grader/sim/core/source_location.h"
#include "grader/sim/core/undef.h"
#include "grader/sim/race/wgmma_pending.h"
#include "grader/sim/race/race.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct async_copies *async_copies_of(const struct exec *x, struct block *b) {
    struct async_copies **a = &b->async_copies;
    const struct launch *l = x->worker->launch;
    if (*a) return *a;
    *a = xcalloc(1, sizeof **a);
    (*a)->committed_groups[0] = xcalloc(l->nwarps * 64ul, sizeof(u32));
    (*a)->committed_groups[1] = (*a)->committed_groups[0] + l->nwarps * 32ul;
    return *a;
}

static void discard_copies(struct async_copies *a) {
    for (u32 i = 0; i < a->n; i++) free(a->copies[i].tile);
    a->n = 0;
}

void race_async_free(struct block *b) {
    if (!b->async_copies) return;
    discard_copies(b->async_copies);
    free(b->async_copies->copies);
    free(b->async_copies->committed_groups[0]);
    free(b->async_copies);
    b->async_copies = NULL;
}

void race_async_start(struct block *b) {
    if (!b->async_copies) return;
    discard_copies(b->async_copies);
    memset(b->async_copies->committed_groups[0], 0, b->nwarps * 64ul * sizeof(u32));
}

static u32 *committed_groups(struct exec *x, bool bulk) {
    return async_copies_of(x, x->block)->committed_groups[bulk] + x->warp->index * 32;
}

static struct async_copy *add_async_copy(struct async_copies *a) {
    GROW(a->copies, a->n + 1, a->capacity, 16);
    return &a->copies[a->n++];
}

/* ---- reports ---- */

static const struct async_copy *find_copy(const struct async_copies *a, u64 offset, u32 *lane) {
    for (u32 i = a ? a->n : 0; i-- > 0;)
        for (u32 m = a->copies[i].kind == ASYNC_BULK_FROM_SHARED ? 0 : a->copies[i].mask; m;
             m &= m - 1) {
            *lane = (u32)__builtin_ctz(m);
            if (offset - a->copies[i].shared[*lane] < a->copies[i].bytes) return &a->copies[i];
        }
    return NULL;
}

static void describe_copy(const struct exec *x, const struct async_copy *c, u32 lane, char *out,
                          size_t size) {
    const struct launch *l = x->worker->launch;
    const u32 *b = c->issuer->index;
    char actor[64], block_text[64] = "";
    describe_thread(l, c->warp * 32 + lane, actor, sizeof actor);
    if (c->issuer != x->block)
        snprintf(block_text, sizeof block_text, " of block (%u,%u,%u)", b[0], b[1], b[2]);
    snprintf(out, size, "the copy that thread %s%s began in line %u", actor, block_text,
             source_location_line(l, (u32)(c->o - l->ops)));
}

void race_async_report_unfinished(struct exec *x, struct block *b, const struct op *o, u32 lane,
                                  u64 offset, u32 bytes, const char *verb) {
    char location[128], copy_text[192] = "a copy into it";
    u32 of = 0;
    while (bytes && b->shared_written[offset] != UNDEF_PENDING) offset++, bytes--;
    const struct async_copy *c = find_copy(b->async_copies, offset, &of);
    if (c) describe_copy(x, c, of, copy_text, sizeof copy_text);
    describe_shared_element(x->worker->launch, offset, c ? x->mems[c->o->aux].width : 0, location,
                            sizeof location);
    core_fault(x, SIM_FAULT_ASYNC_HAZARD, o, lane, offset,
               "%s %s while %s is in flight: nothing has waited for it", verb, location, copy_text);
}

static void report_target_overwritten(struct exec *x, const struct op *o, u32 waiting_lane,
                                      const struct async_copy *c, u32 lane, u64 offset) {
    const struct launch *l = x->worker->launch;
    char location[128], actor[64], copy_text[192];
    describe_shared_element(l, offset, x->mems[c->o->aux].width, location, sizeof location);
    describe_thread(l, race_epoch_thread(x->block->write_epochs[offset >> l->shared_shift]), actor,
                    sizeof actor);
    describe_copy(x, c, lane, copy_text, sizeof copy_text);
    core_fault(x, SIM_FAULT_ASYNC_HAZARD, o, waiting_lane, offset,
               "waits for %s, but thread %s wrote to its target, %s, before that", copy_text, actor,
               location);
}

static void report_source_overwritten(struct exec *x, const struct op *o, u32 waiting_lane,
                                      const struct async_copy *c, u32 lane) {
    char location[256], copy_text[192];
    describe_copy(x, c, lane, copy_text, sizeof copy_text);
    u32 width = x->mems[c->o->aux].width;
    if (c->kind == ASYNC_BULK_FROM_SHARED)
        describe_shared_element(x->worker->launch, c->shared[lane], width, location,
                                sizeof location);
    else memory_describe_element(x->memory, c->global[lane], width, location, sizeof location);
    core_fault(x, SIM_FAULT_ASYNC_HAZARD, o, waiting_lane, c->global[lane],
               "waits for %s, but its source, %s, was overwritten before that", copy_text,
               location);
}

/* ---- a copy ends ---- */

static bool target_is_intact(unsigned char *w, u32 bytes, u64 *at) {
    for (u32 i = 0; i < bytes; i++)
        if (w[i] == 1) return *at += i, false;
    return true;
}

static bool source_is_intact(const struct exec *x, const struct async_copy *c, u32 lane) {
    const unsigned char *shared = x->shared + c->shared[lane];
    if (c->digest && c->kind == ASYNC_BULK_FROM_SHARED)
        return memory_hash(shared, c->bytes, 0) == c->digest;
    if (c->tile) {
        bool is_live =
            memory_find_range(x->memory, c->tile->low, c->tile->high - c->tile->low) >= 0;
        return !is_live || memory_tile_hash(x->memory, c->tile) == c->digest;
    }
    if (!(c->full_mask >> lane & 1) || memory_find_range(x->memory, c->global[lane], c->bytes) < 0)
        return true;
    return !memcmp(shared, x->memory->bytes + (c->global[lane] - SIM_BASE), c->bytes);
}

/* Completes lane `lane` of c: lane `waiting_lane` has waited for it at `o`. */
static void complete_lane(struct exec *x, const struct op *o, u32 waiting_lane,
                          const struct async_copy *c, u32 lane) {
    unsigned char *w = x->shared_written + c->shared[lane];
    u64 at = c->shared[lane];
    if (c->kind != ASYNC_BULK_FROM_SHARED && !target_is_intact(w, c->bytes, &at))
        report_target_overwritten(x, o, waiting_lane, c, lane, at);
    else if (!source_is_intact(x, c, lane)) report_source_overwritten(x, o, waiting_lane, c, lane);
    for (u32 i = 0; c->kind != ASYNC_BULK_FROM_SHARED && i < c->bytes; i++)
        if (w[i] == UNDEF_PENDING) w[i] = 1;
}

/* Records the wait as the thread's write of the target, for races with other threads. */
static void set_write_epoch(struct exec *x, const struct async_copy *c, u32 lane) {
    const struct launch *l = x->worker->launch;
    if (x->worker->race_shadow->deferred.read_epochs == x->block->read_epochs)
        x->worker->race_shadow->deferred.flush(x->worker->race_shadow);
    x->block->recorded_epoch = x->block->sync_epoch;
    u32 first = c->shared[lane] >> l->shared_shift,
        last = (c->shared[lane] + c->bytes - 1) >> l->shared_shift;
    for (u32 g = first; g <= last; g++) x->block->write_epochs[g] = race_shared_epoch(x, lane);
}

/* Removes copies of which no lane is in flight. */
static void remove_completed(struct async_copies *a) {
    u32 retained = 0;
    for (u32 i = 0; i < a->n; i++) {
        if (!a->copies[i].mask) {
            free(a->copies[i].tile);
            continue;
        }
        if (retained != i) a->copies[retained] = a->copies[i];
        retained++;
    }
    a->n = retained;
}

/* A block's shared memory is given away when it ends, and a bulk copy may still read it. */
void race_async_check_exit(struct exec *x) {
    struct block *b = x->block;
    for (u32 i = 0; b->async_copies && i < b->async_copies->n; i++) {
        const struct async_copy *c = &b->async_copies->copies[i];
        if (c->kind != ASYNC_BULK_FROM_SHARED || !c->mask) continue;
        char location[128];
        u32 lane = (u32)__builtin_ctz(c->mask);
        describe_shared_element(x->worker->launch, c->shared[lane], x->mems[c->o->aux].width,
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
    struct async_copy *c = add_async_copy(async_copies_of(x, x->block));
    *c = *template;
    c->mask = lanes;
    c->group = group;
}

static void check_target_free(struct exec *x, struct block *b, const struct op *o, u32 lane, u32 at,
                              u32 bytes) {
    bool is_pending = false;
    for (u32 i = 0; i < bytes; i++) is_pending |= b->shared_written[at + i] == UNDEF_PENDING;
    if (is_pending) race_async_report_unfinished(x, b, o, lane, at, bytes, "copies to");
}

void race_async_issue(struct exec *x, const struct op *o, u64 base, const s32 *rel, u32 mask,
                      u32 bytes, const u64 *global, u32 full_mask) {
    struct async_copy c = {.o = o,
                           .full_mask = full_mask & mask,
                           .warp = x->warp->index,
                           .bytes = bytes,
                           .kind = ASYNC_PER_THREAD,
                           .issuer = x->block};
    const u32 *groups = committed_groups(x, false);
    for (u32 m = mask; m; m &= m - 1) {
        u32 l = (u32)__builtin_ctz(m);
        c.shared[l] = (u32)(base + (u64)(s64)rel[l]);
        c.global[l] = global[l];
        check_target_free(x, x->block, o, l, c.shared[l], bytes);
    }
    for (u32 m = mask; m; m &= m - 1)
        memset(x->shared_written + c.shared[__builtin_ctz(m)], UNDEF_PENDING, bytes);
    for (u32 remaining = mask; remaining;) {
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
    describe_shared_element(l, shared, x->mems[o->aux].width, location, sizeof location);
    core_fault(x, SIM_FAULT_ASYNC_HAZARD, o, lane, shared,
               "copies to %s, which the wgmma that the warp of thread %s began in line %u still "
               "reads: nothing has waited for it",
               location, actor, source_location_line(l, (u32)(reader - l->ops)));
}

/* Reports a copy into memory that an earlier bulk copy may still read: one out of shared memory
 * reads until its thread has waited for its group. */
static void check_bulk_readers(struct exec *x, struct block *b, const struct op *o, u32 lane,
                               u32 shared, u32 bytes) {
    const struct async_copies *a = async_copies_of(x, b);
    check_wgmma_readers(x, b, o, lane, shared, bytes);
    for (u32 i = 0; i < a->n; i++) {
        const struct async_copy *c = &a->copies[i];
        u32 of = (u32)__builtin_ctz(c->mask | 1u << 31);
        if (c->kind != ASYNC_BULK_FROM_SHARED || shared >= c->shared[of] + c->bytes ||
            c->shared[of] >= shared + bytes)
            continue;
        char location[128], copy_text[192];
        describe_copy(x, c, of, copy_text, sizeof copy_text);
        describe_shared_element(x->worker->launch, shared, x->mems[o->aux].width, location,
                                sizeof location);
        core_fault(x, SIM_FAULT_ASYNC_HAZARD, o, lane, shared,
                   "copies to %s, which %s still reads: nothing has waited for it", location,
                   copy_text);
        return;
    }
}

static struct async_copy bulk_copy(struct exec *x, const struct op *o, enum async_kind kind,
                                   u32 lane, u32 shared, u32 bytes) {
    struct async_copy c = {.o = o,
                           .mask = 1u << lane,
                           .warp = x->warp->index,
                           .group = committed_groups(x, true)[lane],
                           .bytes = bytes,
                           .kind = (u8)kind,
                           .issuer = x->block};
    c.shared[lane] = shared;
    return c;
}

static void issue_bulk(struct exec *x, struct block *b, u32 lane, const struct async_copy *c) {
    u32 shared = c->shared[lane];
    if (c->kind != ASYNC_BULK_FROM_SHARED) {
        check_target_free(x, b, c->o, lane, shared, c->bytes);
        check_bulk_readers(x, b, c->o, lane, shared, c->bytes);
        for (u32 i = 0; i < c->bytes; i++)
            if (b->shared_written[shared + i] == 1) b->shared_written[shared + i] = UNDEF_PENDING;
    }
    *add_async_copy(async_copies_of(x, b)) = *c;
}

void race_async_bulk(struct exec *x, struct block *b, const struct op *o, enum async_kind kind,
                     u32 lane, u32 shared, u64 global, u32 bytes, u32 barrier, u8 phase) {
    struct async_copy c = bulk_copy(x, o, kind, lane, shared, bytes);
    c.full_mask = global ? 1u << lane : 0;
    c.global[lane] = global;
    c.mbarrier = barrier;
    c.phase = phase;
    issue_bulk(x, b, lane, &c);
}

void race_async_tile(struct exec *x, struct block *b, const struct op *o, enum async_kind kind,
                     u32 lane, u32 shared, const struct memory_tile *t, u32 barrier, u8 phase) {
    struct async_copy c = bulk_copy(x, o, kind, lane, shared, (u32)memory_tile_shared_bytes(t));
    c.global[lane] = t->low;
    c.mbarrier = barrier;
    c.phase = phase;
    if (kind == ASYNC_BULK_FROM_SHARED) c.digest = memory_hash(b->shared + shared, c.bytes, 0);
    else if (t->low < t->high) {
        c.tile = xmalloc(sizeof *t);
        *c.tile = *t;
        c.digest = memory_tile_hash(x->memory, t);
    }
    issue_bulk(x, b, lane, &c);
}

void race_async_commit(struct exec *x, u32 mask, bool bulk) {
    u32 *groups = committed_groups(x, bulk);
    for (; mask; mask &= mask - 1) groups[__builtin_ctz(mask)]++;
}

void race_async_wait(struct exec *x, const struct op *o, u32 mask, u32 max_pending, bool bulk) {
    struct async_copies *a = async_copies_of(x, x->block);
    const u32 *groups = committed_groups(x, bulk);
    bool any = false;
    for (u32 i = 0; i < a->n; i++) {
        struct async_copy *c = &a->copies[i];
        if (c->warp != x->warp->index || bulk != (c->kind != ASYNC_PER_THREAD) ||
            (bulk && c->kind != ASYNC_BULK_FROM_SHARED))
            continue;
        for (u32 m = c->mask & mask; m; m &= m - 1) {
            u32 lane = (u32)__builtin_ctz(m);
            if (max_pending != UINT32_MAX && c->group + max_pending >= groups[lane]) continue;
            complete_lane(x, o, lane, c, lane);
            if (c->kind == ASYNC_PER_THREAD) set_write_epoch(x, c, lane);
            c->mask &= ~(1u << lane);
        }
        any |= !c->mask;
    }
    if (any) remove_completed(a);
}

void race_async_arrive(struct exec *x, u32 lane, u32 offset, u8 phase) {
    struct async_copies *a = async_copies_of(x, x->block);
    for (u32 i = 0, n = a->n; i < n; i++) {
        struct async_copy *c = &a->copies[i];
        if (c->warp != x->warp->index || c->kind != ASYNC_PER_THREAD || c->mbarrier ||
            !(c->mask >> lane & 1))
            continue;
        if (c->mask != 1u << lane) {
            c->mask &= ~(1u << lane);
            struct async_copy split = *c;
            split.mask = 1u << lane;
            c = add_async_copy(a);
            *c = split;
        }
        c->mbarrier = offset + 1;
        c->phase = phase;
    }
}

void race_async_phase_complete(struct exec *x, const struct op *o, u32 lane, u32 offset, u8 phase) {
    struct async_copies *a = async_copies_of(x, x->block);
    bool any = false;
    for (u32 i = 0; i < a->n; i++) {
        struct async_copy *c = &a->copies[i];
        if (c->mbarrier != offset + 1 || c->phase != phase) continue;
        for (u32 m = c->mask; m; m &= m - 1) complete_lane(x, o, lane, c, (u32)__builtin_ctz(m));
        c->mask = 0;
        any = true;
    }
    if (any) remove_completed(a);
}
