/* pace.c — blocks of a traced launch that look at what others leave get on in the order of a clock.
 *
 * Theory of operation. A scan with look-back takes as long as it does because of whom a block finds
 * there when it looks: if the block before it is done, one look is enough; if it is under way,
 * there are more. Run one after another, all blocks find all before them done. So here each
 * resident block has a clock, and the one that is furthest behind runs, up to the next place where
 * it may hand over or be handed something (OPF_INTERBLOCK_SYNC: strong accesses, atomics). What it
 * does there happens at that time. A look that finds nothing is made again and again, each time one
 * way to L2 and back later, until what it waits for was written by a block whose clock is not ahead
 * of it. The looks are in the trace, and cost in the replay what they cost: nothing else is charged
 * for waiting, and nothing has to be known about what a program waits for, or how.
 *
 * The clock is rough: it decides who finds what, not how long the launch takes. A turn lasts as
 * long as its longest warp executes, an instruction behind the other (lat_alu each), the latency of
 * L2 for a look and of DRAM for other loads; or until its SM has issued what its blocks had to
 * issue so far; or until DRAM has moved the sectors that all blocks had to move so far, each of
 * them once. A new block begins when one has ended, in its place.
 *
 * Blocks may wait for earlier ones only. The first piece of work (a block's, or what it drew from a
 * counter) is done before another begins, since there is none that it could wait for; and whichever
 * comes to be the first that is not done has to get on alone, if it has not after some turns. Where
 * one does not, the launch is one whose blocks wait for each other, which the time model does not
 * know. */
#include "grader/sim/core/pace.h"
#include "grader/sim/device.h"

#include <stdlib.h>

enum {
    SCHEDULERS = 4,
    SECTOR = 32,
    MANY_TURNS = 64 /* of the first piece, before it is asked to get on alone */
};

struct pace {
    double *sm, dram, dispatch; /* when each is free */
    u32 *heap, nheap;           /* resident blocks that run, by clock */
    u64 pieces, first,
        turns;          /* begun or drawn; the first that is not done, and its turns since it is */
    u64 loads, sectors; /* counted so far: plain loads; sectors of plain accesses */
    bool looked, drew,
        alone; /* the turn made a look, drew from a counter; a piece runs alone, without stops */
};

void pace_open(struct launch *l) {
    bool asks = l->trace && l->code->polls_global && l->code->interblock_dependent;
    if (!asks || l->chosen || l->clustered || l->request->cooperative || l->later_first) return;
    l->pace = xcalloc(1, sizeof *l->pace), l->paced = true;
    l->pace->sm = xcalloc(l->sim->options.device->sms, sizeof *l->pace->sm);
}

void pace_close(struct launch *l) {
    if (l->pace) free(l->pace->sm), free(l->pace->heap);
    free(l->pace);
}

/* ---- the block that is furthest behind ---- */

static bool is_behind(const struct worker *k, u32 a, u32 b) {
    const struct block *x = &k->blocks[a], *y = &k->blocks[b];
    return x->clock != y->clock ? x->clock < y->clock : x->linear < y->linear;
}

static void push(struct worker *k, u32 block) {
    struct pace *p = k->launch->pace;
    u32 i = p->nheap++;
    for (; i && is_behind(k, block, p->heap[(i - 1) / 2]); i = (i - 1) / 2)
        p->heap[i] = p->heap[(i - 1) / 2];
    p->heap[i] = block;
}

static u32 pop(struct worker *k) {
    struct pace *p = k->launch->pace;
    u32 top = p->heap[0], last = p->heap[--p->nheap], i = 0;
    for (u32 c; (c = 2 * i + 1) < p->nheap; p->heap[i] = p->heap[c], i = c) {
        if (c + 1 < p->nheap && is_behind(k, p->heap[c + 1], p->heap[c])) c++;
        if (!is_behind(k, p->heap[c], last)) break;
    }
    p->heap[i] = last;
    return top;
}

/* ---- what a turn takes ---- */

/* Once blocks are known to wait for later ones, there is no time to be had, and turns are long
 * again. */
static bool stops(const struct launch *l) {
    return l->pace ? !l->pace->alone && !l->waits : l->by_lot;
}

bool pace_stops(struct exec *x, struct warp *w, u32 lanes, const struct op *o) {
    struct launch *l = x->worker->launch;
    struct pace *p = l->pace;
    if (!lanes || !stops(l)) return false;
    w->at_meeting = !w->at_meeting;
    if (w->at_meeting || !p) return w->at_meeting;
    const struct mem_desc *d = &x->mems[o->aux];
    p->looked |= d->verb == MEM_LOAD || d->verb == MEM_ATOM;
    p->drew |= l->module->segments[l->module->segment_of[o - l->module->ops]].fetches_ticket;
    return false;
}

static double larger(double a, double b) { return a > b ? a : b; }

/* Loads and sectors of plain accesses, which go to DRAM; what blocks hand each other stays in L2.
 */
static void counted(const struct worker *k, u64 *loads, u64 *sectors) {
    const struct sim_module *m = k->launch->module;
    *loads = *sectors = 0;
    for (u32 i = 0; i < m->nstats; i++) {
        const struct stat_entry *o = &m->stat_entries[i];
        bool plain = o->space == SPACE_GLOBAL && !(m->ops[o->op].flags & OPF_INTERBLOCK_SYNC);
        if (!plain) continue;
        *sectors += k->stats[i][STAT_SECTORS];
        if (o->verb == MEM_LOAD) *loads += k->stats[i][STAT_REQUESTS];
    }
}

static u64 longest(struct block *b) {
    u64 most = 0;
    for (u32 i = 0; i < b->nwarps; i++) {
        u64 n = b->warps[i].executed - b->warps[i].turn_began;
        if (b->warps[i].executed >= b->warps[i].turn_began && n > most) most = n;
        b->warps[i].turn_began = b->warps[i].executed;
    }
    return most;
}

static void charge(struct worker *k, u32 slot, u64 executed) {
    struct pace *p = k->launch->pace;
    const struct gpu_device *d = k->launch->sim->options.device;
    struct block *b = &k->blocks[slot];
    double *sm = &p->sm[slot % d->sms],
           latency = (double)longest(b) * d->lat_alu + (p->looked ? d->lat_l2 : 0);
    u64 loads = p->loads, sectors = p->sectors;
    counted(k, &p->loads, &p->sectors);
    *sm = larger(*sm, b->clock) + (double)executed / SCHEDULERS;
    if (p->loads > loads) latency += d->lat_dram;
    double end = larger(b->clock + latency, *sm);
    if (p->sectors > sectors) {
        p->dram = larger(p->dram, b->clock) +
                  (double)(p->sectors - sectors) * SECTOR * d->clock_hz / d->dram_rate;
        end = larger(end, p->dram);
    }
    b->clock = end;
}

/* ---- pieces of work ---- */

static void begin_piece(struct pace *p, struct block *b) { b->piece = p->pieces++; }

/* The first piece is done, or was before now: the next one is that of some resident block. */
static void find_first(struct worker *k) {
    struct pace *p = k->launch->pace;
    p->first = UINT64_MAX, p->turns = 0;
    for (u32 i = 0; i < k->nblocks; i++)
        if (!k->blocks[i].done && k->blocks[i].piece < p->first) p->first = k->blocks[i].piece;
}

static enum warp_state turn(struct worker *k, struct block *b) {
    struct launch *l = k->launch;
    struct pace *p = l->pace;
    k->drew = p->looked = p->drew = false;
    p->alone = !l->waits && b->piece == p->first && (++p->turns > MANY_TURNS || !p->first);
    if (!p->alone) return block_run(k, b, LAUNCH_TURN);
    enum warp_state s = launch_run_alone(k, b);
    p->alone = false, p->turns = 0;
    return s;
}

/* ---- the launch ---- */

static bool start(struct worker *k, u32 slot, double now) {
    struct pace *p = k->launch->pace;
    struct block *b = &k->blocks[slot];
    if (!launch_next_block(k, b)) return false;
    begin_piece(p, b);
    p->dispatch = larger(p->dispatch, now) + pace_dispatch_cycles;
    b->clock = p->dispatch + pace_start_cycles;
    push(k, slot);
    return true;
}

static void start_all(struct worker *k, u32 most) {
    struct pace *p = k->launch->pace;
    while (k->nblocks < most && launch_add_resident(k, most)) {}
    p->heap = xcalloc(k->nblocks, sizeof *p->heap);
    for (u32 i = 0; i < k->nblocks; i++) k->blocks[i].done = true;
    for (u32 i = 0; i < k->nblocks && start(k, i, 0); i++) {}
}

/* False: the launch ends here. */
static bool step(struct worker *k, u32 slot) {
    struct block *b = &k->blocks[slot];
    u64 before = b->executed, piece = b->piece;
    enum warp_state s = turn(k, b);
    block_work_account(k, b);
    if (s == WARP_FAULTED) return launch_note_fault(k, b->linear), false;
    charge(k, slot, b->executed - before);
    if (k->launch->pace->drew) begin_piece(k->launch->pace, b);
    if (s == WARP_YIELDS) push(k, slot);
    else if (!launch_finish_block(k, b)) return false;
    else start(k, slot, b->clock);
    if (piece == k->launch->pace->first && (b->piece != piece || b->done)) find_first(k);
    return !atomic_load(&k->launch->over);
}

void pace_run(struct worker *k, u32 most) {
    start_all(k, most);
    while (k->launch->pace->nheap && step(k, pop(k))) {}
}
