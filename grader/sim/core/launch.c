/* launch.c — a grid: workers take blocks in order and run them. See core.h.
 *
 * Kernels whose blocks may see each other's writes ("communicates") run on one worker, in order,
 * and so give the same result every time. There, a block that does not finish within its turn is
 * left resident and the next one starts, up to what the device could hold, so that blocks which
 * wait for each other make progress; one that waits for the whole grid (core/grid.c) takes no turn
 * until all have come. Where the time is modelled, a turn also ends before a warp draws from a
 * counter for the second time, and all that the device can hold take part: else the first block
 * would draw all the work.
 *
 * A kernel that needs its blocks to come in order is right that way and wrong on a GPU. With
 * `later_first` several begin at once, their turns are short, and the latest is always the first to
 * get on: in each round of turns the other way round than blocks were begun in the round before.
 * Where blocks look at what others leave, a turn ends before each look and each word that is left,
 * and whether a block has its turn in a round is by lot: so a look comes before what it looks for,
 * now and then. */
#include "grader/sim/core/cluster.h"
#include "grader/sim/core/grid.h"
#include "grader/sim/core/pace.h"
#include "common/clock.h"
#include "common/grow.h"
#include "grader/sim/device.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TURN = LAUNCH_TURN,
    BESIDE = 8 /* blocks that begin at once, later ones first */,
    SHORT_TURN = 500,
    SMALL_LAUNCH = 128 /* warps: not worth a second thread */
};

/* ---- workers ---- */

/* A generic access has one for each memory that it may reach. */
static void open_memos(struct mem_memo *m, const struct mem_desc *d) {
    m->cost = d->merged_bytes > MERGED_INTO_OTHER ? (u8)d->merged_bytes : 0;
    for (u32 i = 0; i < (d->space == SPACE_GENERIC ? 3 : 1) && d->verb == MEM_STORE; i++)
        m[i].store = true;
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
    k->memos = xcalloc_lines(m->nstats, sizeof *k->memos);
    for (u32 i = 0; i < m->nstats; i++) k->memos[i].allocation = -1;
    for (u32 i = 0; i < m->nmems; i++) open_memos(&k->memos[m->mems[i].stat], &m->mems[i]);
    for (u32 i = 0; i < SIM_FAULT_KINDS; i++) k->report_block[i] = UINT64_MAX;
    k->x = (struct exec){.worker = k,
                         .mems = m->mems,
                         .stats = k->stats,
                         .memos = k->memos,
                         .memory = &l->sim->memory,
                         .shared_bytes = l->shared_bytes,
                         .local_bytes = l->thread_local_bytes,
                         .sanitize = l->sanitize,
                         .races_global = l->races_global,
                         .races_in_turn = l->races_in_turn};
    k->x.base[BASE_CONST] = m->consts;
}

static void worker_close(struct worker *k) {
    for (u32 i = 0; i < k->nblocks; i++) block_free(k->launch, &k->blocks[i]);
    free(k->blocks);
    for (u32 i = 0; i < k->nclusters; i++) cluster_free(k->launch, k->clusters[i]);
    free(k->clusters);
    free(k->contexts);
    free(k->segment_runs);
    free(k->stats);
    free(k->memos);
    free(k->taint);
}

void launch_note_fault(struct worker *k, u64 linear) {
    unsigned long lowest = atomic_load(&k->launch->fault_block);
    while (linear < lowest &&
           !atomic_compare_exchange_weak(&k->launch->fault_block, &lowest, linear))
        ;
    if (linear < k->fault_block) k->fault_block = linear;
}

bool launch_finish_block(struct worker *k, struct block *b) {
    struct launch *l = k->launch;
    u64 total = atomic_fetch_add(&l->instructions, b->executed) + b->executed;
    if (l->trace) block_work_finish(k, b);
    if (b->trace) b->trace->executed = b->executed, b->trace->work = b->work, b->trace->ran = true;
    if (l->budget && total > l->budget) atomic_store(&l->over, SIM_FAULT_BUDGET);
    if (l->deadline > 0 && clock_seconds() > l->deadline) atomic_store(&l->over, SIM_FAULT_TIME);
    return !atomic_load(&l->over);
}

/* ---- sampling ---- */

enum { LEAST_SAMPLE = 32 /* blocks */ };

/* How many blocks run: all of them, unless a sample was asked for. */
u64 launch_blocks(const struct launch *l) {
    if (l->clustered) return l->nunits * l->cluster_blocks;
    if (l->chosen) return l->nchosen;
    u64 warps = l->sim->options.sample_warps, n = warps / l->nwarps;
    if (n < LEAST_SAMPLE) n = LEAST_SAMPLE;
    return !warps || l->code->interblock_dependent || n > l->nblocks ? l->nblocks : n;
}

/* splitmix64: neighbouring keys and indices have nothing in common afterwards. */
u64 launch_hash(u64 i, u64 key) {
    u64 x = (i + 1) * 0x9e3779b97f4a7c15ull;
    if (!key) return x;
    x += key;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

u64 launch_sample(u64 i, u64 count, u64 nblocks, u64 key) {
    assert(i < count && count <= nblocks);
    u64 first = i * nblocks / count, last = (i + 1) * nblocks / count;
    return first + (launch_hash(i, key) >> 32) % (last - first);
}

/* The n-th block to run. */
static u64 block_to_run(const struct launch *l, u64 n, u64 count) {
    if (l->chosen) return l->chosen[n];
    return count == l->nblocks ? n
                               : launch_sample(n, count, l->nblocks, l->sim->options.sample_key);
}

/* Blocks that need not see each other. */
static void run_blocks(struct worker *k) {
    struct launch *l = k->launch;
    struct block *b = &k->blocks[0];
    u64 count = launch_blocks(l);
    for (u64 n; (n = atomic_fetch_add(&l->next_block, 1)) < count;) {
        u64 i = block_to_run(l, n, count);
        if (i >= atomic_load(&l->fault_block)) return;
        block_start(k, b, i);
        enum warp_state s;
        /* In turns: warps may wait for each other, by flags in shared memory. */
        while ((s = block_run(k, b, TURN)) == WARP_YIELDS)
            ;
        if (s == WARP_FAULTED) {
            if (k->x.faulted) launch_note_fault(k, i);
            return;
        }
        if (!launch_finish_block(k, b)) return;
    }
}

/* ---- blocks that may wait for each other ---- */

bool launch_add_resident(struct worker *k, u32 most) {
    if (k->nblocks >= most) return false;
    GROW(k->blocks, k->nblocks + 1, k->blocks_capacity, 1);
    if (!block_allocate(k->launch, &k->blocks[k->nblocks])) return false;
    k->nblocks++;
    return true;
}

bool launch_next_block(struct worker *k, struct block *b) {
    struct launch *l = k->launch;
    u64 i = atomic_fetch_add(&l->next_block, 1);
    if (i >= (l->chosen ? l->nchosen : l->nblocks)) return b->done = true, false;
    block_start(k, b, l->chosen ? l->chosen[i] : i);
    return b->done = false, true;
}

/* Starts more blocks beside those that did not finish their turn: one, or, where none finished in
 * several rounds and all may be waiting for one that has not begun, as many as there are; all,
 * where they share work. */
static u32 start_more(struct worker *k, u32 most, u32 idle_rounds, bool share) {
    u32 started = 0;
    for (u32 more = share ? most - k->nblocks : idle_rounds % 4 == 3 ? k->nblocks : 1; more; more--)
        if (atomic_load(&k->launch->next_block) < k->launch->nblocks &&
            launch_add_resident(k, most))
            started += launch_next_block(k, &k->blocks[k->nblocks - 1]);
    return started;
}

/* Of a traced launch, a block runs alone for longer than any that an exercise asks for (so many
 * turns a warp, from one draw to the next) before it is said to wait for another: the time model
 * knows no such waiting. */
enum { ALONE = 16 };
enum warp_state launch_run_alone(struct worker *k, struct block *b) {
    struct launch *l = k->launch;
    u64 until = b->executed + (u64)ALONE * TURN * b->nwarps;
    enum warp_state s;
    do s = block_run(k, b, TURN);
    while (!l->waits && s == WARP_YIELDS && !k->drew && b->executed < until);
    l->waits |= s == WARP_YIELDS && !k->drew;
    return s;
}

static enum warp_state run_turn(struct worker *k, struct block *b) {
    const struct launch *l = k->launch;
    k->drew = false;
    if (l->trace && !l->waits) return launch_run_alone(k, b);
    return block_run(k, b, l->later_first ? SHORT_TURN : TURN);
}

/* Not twice in a row for long, and by nothing but the numbers of block and round. */
static bool loses(const struct launch *l, const struct block *b, u64 round) {
    return l->by_lot && launch_hash(b->linear, round + 1) >> 40 & 1;
}

static u32 start_first(struct worker *k, u32 most) {
    u32 running = launch_next_block(k, &k->blocks[0]) ? 1 : 0;
    while (k->launch->later_first && running && running < BESIDE && launch_add_resident(k, most)) {
        if (!launch_next_block(k, &k->blocks[running])) break;
        running++;
    }
    return running;
}

/* A round in which a block had to wait: more of them begin. Where there are none left and none got
 * on, all wait for the grid, and one that has ended, or will not come. Returns how many began. */
static u32 after_waiting(struct worker *k, u32 most, u32 idle_rounds, bool share, bool got_on) {
    u32 started = start_more(k, most, idle_rounds, share);
    if (!started && !got_on) grid_give_up(k);
    return started;
}

static void run_resident(struct worker *k, u32 most) {
    const struct launch *l = k->launch;
    u32 running = start_first(k, most), idle_rounds = 0;
    u64 round = 0;
    bool backward = l->later_first;
    while (running) {
        running = 0;
        bool waits = false, finished = false, got_on = false,
             share = l->request->cooperative; /* all run at once */
        for (u32 n = k->nblocks, i = 0; i < n; i++) {
            struct block *b = &k->blocks[backward ? n - 1 - i : i];
            if (b->done) continue;
            if (loses(l, b, round)) {
                running++, got_on = waits = true;
                continue;
            }
            u64 before = b->executed;
            enum warp_state s = run_turn(k, b);
            got_on |= s != WARP_WAITS || b->executed != before;
            if (l->trace) block_work_account(k, b);
            if (s == WARP_FAULTED) return launch_note_fault(k, b->linear);
            share |= k->drew;
            if (s == WARP_YIELDS || s == WARP_WAITS) waits = true;
            else if (finished = true, !launch_finish_block(k, b) || !launch_next_block(k, b))
                b->done = true;
            running += !b->done;
            if (atomic_load(&k->launch->over)) return;
        }
        idle_rounds = finished ? 0 : idle_rounds + 1, round++;
        if (waits) running += after_waiting(k, most, idle_rounds, share, got_on);
        backward = l->later_first && !backward;
    }
}

static u32 device_residents(const struct launch *l) {
    const struct gpu_device *d = l->sim->options.device;
    u32 regs = kernel_registers(l->code->kernel);
    u64 n = (u64)d->sms * device_blocks_per_sm(d, l->nthreads, regs, l->shared_bytes, NULL);
    return n > l->nblocks ? (u32)l->nblocks : n ? (u32)n : 1;
}

static void *work(void *argument) {
    struct worker *k = argument;
    struct launch *l = k->launch;
    if (l->clustered)
        cluster_work(k,
                     l->code->interblock_dependent ? device_residents(l) / l->cluster_blocks : 1);
    else if (l->pace) pace_run(k, device_residents(l));
    else if (l->code->interblock_dependent) run_resident(k, device_residents(l));
    else run_blocks(k);
    return NULL;
}

/* ---- the launch ---- */

static u32 count_workers(const struct launch *l) {
    static _Atomic long known; /* to ask takes longer than a small launch */
    long cores = known;
    if (!cores) known = cores = sysconf(_SC_NPROCESSORS_ONLN);
    u64 n = l->sim->options.workers ? l->sim->options.workers : cores > 0 ? (u64)cores : 1;
    if (l->code->interblock_dependent || l->cluster_races || l->nblocks * l->nwarps < SMALL_LAUNCH)
        return 1;
    u64 units = l->nblocks / l->cluster_blocks;
    return n > units ? (u32)units : (u32)n;
}

/* Two words: a size, and the barrier that the blocks of a cooperative launch count arrivals in. It
 * stays for ever, since the barrier is made to be reused. */
static void make_grid_workspace(struct sim *s) {
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
                         .lanes = lanes_default_table()};
    l->number = ++s->launches;
    pthread_mutex_init(&l->work_lock, NULL);
    l->nblocks = (u64)r->grid[0] * r->grid[1] * r->grid[2];
    l->hostile = s->options.hostile_schedule;
    l->patience = fragment_patience(l->code);
    l->nthreads = r->block[0] * r->block[1] * r->block[2];
    l->nwarps = (l->nthreads + 31) / 32;
    l->shared_bytes = shared_bytes_of(l->code, r->dynamic_shared);
    l->warp_frame_bytes = l->code->max_frame;
    l->thread_local_bytes = l->code->max_local;
    l->budget = s->options.instruction_budget;
    l->deadline = s->options.time_budget > 0 ? clock_seconds() + s->options.time_budget : 0;
    l->sanitize = s->options.sanitize;
    l->global_shift = l->code->has_subword_global ? 0 : 2;
    l->shared_shift = l->code->has_subword_shared ? 0 : 2;
    l->races_global = l->sanitize;
    cluster_prepare(l);
    l->races_in_turn = l->races_global && (l->code->interblock_dependent || l->cluster_races);
    l->strict = s->options.strict_order;
    l->later_first = s->options.later_first;
    l->by_lot = l->later_first && l->code->polls_global;
    l->nworkers = count_workers(l);
    if (r->cooperative) make_grid_workspace(s);
    atomic_store(&l->fault_block, UINT64_MAX);
}

bool launch_open(struct launch *l) {
    grid_open(l);
    pace_open(l);
    l->workers = xcalloc(l->nworkers, sizeof *l->workers);
    for (u32 i = 0; i < l->nworkers; i++) {
        struct worker *k = &l->workers[i];
        worker_open(k, l, i);
        if (!l->clustered && !launch_add_resident(k, 1)) return false;
    }
    if (l->clustered) return cluster_open(l);
    return true;
}

void launch_run(struct launch *l) {
    u32 started = 0;
    for (u32 i = 1; i < l->nworkers; i++, started++)
        if (pthread_create(&l->workers[i].thread, NULL, work, &l->workers[i]) != 0) break;
    work(&l->workers[0]);
    for (u32 i = 1; i <= started; i++) pthread_join(l->workers[i].thread, NULL);
}

void launch_close(struct launch *l) {
    for (u32 i = 0; i < l->nworkers; i++) worker_close(&l->workers[i]);
    free(l->workers);
    free(l->units);
    pace_close(l);
}
