/* cluster.c — clusters: their blocks run round robin on one worker, wait at the cluster barrier,
 * and access each other's shared memory. core/launch.c calls it.
 *
 * Theory of operation. A launch is divided into clusters, which workers take in order, as they take
 * blocks otherwise. The blocks of one cluster are all resident and get timeslices in turn. A block
 * that makes no progress waits for another one; if none makes progress, that is reported as barrier
 * divergence.
 *
 * The barrier (PTX ISA, "barrier.cluster"). Each thread arrives, and waits later; a phase is
 * complete when all threads that have not exited have arrived. Lanes that arrived are in
 * `cluster_arrived_lanes` of their warp. When the phase completes they move to
 * `cluster_released_lanes`, and their wait returns at once. */
#include "grader/sim/core/cluster.h"
#include "common/grow.h"
#include "grader/sim/core/source_location.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMESLICE = 20000, MAX_EXCLUSIVE_TIMESLICES = 16 /* as in launch.c */ };

/* ---- the launch ---- */

void cluster_set_dims(struct launch *l) {
    const unsigned *compiled = l->code->func->reqnctapercluster;
    const u32 *requested = l->request->cluster_dims;
    l->cluster_blocks = 1;
    for (u32 i = 0; i < 3; i++) {
        l->cluster_dims[i] = requested[0] ? requested[i] : compiled[0] ? compiled[i] : 1;
        if (!l->cluster_dims[i]) l->cluster_dims[i] = 1;
        l->cluster_blocks *= l->cluster_dims[i];
    }
    l->has_clusters = l->cluster_blocks > 1 || l->code->uses_clusters;
    l->tracks_cluster_races = l->has_clusters && l->sanitize && l->code->uses_clusters;
}

static u64 cluster_of(const struct launch *l, u64 block) {
    const u32 *g = l->request->grid, *c = l->cluster_dims;
    u64 x = block % g[0] / c[0], y = block / g[0] % g[1] / c[1], z = block / g[0] / g[1] / c[2];
    return (z * (g[1] / c[1]) + y) * (g[0] / c[0]) + x;
}

static u64 block_of(const struct launch *l, u64 cluster, u32 rank) {
    const u32 *g = l->request->grid, *c = l->cluster_dims;
    u64 nx = g[0] / c[0], ny = g[1] / c[1];
    u64 x = cluster % nx * c[0] + rank % c[0], y = cluster / nx % ny * c[1] + rank / c[0] % c[1],
        z = cluster / nx / ny * c[2] + rank / c[0] / c[1];
    return (z * g[1] + y) * g[0] + x;
}

static int compare_u64(const void *a, const void *b) {
    u64 p = *(const u64 *)a, q = *(const u64 *)b;
    return p < q ? -1 : p > q;
}

/* Lists the clusters that hold one of the selected blocks. */
static void list_selected_clusters(struct launch *l) {
    u64 n = 0;
    for (u32 i = 0; i < l->nselected_blocks; i++)
        l->cluster_ids[i] = cluster_of(l, l->selected_blocks[i]);
    qsort(l->cluster_ids, l->nselected_blocks, sizeof *l->cluster_ids, compare_u64);
    for (u32 i = 0; i < l->nselected_blocks; i++)
        if (!n || l->cluster_ids[n - 1] != l->cluster_ids[i])
            l->cluster_ids[n++] = l->cluster_ids[i];
    l->ncluster_ids = n;
}

/* Lists the clusters to run: all of them, those of the selected blocks, or a sample as large as
 * launch_block_count says. */
static void list_clusters(struct launch *l) {
    u64 total = l->nblocks / l->cluster_blocks;
    l->has_clusters = false;
    u64 sample_size = (launch_block_count(l) + l->cluster_blocks - 1) / l->cluster_blocks;
    l->has_clusters = true;
    l->ncluster_ids = sample_size < total ? sample_size : total;
    l->cluster_ids =
        xcalloc(l->selected_blocks ? l->nselected_blocks : l->ncluster_ids, sizeof *l->cluster_ids);
    if (l->selected_blocks) return list_selected_clusters(l);
    for (u64 i = 0; i < l->ncluster_ids; i++)
        l->cluster_ids[i] =
            l->ncluster_ids == total
                ? i
                : launch_sample_block(i, l->ncluster_ids, total, l->sim->options.sample_key);
}

void cluster_free(const struct launch *l, struct cluster *c) {
    for (u32 i = 0; i < c->nblocks; i++) block_free(l, &c->blocks[i]);
    free(c->blocks);
    free(c);
}

static bool add_cluster(struct worker *k) {
    struct launch *l = k->launch;
    struct cluster *c = xcalloc(1, sizeof *c);
    GROW(k->clusters, k->nclusters + 1, k->clusters_capacity, 1);
    k->clusters[k->nclusters++] = c;
    c->blocks = xcalloc(l->cluster_blocks, sizeof *c->blocks);
    for (; c->nblocks < l->cluster_blocks; c->nblocks++) {
        if (!block_allocate(l, &c->blocks[c->nblocks])) return false;
        c->blocks[c->nblocks].cluster = c;
        c->blocks[c->nblocks].cluster_rank = c->nblocks;
    }
    return true;
}

bool cluster_open(struct launch *l) {
    list_clusters(l);
    for (u32 i = 0; i < l->nworkers; i++)
        if (!add_cluster(&l->workers[i])) return false;
    return true;
}

/* ---- the start of a cluster ---- */

static void fill_uniform_slot(struct block *b, u32 slot, u32 value) {
    u32 *v = (u32 *)(b->values + slot * SLOT_BYTES);
    for (u32 i = 0; i < 32; i++) v[i] = value;
}

static void fill_cluster_regs(const struct launch *l, struct block *b) {
    fill_uniform_slot(b, B_CLUSTER_SIZE, l->cluster_blocks);
    fill_uniform_slot(b, B_CLUSTER_RANK, b->cluster_rank);
    fill_uniform_slot(b, B_EXPLICIT_CLUSTER, l->cluster_blocks > 1 ? ~0u : 0);
    for (u32 i = 0; i < 3; i++) {
        fill_uniform_slot(b, B_CLUSTER_CTAID_X + i, b->index[i] % l->cluster_dims[i]);
        fill_uniform_slot(b, B_CLUSTER_NCTAID_X + i, l->cluster_dims[i]);
        fill_uniform_slot(b, B_CLUSTERID_X + i, b->index[i] / l->cluster_dims[i]);
        fill_uniform_slot(b, B_NCLUSTERID_X + i, l->request->grid[i] / l->cluster_dims[i]);
    }
}

static bool start_next_cluster(struct worker *k, struct cluster *c) {
    struct launch *l = k->launch;
    u64 i = atomic_fetch_add(&l->next_block, 1);
    c->done = i >= l->ncluster_ids ||
              l->cluster_ids[i] * l->cluster_blocks >= atomic_load(&l->fault_block);
    if (c->done) return false;
    c->cluster_id = l->cluster_ids[i];
    c->barrier_generation = c->sync_epoch = 0;
    c->has_release_arrival = false;
    memset(c->last_remote_access, 0, sizeof c->last_remote_access);
    for (u32 r = 0; r < c->nblocks; r++) {
        struct block *b = &c->blocks[r];
        block_start(k, b, block_of(l, c->cluster_id, r));
        b->launch_order = c->cluster_id * l->cluster_blocks + r;
        b->done = false;
        fill_cluster_regs(l, b);
    }
    c->start_clock = c->blocks[0].logical_clock;
    return true;
}

/* ---- the barrier ---- */

void cluster_advance_epoch(struct exec *x) {
    const struct launch *l = x->worker->launch;
    struct cluster *c = x->cluster;
    c->sync_epoch++;
    if (!l->race_callbacks) return;
    for (u32 r = 0; r < c->nblocks; r++) l->race_callbacks->on_block_sync(&c->blocks[r], l);
    for (u32 r = 0; r < c->nblocks; r++)
        c->blocks[r].acquire_clock = c->blocks[r].grid_clock = c->blocks[0].logical_clock;
}

static void release_warp(struct warp *w) {
    w->cluster_released_lanes |= w->cluster_arrived_lanes & w->live_lanes;
    w->cluster_arrived_lanes = 0;
    for (u32 i = 0; i < w->nsplits; i++) {
        struct warp_split *f = &w->splits[i];
        if (f->state != SPLIT_AT_CLUSTER_BARRIER) continue;
        w->cluster_released_lanes &= ~f->mask;
        f->state = SPLIT_READY;
        f->reconverged = 1;
        f->pc++;
        f->vruntime = 0;
    }
}

void cluster_try_release(struct exec *x) {
    struct cluster *c = x->cluster;
    u32 any = 0;
    for (u32 r = 0; r < c->nblocks; r++)
        for (u32 i = 0; i < c->blocks[r].nwarps; i++) {
            const struct warp *w = &c->blocks[r].warps[i];
            if (w->live_lanes & ~w->cluster_arrived_lanes) return;
            any |= w->cluster_arrived_lanes & w->live_lanes;
        }
    if (!any) return;
    for (u32 r = 0; r < c->nblocks; r++)
        for (u32 i = 0; i < c->blocks[r].nwarps; i++) release_warp(&c->blocks[r].warps[i]);
    c->barrier_generation++;
    if (c->has_release_arrival) cluster_advance_epoch(x);
    c->has_release_arrival = false;
}

/* o->imm: .relaxed, which orders nothing unless a fence precedes it. */
void cluster_arrive(struct exec *x, const struct op *o, u32 mask) {
    struct warp *w = x->warp;
    u32 duplicate_lanes = mask & (w->cluster_arrived_lanes | w->cluster_released_lanes);
    if (duplicate_lanes) {
        core_fault(x, SIM_FAULT_BAD_SYNC, o, (u32)__builtin_ctz(duplicate_lanes), 0,
                   "arrives at the cluster barrier twice without waiting at it in between");
        return;
    }
    w->cluster_arrived_lanes |= mask;
    if (!o->imm || (w->fenced_lanes & mask) == mask) x->cluster->has_release_arrival = true;
    w->fenced_lanes &= ~mask;
    cluster_try_release(x);
}

void cluster_wait(struct exec *x, struct warp_split *f, const struct op *o) {
    struct warp *w = x->warp;
    u32 released = f->mask & w->cluster_released_lanes,
        not_arrived = f->mask & ~(w->cluster_arrived_lanes | w->cluster_released_lanes);
    if (not_arrived) {
        core_fault(x, SIM_FAULT_BAD_SYNC, o, (u32)__builtin_ctz(not_arrived), 0,
                   "waits at the cluster barrier without having arrived (barrier.cluster.arrive)");
        return;
    }
    w->cluster_released_lanes &= ~released;
    if (released == f->mask) {
        f->pc++;
        return;
    }
    if (released) split_diverge(w, f, released, f->pc + 1);
    f->state = SPLIT_AT_CLUSTER_BARRIER;
}

/* ---- deadlocks ---- */

struct split_position {
    u32 rank;
    struct warp *warp;
    const struct warp_split *split;
};

/* Finds a split that waits at the cluster barrier, or (find_waiting false) one that has not
 * arrived. */
static bool find_split(const struct cluster *c, bool find_waiting, struct split_position *out) {
    for (u32 r = 0; r < c->nblocks; r++)
        for (u32 i = 0; i < c->blocks[r].nwarps; i++) {
            struct warp *w = &c->blocks[r].warps[i];
            for (u32 k = 0; k < w->nsplits; k++) {
                bool at = w->splits[k].state == SPLIT_AT_CLUSTER_BARRIER,
                     has_not_arrived = w->splits[k].mask & ~w->cluster_arrived_lanes;
                *out = (struct split_position){r, w, &w->splits[k]};
                if (find_waiting ? at : !at && has_not_arrived) return true;
            }
        }
    return false;
}

static void describe_blocker(const struct launch *l, const struct cluster *c, char *out,
                             size_t size) {
    static const char *const wait_texts[] = {
        [SPLIT_AT_BARRIER] = "a barrier of its block", [SPLIT_AT_WARP_SYNC] = "lanes of its warp"};
    struct split_position p;
    *out = 0;
    if (!find_split(c, false, &p) || p.split->state == SPLIT_READY) return;
    const u32 *t = (const u32 *)p.warp->special_regs, lane = (u32)__builtin_ctz(p.split->mask),
              *b = c->blocks[p.rank].index;
    snprintf(out, size, ": thread (%u,%u,%u) of block (%u,%u,%u) waits for %s at line %u", t[lane],
             t[32 + lane], t[64 + lane], b[0], b[1], b[2], wait_texts[p.split->state],
             source_location_of(l->module->ptx, l->ops[p.split->pc].loc)->line);
}

static void report_stuck_cluster(struct worker *k, struct cluster *c) {
    struct exec *x = &k->exec;
    struct split_position p;
    char blocker_text[192];
    if (!find_split(c, true, &p)) {
        u32 r = 0;
        while (c->blocks[r].done) r++;
        x->block = &c->blocks[r];
        return barrier_report_deadlock(x);
    }
    describe_blocker(k->launch, c, blocker_text, sizeof blocker_text);
    x->block = &c->blocks[p.rank];
    x->warp = p.warp;
    core_fault(x, SIM_FAULT_DIVERGENT_BARRIER, &k->launch->ops[p.split->pc],
               (u32)__builtin_ctz(p.split->mask), 0, "waits forever at the cluster barrier%s",
               blocker_text);
}

/* ---- other blocks' shared memory ---- */

static void record_remote_access(struct exec *x, const struct op *o, u32 lane, u32 rank) {
    struct cluster *c = x->cluster;
    const u32 *b = c->blocks[rank].index;
    if (!c->barrier_generation && x->sanitize)
        core_fault(x, SIM_FAULT_DSMEM_LIFETIME, o, lane, rank,
                   "accesses shared memory of block (%u,%u,%u), which may not have started: no "
                   "cluster barrier (cluster.sync()) precedes the access",
                   b[0], b[1], b[2]);
    c->last_remote_access[rank].op = o;
    c->last_remote_access[rank].rank = x->block->cluster_rank;
    c->last_remote_access[rank].warp = x->warp->index;
    c->last_remote_access[rank].lane = lane;
    c->last_remote_access[rank].sync_epoch = c->sync_epoch;
}

struct block *cluster_resolve_address(struct exec *x, const struct op *o, u32 lane, u64 address,
                                      u32 span, u32 *offset) {
    struct cluster *c = x->cluster;
    u32 field = cluster_rank_field(address), rank = field ? field - 1 : x->block->cluster_rank;
    *offset = cluster_offset(address);
    if (rank >= c->nblocks) {
        core_fault(x, SIM_FAULT_DSMEM, o, lane, address,
                   "accesses shared memory of block rank %u in a cluster of %u blocks", rank,
                   c->nblocks);
        return NULL;
    }
    struct block *b = &c->blocks[rank];
    if (*offset >= x->shared_bytes || span > x->shared_bytes - *offset) {
        core_fault(x, SIM_FAULT_DSMEM, o, lane, address,
                   "accesses %u bytes at offset %u of the shared memory of block (%u,%u,%u), which "
                   "has %u bytes",
                   span, *offset, b->index[0], b->index[1], b->index[2], x->shared_bytes);
        return NULL;
    }
    if (b->done) {
        core_fault(x, SIM_FAULT_DSMEM, o, lane, address,
                   "accesses shared memory of block (%u,%u,%u), which has exited: a cluster "
                   "barrier (cluster.sync()) after the access keeps it alive",
                   b->index[0], b->index[1], b->index[2]);
        return NULL;
    }
    if (rank != x->block->cluster_rank) record_remote_access(x, o, lane, rank);
    return b;
}

struct block *cluster_block_containing(const struct exec *x, const void *p) {
    for (u32 r = 0; x->cluster && r < x->cluster->nblocks; r++) {
        struct block *b = &x->cluster->blocks[r];
        if ((u64)p - (u64)b->warps < b->mapping_bytes) return b;
    }
    return x->block;
}

/* Reports an access to the shared memory of a block that ends, if no cluster barrier orders it
 * before the end. */
static void check_exit(struct worker *k, struct cluster *c, u32 rank) {
    struct exec *x = &k->exec;
    const u32 *b = c->blocks[rank].index;
    if (!k->launch->sanitize || !c->last_remote_access[rank].op ||
        c->last_remote_access[rank].sync_epoch != c->sync_epoch)
        return;
    x->block = &c->blocks[c->last_remote_access[rank].rank];
    x->warp = &x->block->warps[c->last_remote_access[rank].warp];
    core_fault(x, SIM_FAULT_DSMEM_LIFETIME, c->last_remote_access[rank].op,
               c->last_remote_access[rank].lane, rank,
               "accesses shared memory of block (%u,%u,%u), which may have exited: no cluster "
               "barrier (cluster.sync()) separates the access from the block's exit",
               b[0], b[1], b[2]);
}

/* ---- running ---- */

static void record_fault_order(struct launch *l, struct worker *k, u64 order) {
    unsigned long lowest = atomic_load(&l->fault_block);
    while (order < lowest && !atomic_compare_exchange_weak(&l->fault_block, &lowest, order))
        ;
    if (order < k->fault_block) k->fault_block = order;
}

/* Ends a block; returns false if the launch exceeds its budget. */
static bool finish_block(struct worker *k, struct cluster *c, u32 rank) {
    struct block *b = &c->blocks[rank];
    b->done = true;
    check_exit(k, c, rank);
    k->exec.block = b;
    cluster_try_release(&k->exec);
    return launch_finish_block(k, b);
}

/* Runs each block for one timeslice; returns WARP_WAITING if none made progress. */
static enum warp_state run_blocks_once(struct worker *k, struct cluster *c) {
    bool is_alive = false, has_yielded = false, made_progress = false;
    for (u32 r = 0; r < c->nblocks; r++) {
        struct block *b = &c->blocks[r];
        if (b->done) continue;
        u64 executed_before = b->warp_insns;
        u32 generation_before = c->barrier_generation;
        enum warp_state s = block_run(k, b, TIMESLICE);
        if (k->launch->trace) block_work_account(k, b);
        if (s == WARP_FAULTED) return s;
        if (s == WARP_DONE && !finish_block(k, c, r)) return WARP_FAULTED;
        is_alive |= !b->done;
        has_yielded |= s == WARP_YIELDED;
        made_progress |= b->warp_insns != executed_before || b->done ||
                         c->barrier_generation != generation_before;
    }
    return !is_alive ? WARP_DONE : has_yielded || made_progress ? WARP_YIELDED : WARP_WAITING;
}

static u64 sum_executed(const struct cluster *c) {
    u64 n = 0;
    for (u32 r = 0; r < c->nblocks; r++) n += c->blocks[r].warp_insns;
    return n;
}

/* Runs the cluster to its end if it can't wait for another cluster; else for one timeslice. */
static enum warp_state run_timeslice(struct worker *k, struct cluster *c) {
    struct launch *l = k->launch;
    enum warp_state s = run_blocks_once(k, c);
    u64 limit =
        l->code->interblock_dependent ? sum_executed(c) + (u64)TIMESLICE * c->nblocks : UINT64_MAX;
    if (l->trace && !l->blocks_depend)
        limit = (u64)MAX_EXCLUSIVE_TIMESLICES * TIMESLICE * l->nwarps * c->nblocks;
    while (s == WARP_YIELDED && sum_executed(c) < limit && !atomic_load(&l->abort_fault))
        s = run_blocks_once(k, c);
    if (l->trace && l->code->interblock_dependent) l->blocks_depend |= s == WARP_YIELDED;
    if (s == WARP_WAITING) report_stuck_cluster(k, c), s = WARP_FAULTED;
    return s;
}

static bool start_more_clusters(struct worker *k, u32 max_resident) {
    return k->nclusters < max_resident &&
           atomic_load(&k->launch->next_block) < k->launch->ncluster_ids && add_cluster(k) &&
           start_next_cluster(k, k->clusters[k->nclusters - 1]);
}

void cluster_run_worker(struct worker *k, u32 max_resident) {
    bool running = start_next_cluster(k, k->clusters[0]);
    while (running) {
        bool has_yielded = false;
        running = false;
        for (u32 i = 0; i < k->nclusters; i++) {
            struct cluster *c = k->clusters[i];
            if (c->done) continue;
            enum warp_state s = run_timeslice(k, c);
            if (s == WARP_FAULTED) {
                if (k->exec.faulted) record_fault_order(k->launch, k, k->exec.block->launch_order);
                return;
            }
            if (atomic_load(&k->launch->abort_fault)) return;
            if (s == WARP_YIELDED) has_yielded = true;
            else if (!start_next_cluster(k, c)) c->done = true;
            running |= !c->done;
        }
        if (has_yielded) running |= start_more_clusters(k, max_resident);
    }
}
