/* happens_before.c — finds races in global memory in kernels whose blocks synchronize with each
 * other; these run in order on one worker.
 *
 * Such kernels use what atomics return, or poll flags, so their blocks may be ordered by what they
 * observe. There is a single clock, the worker's ticks, and each cell has its last write, last read
 * and last update: the block, the warp and the tick. An atomic whose result is used, or a strong
 * load, *observes* another block when it finds what that block left by an atomic or a strong store.
 * Two accesses that nothing orders race if one of them is a write, or if one is an atomic whose
 * result is unused and the other is plain; the report comes at once.
 *
 * What an observation orders is decided by PTX's memory model (PTX ISA, "Memory Consistency Model",
 * release and acquire patterns):
 *
 *   - The store must release: it is a .release operation, or a fence of the GPU's scope or wider
 *     precedes it. Then the accesses before that fence are released: those of the storing warp,
 *     and those that a barrier ordered before it. A fence that another warp executed before the
 *     barrier counts, too (fence.sc on both sides gives that order).
 *   - The observer must acquire: by an .acquire operation, by a fence after it, or by a barrier of
 *     the block after it. The last is more than PTX promises, but the Programming Guide's own
 *     example of __threadfence() relies on it.
 *   - A write after another block's read needs neither: values don't appear out of thin air.
 *   - A strong load of data is no race, but may find an old value. It is reported if the same
 *     thread's flag has been observed, unless it polls (code/poll_loads.c).
 *   - A plain store releases nothing, and a strong access of what it left unordered is a race.
 *   - An atomic of block scope (block_scope.c) is no atomic to other blocks.
 *
 * With the hardware's memory model (sim_options.hardware_order), an observation of any store orders
 * all that came before it.
 *
 * Which lanes of the two warps that orders is decided by lane_order.c; with the hardware's memory
 * model, all of them.
 *
 * An acquired tick orders all blocks' accesses before it, also those of blocks that never
 * synchronized with the two. That can hide a race, but never reports one in a correct lock, ticket,
 * flag or grid barrier. A race is missed if a later reader has replaced the epoch of the one that
 * races. Lanes of one warp: intra_warp.c. */
#include "grader/sim/core/source_location.h"
#include "grader/sim/race/lane_order.h"
#include "grader/sim/race/vector_clock.h"
#include "grader/sim/race/race.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what warps have released and acquired ---- */

enum { OBSERVED_BLOCK_SLOTS = 64 };
/* The last observation of each of some blocks, by block id modulo OBSERVED_BLOCK_SLOTS. */
struct observed_blocks {
    struct observed_block {
        u16 block_id;
        bool by_atomic;
        u32 clock, op; /* of the observed store, of the observing access */
        u64 cell;
    } slots[OBSERVED_BLOCK_SLOTS];
};

static void max_into(u32 *to, u32 value) {
    if (value > *to) *to = value;
}

static void join_order(struct warp_order *to, const struct warp_order *from) {
    max_into(&to->fence_clock, from->fence_clock);
    max_into(&to->acquire_clock, from->acquire_clock);
    max_into(&to->acquire_clock, from->pending_clock);
    if (from->observed_clock > to->observed_clock)
        to->observed_clock = from->observed_clock, to->observed_op = from->observed_op;
}

void race_hb_start(struct block *b) {
    b->order = (struct warp_order){0};
    for (u32 i = 0; i < b->nwarps; i++) b->warps[i].order = (struct warp_order){0};
    if (b->observed_blocks) memset(b->observed_blocks, 0, sizeof *b->observed_blocks);
}

void race_hb_free(struct block *b) {
    free(b->observed_blocks);
    b->observed_blocks = NULL;
}

void race_hb_join_block(struct block *b) {
    for (u32 i = 0; i < b->nwarps; i++) join_order(&b->order, &b->warps[i].order);
    max_into(&b->acquire_clock, b->order.acquire_clock);
}

void race_hb_join_warp(struct block *b, struct warp *w) {
    for (u32 i = 0; i < b->nwarps; i++) join_order(&w->order, &b->warps[i].order);
    race_lanes_join_warp(b, w);
}

/* Returns the warp's clocks by lane, or NULL if its lanes share them. */
static struct lane_order *lane_order_of(const struct exec *x) {
    return x->block->lane_orders ? &x->block->lane_orders[x->warp->index] : NULL;
}

static u32 acquired_clock(const struct exec *x, u32 lane) {
    const struct lane_order *o = lane_order_of(x);
    u32 clock = o ? o->acquire_clock[lane] : x->warp->order.acquire_clock;
    max_into(&clock, x->block->acquire_clock);
    return clock;
}

/* Returns the order of the hardware, which is also that of the warp's last observation. */
static const struct warp_order *observed_order(const struct exec *x) {
    const struct block *b = x->block;
    return x->warp->order.observed_clock > b->order.observed_clock ? &x->warp->order : &b->order;
}

void race_hb_fence(struct exec *x, u32 lanes) {
    struct warp_order *o = &x->warp->order;
    if (!x->worker->launch->ptx_order) return;
    o->fence_clock = race_advance_clock(x->block);
    max_into(&o->acquire_clock, o->pending_clock);
    race_lanes_fence(x->block, x->warp, lanes, o->fence_clock);
}

/* ---- the order of two accesses ---- */

/* An access that is recorded for a cell. Its lane is loaded only where it decides. */
struct prior_access {
    u16 block_id;
    u16 lane_offset; /* in struct cell_lanes */
    bool is_read;
    u32 epoch;
    u64 cell;
};

static struct prior_access last_write(const struct race_shadow *p, u64 cell) {
    return (struct prior_access){p->writer_block[cell], offsetof(struct cell_lanes, writer), false,
                                 p->last_write_epoch[cell], cell};
}
static struct prior_access last_read(const struct race_shadow *p, u64 cell) {
    return (struct prior_access){p->reader_block[cell], offsetof(struct cell_lanes, reader), true,
                                 p->last_read_epoch[cell], cell};
}
static struct prior_access last_update(const struct race_shadow *p, u64 cell) {
    return (struct prior_access){p->updater_block[cell], offsetof(struct cell_lanes, updater),
                                 false, p->last_update_epoch[cell], cell};
}

static struct prior_access former_update(const struct race_shadow *p, u64 cell) {
    if (!p->former_updates) return (struct prior_access){0};
    return (struct prior_access){p->former_updates[cell].block_id,
                                 offsetof(struct cell_lanes, former_updater), false,
                                 p->former_updates[cell].epoch, cell};
}

static u32 lane_of(const struct exec *x, struct prior_access a) {
    const struct race_shadow *p = x->worker->race_shadow;
    return p->cell_lanes ? ((const u8 *)&p->cell_lanes[a.cell])[a.lane_offset] : 0;
}

static struct lane_access lane_access_of(const struct exec *x, struct prior_access a) {
    return (struct lane_access){a.block_id, a.epoch % RACE_MANY_WARPS, lane_of(x, a),
                                a.epoch / RACE_CLOCK_UNIT, a.is_read};
}

static struct block_access block_access_of(const struct exec *x, struct prior_access a) {
    u32 tick = a.epoch / RACE_CLOCK_UNIT;
    return (struct block_access){GAP_GLOBAL, a.epoch % RACE_MANY_WARPS, lane_of(x, a), tick, tick};
}

static enum order_gap order_gap_of(const struct exec *x, struct prior_access a) {
    if (!x->block->release_gaps) return ORDER_COMPLETE;
    struct lane_access at = lane_access_of(x, a);
    return race_lanes_find_gap(x->block, &at);
}

static __attribute__((noinline)) bool is_concurrent_at(const struct exec *x, u32 lane,
                                                       struct prior_access a) {
    const struct block *b = x->block;
    u32 warp = a.epoch % RACE_MANY_WARPS, tick = a.epoch / RACE_CLOCK_UNIT, acquired;
    if (a.block_id == race_block_id(b)) {
        if (!(a.epoch & RACE_MANY_WARPS) && warp == x->warp->index) return false;
        if (tick >= race_observed_clock(b, x->warp->index, warp)) return true;
        if (a.is_read || !b->vector_clocks || !b->vector_clocks->has_gaps) return false;
        struct block_access at = block_access_of(x, a);
        return race_is_in_acquire_gap(x, lane, &at);
    }
    acquired = acquired_clock(x, lane);
    if (a.is_read && x->worker->launch->ptx_order) {
        const struct lane_order *o = lane_order_of(x);
        max_into(&acquired, b->order.observed_clock);
        max_into(&acquired, o ? o->observed_clock[lane] : x->warp->order.observed_clock);
    }
    return tick >= acquired || order_gap_of(x, a) != ORDER_COMPLETE;
}

/* Returns true if the access is not ordered before the current one of `lane`: another block made
 * it, no earlier than the lane has acquired, or in a gap; or another warp of this block since their
 * barrier. A read that a write follows needs no fence. */
static inline bool is_concurrent(const struct exec *x, u32 lane, struct prior_access a) {
    return a.block_id && is_concurrent_at(x, lane, a);
}

/* Returns the last update of another block, if nothing orders it before the current access. */
static struct prior_access unordered_update(const struct exec *x, u32 lane, u64 cell) {
    const struct race_shadow *p = x->worker->race_shadow;
    struct prior_access a = last_update(p, cell);
    if (a.block_id == race_block_id(x->block)) a = former_update(p, cell);
    return is_concurrent(x, lane, a) ? a : (struct prior_access){0};
}

/* Returns an update that may race with a plain access: another block's, else the last one. */
static struct prior_access racing_update(const struct exec *x, u32 lane, u64 cell) {
    struct prior_access a = unordered_update(x, lane, cell);
    return a.block_id ? a : last_update(x->worker->race_shadow, cell);
}

static struct observed_block *observed_block(struct block *b, u16 block_id) {
    if (!b->observed_blocks) b->observed_blocks = xcalloc(1, sizeof *b->observed_blocks);
    return &b->observed_blocks->slots[block_id % OBSERVED_BLOCK_SLOTS];
}

/* The lane acquires what came before that tick, now or with its next fence. */
static void acquire_released(struct exec *x, const struct op *o, u32 lane, u32 released) {
    const struct mem_desc *d = &x->mems[o->aux];
    struct warp_order *w = &x->warp->order;
    struct lane_order *lanes = lane_order_of(x);
    bool acquires = d->is_acquire && !d->is_cluster_scope;
    max_into(acquires ? &w->acquire_clock : &w->pending_clock, released);
    max_into(acquires ? &lanes->acquire_clock[lane] : &lanes->pending_clock[lane], released);
}

/* Records what the lane found in a cell that another block left, and what that may order. */
static void observe_block(struct exec *x, const struct op *o, u32 lane, u64 cell,
                          struct prior_access a) {
    struct block *b = x->block;
    struct warp_order *w = &x->warp->order;
    struct lane_order *lanes = lane_order_of(x);
    const struct mem_desc *d = &x->mems[o->aux];
    u32 released = x->worker->race_shadow->release_clock[cell],
        op = (u32)(o - x->worker->launch->ops), clock = a.epoch / RACE_CLOCK_UNIT;
    if (!lanes) {
        max_into(&b->acquire_clock, released);
        race_acquire(b, x->warp, x->worker->launch);
        race_advance_clock(b);
        return;
    }
    *observed_block(b, a.block_id) =
        (struct observed_block){a.block_id, d->verb == MEM_ATOM, clock, op, cell};
    race_advance_clock(b);
    if (clock >= w->observed_clock) w->observed_clock = clock + 1, w->observed_op = op;
    max_into(&lanes->observed_clock[lane], clock + 1);
    acquire_released(x, o, lane, released);
    race_lanes_observe(b, clock, released, &x->worker->race_shadow->cell_releases[cell]);
}

/* A lane that observes another lane of its warp is ordered after what that one released. */
static void observe_lane(struct exec *x, u32 lane, u64 cell, struct prior_access a) {
    struct lane_order *o = lane_order_of(x);
    if (!o || lane_of(x, a) == lane || a.epoch % RACE_MANY_WARPS != x->warp->index) return;
    max_into(&o->sync_clock[lane], x->worker->race_shadow->release_clock[cell]);
    o->synced_lanes[lane] = ~0u;
    max_into(&o->exchange_clock[lane], a.epoch / RACE_CLOCK_UNIT + 1);
}

/* The lane acquires from another warp of the block, by the cell's last update. */
static void acquire_in_block(struct exec *x, const struct op *o, u32 lane, u64 cell,
                             struct prior_access a) {
    const struct race_shadow *p = x->worker->race_shadow;
    struct block_access release = {GAP_GLOBAL, a.epoch % RACE_MANY_WARPS, lane_of(x, a),
                                   a.epoch / RACE_CLOCK_UNIT, UINT32_MAX};
    bool is_single_warp = !(a.epoch & RACE_MANY_WARPS);
    race_acquire_by(x, o);
    if (!p->cell_releases) return;
    if (is_single_warp) release.lane_time = p->cell_releases[cell].synced_lanes_from;
    race_note_acquire(x, lane, &release);
}

/* Acquires what the cell's last write or update released. From another warp of the block, that is
 * what race_acquire orders. */
static void acquire_at(struct exec *x, const struct op *o, u32 lane, u64 cell) {
    const struct race_shadow *p = x->worker->race_shadow;
    struct prior_access w = last_write(p, cell), u = last_update(p, cell),
                        other = unordered_update(x, lane, cell);
    u16 block_id = race_block_id(x->block);
    bool write_concurrent = is_concurrent(x, lane, w),
         update_concurrent = is_concurrent(x, lane, u);
    if (update_concurrent && u.block_id == block_id) acquire_in_block(x, o, lane, cell, u);
    else if (write_concurrent && w.block_id == block_id) race_acquire_by(x, o);
    if (u.block_id == block_id) observe_lane(x, lane, cell, u);
    if (u.block_id == block_id && p->cell_releases)
        acquire_released(x, o, lane, p->cell_releases[cell].acquired_clock);
    if (other.block_id) observe_block(x, o, lane, cell, other);
    else if (write_concurrent && w.block_id != block_id && !x->worker->launch->ptx_order)
        observe_block(x, o, lane, cell, w);
}

/* Records which of the block's accesses the lane's store leaves unordered. What the store before it
 * had released remains so if the cell is updated by atomics. */
static void record_gap(struct exec *x, u32 lane, u64 cell, bool is_atomic, u32 released_before) {
    struct race_shadow *p = x->worker->race_shadow;
    if (!x->block->lane_orders) return;
    struct cell_release r = race_lanes_release(x->block, x->warp, lane);
    max_into(&r.lanes_from, released_before);
    max_into(&r.synced_lanes_from, released_before);
    max_into(&r.warps_from, released_before);
    struct cell_release *last = &p->cell_releases[cell];
    r.acquired_clock = acquired_clock(x, lane);
    if (is_atomic) {
        max_into(&r.lane_reads_from, last->store_clock);
        max_into(&r.acquired_clock,
                 last->block_id == r.block_id ? last->acquired_clock : released_before);
    }
    r.store_clock = p->logical_clock + 1;
    *last = r;
}

/* Records what an acquire of this cell orders: with PTX's memory model, what precedes the lane's
 * last fence; with the hardware's, all that the block did before. An atomic keeps what the one
 * before it released. */
static void release_at(struct exec *x, const struct mem_desc *d, u32 lane, u64 cell, bool strong) {
    struct race_shadow *p = x->worker->race_shadow;
    const struct lane_order *o = lane_order_of(x);
    u32 *released = &p->release_clock[cell], before = d->verb >= MEM_ATOM ? *released : 0;
    if (!o) {
        *released = strong ? race_advance_clock(x->block) : p->logical_clock + 1;
        return;
    }
    if (d->is_release) race_block_fence(x);
    if (d->is_release && !d->is_cluster_scope) race_hb_fence(x, 1u << lane);
    *released = strong ? o->fence_clock[lane] : 0;
    if (strong) max_into(released, x->block->order.fence_clock);
    max_into(released, before);
    if (strong) record_gap(x, lane, cell, d->verb >= MEM_ATOM, before);
}

/* ---- reports ---- */

/* Writes the fence or barrier that is missing between another block's access and this one. */
static void describe_missing_fence(const struct exec *x, struct prior_access a, u32 flag_op,
                                   char *out, size_t size) {
    u32 line = source_location_line(x->worker->launch, flag_op), tick = a.epoch / RACE_CLOCK_UNIT;
    enum order_gap gap = order_gap_of(x, a);
    bool is_released = tick < x->warp->order.pending_clock,
         other_lane_acquired = tick < x->warp->order.acquire_clock ||
                               (a.is_read && tick < x->warp->order.observed_clock);
    const char *missing = gap == ORDER_GAP_LANES   ? "__syncwarp()"
                          : gap == ORDER_GAP_WARPS ? "__syncthreads()"
                          : other_lane_acquired    ? "__syncwarp()"
                                                   : "__threadfence()";
    if (gap == ORDER_COMPLETE && (is_released || other_lane_acquired))
        snprintf(out, size,
                 "no %s between line %u, which reads the flag or counter, and this access", missing,
                 line);
    else
        snprintf(out, size,
                 "no %s between that and the store of the flag or counter that line %u reads",
                 missing, line);
}

static void describe_missing(const struct exec *x, u32 lane, struct prior_access a, bool plain_flag,
                             char *out, size_t size) {
    const struct warp_order *seen = observed_order(x);
    struct block_access at = block_access_of(x, a);
    if (a.block_id == race_block_id(x->block))
        snprintf(out, size, "no %s",
                 race_is_in_acquire_gap(x, lane, &at) ? race_acquire_gap_text : "barrier between");
    else if (x->worker->launch->ptx_order && a.epoch / RACE_CLOCK_UNIT < seen->observed_clock)
        describe_missing_fence(x, a, seen->observed_op, out, size);
    else
        snprintf(out, size, "no synchronization between%s",
                 plain_flag ? ": a plain store is no flag, use an atomic, volatile or a release "
                              "store"
                            : "");
}

static void describe_access(struct exec *x, const struct mem_access *t, u64 cell,
                            struct prior_access a, const char *past_verb, char *location,
                            char *other) {
    bool same_block = a.block_id == race_block_id(x->block), many_warps = a.epoch & RACE_MANY_WARPS;
    u64 address = SIM_BASE + (cell << x->worker->launch->global_shift);
    struct history_query w = {address - SIM_BASE,
                              same_block ? (u32)x->block->linear : a.block_id - 1u,
                              many_warps ? -1 : (int)(a.epoch % RACE_MANY_WARPS),
                              -1,
                              false,
                              race_access_kind(past_verb)};
    char actor[64];
    race_describe_address(x, t, address, location, 256);
    if (!same_block) race_describe_block(x->worker->launch, a.block_id, actor, sizeof actor);
    else if (many_warps) snprintf(actor, sizeof actor, "other warps of the block");
    else snprintf(actor, sizeof actor, "warp %u of the block", a.epoch % RACE_MANY_WARPS);
    race_describe_other(x, &w, actor, past_verb, other, 160);
}

static void report(struct exec *x, const struct mem_access *t, u32 lane, u64 cell,
                   struct prior_access a, const char *past_verb) {
    static const char *const verbs[] = {
        [RACE_READ] = "reads",        [RACE_WRITE] = "writes", [RACE_RED] = "updates",
        [RACE_STRONG_LOAD] = "reads", [RACE_ATOM] = "updates", [RACE_READ_REVALIDATED] = "reads"};
    bool same_block = a.block_id == race_block_id(x->block),
         is_strong = t->kind == RACE_STRONG_LOAD || t->kind == RACE_ATOM;
    char location[256], other[160], missing[160];
    describe_access(x, t, cell, a, past_verb, location, other);
    describe_missing(x, lane, a, is_strong, missing, sizeof missing);
    core_fault(x, same_block ? SIM_FAULT_INTRABLOCK_RACE : SIM_FAULT_INTERBLOCK_RACE, t->o, lane,
               SIM_BASE + (cell << x->worker->launch->global_shift), "%s %s, which %s, with %s",
               verbs[t->kind], location, other, missing);
}

/* Returns true if the access raced, after reporting it. */
static bool report_if_concurrent(struct exec *x, const struct mem_access *t, u32 lane, u64 cell,
                                 struct prior_access a, const char *past_verb) {
    if (!is_concurrent(x, lane, a)) return false;
    report(x, t, lane, cell, a, past_verb);
    return true;
}

/* Reports a strong access of what another block's plain store left. */
static void check_plain_flag(struct exec *x, const struct mem_access *t, u32 lane, u64 cell) {
    const struct race_shadow *p = x->worker->race_shadow;
    struct prior_access w = last_write(p, cell);
    bool is_last =
        p->last_write_epoch[cell] >= p->last_update_epoch[cell] || !p->updater_block[cell];
    if (x->worker->launch->ptx_order && w.block_id != race_block_id(x->block) && is_last)
        report_if_concurrent(x, t, lane, cell, w, "wrote");
}

/* Reports a strong load of data that may find an old value, although the block has observed what
 * the same block stored later: a fence is missing. */
static void check_stale_load(struct exec *x, const struct mem_access *t, u32 lane, u64 cell) {
    struct prior_access u = last_update(x->worker->race_shadow, cell);
    u32 tick = u.epoch / RACE_CLOCK_UNIT;
    if (!x->worker->launch->ptx_order || x->mems[t->o->aux].is_poll || !u.block_id ||
        former_update(x->worker->race_shadow, cell).block_id ||
        u.block_id == race_block_id(x->block) || !x->block->observed_blocks ||
        !is_concurrent(x, lane, u))
        return;
    const struct observed_block *seen = observed_block(x->block, u.block_id);
    bool is_released = tick < x->warp->order.pending_clock;
    if (seen->block_id != u.block_id || seen->clock < tick || seen->cell == cell ||
        (is_released && seen->by_atomic))
        return;
    char location[256], other[160], missing[160];
    describe_access(x, t, cell, u, "updated", location, other);
    describe_missing_fence(x, u, seen->op, missing, sizeof missing);
    core_fault(x, SIM_FAULT_MISSING_FENCE, t->o, lane,
               SIM_BASE + (cell << x->worker->launch->global_shift),
               "reads %s, which %s, and may find an old value: with %s", location, other, missing);
}

/* ---- accesses ---- */

static void set_lane(struct race_shadow *p, u64 cell, u32 lane, size_t field) {
    if (p->cell_lanes) ((u8 *)&p->cell_lanes[cell])[field] = (u8)lane;
}
#define SET_LANE(kind) set_lane(p, cell, lane, offsetof(struct cell_lanes, kind))

/* Returns the epoch of an access on top of `a`, of the same kind. */
static u32 joined_epoch(const struct exec *x, u32 lane, struct prior_access a) {
    bool others = a.block_id == race_block_id(x->block) && is_concurrent(x, lane, a);
    return race_global_epoch(x->block, x->warp) | (others ? RACE_MANY_WARPS : 0);
}

static void record_read(const struct exec *x, u32 lane, u64 cell) {
    struct race_shadow *p = x->worker->race_shadow;
    p->last_read_epoch[cell] = joined_epoch(x, lane, last_read(p, cell));
    p->reader_block[cell] = race_block_id(x->block);
    SET_LANE(reader);
}

static void record_write(const struct exec *x, u32 lane, u64 cell) {
    struct race_shadow *p = x->worker->race_shadow;
    p->last_write_epoch[cell] = race_global_epoch(x->block, x->warp);
    p->writer_block[cell] = race_block_id(x->block);
    SET_LANE(writer);
}

/* Records an update. One without a result may come on top of another block's unordered update, so
 * that a later acquire has to order both. */
static void record_update(const struct exec *x, u32 lane, u64 cell, bool has_result) {
    struct race_shadow *p = x->worker->race_shadow;
    struct prior_access u = last_update(p, cell);
    bool is_own = u.block_id == race_block_id(x->block),
         is_on_top = !has_result && !is_own && is_concurrent(x, lane, u);
    if (is_on_top) race_open_former_updates(p);
    if (p->former_updates && (has_result || !is_own))
        p->former_updates[cell] =
            is_on_top ? (struct former_update){u.epoch, u.block_id} : (struct former_update){0};
    if (is_on_top) set_lane(p, cell, lane_of(x, u), offsetof(struct cell_lanes, former_updater));
    p->last_update_epoch[cell] = joined_epoch(x, lane, u);
    p->updater_block[cell] = race_block_id(x->block);
    SET_LANE(updater);
}

/* Reports an update on top of another block's unordered one, if one of them has the scope of its
 * block. */
static void check_scope(struct exec *x, const struct mem_access *t, u32 lane, u64 cell) {
    struct race_shadow *p = x->worker->race_shadow;
    bool is_block_scope = x->mems[t->o->aux].is_block_scope;
    struct prior_access u = unordered_update(x, lane, cell);
    char location[256], other[160];
    if ((is_block_scope || race_is_block_scope_cell(p, cell)) && u.block_id) {
        describe_access(x, t, cell, u, "updated", location, other);
        core_fault(x, SIM_FAULT_INTERBLOCK_RACE, t->o, lane,
                   SIM_BASE + (cell << x->worker->launch->global_shift),
                   "updates %s, which %s; nothing orders them%s", location, other,
                   race_block_scope_text);
    }
    race_note_scope(p, cell, is_block_scope);
}

static void check_write(struct exec *x, const struct mem_access *t, u32 lane, u64 cell) {
    const struct race_shadow *p = x->worker->race_shadow;
    struct prior_access w = last_write(p, cell), r = last_read(p, cell),
                        u = racing_update(x, lane, cell);
    bool is_conflict =
        is_concurrent(x, lane, w) || is_concurrent(x, lane, r) || is_concurrent(x, lane, u);
    if (is_conflict &&
        race_is_silent_store(x, t, lane, cell, x->worker->launch->global_shift, x->memory->bytes))
        return;
    if (is_conflict && !report_if_concurrent(x, t, lane, cell, w, "wrote") &&
        !report_if_concurrent(x, t, lane, cell, u, "updated"))
        report_if_concurrent(x, t, lane, cell, r, "read");
    record_write(x, lane, cell);
    release_at(x, &x->mems[t->o->aux], lane, cell, false);
}

static void check_shadow_cell(struct exec *x, const struct mem_access *t, u32 lane, u64 cell) {
    const struct race_shadow *p = x->worker->race_shadow;
    switch (t->kind) {
    case RACE_STRONG_LOAD:
        check_plain_flag(x, t, lane, cell);
        check_stale_load(x, t, lane, cell);
        race_check_poll_of_first_store(x, t, lane, cell);
        acquire_at(x, t->o, lane, cell);
        break;
    case RACE_WRITE: check_write(x, t, lane, cell); break;
    case RACE_READ:
        if (!report_if_concurrent(x, t, lane, cell, last_write(p, cell), "wrote"))
            report_if_concurrent(x, t, lane, cell, racing_update(x, lane, cell), "updated");
        record_read(x, lane, cell);
        break;
    case RACE_READ_REVALIDATED:
        if (!report_if_concurrent(x, t, lane, cell, last_write(p, cell), "wrote") &&
            is_concurrent(x, lane, racing_update(x, lane, cell)))
            race_report_revalidated_read(x, t, lane);
        break;
    case RACE_RED:
        if (!report_if_concurrent(x, t, lane, cell, last_write(p, cell), "wrote"))
            report_if_concurrent(x, t, lane, cell, last_read(p, cell), "read");
        check_scope(x, t, lane, cell);
        record_update(x, lane, cell, false);
        release_at(x, &x->mems[t->o->aux], lane, cell, true);
        break;
    case RACE_ATOM: break; /* race_hb_atom handles it. */
    }
}

static void extend_accessed_range(struct race_shadow *p, u64 first, u32 span) {
    if (first < p->accessed_range.low) p->accessed_range.low = first;
    if (first + span > p->accessed_range.high) p->accessed_range.high = first + span;
}

void race_hb_access(struct exec *x, const struct mem_access *t) {
    u32 shift = x->worker->launch->global_shift;
    if (t->kind == RACE_WRITE && t->duplicate_mask) race_check_store_lanes(x, t);
    for (u32 m = t->mask; m; m &= m - 1) {
        u32 lane = (u32)__builtin_ctz(m);
        u64 first = t->base + (u64)(s64)t->lane_offset[lane];
        extend_accessed_range(x->worker->race_shadow, first, t->span);
        for (u64 g = first >> shift; g <= (first + t->span - 1) >> shift; g++) {
            race_ensure_expanded_row(x->worker->race_shadow, g);
            check_shadow_cell(x, t, lane, g);
        }
    }
}

/* An atomic with a result is not reported where it finds what atomics and strong stores left: it
 * may be what orders the threads. One that leaves the value as it was, such as a failed
 * compare-and-swap, only acquires. */
void race_hb_atom(struct exec *x, const struct op *o, u32 lane, u64 address, bool changed) {
    static const s32 zero_offsets[32];
    const struct mem_desc *d = &x->mems[o->aux];
    struct race_shadow *p = x->worker->race_shadow;
    u64 first = address - SIM_BASE;
    struct mem_access t = {o, first, zero_offsets, 1u << lane, d->width, RACE_ATOM, 0};
    u32 shift = x->worker->launch->global_shift;
    race_intra_warp_reset(p, x->warp->index);
    extend_accessed_range(p, first, d->width);
    for (u64 g = first >> shift; g <= (first + d->width - 1) >> shift; g++) {
        race_ensure_expanded_row(p, g);
        check_plain_flag(x, &t, lane, g);
        check_scope(x, &t, lane, g);
        acquire_at(x, o, lane, g);
        if (changed) record_update(x, lane, g, true);
        if (changed) release_at(x, d, lane, g, true);
    }
}
