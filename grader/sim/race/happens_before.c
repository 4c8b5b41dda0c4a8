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
 * An acquired tick orders all blocks' accesses before it, also those of blocks that never
 * synchronized with the two, and a warp's state stands for all its lanes. That can hide a race, but
 * never reports one in a correct lock, ticket, flag or grid barrier. A race is missed if a later
 * reader has replaced the epoch of the one that races. Lanes of one warp: intra_warp.c. */
#include "grader/sim/core/source_location.h"
#include "grader/sim/race/vector_clock.h"
#include "grader/sim/race/race.h"

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
}

static u32 acquired_clock(const struct exec *x) {
    const struct block *b = x->block;
    return x->warp->order.acquire_clock > b->acquire_clock ? x->warp->order.acquire_clock
                                                           : b->acquire_clock;
}

/* Returns the order of the hardware, which is also that of the warp's last observation. */
static const struct warp_order *observed_order(const struct exec *x) {
    const struct block *b = x->block;
    return x->warp->order.observed_clock > b->order.observed_clock ? &x->warp->order : &b->order;
}

void race_hb_fence(struct exec *x) {
    struct warp_order *o = &x->warp->order;
    if (!x->worker->launch->ptx_order) return;
    o->fence_clock = race_advance_clock(x->block);
    max_into(&o->acquire_clock, o->pending_clock);
}

/* ---- the order of two accesses ---- */

/* Returns true if that access, by block and epoch, is not ordered before the current one: another
 * block made it, no earlier than `acquired`; or another warp of this block since their barrier. */
static bool is_concurrent_since(const struct exec *x, u16 block_id, u32 epoch, u32 acquired) {
    const struct block *b = x->block;
    if (!block_id) return false;
    if (block_id != race_block_id(b)) return epoch / RACE_CLOCK_UNIT >= acquired;
    u32 warp = epoch % RACE_MANY_WARPS;
    return ((epoch & RACE_MANY_WARPS) || warp != x->warp->index) &&
           epoch / RACE_CLOCK_UNIT >= race_observed_clock(b, x->warp->index, warp);
}

static bool is_concurrent(const struct exec *x, u16 block_id, u32 epoch) {
    return is_concurrent_since(x, block_id, epoch, acquired_clock(x));
}

/* Does the same for a read that a write follows. */
static bool read_is_concurrent(const struct exec *x, u64 cell) {
    const struct race_shadow *p = x->worker->race_shadow;
    u32 acquired = acquired_clock(x);
    if (x->worker->launch->ptx_order) max_into(&acquired, observed_order(x)->observed_clock);
    return is_concurrent_since(x, p->reader_block[cell], p->last_read_epoch[cell], acquired);
}

static struct observed_block *observed_block(struct block *b, u16 block_id) {
    if (!b->observed_blocks) b->observed_blocks = xcalloc(1, sizeof *b->observed_blocks);
    return &b->observed_blocks->slots[block_id % OBSERVED_BLOCK_SLOTS];
}

/* Records what the warp found in a cell that another block left, and what that may order. */
static void observe_block(struct exec *x, const struct op *o, u64 cell, u16 block_id, u32 epoch) {
    struct block *b = x->block;
    struct warp_order *w = &x->warp->order;
    const struct mem_desc *d = &x->mems[o->aux];
    u32 released = x->worker->race_shadow->release_clock[cell],
        op = (u32)(o - x->worker->launch->ops);
    if (!x->worker->launch->ptx_order) {
        max_into(&b->acquire_clock, released);
        race_acquire(b, x->warp, x->worker->launch);
        race_advance_clock(b);
        return;
    }
    *observed_block(b, block_id) =
        (struct observed_block){block_id, d->verb == MEM_ATOM, epoch / RACE_CLOCK_UNIT, op, cell};
    race_advance_clock(b);
    if (epoch / RACE_CLOCK_UNIT >= w->observed_clock)
        w->observed_clock = epoch / RACE_CLOCK_UNIT + 1, w->observed_op = op;
    max_into(d->is_acquire && !d->is_cluster_scope ? &w->acquire_clock : &w->pending_clock,
             released);
}

/* Acquires what the cell's last write or update released. From another warp of the block, that is
 * what race_acquire orders. */
static void acquire_at(struct exec *x, const struct op *o, u64 cell) {
    const struct race_shadow *p = x->worker->race_shadow;
    struct block *b = x->block;
    u16 block_id = race_block_id(b), w = p->writer_block[cell], u = p->updater_block[cell];
    bool write_concurrent = is_concurrent(x, w, p->last_write_epoch[cell]),
         update_concurrent = is_concurrent(x, u, p->last_update_epoch[cell]);
    if ((write_concurrent && w == block_id) || (update_concurrent && u == block_id))
        race_acquire_by(x, o);
    if (update_concurrent && u != block_id)
        observe_block(x, o, cell, u, p->last_update_epoch[cell]);
    else if (write_concurrent && w != block_id && !x->worker->launch->ptx_order)
        observe_block(x, o, cell, w, p->last_write_epoch[cell]);
}

/* Records what an acquire of this cell orders: with PTX's memory model, what precedes the warp's
 * last fence; with the hardware's, all that the block did before. An atomic keeps what the one
 * before it released. */
static void release_at(struct exec *x, const struct mem_desc *d, u64 cell, bool strong) {
    struct race_shadow *p = x->worker->race_shadow;
    u32 *released = &p->release_clock[cell], fence_clock;
    if (!x->worker->launch->ptx_order) {
        *released = strong ? race_advance_clock(x->block) : p->logical_clock + 1;
        return;
    }
    if (d->is_release) race_block_fence(x);
    if (d->is_release && !d->is_cluster_scope) race_hb_fence(x);
    fence_clock = x->warp->order.fence_clock;
    max_into(&fence_clock, x->block->order.fence_clock);
    if (d->verb >= MEM_ATOM) max_into(released, fence_clock);
    else *released = strong ? fence_clock : 0;
}

/* ---- reports ---- */

/* Writes the fence that is missing between another block's access at that tick and this one. */
static void describe_missing_fence(const struct exec *x, u32 tick, u32 flag_op, char *out,
                                   size_t size) {
    u32 line = source_location_line(x->worker->launch, flag_op);
    bool is_released = tick < x->warp->order.pending_clock;
    if (is_released)
        snprintf(out, size,
                 "no __threadfence() between line %u, which reads the flag or counter, "
                 "and this access",
                 line);
    else
        snprintf(out, size,
                 "no __threadfence() between that and the store of the flag or counter "
                 "that line %u reads",
                 line);
}

static void describe_missing(const struct exec *x, u16 block_id, u32 epoch, bool plain_flag,
                             char *out, size_t size) {
    const struct warp_order *seen = observed_order(x);
    u32 tick = epoch / RACE_CLOCK_UNIT;
    if (block_id == race_block_id(x->block)) snprintf(out, size, "no barrier between");
    else if (x->worker->launch->ptx_order && tick < seen->observed_clock)
        describe_missing_fence(x, tick, seen->observed_op, out, size);
    else
        snprintf(out, size, "no synchronization between%s",
                 plain_flag ? ": a plain store is no flag, use an atomic, volatile or a release "
                              "store"
                            : "");
}

static void describe_access(struct exec *x, const struct mem_access *t, u64 cell, u16 block_id,
                            u32 epoch, const char *past_verb, char *location, char *other) {
    bool same_block = block_id == race_block_id(x->block), many_warps = epoch & RACE_MANY_WARPS;
    u64 address = SIM_BASE + (cell << x->worker->launch->global_shift);
    struct history_query w = {address - SIM_BASE,
                              same_block ? (u32)x->block->linear : block_id - 1u,
                              many_warps ? -1 : (int)(epoch % RACE_MANY_WARPS),
                              -1,
                              false,
                              race_access_kind(past_verb)};
    char actor[64];
    race_describe_address(x, t, address, location, 256);
    if (!same_block) race_describe_block(x->worker->launch, block_id, actor, sizeof actor);
    else if (many_warps) snprintf(actor, sizeof actor, "other warps of the block");
    else snprintf(actor, sizeof actor, "warp %u of the block", epoch % RACE_MANY_WARPS);
    race_describe_other(x, &w, actor, past_verb, other, 160);
}

static void report(struct exec *x, const struct mem_access *t, u32 lane, u64 cell, u16 block_id,
                   u32 epoch, const char *past_verb) {
    static const char *const verbs[] = {
        [RACE_READ] = "reads",        [RACE_WRITE] = "writes", [RACE_RED] = "updates",
        [RACE_STRONG_LOAD] = "reads", [RACE_ATOM] = "updates", [RACE_READ_REVALIDATED] = "reads"};
    bool same_block = block_id == race_block_id(x->block),
         is_strong = t->kind == RACE_STRONG_LOAD || t->kind == RACE_ATOM;
    char location[256], other[160], missing[160];
    describe_access(x, t, cell, block_id, epoch, past_verb, location, other);
    describe_missing(x, block_id, epoch, is_strong, missing, sizeof missing);
    core_fault(x, same_block ? SIM_FAULT_INTRABLOCK_RACE : SIM_FAULT_INTERBLOCK_RACE, t->o, lane,
               SIM_BASE + (cell << x->worker->launch->global_shift), "%s %s, which %s, with %s",
               verbs[t->kind], location, other, missing);
}

/* Returns true if the access raced, after reporting it. */
static bool report_if_concurrent(struct exec *x, const struct mem_access *t, u32 lane, u64 cell,
                                 const u16 *block_ids, const u32 *epochs, const char *past_verb) {
    if (!is_concurrent(x, block_ids[cell], epochs[cell])) return false;
    report(x, t, lane, cell, block_ids[cell], epochs[cell], past_verb);
    return true;
}

/* Reports a strong access of what another block's plain store left. */
static void check_plain_flag(struct exec *x, const struct mem_access *t, u32 lane, u64 cell) {
    const struct race_shadow *p = x->worker->race_shadow;
    u16 w = p->writer_block[cell];
    bool is_last =
        p->last_write_epoch[cell] >= p->last_update_epoch[cell] || !p->updater_block[cell];
    if (x->worker->launch->ptx_order && w != race_block_id(x->block) && is_last)
        report_if_concurrent(x, t, lane, cell, p->writer_block, p->last_write_epoch, "wrote");
}

/* Reports a strong load of data that may find an old value, although the warp has observed what the
 * same block stored later: a fence is missing. */
static void check_stale_load(struct exec *x, const struct mem_access *t, u32 lane, u64 cell) {
    const struct race_shadow *p = x->worker->race_shadow;
    u16 u = p->updater_block[cell];
    u32 epoch = p->last_update_epoch[cell], tick = epoch / RACE_CLOCK_UNIT;
    if (!x->worker->launch->ptx_order || x->mems[t->o->aux].is_poll || !u ||
        u == RACE_MANY_BLOCKS || u == race_block_id(x->block) || !x->block->observed_blocks ||
        !is_concurrent(x, u, epoch))
        return;
    const struct observed_block *seen = observed_block(x->block, u);
    bool is_released = tick < x->warp->order.pending_clock;
    if (seen->block_id != u || seen->clock < tick || seen->cell == cell ||
        (is_released && seen->by_atomic))
        return;
    char location[256], other[160], missing[160];
    describe_access(x, t, cell, u, epoch, "updated", location, other);
    describe_missing_fence(x, tick, seen->op, missing, sizeof missing);
    core_fault(x, SIM_FAULT_MISSING_FENCE, t->o, lane,
               SIM_BASE + (cell << x->worker->launch->global_shift),
               "reads %s, which %s, and may find an old value: with %s", location, other, missing);
}

/* ---- accesses ---- */

static void record_access(const struct exec *x, u64 cell, u16 *block_ids, u32 *epochs) {
    u32 current = race_global_epoch(x->block, x->warp);
    bool others = block_ids[cell] == race_block_id(x->block) &&
                  is_concurrent(x, block_ids[cell], epochs[cell]);
    block_ids[cell] = race_block_id(x->block);
    epochs[cell] = current | (others ? RACE_MANY_WARPS : 0);
}

/* Records an update. On top of another block's unordered update the cell has several updaters,
 * since a later acquire observes both. */
static void record_update(const struct exec *x, u64 cell) {
    struct race_shadow *p = x->worker->race_shadow;
    u16 u = p->updater_block[cell];
    bool others = u != race_block_id(x->block) && is_concurrent(x, u, p->last_update_epoch[cell]);
    record_access(x, cell, p->updater_block, p->last_update_epoch);
    if (others) p->updater_block[cell] = RACE_MANY_BLOCKS;
}

/* Reports an update on top of another block's unordered one, if one of them has the scope of its
 * block. */
static void check_scope(struct exec *x, const struct mem_access *t, u32 lane, u64 cell) {
    struct race_shadow *p = x->worker->race_shadow;
    bool is_block_scope = x->mems[t->o->aux].is_block_scope;
    u16 u = p->updater_block[cell];
    u32 epoch = p->last_update_epoch[cell];
    char location[256], other[160];
    if ((is_block_scope || race_is_block_scope_cell(p, cell)) && u != race_block_id(x->block) &&
        is_concurrent(x, u, epoch)) {
        describe_access(x, t, cell, u, epoch, "updated", location, other);
        core_fault(x, SIM_FAULT_INTERBLOCK_RACE, t->o, lane,
                   SIM_BASE + (cell << x->worker->launch->global_shift),
                   "updates %s, which %s; nothing orders them%s", location, other,
                   race_block_scope_text);
    }
    race_note_scope(p, cell, is_block_scope);
}

static void check_write(struct exec *x, const struct mem_access *t, u32 lane, u64 cell) {
    struct race_shadow *p = x->worker->race_shadow;
    bool is_conflict = is_concurrent(x, p->writer_block[cell], p->last_write_epoch[cell]) ||
                       read_is_concurrent(x, cell) ||
                       is_concurrent(x, p->updater_block[cell], p->last_update_epoch[cell]);
    if (is_conflict &&
        race_is_silent_store(x, t, lane, cell, x->worker->launch->global_shift, x->memory->bytes))
        return;
    if (!report_if_concurrent(x, t, lane, cell, p->writer_block, p->last_write_epoch, "wrote") &&
        !report_if_concurrent(x, t, lane, cell, p->updater_block, p->last_update_epoch,
                              "updated") &&
        read_is_concurrent(x, cell))
        report(x, t, lane, cell, p->reader_block[cell], p->last_read_epoch[cell], "read");
    p->writer_block[cell] = race_block_id(x->block);
    p->last_write_epoch[cell] = race_global_epoch(x->block, x->warp);
    release_at(x, &x->mems[t->o->aux], cell, false);
}

static void check_shadow_cell(struct exec *x, const struct mem_access *t, u32 lane, u64 cell) {
    struct race_shadow *p = x->worker->race_shadow;
    switch (t->kind) {
    case RACE_STRONG_LOAD:
        check_plain_flag(x, t, lane, cell);
        check_stale_load(x, t, lane, cell);
        race_check_poll_of_first_store(x, t, lane, cell);
        acquire_at(x, t->o, cell);
        break;
    case RACE_WRITE: check_write(x, t, lane, cell); break;
    case RACE_READ:
        if (!report_if_concurrent(x, t, lane, cell, p->writer_block, p->last_write_epoch, "wrote"))
            report_if_concurrent(x, t, lane, cell, p->updater_block, p->last_update_epoch,
                                 "updated");
        record_access(x, cell, p->reader_block, p->last_read_epoch);
        break;
    case RACE_READ_REVALIDATED:
        if (!report_if_concurrent(x, t, lane, cell, p->writer_block, p->last_write_epoch,
                                  "wrote") &&
            is_concurrent(x, p->updater_block[cell], p->last_update_epoch[cell]))
            race_report_revalidated_read(x, t, lane);
        break;
    case RACE_RED:
        if (!report_if_concurrent(x, t, lane, cell, p->writer_block, p->last_write_epoch,
                                  "wrote") &&
            read_is_concurrent(x, cell))
            report(x, t, lane, cell, p->reader_block[cell], p->last_read_epoch[cell], "read");
        check_scope(x, t, lane, cell);
        record_update(x, cell);
        release_at(x, &x->mems[t->o->aux], cell, true);
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
        acquire_at(x, o, g);
        if (changed) record_access(x, g, p->updater_block, p->last_update_epoch);
        if (changed) release_at(x, d, g, true);
    }
}
