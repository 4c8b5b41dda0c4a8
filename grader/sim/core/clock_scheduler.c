/* clock_scheduler.c — the clock-ordered schedule for blocks of a traced launch that poll each
 * other's results. core/launch.c calls it.
 *
 * Theory of operation. The time of a scan with look-back depends on what each block finds when it
 * polls: if the block before it is done, one poll is enough; if not, it polls again. If blocks ran
 * one after another, each would find all earlier ones done. So here each resident block has a
 * clock, and the block whose clock is furthest behind runs, up to its next interblock
 * synchronization (OPF_INTERBLOCK_SYNC: strong accesses, atomics), which happens at that time. A
 * poll that finds nothing repeats, each time one L2 latency later, until a block whose clock is not
 * ahead has written the value. The polls are in the trace and cost in the replay what they cost; no
 * other waiting is charged, and the scheduler need not know what a program waits for, or how.
 *
 * The clock is rough: it decides the order of writes and polls, not the launch's time. A timeslice
 * lasts as long as its longest warp executes, with lat_alu for each instruction, plus the latency
 * of L2 for a poll and of DRAM for other loads; but at least until the SM has issued all
 * instructions of its blocks so far, and until DRAM has moved all sectors of all blocks so far.
 * When a block ends, the next one starts in its place.
 *
 * Blocks may wait for earlier ones only. A work item is a block, or what a block does with one
 * ticket. The first item finishes before another begins, since it can't wait for any. Whenever an
 * item becomes the first unfinished one, it must finish alone after some timeslices; if it does
 * not, the launch's blocks wait for later ones, which the time model does not support. */
#include "grader/sim/core/clock_scheduler.h"
#include "grader/sim/core/livelock.h"
#include "grader/sim/device.h"

#include <stdlib.h>

enum {
    SCHEDULERS_PER_SM = 4,
    SECTOR_BYTES = 32,
    MAX_FIRST_ITEM_TIMESLICES = 64, /* of the first open item, before it must finish alone */
    TIMESLICE_COST = 20             /* units of core_add_simulation_cost: 0.4 us */
};

struct clock_scheduler {
    double *sm_free_at, dram_free_at, dispatch_free_at; /* clocks at which each is free */
    u32 *ready_heap, nready;                            /* running blocks, a heap by clock */
    u64 work_item_count, first_open_item;
    u64 round_robin_slices;       /* timeslices since blocks are known to wait for later ones */
    u64 first_item_timeslices;    /* since it is the first open item */
    u64 load_count, sector_count; /* of plain accesses so far: load requests; sectors */
    /* No block waits for an SM, so blocks may wait for each other in any order. */
    bool all_resident;
    /* in this timeslice: a ticket; the first item runs alone, without yields */
    double poll_latency; /* of this timeslice's poll; 0 = none */
    bool fetched_ticket, is_exclusive;
};

void clock_sched_open(struct launch *l) {
    bool is_requested = l->trace && l->code->polls_global && l->code->interblock_dependent;
    if (!is_requested || l->selected_blocks || l->has_clusters || l->request->cooperative ||
        l->reverse_block_order)
        return;
    l->clock_sched = xcalloc(1, sizeof *l->clock_sched), l->clock_ordered = true;
    l->clock_sched->sm_free_at =
        xcalloc(l->sim->options.device->sms, sizeof *l->clock_sched->sm_free_at);
}

void clock_sched_close(struct launch *l) {
    if (l->clock_sched) free(l->clock_sched->sm_free_at), free(l->clock_sched->ready_heap);
    free(l->clock_sched);
}

static double max_double(double a, double b) { return a > b ? a : b; }

/* ---- the block that is furthest behind ---- */

static bool has_earlier_clock(const struct worker *k, u32 a, u32 b) {
    const struct block *x = &k->blocks[a], *y = &k->blocks[b];
    return x->sched_clock != y->sched_clock ? x->sched_clock < y->sched_clock
                                            : x->linear < y->linear;
}

static void heap_push(struct worker *k, u32 block) {
    struct clock_scheduler *p = k->launch->clock_sched;
    u32 i = p->nready++;
    for (; i && has_earlier_clock(k, block, p->ready_heap[(i - 1) / 2]); i = (i - 1) / 2)
        p->ready_heap[i] = p->ready_heap[(i - 1) / 2];
    p->ready_heap[i] = block;
}

static u32 heap_pop(struct worker *k) {
    struct clock_scheduler *p = k->launch->clock_sched;
    u32 top = p->ready_heap[0], last = p->ready_heap[--p->nready], i = 0;
    for (u32 c; (c = 2 * i + 1) < p->nready; p->ready_heap[i] = p->ready_heap[c], i = c) {
        if (c + 1 < p->nready && has_earlier_clock(k, p->ready_heap[c + 1], p->ready_heap[c])) c++;
        if (!has_earlier_clock(k, p->ready_heap[c], last)) break;
    }
    p->ready_heap[i] = last;
    return top;
}

/* ---- the length of a timeslice ---- */

/* Returns true if timeslices end at interblock synchronization. They no longer do once blocks are
 * known to wait for later ones: then there is no time to model. */
static bool has_sync_yields(const struct launch *l) {
    return l->clock_sched ? !l->clock_sched->is_exclusive && !l->blocks_depend : l->random_order;
}

bool clock_sched_yields(struct exec *x, struct warp *w, u32 lanes, const struct op *o) {
    struct launch *l = x->worker->launch;
    struct clock_scheduler *p = l->clock_sched;
    if (!lanes || !has_sync_yields(l)) return false;
    const struct mem_desc *d = &x->mems[o->aux];
    w->at_sync_point = !w->at_sync_point;
    /* A release's fence ends before its store, which the next timeslice begins with. */
    if (w->at_sync_point && d->is_release && !d->is_cluster_scope) w->fence_count++;
    if (w->at_sync_point || !p) return w->at_sync_point;
    const struct gpu_device *device = l->sim->options.device;
    if (d->verb == MEM_LOAD || d->verb == MEM_ATOM)
        p->poll_latency =
            max_double(p->poll_latency, d->verb == MEM_LOAD ? device->lat_l2 : device->lat_atomic);
    p->fetched_ticket |=
        l->module->segments[l->module->segment_of[o - l->module->ops]].fetches_ticket;
    return false;
}

/* Counts loads and sectors of plain accesses, which go to DRAM. Values that blocks exchange stay in
 * L2. */
static void count_plain_accesses(const struct worker *k, u64 *loads, u64 *sectors) {
    const struct sim_module *m = k->launch->module;
    *loads = *sectors = 0;
    for (u32 i = 0; i < m->nstats; i++) {
        const struct stat_entry *o = &m->stat_entries[i];
        bool is_plain = o->space == SPACE_GLOBAL && !(m->ops[o->op].flags & OPF_INTERBLOCK_SYNC);
        if (!is_plain) continue;
        *sectors += k->stats[i][STAT_SECTORS];
        if (o->verb == MEM_LOAD) *loads += k->stats[i][STAT_REQUESTS];
    }
}

/* Returns the cycles of the longest warp's arithmetic and fences since the last timeslice. */
static double max_warp_cycles(struct block *b, const struct gpu_device *d) {
    double max = 0;
    for (u32 i = 0; i < b->nwarps; i++) {
        struct warp *w = &b->warps[i];
        u64 n = w->warp_insns >= w->timeslice_start ? w->warp_insns - w->timeslice_start : 0;
        max = max_double(max, (double)n * d->lat_alu + (double)w->fence_count * d->lat_fence);
        w->timeslice_start = w->warp_insns, w->fence_count = 0;
    }
    return max;
}

static void advance_clock(struct worker *k, u32 slot, u64 executed) {
    struct clock_scheduler *p = k->launch->clock_sched;
    const struct gpu_device *d = k->launch->sim->options.device;
    struct block *b = &k->blocks[slot];
    double *sm = &p->sm_free_at[slot % d->sms], latency = max_warp_cycles(b, d) + p->poll_latency;
    u64 loads = p->load_count, sectors = p->sector_count;
    count_plain_accesses(k, &p->load_count, &p->sector_count);
    *sm = max_double(*sm, b->sched_clock) + (double)executed / SCHEDULERS_PER_SM;
    if (p->load_count > loads) latency += d->lat_dram;
    double end = max_double(b->sched_clock + latency, *sm);
    if (p->sector_count > sectors) {
        p->dram_free_at =
            max_double(p->dram_free_at, b->sched_clock) +
            (double)(p->sector_count - sectors) * SECTOR_BYTES * d->clock_hz / d->dram_rate;
        end = max_double(end, p->dram_free_at);
    }
    b->sched_clock = end;
}

/* ---- work items ---- */

static void begin_work_item(struct clock_scheduler *p, struct block *b) {
    b->work_item = p->work_item_count++;
}

/* Finds the first open item among those of resident blocks, after its predecessor finished. */
static void find_first_open_item(struct worker *k) {
    struct clock_scheduler *p = k->launch->clock_sched;
    p->first_open_item = UINT64_MAX, p->first_item_timeslices = 0;
    for (u32 i = 0; i < k->nblocks; i++)
        if (!k->blocks[i].done && k->blocks[i].work_item < p->first_open_item)
            p->first_open_item = k->blocks[i].work_item;
}

static enum warp_state run_timeslice(struct worker *k, struct block *b) {
    struct launch *l = k->launch;
    struct clock_scheduler *p = l->clock_sched;
    k->fetched_ticket = p->fetched_ticket = false, p->poll_latency = 0;
    p->is_exclusive =
        !p->all_resident && !l->blocks_depend && b->work_item == p->first_open_item &&
        (++p->first_item_timeslices > MAX_FIRST_ITEM_TIMESLICES || !p->first_open_item);
    if (!p->is_exclusive) return block_run(k, b, LAUNCH_TIMESLICE);
    enum warp_state s = launch_run_exclusive(k, b);
    p->is_exclusive = false, p->first_item_timeslices = 0;
    return s;
}

/* ---- the launch ---- */

/* Once blocks wait for later ones, puts a block behind all others: no time is modelled then, and a
 * block whose clock is far ahead would starve. */
static void schedule_round_robin(struct worker *k, struct block *b) {
    struct clock_scheduler *p = k->launch->clock_sched;
    if (!k->launch->blocks_depend) return;
    for (u32 i = 0; !p->round_robin_slices && i < k->nblocks; i++) k->blocks[i].sched_clock = 0;
    b->sched_clock = (double)++p->round_robin_slices;
}

static bool start_block(struct worker *k, u32 slot, double now) {
    struct clock_scheduler *p = k->launch->clock_sched;
    struct block *b = &k->blocks[slot];
    if (!launch_start_next_block(k, b)) return false;
    begin_work_item(p, b);
    p->dispatch_free_at = max_double(p->dispatch_free_at, now) + block_dispatch_cycles;
    b->sched_clock = p->dispatch_free_at + block_start_cycles;
    schedule_round_robin(k, b);
    heap_push(k, slot);
    return true;
}

static void start_resident_blocks(struct worker *k, u32 max_resident) {
    struct clock_scheduler *p = k->launch->clock_sched;
    while (k->nblocks < max_resident && launch_add_resident(k, max_resident)) {}
    p->ready_heap = xcalloc(k->nblocks, sizeof *p->ready_heap);
    p->all_resident = k->nblocks == k->launch->nblocks;
    for (u32 i = 0; i < k->nblocks; i++) k->blocks[i].done = true;
    for (u32 i = 0; i < k->nblocks && start_block(k, i, 0); i++) {}
}

/* Runs one timeslice of a block; returns false if the launch ends. */
static bool run_block_step(struct worker *k, u32 slot) {
    struct block *b = &k->blocks[slot];
    u64 executed_before = b->warp_insns, work_item = b->work_item;
    core_add_simulation_cost(k->launch, TIMESLICE_COST);
    enum warp_state s = run_timeslice(k, b);
    block_work_account(k, b);
    if (s == WARP_FAULTED) return launch_record_fault(k, b->linear), false;
    advance_clock(k, slot, b->warp_insns - executed_before);
    schedule_round_robin(k, b);
    if (k->launch->clock_sched->fetched_ticket) begin_work_item(k->launch->clock_sched, b);
    if (s == WARP_YIELDED) heap_push(k, slot);
    else if (!launch_finish_block(k, b)) return false;
    else start_block(k, slot, b->sched_clock);
    if (work_item == k->launch->clock_sched->first_open_item &&
        (b->work_item != work_item || b->done))
        find_first_open_item(k);
    return !atomic_load(&k->launch->abort_fault);
}

/* Runs timeslices until each running block has had about one, or until one ends. Returns false if
 * the launch ends. */
static bool run_round(struct worker *k, struct livelock_detector *d) {
    struct clock_scheduler *p = k->launch->clock_sched;
    u64 started = atomic_load(&k->launch->next_block);
    u32 n = p->nready;
    for (u32 i = 0; i < n && p->nready == n && atomic_load(&k->launch->next_block) == started; i++)
        if (!run_block_step(k, heap_pop(k))) return false;
    if (p->nready != n || atomic_load(&k->launch->next_block) != started)
        return livelock_reset(d), true;
    if (!livelock_found(d, k, k->warp_insns)) return true;
    return livelock_report(k), false;
}

void clock_sched_run(struct worker *k, u32 max_resident) {
    struct livelock_detector d = {0};
    start_resident_blocks(k, max_resident);
    while (k->launch->clock_sched->nready && run_round(k, &d)) {}
    livelock_close(&d);
}
