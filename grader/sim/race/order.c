/* order.c — races in global memory where blocks run in order on one worker.
 *
 * Such kernels use what atomics return, or look at flags: their blocks may be ordered by what they
 * have seen. So there is one line of time, the worker's ticks, and each granule has its last write,
 * last read and last update: which block, which warp, when. An atomic whose result is used, or a
 * strong load, that finds what another block left by an atomic or a store has been handed over all
 * that that block did before; of another warp of the same block, all that was done so far. That is
 * more than the language promises, since what is found may have nothing to do with the data: it may
 * hide a race, but makes none of a lock, a ticket, a flag or a barrier of the grid. Of two accesses
 * without such a step between them, one of them a write, or one an atomic whose result is not used
 * and the other plain, a race is told at once. With the strict memory model a step orders only what
 * came before the block's last fence (__threadfence, or the atomic's own release) when it left what
 * was found; that the finder needs one, too, is not asked for, nor by which of the block's warps
 * the fence was. What is missed: what the last reader's note has displaced. Lanes of one warp:
 * near.c. */
#include "grader/sim/race/partial.h"
#include "grader/sim/race/race.h"

#include <stdio.h>

/* A note of block and time: by another block since this one was last handed something, or by
 * another warp of this one since its last barrier. */
static bool unordered(const struct exec *x, u16 block, u32 stamp) {
    const struct block *b = x->block;
    if (!block) return false;
    if (block != race_block(b)) return stamp / RACE_TICK >= b->acquire_clock;
    u32 warp = stamp % RACE_MANY_WARPS;
    return ((stamp & RACE_MANY_WARPS) || warp != x->warp->index) &&
           stamp / RACE_TICK >= race_seen_tick(b, x->warp->index, warp);
}

static void be_handed(struct exec *x, u64 granule) {
    struct block *b = x->block;
    const struct race_plane *p = x->worker->race_shadow;
    bool strict = x->worker->launch->strict_order;
    if (p->released[granule] > b->acquire_clock) b->acquire_clock = p->released[granule];
    if (!strict) race_acquire(b, x->warp, x->worker->launch);
    b->relaxed_acquire_clock = race_next_tick(b);
}

/* A lane looks at what another thread may have left for it. From another block: all that came
 * before is ordered, in this block too, since that one may have looked at this. From another warp:
 * as a barrier of the block. */
static void observe(struct exec *x, u64 granule) {
    const struct race_plane *p = x->worker->race_shadow;
    struct block *b = x->block;
    u16 me = race_block(b), w = p->write[granule], u = p->update[granule];
    bool wrote = unordered(x, w, p->wrote[granule]), updated = unordered(x, u, p->updated[granule]);
    if ((wrote && w == me) || (updated && u == me)) race_acquire(b, x->warp, x->worker->launch);
    if ((wrote && w != me) || (updated && u != me)) be_handed(x, granule);
}

void race_ordered_fence(struct exec *x) {
    if (x->worker->launch->strict_order) x->block->fence_clock = race_next_tick(x->block);
}

/* Whoever finds what the block left there is handed what came before, or, strictly, before its last
 * fence. */
static void leave(struct exec *x, const struct mem_desc *d, u64 granule, bool strong) {
    struct block *b = x->block;
    if (x->worker->launch->strict_order) {
        if (d->is_release && !d->is_cluster_scope) race_ordered_fence(x);
        x->worker->race_shadow->released[granule] = b->fence_clock;
    } else
        x->worker->race_shadow->released[granule] =
            strong ? race_next_tick(b) : b->race_shadow->tick + 1;
}

static void report(struct exec *x, const struct touch *t, u32 lane, u64 granule, u16 block,
                   u32 stamp, const char *did) {
    static const char *const verbs[] = {[RACE_READ] = "reads",
                                        [RACE_WRITE] = "writes",
                                        [RACE_RED] = "updates",
                                        [RACE_READ_REVALIDATED] = "reads"};
    bool inside = block == race_block(x->block);
    u64 address = SIM_BASE + (granule << x->worker->launch->global_shift);
    bool many = stamp & RACE_MANY_WARPS;
    struct race_wanted w = {address - SIM_BASE,
                            inside ? (u32)x->block->linear : block - 1u,
                            many ? -1 : (int)(stamp % RACE_MANY_WARPS),
                            -1,
                            false,
                            race_did(did)};
    char where[256], who[64], other[160];
    race_describe_place(x, t, address, where, sizeof where);
    if (!inside) race_block_name(x->worker->launch, block, who, sizeof who);
    else if (stamp & RACE_MANY_WARPS) snprintf(who, sizeof who, "other warps of the block");
    else snprintf(who, sizeof who, "warp %u of the block", stamp % RACE_MANY_WARPS);
    race_describe_other(x, &w, who, did, other, sizeof other);
    bool unfenced = x->worker->launch->strict_order && !inside &&
                    stamp / RACE_TICK < x->block->relaxed_acquire_clock;
    core_fault(x, inside ? SIM_FAULT_INTRABLOCK_RACE : SIM_FAULT_INTERBLOCK_RACE, t->o, lane,
               address, "%s %s, which %s, with no %s", verbs[t->access], where, other,
               inside     ? "barrier between"
               : unfenced ? "__threadfence() between that and what told this block of it"
                          : "order between");
}

/* True if it was told. */
static bool compare(struct exec *x, const struct touch *t, u32 lane, u64 granule, const u16 *blocks,
                    const u32 *stamps, const char *did) {
    if (!unordered(x, blocks[granule], stamps[granule])) return false;
    report(x, t, lane, granule, blocks[granule], stamps[granule], did);
    return true;
}

static void note(const struct exec *x, u64 granule, u16 *blocks, u32 *stamps) {
    u32 mine = race_stamp(x->block, x->warp);
    bool others =
        blocks[granule] == race_block(x->block) && unordered(x, blocks[granule], stamps[granule]);
    blocks[granule] = race_block(x->block);
    stamps[granule] = mine | (others ? RACE_MANY_WARPS : 0);
}

/* An update on top of another block's, which who looks at it then sees as well. */
static void note_update(const struct exec *x, u64 granule) {
    struct race_plane *p = x->worker->race_shadow;
    u16 u = p->update[granule];
    bool others = u != race_block(x->block) && unordered(x, u, p->updated[granule]);
    note(x, granule, p->update, p->updated);
    if (others) p->update[granule] = RACE_MANY_BLOCKS;
}

static void write_one(struct exec *x, const struct touch *t, u32 lane, u64 granule) {
    struct race_plane *p = x->worker->race_shadow;
    bool before = unordered(x, p->write[granule], p->wrote[granule]) ||
                  unordered(x, p->read[granule], p->was_read[granule]) ||
                  unordered(x, p->update[granule], p->updated[granule]);
    if (before && race_changes_nothing(x, t, lane, granule, x->worker->launch->global_shift,
                                       x->memory->bytes))
        return;
    if (!compare(x, t, lane, granule, p->write, p->wrote, "wrote") &&
        !compare(x, t, lane, granule, p->update, p->updated, "updated"))
        compare(x, t, lane, granule, p->read, p->was_read, "read");
    p->write[granule] = race_block(x->block);
    p->wrote[granule] = race_stamp(x->block, x->warp);
    leave(x, &x->mems[t->o->aux], granule, false);
}

static void one(struct exec *x, const struct touch *t, u32 lane, u64 granule) {
    struct race_plane *p = x->worker->race_shadow;
    switch (t->access) {
    case RACE_STRONG_LOAD: observe(x, granule); break;
    case RACE_WRITE: write_one(x, t, lane, granule); break;
    case RACE_READ:
        if (!compare(x, t, lane, granule, p->write, p->wrote, "wrote"))
            compare(x, t, lane, granule, p->update, p->updated, "updated");
        note(x, granule, p->read, p->was_read);
        break;
    case RACE_READ_REVALIDATED:
        if (!compare(x, t, lane, granule, p->write, p->wrote, "wrote") &&
            unordered(x, p->update[granule], p->updated[granule]))
            race_note_peek(x, t, lane);
        break;
    case RACE_RED:
        if (!compare(x, t, lane, granule, p->write, p->wrote, "wrote"))
            compare(x, t, lane, granule, p->read, p->was_read, "read");
        note_update(x, granule);
        leave(x, &x->mems[t->o->aux], granule, true);
        break;
    case RACE_ATOM: break; /* race_ordered_exchange */
    }
}

static void widen(struct race_plane *p, u64 first, u32 span) {
    if (first < p->range.low) p->range.low = first;
    if (first + span > p->range.high) p->range.high = first + span;
}

void race_ordered(struct exec *x, const struct touch *t) {
    u32 shift = x->worker->launch->global_shift;
    if (t->access == RACE_WRITE && t->twins) race_lanes(x, t);
    for (u32 m = t->mask; m; m &= m - 1) {
        u32 lane = (u32)__builtin_ctz(m);
        u64 first = t->base + (u64)(s64)t->rel[lane];
        widen(x->worker->race_shadow, first, t->span);
        for (u64 g = first >> shift; g <= (first + t->span - 1) >> shift; g++) {
            race_need_row(x->worker->race_shadow, g);
            one(x, t, lane, g);
        }
    }
}

/* Nothing is told of it: it may be the very step that orders. One that leaves what it found, as a
 * failed compare-and-swap, is a look. */
void race_ordered_exchange(struct exec *x, const struct mem_desc *d, u64 address, bool changed) {
    struct race_plane *p = x->worker->race_shadow;
    u64 first = address - SIM_BASE;
    u32 shift = x->worker->launch->global_shift;
    race_near_forget(p, x->warp->index);
    widen(p, first, d->width);
    for (u64 g = first >> shift; g <= (first + d->width - 1) >> shift; g++) {
        race_need_row(p, g);
        observe(x, g);
        if (changed) note(x, g, p->update, p->updated);
        if (changed) leave(x, d, g, true);
    }
}
