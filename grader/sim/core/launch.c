/* launch.c — runs a grid: workers take blocks in order and run them. sim/launch.c calls it. See
 * core.h.
 *
 * Kernels whose blocks may read each other's writes (`interblock_dependent`) run on one worker, in
 * order, and so give the same result every time. A block that does not finish within its timeslice
 * stays resident and the next one starts, up to what the device could hold, so that blocks that
 * wait for each other make progress. A block that waits at the grid barrier (core/grid_barrier.c)
 * gets no timeslice until all have arrived. In a traced launch, a timeslice also ends before a warp
 * fetches its second ticket, and as many blocks start as the device can hold: otherwise the first
 * block would fetch all the work.
 *
 * A kernel that relies on its blocks running in order is right that way and wrong on a GPU.
 * `reverse_block_order` exposes it: several blocks start at once with short timeslices, later ones
 * run first, and the direction alternates each round. If blocks poll each other (`random_order`), a
 * timeslice ends before each poll and each write that a poll may observe, and chance decides which
 * blocks run in a round; so some polls come before the write that they wait for. */
#include "grader/sim/core/cluster.h"
#include "grader/sim/core/grid_barrier.h"
#include "grader/sim/core/clock_scheduler.h"
#include "grader/sim/core/livelock.h"
#include "grader/sim/core/repeated_loads.h"
#include "common/clock.h"
#include "common/grow.h"
#include "grader/sim/device.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TIMESLICE = LAUNCH_TIMESLICE,
    INITIAL_RESIDENT_BLOCKS = 8 /* blocks that start at once with reverse_block_order */,
    SHORT_TIMESLICE = 500,
    MIN_PARALLEL_WARPS = 128 /* fewer warps aren't worth a second thread */
};

/* ---- workers ---- */

/* Initializes the patterns of an access; a generic one has one for each memory that it may reach.
 */
static void init_access_patterns(struct access_pattern *m, const struct mem_desc *d) {
    m->wavefront_lane_bytes = d->merged_bytes > MERGED_INTO_OTHER ? (u8)d->merged_bytes : 0;
    for (u32 i = 0; i < (d->space == SPACE_GENERIC ? 3 : 1) && d->verb == MEM_STORE; i++)
        m[i].is_store = true;
}

static void worker_open(struct worker *k, struct launch *l, u32 index) {
    const struct sim_module *m = l->module;
    *k = (struct worker){
        .launch = l, .index = index, .contexts_capacity = 16, .fault_block = UINT64_MAX};
    k->contexts = xcalloc(k->contexts_capacity, sizeof *k->contexts);
    k->contexts[0].code = (u32)(l->code - m->funcs);
    k->ncontexts = 1;
    k->segment_runs = xcalloc(m->nsegments * 4ul, sizeof(u64));
    k->segment_lanes = k->segment_runs + m->nsegments;
    k->branch_runs = k->segment_lanes + m->nsegments;
    k->branch_diverged = k->branch_runs + m->nsegments;
    k->stats = xcalloc(m->nstats, sizeof *k->stats);
    k->pattern_cache = xcalloc_cache_aligned(m->nstats, sizeof *k->pattern_cache);
    for (u32 i = 0; i < m->nstats; i++) k->pattern_cache[i].allocation = -1;
    for (u32 i = 0; i < m->nmems; i++)
        init_access_patterns(&k->pattern_cache[m->mems[i].stat], &m->mems[i]);
    for (u32 i = 0; i < SIM_FAULT_COUNT; i++) k->report_order[i] = UINT64_MAX;
    k->exec = (struct exec){.worker = k,
                            .mems = m->mems,
                            .stats = k->stats,
                            .pattern_cache = k->pattern_cache,
                            .memory = &l->sim->memory,
                            .shared_bytes = l->shared_bytes,
                            .local_bytes = l->thread_local_bytes,
                            .sanitize = l->sanitize,
                            .tracks_global_races = l->tracks_global_races,
                            .tracks_happens_before = l->tracks_happens_before};
    k->exec.base[BASE_CONST] = m->consts;
}

static void worker_close(struct worker *k) {
    for (u32 i = 0; i < k->nblocks; i++) block_free(k->launch, &k->blocks[i]);
    free(k->blocks);
    for (u32 i = 0; i < k->nclusters; i++) cluster_free(k->launch, k->clusters[i]);
    free(k->clusters);
    free(k->contexts);
    free(k->segment_runs);
    free(k->stats);
    free(k->pattern_cache);
    core_free_repeated_loads(k);
    free(k->undef_reports);
}

void launch_record_fault(struct worker *k, u64 linear) {
    unsigned long lowest = atomic_load(&k->launch->fault_block);
    while (linear < lowest &&
           !atomic_compare_exchange_weak(&k->launch->fault_block, &lowest, linear))
        ;
    if (linear < k->fault_block) k->fault_block = linear;
}

bool launch_is_out_of_time(const struct worker *k) {
    double budget = k->launch->time_budget;
    return budget > 0 && clock_thread_seconds() > k->start_seconds + budget;
}

bool launch_finish_block(struct worker *k, struct block *b) {
    struct launch *l = k->launch;
    u64 total = atomic_fetch_add(&l->finished_warp_insns, b->warp_insns) + b->warp_insns;
    u64 done = atomic_fetch_add_explicit(&l->sim->blocks_done, 1, memory_order_relaxed) + 1;
    if (l->on_work) l->on_work(l, total / done * launch_block_count(l));
    if (l->trace) block_work_finish(k, b);
    if (b->trace)
        b->trace->warp_insns = b->warp_insns, b->trace->work = b->work, b->trace->has_run = true;
    if (l->insn_budget && total > l->insn_budget)
        atomic_store(&l->abort_fault, SIM_FAULT_INSN_BUDGET);
    if (b->launch_order % 16 == 0 && launch_is_out_of_time(k))
        atomic_store(&l->abort_fault, SIM_FAULT_TIMEOUT);
    return !atomic_load(&l->abort_fault);
}

/* ---- sampling ---- */

enum { MIN_SAMPLE_BLOCKS = 32 /* blocks */ };

/* Returns the number of blocks that run: all of them, or the sample of sim_set_sample. */
u64 launch_block_count(const struct launch *l) {
    if (l->has_clusters) return l->ncluster_ids * l->cluster_blocks;
    if (l->selected_blocks) return l->nselected_blocks;
    u64 warps = l->sim->options.sample_warps, n = warps / l->nwarps;
    if (n < MIN_SAMPLE_BLOCKS) n = MIN_SAMPLE_BLOCKS;
    return !warps || l->code->interblock_dependent || n > l->nblocks ? l->nblocks : n;
}

/* The splitmix64 hash: results of neighbouring keys and indices are unrelated. */
u64 launch_hash(u64 i, u64 key) {
    u64 x = (i + 1) * 0x9e3779b97f4a7c15ull;
    if (!key) return x;
    x += key;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

u64 launch_sample_block(u64 i, u64 count, u64 nblocks, u64 key) {
    assert(i < count && count <= nblocks);
    u64 first = i * nblocks / count, last = (i + 1) * nblocks / count;
    return first + (launch_hash(i, key) >> 32) % (last - first);
}

/* Returns the linear index of the n-th block to run. */
static u64 nth_block(const struct launch *l, u64 n, u64 count) {
    if (l->selected_blocks) return l->selected_blocks[n];
    return count == l->nblocks
               ? n
               : launch_sample_block(n, count, l->nblocks, l->sim->options.sample_key);
}

/* Reports what the launch is likely to execute while its first blocks run, which may take long: as
 * much in each block as in this one so far. */
static void report_work(const struct worker *k, const struct block *b) {
    const struct launch *l = k->launch;
    if (l->on_work) l->on_work(l, b->warp_insns * launch_block_count(l));
}

/* Runs a block to its end. It runs in timeslices, as its warps may wait for each other by flags in
 * shared memory. */
static enum warp_state run_independent_block(struct worker *k, struct block *b) {
    struct livelock_detector d = {0};
    enum warp_state s;
    while ((s = block_run(k, b, TIMESLICE)) == WARP_YIELDED) {
        report_work(k, b);
        if (livelock_found(&d, k, b->warp_insns)) {
            livelock_report(k);
            s = WARP_FAULTED;
            break;
        }
    }
    livelock_close(&d);
    return s;
}

/* Runs the n-th block to its end. Returns false if the worker must stop. */
static bool run_nth_block(struct worker *k, u64 n, u64 count) {
    struct launch *l = k->launch;
    struct block *b = &k->blocks[0];
    u64 i = nth_block(l, n, count);
    if (i >= atomic_load(&l->fault_block)) return false;
    block_start(k, b, i);
    if (run_independent_block(k, b) != WARP_FAULTED) return launch_finish_block(k, b);
    if (k->exec.faulted) launch_record_fault(k, i);
    return false;
}

/* Consecutive blocks mostly access neighbouring memory, so a worker takes several at once: the
 * shadow memory of a page that two workers' blocks access exists twice. At the end of a launch, the
 * workers should wait for few blocks. */
enum { MAX_BLOCKS_AT_ONCE = 16, MIN_TURNS = 32 /* of each worker */ };
static u64 blocks_at_once(const struct launch *l, u64 count) {
    u64 n = count / MIN_TURNS / l->nworkers;
    return n < 1 ? 1 : n > MAX_BLOCKS_AT_ONCE ? MAX_BLOCKS_AT_ONCE : n;
}

/* Runs blocks that are independent of each other, each to its end. */
static void run_independent_blocks(struct worker *k) {
    struct launch *l = k->launch;
    u64 count = launch_block_count(l), step = blocks_at_once(l, count);
    for (u64 n; (n = atomic_fetch_add(&l->next_block, step)) < count;)
        for (u64 end = n + step < count ? n + step : count; n < end; n++)
            if (!run_nth_block(k, n, count)) return;
}

/* ---- blocks that may wait for each other ---- */

bool launch_add_resident(struct worker *k, u32 max_resident) {
    if (k->nblocks >= max_resident) return false;
    GROW(k->blocks, k->nblocks + 1, k->blocks_capacity, 1);
    if (!block_allocate(k->launch, &k->blocks[k->nblocks])) return false;
    k->nblocks++;
    return true;
}

bool launch_start_next_block(struct worker *k, struct block *b) {
    struct launch *l = k->launch;
    u64 i = atomic_fetch_add(&l->next_block, 1);
    if (i >= (l->selected_blocks ? l->nselected_blocks : l->nblocks)) return b->done = true, false;
    block_start(k, b, l->selected_blocks ? l->selected_blocks[i] : i);
    return b->done = false, true;
}

/* Starts more blocks, while others have not finished: one; or, if no block finished for several
 * rounds, as many as are resident, since all may wait for one that has not started; or all, if they
 * share work by tickets or are cooperative. */
static u32 start_more_blocks(struct worker *k, u32 max_blocks, u32 idle_rounds, bool start_all) {
    u32 started = 0;
    for (u32 remaining = start_all              ? max_blocks - k->nblocks
                         : idle_rounds % 4 == 3 ? k->nblocks
                                                : 1;
         remaining; remaining--)
        if (atomic_load(&k->launch->next_block) < k->launch->nblocks &&
            launch_add_resident(k, max_blocks))
            started += launch_start_next_block(k, &k->blocks[k->nblocks - 1]);
    return started;
}

/* In a traced launch, a block that runs alone for this many timeslices a warp, from one ticket to
 * the next, is taken to wait for another block, which the time model does not support. No exercise
 * needs as many. */
enum { MAX_EXCLUSIVE_TIMESLICES = 16 };
enum warp_state launch_run_exclusive(struct worker *k, struct block *b) {
    struct launch *l = k->launch;
    u64 limit = b->warp_insns + (u64)MAX_EXCLUSIVE_TIMESLICES * TIMESLICE * b->nwarps;
    enum warp_state s;
    do s = block_run(k, b, TIMESLICE);
    while (!l->blocks_depend && s == WARP_YIELDED && !k->fetched_ticket && b->warp_insns < limit);
    l->blocks_depend |= s == WARP_YIELDED && !k->fetched_ticket;
    return s;
}

static enum warp_state run_timeslice(struct worker *k, struct block *b) {
    const struct launch *l = k->launch;
    k->fetched_ticket = false;
    if (l->trace && !l->blocks_depend) return launch_run_exclusive(k, b);
    report_work(k, b);
    return block_run(k, b, l->reverse_block_order ? SHORT_TIMESLICE : TIMESLICE);
}

/* Returns true if chance makes the block skip the round. It depends only on the numbers of block
 * and round, so a run can be repeated exactly. */
static bool skips_round(const struct launch *l, const struct block *b, u64 round) {
    return l->random_order && launch_hash(b->linear, round + 1) >> 40 & 1;
}

static u32 start_initial_blocks(struct worker *k, u32 max_resident) {
    u32 running = launch_start_next_block(k, &k->blocks[0]) ? 1 : 0;
    while (k->launch->reverse_block_order && running && running < INITIAL_RESIDENT_BLOCKS &&
           launch_add_resident(k, max_resident)) {
        if (!launch_start_next_block(k, &k->blocks[running])) break;
        running++;
    }
    return running;
}

/* Starts more blocks after a round in which a block waited, and returns their number. If none are
 * left and none made progress, they wait at the grid barrier for a block that has exited or
 * bypasses it. */
static u32 start_blocks_after_stall(struct worker *k, u32 max_resident, u32 idle_rounds,
                                    bool start_all, bool made_progress) {
    u32 started = start_more_blocks(k, max_resident, idle_rounds, start_all);
    if (!started && !made_progress) grid_barrier_abandon(k);
    return started;
}

/* Returns true, with a report, if the blocks only wait for each other. */
static bool is_livelocked(struct livelock_detector *d, struct worker *k, bool has_changed) {
    if (has_changed) return livelock_reset(d), false;
    if (!livelock_found(d, k, k->warp_insns)) return false;
    return livelock_report(k), true;
}

static void run_rounds(struct worker *k, u32 max_resident, struct livelock_detector *d) {
    const struct launch *l = k->launch;
    u32 running = start_initial_blocks(k, max_resident), idle_rounds = 0;
    u64 round = 0;
    bool is_reversed = l->reverse_block_order;
    while (running) {
        running = 0;
        bool has_waiters = false, has_finished = false, made_progress = false,
             start_all = l->request->cooperative; /* all run at once */
        for (u32 n = k->nblocks, i = 0; i < n; i++) {
            struct block *b = &k->blocks[is_reversed ? n - 1 - i : i];
            if (b->done) continue;
            if (skips_round(l, b, round)) {
                running++, made_progress = has_waiters = true;
                continue;
            }
            u64 executed_before = b->warp_insns;
            enum warp_state s = run_timeslice(k, b);
            made_progress |= s != WARP_WAITING || b->warp_insns != executed_before;
            if (l->trace) block_work_account(k, b);
            if (s == WARP_FAULTED) return launch_record_fault(k, b->linear);
            start_all |= k->fetched_ticket;
            if (s == WARP_YIELDED || s == WARP_WAITING) has_waiters = true;
            else if (has_finished = true,
                     !launch_finish_block(k, b) || !launch_start_next_block(k, b))
                b->done = true;
            running += !b->done;
            if (atomic_load(&k->launch->abort_fault)) return;
        }
        idle_rounds = has_finished ? 0 : idle_rounds + 1, round++;
        u32 started = has_waiters ? start_blocks_after_stall(k, max_resident, idle_rounds,
                                                             start_all, made_progress)
                                  : 0;
        running += started;
        if (running && is_livelocked(d, k, has_finished || started)) return;
        is_reversed = l->reverse_block_order && !is_reversed;
    }
}

static void run_resident_blocks(struct worker *k, u32 max_resident) {
    struct livelock_detector d = {0};
    run_rounds(k, max_resident, &d);
    livelock_close(&d);
}

static u32 max_resident_blocks(const struct launch *l) {
    const struct gpu_device *d = l->sim->options.device;
    u32 regs = kernel_registers(l->code->kernel);
    u64 n = (u64)d->sms * device_blocks_per_sm(d, l->nthreads, regs, l->shared_bytes, NULL);
    return n > l->nblocks ? (u32)l->nblocks : n ? (u32)n : 1;
}

static void *run_worker(void *argument) {
    struct worker *k = argument;
    struct launch *l = k->launch;
    k->start_seconds = clock_thread_seconds();
    if (l->has_clusters)
        cluster_run_worker(
            k, l->code->interblock_dependent ? max_resident_blocks(l) / l->cluster_blocks : 1);
    else if (l->clock_sched) clock_sched_run(k, max_resident_blocks(l));
    else if (l->code->interblock_dependent) run_resident_blocks(k, max_resident_blocks(l));
    else run_independent_blocks(k);
    core_count_repeated_loads(k);
    k->busy_seconds = clock_thread_seconds() - k->start_seconds;
    return NULL;
}

/* ---- the launch ---- */

static u32 count_workers(const struct launch *l) {
    static _Atomic long cached_cores; /* sysconf takes longer than a small launch */
    long cores = cached_cores;
    if (!cores) cached_cores = cores = sysconf(_SC_NPROCESSORS_ONLN);
    u64 n = l->sim->options.workers ? l->sim->options.workers : cores > 0 ? (u64)cores : 1;
    if (l->code->interblock_dependent || l->tracks_cluster_races ||
        l->nblocks * l->nwarps < MIN_PARALLEL_WARPS)
        return 1;
    /* Each worker needs a shadow of its own. */
    if (l->tracks_global_races && memory_is_address_limited(&l->sim->memory)) return 1;
    u64 units = l->nblocks / l->cluster_blocks;
    return n > units ? (u32)units : (u32)n;
}

/* Allocates the workspace of cooperative groups: its size, and the word in which blocks count their
 * arrivals. It is reused by all cooperative launches and never freed. */
static void alloc_grid_workspace(struct sim *s) {
    if (s->grid_workspace) return;
    s->grid_workspace = memory_alloc_internal(&s->memory, 8, "workspace of cooperative launches");
    if (!s->grid_workspace) return;
    memory_find_allocation(&s->memory, s->grid_workspace)->is_module_var = true;
    sim_fill(s, s->grid_workspace, 0, 8);
}

void launch_prepare(struct launch *l, struct sim *s, const struct sim_launch *r) {
    const struct sim_module *m = r->kernel->module;
    *l = (struct launch){.sim = s,
                         .module = m,
                         .code = &m->funcs[r->kernel->func_index],
                         .request = r,
                         .ops = m->ops,
                         .op_fns = lanes_default_table()};
    l->launch_id = ++s->launch_count;
    pthread_mutex_init(&l->work_lock, NULL);
    l->nblocks = (u64)r->grid[0] * r->grid[1] * r->grid[2];
    l->adversarial_schedule = s->options.adversarial_schedule;
    l->timeslice_log2 = split_timeslice_log2(l->code);
    l->nthreads = r->block[0] * r->block[1] * r->block[2];
    l->nwarps = (l->nthreads + 31) / 32;
    l->shared_bytes = shared_bytes_of(l->code, r->dynamic_shared);
    l->warp_frame_bytes = l->code->max_frame;
    l->thread_local_bytes = l->code->max_local;
    l->insn_budget = s->options.instruction_budget;
    l->time_budget = s->options.time_budget;
    l->sanitize = s->options.sanitize || s->options.watch;
    l->watches_sample = !s->options.sanitize && s->options.watch && !s->streams;
    l->global_shift = l->code->has_subword_global ? 0 : 2;
    l->shared_shift = l->code->has_subword_shared ? 0 : 2;
    l->tracks_global_races = l->sanitize;
    cluster_set_dims(l);
    if (l->watches_sample && l->has_clusters)
        l->sanitize = l->tracks_global_races = l->tracks_cluster_races = l->watches_sample = false;
    l->tracks_happens_before =
        l->tracks_global_races && (l->code->interblock_dependent || l->tracks_cluster_races);
    launch_choose_watched_blocks(l);
    l->ptx_order = !s->options.hardware_order;
    l->reverse_block_order = s->options.reverse_block_order;
    l->random_order = l->reverse_block_order && l->code->polls_global;
    l->nworkers = count_workers(l);
    if (r->cooperative) alloc_grid_workspace(s);
    atomic_store(&l->fault_block, UINT64_MAX);
}

bool launch_open(struct launch *l) {
    grid_barrier_open(l);
    clock_sched_open(l);
    l->workers = xcalloc(l->nworkers, sizeof *l->workers);
    for (u32 i = 0; i < l->nworkers; i++) {
        struct worker *k = &l->workers[i];
        worker_open(k, l, i);
        if (!l->has_clusters && !launch_add_resident(k, 1)) return false;
    }
    if (l->has_clusters) return cluster_open(l);
    return true;
}

void launch_run(struct launch *l) {
    u32 started = 0;
    atomic_store(&l->sim->blocks_done, 0);
    atomic_store(&l->sim->blocks_total, launch_block_count(l));
    for (u32 i = 1; i < l->nworkers; i++, started++)
        if (pthread_create(&l->workers[i].thread, NULL, run_worker, &l->workers[i]) != 0) break;
    run_worker(&l->workers[0]);
    for (u32 i = 1; i <= started; i++) pthread_join(l->workers[i].thread, NULL);
}

void launch_close(struct launch *l) {
    for (u32 i = 0; i < l->nworkers; i++) worker_close(&l->workers[i]);
    free(l->workers);
    free(l->cluster_ids);
    free(l->watched_blocks);
    clock_sched_close(l);
}
