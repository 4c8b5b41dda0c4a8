/* cluster.c — clusters: their blocks run in turn on one worker, meet at the cluster's barrier, and
 * reach each other's shared memory.
 *
 * Theory of operation. A launch is cut into clusters, which workers take in order, as they take
 * blocks elsewhere; the blocks of one cluster are all resident and take turns. A block that gets no
 * further waits for another one; where none gets further, that is reported.
 *
 * The barrier (PTX ISA, "barrier.cluster"). Each thread arrives, and waits later; a phase is
 * complete when all threads that have not exited have arrived. Lanes that arrived are in
 * `cluster_arrived` of their warp; when the phase is complete they are in `cluster_passed`, and
 * their wait costs nothing. */
#include "grader/sim/core/cluster.h"
#include "common/grow.h"
#include "grader/sim/core/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURN = 20000, ALONE = 16 /* as in launch.c */ };

/* ---- the launch ---- */

void cluster_prepare(struct launch *l) {
    const unsigned *own = l->code->func->reqnctapercluster;
    const u32 *asked = l->request->cluster;
    l->cluster_blocks = 1;
    for (u32 i = 0; i < 3; i++) {
        l->cluster[i] = asked[0] ? asked[i] : own[0] ? own[i] : 1;
        if (!l->cluster[i]) l->cluster[i] = 1;
        l->cluster_blocks *= l->cluster[i];
    }
    l->clustered = l->cluster_blocks > 1 || l->code->uses_clusters;
    l->cluster_races = l->clustered && l->sanitize && l->code->uses_clusters;
}

static u64 cluster_of(const struct launch *l, u64 block) {
    const u32 *g = l->request->grid, *c = l->cluster;
    u64 x = block % g[0] / c[0], y = block / g[0] % g[1] / c[1], z = block / g[0] / g[1] / c[2];
    return (z * (g[1] / c[1]) + y) * (g[0] / c[0]) + x;
}

static u64 block_of(const struct launch *l, u64 cluster, u32 rank) {
    const u32 *g = l->request->grid, *c = l->cluster;
    u64 nx = g[0] / c[0], ny = g[1] / c[1];
    u64 x = cluster % nx * c[0] + rank % c[0], y = cluster / nx % ny * c[1] + rank / c[0] % c[1],
        z = cluster / nx / ny * c[2] + rank / c[0] / c[1];
    return (z * g[1] + y) * g[0] + x;
}

static int by_number(const void *a, const void *b) {
    u64 p = *(const u64 *)a, q = *(const u64 *)b;
    return p < q ? -1 : p > q;
}

/* The clusters that hold one of the chosen blocks. */
static void list_chosen(struct launch *l) {
    u64 n = 0;
    for (u32 i = 0; i < l->nchosen; i++) l->units[i] = cluster_of(l, l->chosen[i]);
    qsort(l->units, l->nchosen, sizeof *l->units, by_number);
    for (u32 i = 0; i < l->nchosen; i++)
        if (!n || l->units[n - 1] != l->units[i]) l->units[n++] = l->units[i];
    l->nunits = n;
}

/* All of them, what was chosen, or a sample as large as launch_blocks makes it. */
static void list_units(struct launch *l) {
    u64 all = l->nblocks / l->cluster_blocks;
    l->clustered = false;
    u64 wanted = (launch_blocks(l) + l->cluster_blocks - 1) / l->cluster_blocks;
    l->clustered = true;
    l->nunits = wanted < all ? wanted : all;
    l->units = xcalloc(l->chosen ? l->nchosen : l->nunits, sizeof *l->units);
    if (l->chosen) return list_chosen(l);
    for (u64 i = 0; i < l->nunits; i++)
        l->units[i] =
            l->nunits == all ? i : launch_sample(i, l->nunits, all, l->sim->options.sample_key);
}

void cluster_free(const struct launch *l, struct cluster *c) {
    for (u32 i = 0; i < c->n; i++) block_free(l, &c->blocks[i]);
    free(c->blocks);
    free(c);
}

static bool add_cluster(struct worker *k) {
    struct launch *l = k->launch;
    struct cluster *c = xcalloc(1, sizeof *c);
    GROW(k->clusters, k->nclusters + 1, k->clusters_capacity, 1);
    k->clusters[k->nclusters++] = c;
    c->blocks = xcalloc(l->cluster_blocks, sizeof *c->blocks);
    for (; c->n < l->cluster_blocks; c->n++) {
        if (!block_allocate(l, &c->blocks[c->n])) return false;
        c->blocks[c->n].cluster = c;
        c->blocks[c->n].rank = c->n;
    }
    return true;
}

bool cluster_open(struct launch *l) {
    list_units(l);
    for (u32 i = 0; i < l->nworkers; i++)
        if (!add_cluster(&l->workers[i])) return false;
    return true;
}

/* ---- a cluster begins ---- */

static void put(struct block *b, u32 slot, u32 value) {
    u32 *v = (u32 *)(b->values + slot * SLOT_BYTES);
    for (u32 i = 0; i < 32; i++) v[i] = value;
}

static void fill_specials(const struct launch *l, struct block *b) {
    put(b, B_CLUSTER_SIZE, l->cluster_blocks);
    put(b, B_CLUSTER_RANK, b->rank);
    put(b, B_EXPLICIT_CLUSTER, l->cluster_blocks > 1 ? ~0u : 0);
    for (u32 i = 0; i < 3; i++) {
        put(b, B_CLUSTER_CTAID_X + i, b->index[i] % l->cluster[i]);
        put(b, B_CLUSTER_NCTAID_X + i, l->cluster[i]);
        put(b, B_CLUSTERID_X + i, b->index[i] / l->cluster[i]);
        put(b, B_NCLUSTERID_X + i, l->request->grid[i] / l->cluster[i]);
    }
}

static bool next_cluster(struct worker *k, struct cluster *c) {
    struct launch *l = k->launch;
    u64 i = atomic_fetch_add(&l->next_block, 1);
    c->done = i >= l->nunits || l->units[i] * l->cluster_blocks >= atomic_load(&l->fault_block);
    if (c->done) return false;
    c->number = l->units[i];
    c->passes = c->orders = 0;
    c->released = false;
    memset(c->last, 0, sizeof c->last);
    for (u32 r = 0; r < c->n; r++) {
        struct block *b = &c->blocks[r];
        block_start(k, b, block_of(l, c->number, r));
        b->order = c->number * l->cluster_blocks + r;
        b->done = false;
        fill_specials(l, b);
    }
    c->start = c->blocks[0].tick;
    return true;
}

/* ---- the barrier ---- */

void cluster_order(struct exec *x) {
    const struct launch *l = x->worker->launch;
    struct cluster *c = x->cluster;
    c->orders++;
    if (!l->hooks) return;
    for (u32 r = 0; r < c->n; r++) l->hooks->block_interval(&c->blocks[r], l);
    for (u32 r = 0; r < c->n; r++) c->blocks[r].acquired = c->blocks[0].tick;
}

static void pass(struct warp *w) {
    w->cluster_passed |= w->cluster_arrived & w->live;
    w->cluster_arrived = 0;
    for (u32 i = 0; i < w->nfrag; i++) {
        struct fragment *f = &w->frag[i];
        if (f->state != FRAG_AT_CLUSTER) continue;
        w->cluster_passed &= ~f->mask;
        f->state = FRAG_READY;
        f->met = 1;
        f->pc++;
        f->turn = 0;
    }
}

void cluster_check(struct exec *x) {
    struct cluster *c = x->cluster;
    u32 any = 0;
    for (u32 r = 0; r < c->n; r++)
        for (u32 i = 0; i < c->blocks[r].nwarps; i++) {
            const struct warp *w = &c->blocks[r].warps[i];
            if (w->live & ~w->cluster_arrived) return;
            any |= w->cluster_arrived & w->live;
        }
    if (!any) return;
    for (u32 r = 0; r < c->n; r++)
        for (u32 i = 0; i < c->blocks[r].nwarps; i++) pass(&c->blocks[r].warps[i]);
    c->passes++;
    if (c->released) cluster_order(x);
    c->released = false;
}

/* o->imm: .relaxed, which orders nothing unless a fence went before. */
void cluster_arrive(struct exec *x, const struct op *o, u32 mask) {
    struct warp *w = x->warp;
    u32 twice = mask & (w->cluster_arrived | w->cluster_passed);
    if (twice) {
        core_fault(x, SIM_FAULT_BAD_SYNC, o, (u32)__builtin_ctz(twice), 0,
                   "comes to the barrier of its cluster twice, without waiting at it between");
        return;
    }
    w->cluster_arrived |= mask;
    if (!o->imm || (w->fenced & mask) == mask) x->cluster->released = true;
    w->fenced &= ~mask;
    cluster_check(x);
}

void cluster_wait(struct exec *x, struct fragment *f, const struct op *o) {
    struct warp *w = x->warp;
    u32 passed = f->mask & w->cluster_passed,
        neither = f->mask & ~(w->cluster_arrived | w->cluster_passed);
    if (neither) {
        core_fault(
            x, SIM_FAULT_BAD_SYNC, o, (u32)__builtin_ctz(neither), 0,
            "waits at the barrier of its cluster and never came to it (barrier.cluster.arrive)");
        return;
    }
    w->cluster_passed &= ~passed;
    if (passed == f->mask) {
        f->pc++;
        return;
    }
    if (passed) fragment_split(w, f, passed, f->pc + 1);
    f->state = FRAG_AT_CLUSTER;
}

/* ---- who waits for whom, where nobody gets further ---- */

struct place {
    u32 rank;
    struct warp *warp;
    const struct fragment *fragment;
};

/* Of a thread that waits at the cluster's barrier, or that it waits for. */
static bool find(const struct cluster *c, bool waiting, struct place *out) {
    for (u32 r = 0; r < c->n; r++)
        for (u32 i = 0; i < c->blocks[r].nwarps; i++) {
            struct warp *w = &c->blocks[r].warps[i];
            for (u32 k = 0; k < w->nfrag; k++) {
                bool at = w->frag[k].state == FRAG_AT_CLUSTER,
                     missing = w->frag[k].mask & ~w->cluster_arrived;
                *out = (struct place){r, w, &w->frag[k]};
                if (waiting ? at : !at && missing) return true;
            }
        }
    return false;
}

static void describe_missing(const struct launch *l, const struct cluster *c, char *out,
                             size_t size) {
    static const char *const waits[] = {
        [FRAG_AT_BARRIER] = "a barrier of its block", [FRAG_AT_RENDEZVOUS] = "lanes of its warp"};
    struct place p;
    *out = 0;
    if (!find(c, false, &p) || p.fragment->state == FRAG_READY) return;
    const u32 *t = (const u32 *)p.warp->specials, lane = (u32)__builtin_ctz(p.fragment->mask),
              *b = c->blocks[p.rank].index;
    snprintf(out, size, ": thread (%u,%u,%u) of block (%u,%u,%u) waits for %s at line %u", t[lane],
             t[32 + lane], t[64 + lane], b[0], b[1], b[2], waits[p.fragment->state],
             place_source(l->module->ptx, l->ops[p.fragment->pc].loc)->line);
}

static void stuck(struct worker *k, struct cluster *c) {
    struct exec *x = &k->x;
    struct place p;
    char missing[192];
    if (!find(c, true, &p)) {
        u32 r = 0;
        while (c->blocks[r].done) r++;
        x->block = &c->blocks[r];
        return barrier_deadlock(x);
    }
    describe_missing(k->launch, c, missing, sizeof missing);
    x->block = &c->blocks[p.rank];
    x->warp = p.warp;
    core_fault(x, SIM_FAULT_DIVERGENT_BARRIER, &k->launch->ops[p.fragment->pc],
               (u32)__builtin_ctz(p.fragment->mask), 0,
               "waits at the barrier of its cluster for ever%s", missing);
}

/* ---- other blocks' shared memory ---- */

static void note_access(struct exec *x, const struct op *o, u32 lane, u32 rank) {
    struct cluster *c = x->cluster;
    const u32 *b = c->blocks[rank].index;
    if (!c->passes && x->sanitize)
        core_fault(x, SIM_FAULT_CLUSTER_LIFE, o, lane, rank,
                   "accesses shared memory of block (%u,%u,%u), which may not have started: no "
                   "cluster barrier "
                   "(cluster.sync()) lies before",
                   b[0], b[1], b[2]);
    c->last[rank].o = o;
    c->last[rank].rank = x->block->rank;
    c->last[rank].warp = x->warp->index;
    c->last[rank].lane = lane;
    c->last[rank].orders = c->orders;
}

struct block *cluster_target(struct exec *x, const struct op *o, u32 lane, u64 address, u32 span,
                             u32 *offset) {
    struct cluster *c = x->cluster;
    u32 field = cluster_rank_field(address), rank = field ? field - 1 : x->block->rank;
    *offset = cluster_offset(address);
    if (rank >= c->n) {
        core_fault(x, SIM_FAULT_CLUSTER, o, lane, address,
                   "accesses shared memory of rank %u in a cluster of %u blocks", rank, c->n);
        return NULL;
    }
    struct block *b = &c->blocks[rank];
    if (*offset >= x->shared_bytes || span > x->shared_bytes - *offset) {
        core_fault(x, SIM_FAULT_CLUSTER, o, lane, address,
                   "accesses %u bytes at offset %u of the shared memory of block (%u,%u,%u), which "
                   "has %u bytes",
                   span, *offset, b->index[0], b->index[1], b->index[2], x->shared_bytes);
        return NULL;
    }
    if (b->done) {
        core_fault(x, SIM_FAULT_CLUSTER, o, lane, address,
                   "accesses shared memory of block (%u,%u,%u), which has exited: a cluster "
                   "barrier (cluster.sync()) after "
                   "the access keeps it",
                   b->index[0], b->index[1], b->index[2]);
        return NULL;
    }
    if (rank != x->block->rank) note_access(x, o, lane, rank);
    return b;
}

struct block *cluster_holder(const struct exec *x, const void *p) {
    for (u32 r = 0; x->cluster && r < x->cluster->n; r++) {
        struct block *b = &x->cluster->blocks[r];
        if ((u64)p - (u64)b->warps < b->bytes) return b;
    }
    return x->block;
}

/* A block ends: whoever reached into it must have been ordered before that. */
static void check_exit(struct worker *k, struct cluster *c, u32 rank) {
    struct exec *x = &k->x;
    const u32 *b = c->blocks[rank].index;
    if (!k->launch->sanitize || !c->last[rank].o || c->last[rank].orders != c->orders) return;
    x->block = &c->blocks[c->last[rank].rank];
    x->warp = &x->block->warps[c->last[rank].warp];
    core_fault(x, SIM_FAULT_CLUSTER_LIFE, c->last[rank].o, c->last[rank].lane, rank,
               "accesses shared memory of block (%u,%u,%u), which may have exited: no cluster "
               "barrier (cluster.sync()) lies "
               "between the access and the block's end",
               b[0], b[1], b[2]);
}

/* ---- running ---- */

static void lower_fault(struct launch *l, struct worker *k, u64 order) {
    unsigned long lowest = atomic_load(&l->fault_block);
    while (order < lowest && !atomic_compare_exchange_weak(&l->fault_block, &lowest, order))
        ;
    if (order < k->fault_block) k->fault_block = order;
}

/* False: the launch is over its budget. */
static bool end_block(struct worker *k, struct cluster *c, u32 rank) {
    struct block *b = &c->blocks[rank];
    b->done = true;
    check_exit(k, c, rank);
    k->x.block = b;
    cluster_check(&k->x);
    return launch_finish_block(k, b);
}

/* Each block once; WARP_WAITS: none got further. */
static enum warp_state run_round(struct worker *k, struct cluster *c) {
    bool alive = false, yields = false, progress = false;
    for (u32 r = 0; r < c->n; r++) {
        struct block *b = &c->blocks[r];
        if (b->done) continue;
        u64 before = b->executed;
        u32 passes = c->passes;
        enum warp_state s = block_run(k, b, TURN);
        if (k->launch->trace) block_work_account(k, b);
        if (s == WARP_FAULTED) return s;
        if (s == WARP_DONE && !end_block(k, c, r)) return WARP_FAULTED;
        alive |= !b->done;
        yields |= s == WARP_YIELDS;
        progress |= b->executed != before || b->done || c->passes != passes;
    }
    return !alive ? WARP_DONE : yields || progress ? WARP_YIELDS : WARP_WAITS;
}

static u64 executed(const struct cluster *c) {
    u64 n = 0;
    for (u32 r = 0; r < c->n; r++) n += c->blocks[r].executed;
    return n;
}

/* Alone, where it can be expected to end; else for one turn, since it may wait for another cluster.
 */
static enum warp_state run_turn(struct worker *k, struct cluster *c) {
    struct launch *l = k->launch;
    enum warp_state s = run_round(k, c);
    u64 most = l->code->interblock_dependent ? executed(c) + (u64)TURN * c->n : UINT64_MAX;
    if (l->trace && !l->waits) most = (u64)ALONE * TURN * l->nwarps * c->n;
    while (s == WARP_YIELDS && executed(c) < most && !atomic_load(&l->over)) s = run_round(k, c);
    if (l->trace && l->code->interblock_dependent) l->waits |= s == WARP_YIELDS;
    if (s == WARP_WAITS) stuck(k, c), s = WARP_FAULTED;
    return s;
}

static bool start_more(struct worker *k, u32 most) {
    return k->nclusters < most && atomic_load(&k->launch->next_block) < k->launch->nunits &&
           add_cluster(k) && next_cluster(k, k->clusters[k->nclusters - 1]);
}

void cluster_work(struct worker *k, u32 most) {
    bool running = next_cluster(k, k->clusters[0]);
    while (running) {
        bool waits = false;
        running = false;
        for (u32 i = 0; i < k->nclusters; i++) {
            struct cluster *c = k->clusters[i];
            if (c->done) continue;
            enum warp_state s = run_turn(k, c);
            if (s == WARP_FAULTED) {
                if (k->x.faulted) lower_fault(k->launch, k, k->x.block->order);
                return;
            }
            if (atomic_load(&k->launch->over)) return;
            if (s == WARP_YIELDS) waits = true;
            else if (!next_cluster(k, c)) c->done = true;
            running |= !c->done;
        }
        if (waits) running |= start_more(k, most);
    }
}
