/* async.c — copies that are under way. See async.h.
 *
 * A copy moves its bytes when it is issued, which is one of the orders that a program must allow
 * for. What the program must not rely on is that they are there: until a thread has waited for
 * them, the targets' shadow says PENDING, so that whoever reads them is told. A copy is complete
 * when its thread waits for its group, or any thread sees the phase of the mbarrier end that it
 * arrives at. Then both ends are looked at: a target that was stored to meanwhile, or a source that
 * no longer holds what was copied, was touched too early. The thread that waited for a group counts
 * as the one that wrote the target just then: others still need a barrier. Behind an mbarrier there
 * is one already, the end of its phase. */
#include "grader/sim/race/async.h"
#include "common/grow.h"
#include "grader/sim/core/place.h"
#include "grader/sim/core/taint.h"
#include "grader/sim/race/product.h"
#include "grader/sim/race/race.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct async *async_of(const struct exec *x, struct block *b) {
    struct async **a = &b->async_copies;
    const struct launch *l = x->worker->launch;
    if (*a) return *a;
    *a = xcalloc(1, sizeof **a);
    (*a)->committed[0] = xcalloc(l->nwarps * 64ul, sizeof(u32));
    (*a)->committed[1] = (*a)->committed[0] + l->nwarps * 32ul;
    return *a;
}

static void forget_all(struct async *a) {
    for (u32 i = 0; i < a->n; i++) free(a->copy[i].tile);
    a->n = 0;
}

void race_async_free(struct block *b) {
    if (!b->async_copies) return;
    forget_all(b->async_copies);
    free(b->async_copies->copy);
    free(b->async_copies->committed[0]);
    free(b->async_copies);
    b->async_copies = NULL;
}

void race_async_start(struct block *b) {
    if (!b->async_copies) return;
    forget_all(b->async_copies);
    memset(b->async_copies->committed[0], 0, b->nwarps * 64ul * sizeof(u32));
}

static u32 *committed(struct exec *x, bool bulk) {
    return async_of(x, x->block)->committed[bulk] + x->warp->index * 32;
}

static struct async_copy *add(struct async *a) {
    GROW(a->copy, a->n + 1, a->capacity, 16);
    return &a->copy[a->n++];
}

/* ---- reports ---- */

static const struct async_copy *find(const struct async *a, u64 offset, u32 *lane) {
    for (u32 i = a ? a->n : 0; i-- > 0;)
        for (u32 m = a->copy[i].kind == ASYNC_OUT ? 0 : a->copy[i].mask; m; m &= m - 1) {
            *lane = (u32)__builtin_ctz(m);
            if (offset - a->copy[i].shared[*lane] < a->copy[i].bytes) return &a->copy[i];
        }
    return NULL;
}

static void name_copy(const struct exec *x, const struct async_copy *c, u32 lane, char *out,
                      size_t size) {
    const struct launch *l = x->worker->launch;
    const u32 *b = c->by->index;
    char who[64], block[64] = "";
    describe_thread(l, c->warp * 32 + lane, who, sizeof who);
    if (c->by != x->block) snprintf(block, sizeof block, " of block (%u,%u,%u)", b[0], b[1], b[2]);
    snprintf(out, size, "the copy that thread %s%s began in line %u", who, block,
             source_location_line(l, (u32)(c->o - l->ops)));
}

void race_async_early(struct exec *x, struct block *b, const struct op *o, u32 lane, u64 offset,
                      u32 bytes, const char *verb) {
    char where[128], copy[192] = "a copy that was never waited for";
    u32 of = 0;
    while (bytes && b->shared_written[offset] != UNDEF_PENDING) offset++, bytes--;
    const struct async_copy *c = find(b->async_copies, offset, &of);
    if (c) name_copy(x, c, of, copy, sizeof copy);
    describe_shared_element(x->worker->launch, offset, c ? x->mems[c->o->aux].width : 0, where,
                            sizeof where);
    core_fault(x, SIM_FAULT_ASYNC_HAZARD, o, lane, offset,
               "%s %s, where %s is under way: nothing has waited for it", verb, where, copy);
}

static void report_target(struct exec *x, const struct op *o, u32 waits, const struct async_copy *c,
                          u32 lane, u64 offset) {
    const struct launch *l = x->worker->launch;
    char where[128], who[64], copy[192];
    describe_shared_element(l, offset, x->mems[c->o->aux].width, where, sizeof where);
    describe_thread(l, race_stamp_thread(x->block->write_epochs[offset >> l->shared_shift]), who,
                    sizeof who);
    name_copy(x, c, lane, copy, sizeof copy);
    core_fault(x, SIM_FAULT_ASYNC_HAZARD, o, waits, offset,
               "waits for %s, but thread %s wrote to its target, %s, before that", copy, who,
               where);
}

static void report_source(struct exec *x, const struct op *o, u32 waits, const struct async_copy *c,
                          u32 lane) {
    char where[256], copy[192];
    name_copy(x, c, lane, copy, sizeof copy);
    u32 width = x->mems[c->o->aux].width;
    if (c->kind == ASYNC_OUT)
        describe_shared_element(x->worker->launch, c->shared[lane], width, where, sizeof where);
    else memory_describe_element(x->memory, c->global[lane], width, where, sizeof where);
    core_fault(x, SIM_FAULT_ASYNC_HAZARD, o, waits, c->global[lane],
               "waits for %s, but its source, %s, was written to before that", copy, where);
}

/* ---- a copy ends ---- */

static bool target_is_whole(unsigned char *w, u32 bytes, u64 *at) {
    for (u32 i = 0; i < bytes; i++)
        if (w[i] == 1) return *at += i, false;
    return true;
}

static bool source_is_whole(const struct exec *x, const struct async_copy *c, u32 lane) {
    const unsigned char *shared = x->shared + c->shared[lane];
    if (c->digest && c->kind == ASYNC_OUT) return memory_hash(shared, c->bytes, 0) == c->digest;
    if (c->tile) {
        bool live = memory_find_range(x->memory, c->tile->low, c->tile->high - c->tile->low) >= 0;
        return !live || memory_tile_hash(x->memory, c->tile) == c->digest;
    }
    if (!(c->whole >> lane & 1) || memory_find_range(x->memory, c->global[lane], c->bytes) < 0)
        return true;
    return !memcmp(shared, x->memory->bytes + (c->global[lane] - SIM_BASE), c->bytes);
}

/* The lane `lane` of c is complete, seen by lane `waits` at `o`. */
static void complete_lane(struct exec *x, const struct op *o, u32 waits, const struct async_copy *c,
                          u32 lane) {
    unsigned char *w = x->shared_written + c->shared[lane];
    u64 at = c->shared[lane];
    if (c->kind != ASYNC_OUT && !target_is_whole(w, c->bytes, &at))
        report_target(x, o, waits, c, lane, at);
    else if (!source_is_whole(x, c, lane)) report_source(x, o, waits, c, lane);
    for (u32 i = 0; c->kind != ASYNC_OUT && i < c->bytes; i++)
        if (w[i] == UNDEF_PENDING) w[i] = 1;
}

/* For others, the thread wrote the target when it waited. */
static void stamp(struct exec *x, const struct async_copy *c, u32 lane) {
    const struct launch *l = x->worker->launch;
    if (x->worker->race_shadow->waiting.read == x->block->read_epochs)
        x->worker->race_shadow->waiting.stamp(x->worker->race_shadow);
    x->block->recorded_epoch = x->block->sync_epoch;
    u32 first = c->shared[lane] >> l->shared_shift,
        last = (c->shared[lane] + c->bytes - 1) >> l->shared_shift;
    for (u32 g = first; g <= last; g++) x->block->write_epochs[g] = race_shared_stamp(x, lane);
}

/* Forgets copies without lanes. */
static void sweep(struct async *a) {
    u32 kept = 0;
    for (u32 i = 0; i < a->n; i++) {
        if (!a->copy[i].mask) {
            free(a->copy[i].tile);
            continue;
        }
        if (kept != i) a->copy[kept] = a->copy[i];
        kept++;
    }
    a->n = kept;
}

/* ---- what instructions do ---- */

static void begin_group(struct exec *x, const struct async_copy *all, u32 lanes, u32 group) {
    struct async_copy *c = add(async_of(x, x->block));
    *c = *all;
    c->mask = lanes;
    c->group = group;
}

static void take_target(struct exec *x, struct block *b, const struct op *o, u32 lane, u32 at,
                        u32 bytes) {
    bool taken = false;
    for (u32 i = 0; i < bytes; i++) taken |= b->shared_written[at + i] == UNDEF_PENDING;
    if (taken) race_async_early(x, b, o, lane, at, bytes, "copies to");
}

void race_async_begin(struct exec *x, const struct op *o, u64 base, const s32 *rel, u32 mask,
                      u32 bytes, const u64 *global, u32 whole) {
    struct async_copy c = {.o = o,
                           .whole = whole & mask,
                           .warp = x->warp->index,
                           .bytes = bytes,
                           .kind = ASYNC_LANES,
                           .by = x->block};
    const u32 *groups = committed(x, false);
    for (u32 m = mask; m; m &= m - 1) {
        u32 l = (u32)__builtin_ctz(m);
        c.shared[l] = (u32)(base + (u64)(s64)rel[l]);
        c.global[l] = global[l];
        take_target(x, x->block, o, l, c.shared[l], bytes);
    }
    for (u32 m = mask; m; m &= m - 1)
        memset(x->shared_written + c.shared[__builtin_ctz(m)], UNDEF_PENDING, bytes);
    for (u32 left = mask; left;) {
        u32 group = groups[__builtin_ctz(left)], same = 0;
        for (u32 m = left; m; m &= m - 1) same |= groups[__builtin_ctz(m)] == group ? m & -m : 0;
        begin_group(x, &c, same, group);
        left &= ~same;
    }
}

/* So does a product of a warpgroup. */
static void check_products(struct exec *x, struct block *b, const struct op *o, u32 lane,
                           u32 shared, u32 bytes) {
    const struct launch *l = x->worker->launch;
    char where[128], who[64];
    u32 thread;
    const struct op *reader = race_product_reader(b, shared, bytes, &thread);
    if (!reader) return;
    describe_thread(l, thread, who, sizeof who);
    describe_shared_element(l, shared, x->mems[o->aux].width, where, sizeof where);
    core_fault(x, SIM_FAULT_ASYNC_HAZARD, o, lane, shared,
               "copies to %s, which the product that the warp of thread %s began in line %u still "
               "reads: nothing has "
               "waited for it",
               where, who, source_location_line(l, (u32)(reader - l->ops)));
}

/* A copy out of shared memory reads until somebody has waited for its group: what comes in there
 * before that, it may read. */
static void check_source(struct exec *x, struct block *b, const struct op *o, u32 lane, u32 shared,
                         u32 bytes) {
    const struct async *a = async_of(x, b);
    check_products(x, b, o, lane, shared, bytes);
    for (u32 i = 0; i < a->n; i++) {
        const struct async_copy *c = &a->copy[i];
        u32 of = (u32)__builtin_ctz(c->mask | 1u << 31);
        if (c->kind != ASYNC_OUT || shared >= c->shared[of] + c->bytes ||
            c->shared[of] >= shared + bytes)
            continue;
        char where[128], copy[192];
        name_copy(x, c, of, copy, sizeof copy);
        describe_shared_element(x->worker->launch, shared, x->mems[o->aux].width, where,
                                sizeof where);
        core_fault(x, SIM_FAULT_ASYNC_HAZARD, o, lane, shared,
                   "copies to %s, which %s still reads: nothing has waited for it", where, copy);
        return;
    }
}

static struct async_copy bulk_copy(struct exec *x, const struct op *o, enum async_kind kind,
                                   u32 lane, u32 shared, u32 bytes) {
    struct async_copy c = {.o = o,
                           .mask = 1u << lane,
                           .warp = x->warp->index,
                           .group = committed(x, true)[lane],
                           .bytes = bytes,
                           .kind = (u8)kind,
                           .by = x->block};
    c.shared[lane] = shared;
    return c;
}

static void begin_bulk(struct exec *x, struct block *b, u32 lane, const struct async_copy *c) {
    u32 shared = c->shared[lane];
    if (c->kind != ASYNC_OUT) {
        take_target(x, b, c->o, lane, shared, c->bytes);
        check_source(x, b, c->o, lane, shared, c->bytes);
        for (u32 i = 0; i < c->bytes; i++)
            if (b->shared_written[shared + i] == 1) b->shared_written[shared + i] = UNDEF_PENDING;
    }
    *add(async_of(x, b)) = *c;
}

void race_async_bulk(struct exec *x, struct block *b, const struct op *o, enum async_kind kind,
                     u32 lane, u32 shared, u64 global, u32 bytes, u32 barrier, u8 phase) {
    struct async_copy c = bulk_copy(x, o, kind, lane, shared, bytes);
    c.whole = global ? 1u << lane : 0;
    c.global[lane] = global;
    c.barrier = barrier;
    c.phase = phase;
    begin_bulk(x, b, lane, &c);
}

void race_async_tile(struct exec *x, struct block *b, const struct op *o, enum async_kind kind,
                     u32 lane, u32 shared, const struct memory_tile *t, u32 barrier, u8 phase) {
    struct async_copy c = bulk_copy(x, o, kind, lane, shared, (u32)memory_tile_shared_bytes(t));
    c.global[lane] = t->low;
    c.barrier = barrier;
    c.phase = phase;
    if (kind == ASYNC_OUT) c.digest = memory_hash(b->shared + shared, c.bytes, 0);
    else if (t->low < t->high) {
        c.tile = xmalloc(sizeof *t);
        *c.tile = *t;
        c.digest = memory_tile_hash(x->memory, t);
    }
    begin_bulk(x, b, lane, &c);
}

void race_async_commit(struct exec *x, u32 mask, bool bulk) {
    u32 *groups = committed(x, bulk);
    for (; mask; mask &= mask - 1) groups[__builtin_ctz(mask)]++;
}

void race_async_wait(struct exec *x, const struct op *o, u32 mask, u32 left, bool bulk) {
    struct async *a = async_of(x, x->block);
    const u32 *groups = committed(x, bulk);
    bool any = false;
    for (u32 i = 0; i < a->n; i++) {
        struct async_copy *c = &a->copy[i];
        if (c->warp != x->warp->index || bulk != (c->kind != ASYNC_LANES) ||
            (bulk && c->kind != ASYNC_OUT))
            continue;
        for (u32 m = c->mask & mask; m; m &= m - 1) {
            u32 lane = (u32)__builtin_ctz(m);
            if (left != UINT32_MAX && c->group + left >= groups[lane]) continue;
            complete_lane(x, o, lane, c, lane);
            if (c->kind == ASYNC_LANES) stamp(x, c, lane);
            c->mask &= ~(1u << lane);
        }
        any |= !c->mask;
    }
    if (any) sweep(a);
}

void race_async_arrive(struct exec *x, u32 lane, u32 offset, u8 phase) {
    struct async *a = async_of(x, x->block);
    for (u32 i = 0, n = a->n; i < n; i++) {
        struct async_copy *c = &a->copy[i];
        if (c->warp != x->warp->index || c->kind != ASYNC_LANES || c->barrier ||
            !(c->mask >> lane & 1))
            continue;
        if (c->mask != 1u << lane) {
            c->mask &= ~(1u << lane);
            struct async_copy mine = *c;
            mine.mask = 1u << lane;
            c = add(a);
            *c = mine;
        }
        c->barrier = offset + 1;
        c->phase = phase;
    }
}

void race_async_waited(struct exec *x, const struct op *o, u32 lane, u32 offset, u8 phase) {
    struct async *a = async_of(x, x->block);
    bool any = false;
    for (u32 i = 0; i < a->n; i++) {
        struct async_copy *c = &a->copy[i];
        if (c->barrier != offset + 1 || c->phase != phase) continue;
        for (u32 m = c->mask; m; m &= m - 1) complete_lane(x, o, lane, c, (u32)__builtin_ctz(m));
        c->mask = 0;
        any = true;
    }
    if (any) sweep(a);
}
