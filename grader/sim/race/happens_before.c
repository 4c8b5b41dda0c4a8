/* happens_before.c — finds races in global memory in kernels whose blocks synchronize with each
 * other; these run in order on one worker.
 *
 * Such kernels use what atomics return, or poll flags, so their blocks may be ordered by what they
 * observe. There is a single clock, the worker's ticks, and each cell has its last write, last read
 * and last update: the block, the warp and the tick. An atomic whose result is used, or a strong
 * load, acquires when it finds what another block left by an atomic or a store: all that the block
 * did before that is ordered. From another warp of the same block it acquires all that was done so
 * far. That is more than the memory model promises, since the value may have nothing to do with the
 * data: it can hide a race, but never reports one in a correct lock, ticket, flag or grid barrier.
 * Two accesses without an acquire between them race if one of them is a write, or if one is an
 * atomic whose result is unused and the other is plain; the report comes at once.
 *
 * With the strict memory model a value releases only what came before the block's last fence
 * (__threadfence, or the atomic's own release). The model does not require a fence of the acquirer,
 * nor does it check which of the block's warps executed the fence. A race is missed if a later
 * reader has replaced the epoch of the one that races. Lanes of one warp: intra_warp.c. */
#include "grader/sim/race/vector_clock.h"
#include "grader/sim/race/race.h"

#include <stdio.h>

/* Returns true if that access, by block and epoch, is not ordered before the current one: another
 * block made it since this one's last acquire, or another warp of this block since their barrier.
 */
static bool is_concurrent(const struct exec *x, u16 block_id, u32 epoch) {
    const struct block *b = x->block;
    if (!block_id) return false;
    if (block_id != race_block_id(b)) return epoch / RACE_CLOCK_UNIT >= b->acquire_clock;
    u32 warp = epoch % RACE_MANY_WARPS;
    return ((epoch & RACE_MANY_WARPS) || warp != x->warp->index) &&
           epoch / RACE_CLOCK_UNIT >= race_observed_clock(b, x->warp->index, warp);
}

static void acquire_from_block(struct exec *x, u64 cell) {
    struct block *b = x->block;
    const struct race_shadow *p = x->worker->race_shadow;
    bool strict = x->worker->launch->strict_order;
    if (p->release_clock[cell] > b->acquire_clock) b->acquire_clock = p->release_clock[cell];
    if (!strict) race_acquire(b, x->warp, x->worker->launch);
    b->relaxed_acquire_clock = race_advance_clock(b);
}

/* Acquires what the cell's last write or update released. From another block, all that came before
 * is ordered, in this block too, since that block may have acquired from this one. From another
 * warp, it counts as a block barrier. */
static void acquire_at(struct exec *x, u64 cell) {
    const struct race_shadow *p = x->worker->race_shadow;
    struct block *b = x->block;
    u16 block_id = race_block_id(b), w = p->writer_block[cell], u = p->updater_block[cell];
    bool write_concurrent = is_concurrent(x, w, p->last_write_epoch[cell]),
         update_concurrent = is_concurrent(x, u, p->last_update_epoch[cell]);
    if ((write_concurrent && w == block_id) || (update_concurrent && u == block_id))
        race_acquire(b, x->warp, x->worker->launch);
    if ((write_concurrent && w != block_id) || (update_concurrent && u != block_id))
        acquire_from_block(x, cell);
}

void race_hb_fence(struct exec *x) {
    if (x->worker->launch->strict_order) x->block->fence_clock = race_advance_clock(x->block);
}

/* Records what an acquire of this cell orders: all that the block did before, or, with the strict
 * memory model, before its last fence. */
static void release_at(struct exec *x, const struct mem_desc *d, u64 cell, bool strong) {
    struct block *b = x->block;
    if (x->worker->launch->strict_order) {
        if (d->is_release && !d->is_cluster_scope) race_hb_fence(x);
        x->worker->race_shadow->release_clock[cell] = b->fence_clock;
    } else
        x->worker->race_shadow->release_clock[cell] =
            strong ? race_advance_clock(b) : b->race_shadow->logical_clock + 1;
}

static void report(struct exec *x, const struct mem_access *t, u32 lane, u64 cell, u16 block_id,
                   u32 epoch, const char *past_verb) {
    static const char *const verbs[] = {[RACE_READ] = "reads",
                                        [RACE_WRITE] = "writes",
                                        [RACE_RED] = "updates",
                                        [RACE_READ_REVALIDATED] = "reads"};
    bool same_block = block_id == race_block_id(x->block);
    u64 address = SIM_BASE + (cell << x->worker->launch->global_shift);
    bool many_warps = epoch & RACE_MANY_WARPS;
    struct history_query w = {address - SIM_BASE,
                              same_block ? (u32)x->block->linear : block_id - 1u,
                              many_warps ? -1 : (int)(epoch % RACE_MANY_WARPS),
                              -1,
                              false,
                              race_access_kind(past_verb)};
    char location[256], actor[64], other_text[160];
    race_describe_address(x, t, address, location, sizeof location);
    if (!same_block) race_describe_block(x->worker->launch, block_id, actor, sizeof actor);
    else if (epoch & RACE_MANY_WARPS) snprintf(actor, sizeof actor, "other warps of the block");
    else snprintf(actor, sizeof actor, "warp %u of the block", epoch % RACE_MANY_WARPS);
    race_describe_other(x, &w, actor, past_verb, other_text, sizeof other_text);
    bool unfenced = x->worker->launch->strict_order && !same_block &&
                    epoch / RACE_CLOCK_UNIT < x->block->relaxed_acquire_clock;
    core_fault(x, same_block ? SIM_FAULT_INTRABLOCK_RACE : SIM_FAULT_INTERBLOCK_RACE, t->o, lane,
               address, "%s %s, which %s, with no %s", verbs[t->kind], location, other_text,
               same_block ? "barrier between"
               : unfenced ? "__threadfence() between that and the flag or counter that this block "
                            "read"
                          : "synchronization between");
}

/* Returns true if the access raced, after reporting it. */
static bool report_if_concurrent(struct exec *x, const struct mem_access *t, u32 lane, u64 cell,
                                 const u16 *block_ids, const u32 *epochs, const char *past_verb) {
    if (!is_concurrent(x, block_ids[cell], epochs[cell])) return false;
    report(x, t, lane, cell, block_ids[cell], epochs[cell], past_verb);
    return true;
}

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

static void check_write(struct exec *x, const struct mem_access *t, u32 lane, u64 cell) {
    struct race_shadow *p = x->worker->race_shadow;
    bool is_conflict = is_concurrent(x, p->writer_block[cell], p->last_write_epoch[cell]) ||
                       is_concurrent(x, p->reader_block[cell], p->last_read_epoch[cell]) ||
                       is_concurrent(x, p->updater_block[cell], p->last_update_epoch[cell]);
    if (is_conflict &&
        race_is_silent_store(x, t, lane, cell, x->worker->launch->global_shift, x->memory->bytes))
        return;
    if (!report_if_concurrent(x, t, lane, cell, p->writer_block, p->last_write_epoch, "wrote") &&
        !report_if_concurrent(x, t, lane, cell, p->updater_block, p->last_update_epoch, "updated"))
        report_if_concurrent(x, t, lane, cell, p->reader_block, p->last_read_epoch, "read");
    p->writer_block[cell] = race_block_id(x->block);
    p->last_write_epoch[cell] = race_global_epoch(x->block, x->warp);
    release_at(x, &x->mems[t->o->aux], cell, false);
}

static void check_shadow_cell(struct exec *x, const struct mem_access *t, u32 lane, u64 cell) {
    struct race_shadow *p = x->worker->race_shadow;
    switch (t->kind) {
    case RACE_STRONG_LOAD: acquire_at(x, cell); break;
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
        if (!report_if_concurrent(x, t, lane, cell, p->writer_block, p->last_write_epoch, "wrote"))
            report_if_concurrent(x, t, lane, cell, p->reader_block, p->last_read_epoch, "read");
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

/* An atomic with a result is never reported: it may be what orders the threads. One that leaves the
 * value as it was, such as a failed compare-and-swap, only acquires. */
void race_hb_atom(struct exec *x, const struct mem_desc *d, u64 address, bool changed) {
    struct race_shadow *p = x->worker->race_shadow;
    u64 first = address - SIM_BASE;
    u32 shift = x->worker->launch->global_shift;
    race_intra_warp_reset(p, x->warp->index);
    extend_accessed_range(p, first, d->width);
    for (u64 g = first >> shift; g <= (first + d->width - 1) >> shift; g++) {
        race_ensure_expanded_row(p, g);
        acquire_at(x, g);
        if (changed) record_access(x, g, p->updater_block, p->last_update_epoch);
        if (changed) release_at(x, d, g, true);
    }
}
