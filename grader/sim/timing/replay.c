/* replay.c — runs the blocks of one SM, in cycles, from the traces; estimate.c calls it.
 *
 * Theory of operation. A heap holds the warps of the resident blocks, ordered by the time at which
 * the next instruction has its operands; the first one issues. Every resource (a scheduler, a pipe,
 * L1's data stage, the SM's share of L2 and DRAM bandwidth, an address under atomics) is the time
 * at which it is free again; a use advances this time, in the order of the requests. A warp issues
 * in order and never waits for a store; but it stalls if the queue of the resource is full. L1 is a
 * tag store that the warps access in their modelled order, so hits follow from the interleaving. L2
 * and DRAM serve one SM's share of the traffic (traffic.c). When a block ends the next one starts;
 * after some waves the remaining blocks are extrapolated from the rate. */
#include "grader/sim/core/clock_scheduler.h"
#include "grader/sim/timing/sm_model.h"
#include "grader/sim/timing/warp_heap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cycles of the barrier unit for a warp's arrival; from the last arrival to the release. H100, 256
 * barriers in a row: 57 cycles each with 16 warps; 138 with 64 in four blocks; 30 with one. */
static const double arrival_cycles = 2.1, barrier_latency = 20;
/* The same with machine code, whose stall cycles around the barrier cover most of it. */
static const double sass_barrier_latency = 2;
/* Returns the cycles from the last arrival at the cluster's barrier to when all continue. Most of
 * it is the memory release: H100, 256 in a row, 786 cycles for a warp that is alone on its SM, 863
 * for 8, 872 for 10, 1268 for 12, 1344 for 32; with a relaxed arrival 82 and 132 for 1 and 32. A
 * cluster of 8 takes 50 to 90 more than one of a single block (docs/results/h100/clusters.tsv). */
static double cluster_barrier_latency(const struct sm_model *m, bool relaxed) {
    double warps = (double)m->in->resident_blocks * m->warps_per_block;
    if (relaxed) return 70 + 0.8 * warps; /* besides the cycles of the arrivals */
    return warps > 10 ? 1260 + 3 * warps : 780 + 10 * warps;
}

/* Cycles until a load or store has read its operands and releases its read barrier. An assumption.
 */
static const double operand_read_cycles = 10;

/* ---- issue ---- */

/* Sets the time of the results. A scoreboard barrier of machine code (stall_cycles > 0) is ready
 * when the last of its results is. */
static void set_results(struct sm_warp *w, const struct sched_insn *s, double ready, u8 reason) {
    for (u32 i = 0; i < s->ndst; i++)
        if (!s->stall_cycles || ready > w->register_ready_at[s->dst[i]])
            w->register_ready_at[s->dst[i]] = ready, w->register_reason[s->dst[i]] = reason;
}

static const struct sched_insn *insn_at(const struct sm_warp *w, u32 i) {
    return w->chunk.insns ? w->chunk.insns[i].insn : &w->region->insns[i];
}

static const struct sched_insn *current_insn(const struct sm_warp *w) {
    return insn_at(w, w->insn_index);
}

static u32 insn_count(const struct sm_warp *w) {
    return w->chunk.insns ? w->chunk.ninsns : w->region ? w->region->ninsns : 0;
}

static const u64 *event_words(const struct sm_warp *w, const struct event *e) {
    return e->word_index & OWN_WORDS ? w->chunk.words + (e->word_index & ~(u32)OWN_WORDS)
                                     : w->trace->words + e->word_index;
}

/* Returns the words of the instruction's first access; NULL if it makes none. */
static const u64 *access_of_insn(const struct sm_warp *w) {
    if (!w->chunk.insns) {
        u32 at = w->access_index[w->insn_index];
        return at ? w->trace->words + at - 1 : NULL;
    }
    u32 e = w->chunk.insns[w->insn_index].event;
    return e ? event_words(w, &w->chunk.events[e - 1]) : NULL;
}

static const enum resource pipe_resource[PIPE_COUNT] = {
    [PIPE_ALU] = RESOURCE_ALU,      [PIPE_IMAD] = RESOURCE_FMA, [PIPE_FMA] = RESOURCE_FMA,
    [PIPE_FP64] = RESOURCE_FP64,    [PIPE_XU] = RESOURCE_XU,    [PIPE_LSU] = RESOURCE_LSU,
    [PIPE_TENSOR] = RESOURCE_TENSOR};

/* The least cycles of a small product: H100, 16 x 8 x 8 halves. */
static const double min_mma_cycles = 4;
/* Cycles from when a wgmma leaves the tensor cores to when a wait for it ends: H100, one at a time,
 * N of 8 to 128. */
static const double wgmma_latency = 50;

static double pipe_cycles(const struct sm_model *m, const struct sched_insn *s, u8 pipe) {
    if (!s->mma_work) return s->count * m->issue_interval[pipe];
    return max2(m->issue_interval[pipe] * s->mma_work / MMA_FULL_WORK, min_mma_cycles);
}

static u8 choose_pipe(const struct sm_model *m, const struct sm_warp *w,
                      const struct sched_insn *s) {
    if (s->pipe != PIPE_IADD) return s->pipe;
    bool is_full_rate = m->issue_interval[PIPE_ALU] <= 1 ||
                        m->d->cc_major < 7; /* The ALU takes all that a scheduler issues. */
    double fma =
        max2(m->pipe_free_at[PIPE_IMAD][w->scheduler], m->pipe_free_at[PIPE_FMA][w->scheduler]);
    return !is_full_rate && fma < m->pipe_free_at[PIPE_ALU][w->scheduler] && fma <= w->ready_at
               ? PIPE_IMAD
               : PIPE_ALU;
}

/* Reserves the instruction's pipe; returns when it takes the instruction. */
static double reserve_pipe(struct sm_model *m, struct sm_warp *w, const struct sched_insn *s) {
    u32 k = w->scheduler;
    double t = w->ready_at, n = s->count;
    u8 pipe = choose_pipe(m, w, s);
    if (pipe == PIPE_LSU) {
        t = max2(max2(t, m->lsu_free_at), m->l1_free_at - l1_queue_cycles);
        m->lsu_free_at = t + n;
        m->busy_cycles[RESOURCE_LSU] += n;
    } else if (pipe != PIPE_NONE && pipe != PIPE_CTRL && !is_disabled(m, TERM_BIT(PIPES))) {
        t = max2(t, m->pipe_free_at[pipe][k]);
        /* H200: a logarithm, sine or root takes 8 cycles of a scheduler, as the XU pipe does,
         * whatever the scaling around it (control-h200.tsv, function-lg2-4-w64). */
        if (s->xu_count) t = max2(t, m->pipe_free_at[PIPE_XU][k]);
        double cost = pipe_cycles(m, s, pipe);
        m->pipe_free_at[pipe][k] = t + cost;
        m->busy_cycles[pipe_resource[pipe]] += cost / SCHEDULERS_PER_SM;
        if (s->xu_count)
            m->pipe_free_at[PIPE_XU][k] =
                max2(m->pipe_free_at[PIPE_XU][k], t) + s->xu_count * m->issue_interval[PIPE_XU];
        m->busy_cycles[RESOURCE_XU] += s->xu_count * m->issue_interval[PIPE_XU] / SCHEDULERS_PER_SM;
        /* Integer multiplication runs on the FMA pipe, half of it where that is 128 lanes wide. */
        if (pipe == PIPE_IMAD)
            m->pipe_free_at[PIPE_FMA][k] =
                max2(m->pipe_free_at[PIPE_FMA][k], t) + n * m->issue_interval[PIPE_FMA];
    }
    return t;
}

/* Returns the issue slots of a double-precision instruction. H200: a DFMA and four FFMAs take 6
 * cycles of a scheduler, not 5 (control-h200.tsv, double-beside-4-w64). */
static double fp64_issue_slots(const struct gpu_device *d) { return d->fp64_lanes >= 32 ? 2 : 1; }

static double reserve_issue(struct sm_model *m, const struct sm_warp *w,
                            const struct sched_insn *s) {
    double t = is_disabled(m, TERM_BIT(ISSUE)) ? w->ready_at
                                               : max2(w->ready_at, m->issue_free_at[w->scheduler]);
    double slots =
        s->count * (s->pipe == PIPE_FP64 ? fp64_issue_slots(m->d) : 1) + s->bank_conflicts;
    m->issue_free_at[w->scheduler] = t + slots;
    m->busy_cycles[RESOURCE_ISSUE] += slots / SCHEDULERS_PER_SM;
    return t;
}

/* Returns when memory's queue has room for the warp's store or atomic. */
static double apply_backpressure(struct sm_model *m, struct sm_warp *w, double t) {
    const u64 *at = access_of_insn(w);
    w->stores_fit_at = t;
    if (!at) return t;
    u64 h = *at;
    if (trace_space(h) != SPACE_GLOBAL || trace_verb(h) == MEM_LOAD) return t;
    if (trace_verb(h) >= MEM_ATOM) t = max2(t, time_atomic_free_at(m, at) - atomic_queue_cycles);
    else w->stores_fit_at = max2(t, m->stores_free_at - l2_queue_cycles);
    return max2(t, memory_free_at(m) - l2_queue_cycles);
}

/* Models the access at `at`, and the following ones of the same instruction. Returns when their
 * data arrives. */
static double issue_accesses(struct sm_model *m, struct sm_warp *w, const u64 *at, double t,
                             const struct sched_insn *s, u8 *reason) {
    const u64 *end = w->trace->words + w->trace->nwords;
    u32 op = trace_op_or_segment(*at);
    double ready = t;
    while (at != end && trace_is_access(*at) && trace_op_or_segment(*at) == op) {
        if (trace_space(*at) == TRACE_GRID_BARRIER) ready = time_grid_access(m, w, *at, t, reason);
        else if (trace_is_mbarrier(*at))
            ready = time_mbarrier_access(m, w, at, ready, s->is_bulk_copy, reason);
        else ready = max2(ready, time_memory_access(m, w, at, t, reason));
        at += 1 + trace_entries(*at);
        if (w->chunk.insns) break; /* With machine code, each access has its own event. */
    }
    return ready;
}

/* Returns true for an access whose predicate is false in the whole warp. It takes a wavefront of L1
 * nevertheless: tree reductions on an H100 have as many wavefronts as if all warps took part in
 * every step (docs/results/h100/ncu.tsv). */
static bool is_predicated_off(const struct sm_model *m, const struct sm_warp *w,
                              const struct sched_insn *s, const u64 *at) {
    if (at || s->kind != SCHED_MEMORY || s->pipe != PIPE_LSU || !s->count) return false;
    if (w->chunk.insns) return s->has_predicate;
    u8 space = m->in->regions->module->mems[m->in->regions->module->ops[s->op].aux].space;
    return space == SPACE_GLOBAL || space == SPACE_SHARED || space == SPACE_GENERIC;
}

/* Returns true for an access whose block holds its slot until L2 has executed it: H100, 262144
 * blocks that end in an addition to one word, 195 us, the time of the additions; to a word of their
 * own or in a store, 161 (pieces-h100.tsv, brief-bare-…). */
static bool is_global_atomic(u64 h) {
    return trace_space(h) == SPACE_GLOBAL && trace_verb(h) >= MEM_ATOM;
}

static void issue_memory(struct sm_model *m, struct sm_warp *w, const struct sched_insn *s,
                         double t) {
    double ready = t + 2;
    u8 reason = SIM_STALL_SELECTED;
    const u64 *at = access_of_insn(w);
    if (is_predicated_off(m, w, s, at)) time_memory_l1(m, t, 1, RESOURCE_L1);
    if (!w->chunk.insns && at) ready = max2(ready, issue_accesses(m, w, at, t, s, &reason));
    for (u32 e = w->chunk.insns ? w->chunk.insns[w->insn_index].event : 0; e;
         e = w->chunk.events[e - 1].next)
        ready = max2(ready,
                     issue_accesses(m, w, event_words(w, &w->chunk.events[e - 1]), t, s, &reason));
    if (!at && s->kind == SCHED_SPILL)
        ready = time_local_sass_spill(m, t, s->is_store), reason = SIM_STALL_LONG_SCOREBOARD_L1;
    if (at && is_global_atomic(*at)) w->drained_at = max2(w->drained_at, m->atomics_executed_at);
    if (s->is_cp_async) time_cp_async_begin(w, ready, reason);
    set_results(w, s, is_disabled(m, TERM_BIT(LATENCY)) ? t + 1 : ready, reason);
}

/* Issues accesses to spilled registers. ptxas inserts them, so PTX does not show where they are;
 * the model spreads them evenly. Each takes an issue slot, a slot of the LSU pipe and a wavefront
 * of L1; the warp stalls only where queues are full. */
static double issue_spills(struct sm_model *m, struct sm_warp *w, double t) {
    static const struct sched_insn access = {.pipe = PIPE_LSU, .count = 1};
    if (w->chunk.insns) return t; /* Machine code shows them. */
    for (w->spills_owed += m->in->spills_per_op; w->spills_owed >= 1; w->spills_owed--) {
        w->ready_at = t;
        t = reserve_issue(m, w, &access) + 1;
        m->lsu_free_at = max2(m->lsu_free_at, t) + 1;
        m->busy_cycles[RESOURCE_LSU]++;
        t = max2(time_local_spill(m, t), m->lsu_free_at - l1_queue_cycles);
    }
    return t;
}

/* ---- the trace of a warp ---- */

/* Charges the bank conflicts of a cp.async when it stores: wavefronts beyond the minimum, since the
 * load's cost includes the others. (H100, a 32 x 32 tile written by columns, 4096 x 4096: 90.8 us
 * by cp.async, 86.5 us by loads and stores; with padding 56.8 and 51.8.) */
static void charge_copy_conflicts(struct sm_model *m, const struct sm_warp *w,
                                  const struct sched_insn *s) {
    enum { BYTES_PER_WAVEFRONT = 128 };
    const struct sim_module *module = m->in->regions->module;
    const struct mem_desc *d = &module->mems[module->ops[s->op].aux];
    const u64 *at = access_of_insn(w);
    if (!at || w->chunk.insns || is_disabled(m, TERM_BIT(SHARED_WAVEFRONTS))) return;
    u64 h = *at;
    u32 bytes = trace_lanes(h) * d->width * d->count,
        min_wavefronts = (bytes + BYTES_PER_WAVEFRONT - 1) / BYTES_PER_WAVEFRONT;
    if (trace_wavefronts(h) > min_wavefronts)
        time_memory_l1(m, w->issued_at, trace_wavefronts(h) - min_wavefronts, RESOURCE_SHARED);
}

/* Advances to the next instruction that takes an issue slot, and sets the time at which its
 * operands are ready. Returns false if the warp is done. */
static bool advance(struct sm_model *m, struct sm_warp *w) {
    for (;;) {
        if (w->insn_index >= insn_count(w)) {
            if (!time_next_region(m, w)) return false;
            continue;
        }
        const struct sched_insn *s = current_insn(w);
        if (s->kind == SCHED_ASYNC_GROUP)
            time_async_group(m, w, &m->in->regions->module->ops[s->op]);
        double t = w->issued_at;
        u8 reason = SIM_STALL_SELECTED;
        for (u32 i = 0; i < s->nsrc; i++)
            if (w->register_ready_at[s->src[i]] > t)
                t = w->register_ready_at[s->src[i]], reason = w->register_reason[s->src[i]];
        if (!s->count) { /* renamed or folded: the result is ready when the operands are */
            if (s->is_cp_async_store) charge_copy_conflicts(m, w, s);
            set_results(w, s, t + (is_disabled(m, TERM_BIT(LATENCY)) ? 0 : s->latency), reason);
            w->insn_index++;
            continue;
        }
        m->stall_cycles[reason] += t - w->issued_at;
        add_op_stall(m, s->op, reason, t - w->issued_at);
        w->ready_at = w->operands_ready_at = t;
        return true;
    }
}

/* ---- blocks ---- */

static double dispatch(struct sm_model *m, double now) {
    if (is_disabled(m, TERM_BIT(LAUNCH))) return now;
    double start = max2(now, m->next_dispatch);
    m->next_dispatch = start + block_dispatch_cycles * m->in->active_sms;
    return start;
}

/* Returns the trace of the SM's n-th block. Consecutive blocks of an SM are as far apart as the
 * device has SMs. So if the SM runs fewer blocks than were traced, they are spread over the sample;
 * its first ones are neighbours, and share lines as no two blocks of one SM do. Where blocks wait
 * for earlier ones, the SM that runs the last block determines the time. */
static const struct trace_block *nth_block(const struct replay_input *in, u32 n) {
    bool is_small_grid = in->blocks_on_sm < in->nblock_order;
    u64 at = is_small_grid && in->last_block_critical
                 ? (n + 1ull) * in->nblock_order / in->blocks_on_sm - 1
                 : (u64)n * in->nblock_order / in->blocks_on_sm;
    return &in->trace->blocks[in->block_order[is_small_grid ? (u32)at : n % in->nblock_order]];
}

static void start_block(struct sm_model *m, u32 slot, double at, u32 limit) {
    const struct replay_input *in = m->in;
    double now = dispatch(m, at);
    u32 n = m->blocks_started++;
    const struct trace_block *t = nth_block(in, n);
    struct sm_block *b = &m->blocks[slot];
    struct sector_set sectors = b->sectors;
    time_sector_set_clear(&sectors);
    *b = (struct sm_block){.nwarps = m->warps_per_block,
                           .trace_reuse = n / in->nblock_order,
                           .end_time = now,
                           .sectors = sectors};
    for (u32 i = 0; i < m->warps_per_block; i++) {
        struct sm_warp *w = &m->warps[slot * m->warps_per_block + i];
        w->trace = &t->warps[i];
        w->at = 0, w->region = NULL, w->insn_index = 0, w->chunk.ninsns = 0,
        w->at_barrier = w->pipe_reserved = false;
        w->cp_async_groups = w->wgmma_groups = (struct async_groups){0};
        w->at_grid_barrier = false, w->held_until = w->drained_at = 0;
        w->block_slot = slot;
        w->scheduler = (slot * m->warps_per_block + i) % SCHEDULERS_PER_SM;
        w->issued_at = now + (is_disabled(m, TERM_BIT(LATENCY)) ? 0 : block_start_cycles);
        memset(w->register_ready_at, 0,
               (in->regions->nregisters + SASS_BARRIER_COUNT) * sizeof *w->register_ready_at);
        w->running = advance(m, w);
        b->running_warps += w->running;
        if (w->running) heap_push(m, slot * m->warps_per_block + i);
    }
    if (b->running_warps) return;
    m->block_end_times[m->blocks_done++] = now + block_start_cycles; /* nothing was traced */
    if (m->blocks_started < limit) start_block(m, slot, now + block_start_cycles, limit);
}

static void end_warp(struct sm_model *m, struct sm_warp *w, u32 limit) {
    struct sm_block *b = &m->blocks[w->block_slot];
    w->running = false;
    b->running_warps--;
    b->end_time = max2(b->end_time, max2(w->issued_at, w->drained_at));
    if (b->running_warps) return;
    m->block_end_times[m->blocks_done++] = b->end_time;
    m->grid_barrier.changed = true;
    if (m->blocks_started < limit) start_block(m, w->block_slot, b->end_time, limit);
}

/* Keeps the warp from issuing before `until`, because of its last instruction. */
static void stall_until(struct sm_model *m, struct sm_warp *w, double until,
                        enum sim_stall_reason reason) {
    if (until <= w->issued_at) return;
    m->stall_cycles[reason] += until - w->issued_at;
    add_op_stall(m, insn_at(w, w->insn_index - 1)->op, reason, until - w->issued_at);
    w->issued_at = until;
}

static bool is_at_cluster_barrier(const struct sm_model *m, const struct sm_warp *w) {
    const struct sim_module *module = m->in->regions->module;
    u32 op = insn_at(w, w->insn_index - 1)->op;
    return op < module->nops && module->ops[op].kind == OP_BAR &&
           module->bars[module->ops[op].aux].is_cluster;
}

/* Releases a block's barrier. For the cluster's barrier, its other blocks are assumed to arrive at
 * the same time; the memory release counts as a fence, as in ncu (ncu.tsv, threshold). */
static void release_barrier(struct sm_model *m, u32 slot) {
    struct sm_block *b = &m->blocks[slot];
    bool is_cluster = false;
    double t = 0;
    for (u32 i = 0; i < m->warps_per_block; i++) {
        struct sm_warp *w = &m->warps[slot * m->warps_per_block + i];
        if (w->at_barrier) t = max2(t, w->issued_at), is_cluster |= is_at_cluster_barrier(m, w);
    }
    t = max2(t, m->barrier_free_at);
    double release_time = is_disabled(m, TERM_BIT(LATENCY))
                              ? t
                              : t + (m->in->schedule ? sass_barrier_latency : barrier_latency);
    if (is_cluster && !is_disabled(m, TERM_BIT(LATENCY)))
        release_time = max2(release_time,
                            b->cluster_arrived_at + cluster_barrier_latency(m, b->relaxed_arrival));
    b->barrier_arrivals = 0;
    for (u32 i = 0; i < m->warps_per_block; i++) {
        struct sm_warp *w = &m->warps[slot * m->warps_per_block + i];
        if (!w->at_barrier) continue;
        w->at_barrier = false;
        if (is_cluster && !b->relaxed_arrival)
            stall_until(m, w, release_time - cluster_barrier_latency(m, true), SIM_STALL_MEMBAR);
        stall_until(m, w, release_time, SIM_STALL_BARRIER);
    }
}

static void check_barrier(struct sm_model *m, u32 slot, u32 limit) {
    struct sm_block *b = &m->blocks[slot];
    if (!b->barrier_arrivals || b->barrier_arrivals < b->running_warps) return;
    release_barrier(m, slot);
    for (u32 i = 0; i < m->warps_per_block && b->running_warps; i++) {
        u32 n = slot * m->warps_per_block + i;
        struct sm_warp *w = &m->warps[n];
        bool is_waiting = w->running && w->ready_at < 0;
        if (!is_waiting) continue;
        w->ready_at = 0;
        if (advance(m, w)) heap_push(m, n);
        else end_warp(m, w, limit);
    }
}

/* ---- the grid barrier ---- */

/* Releases the warps that waited at the completed grid barrier. */
static void release_grid_barrier(struct sm_model *m, u32 limit) {
    for (u32 n = 0; n < m->in->resident_blocks * m->warps_per_block; n++) {
        struct sm_warp *w = &m->warps[n];
        if (!w->at_grid_barrier ||
            m->blocks[w->block_slot].grid_arrivals > m->grid_barrier.generation)
            continue;
        w->at_grid_barrier = false;
        stall_until(m, w, m->grid_barrier.released_at, SIM_STALL_BARRIER);
        if (advance(m, w)) heap_push(m, n);
        else end_warp(m, w, limit);
    }
}

/* ---- one instruction ---- */

/* Cycles from a taken branch to the next instruction (pieces-h100.tsv, loop-…). */
static const double taken_branch_cycles = 10;

/* Returns the cycles from an instruction's issue to the warp's next one. The instructions of a
 * division or root depend on each other, so the next one waits for nearly all of them. */
static double cycles_to_next(const struct sm_warp *w, const struct sched_insn *s) {
    bool is_taken = w->chunk.insns && w->chunk.jumps && w->insn_index + 1 == w->chunk.ninsns;
    if (is_taken) return max2(s->stall_cycles, taken_branch_cycles);
    if (s->stall_cycles) return s->stall_cycles;
    return s->ends_block ? max2(s->latency, s->count) : s->count;
}

/* Attributes the cycles from an instruction's operands to its issue at `t`: until its queue had
 * room, its pipe was free, and the scheduler selected it. A store that loads keep out of memory's
 * queue, and atomics that wait for others before them, count as long scoreboard: ncu shows these
 * waits at the loads, which queue behind the stores and atomics of their SM (ncu.tsv, vector_add,
 * max_reduce step 1). Stall cycles of machine code count as waits for a fixed latency. */
static void attribute_issue_stalls(struct sm_model *m, const struct sm_warp *w,
                                   const struct sched_insn *s, double t) {
    bool arithmetic = s->pipe != PIPE_LSU && s->kind == SCHED_PLAIN;
    const u64 *at = access_of_insn(w);
    double stores_fit_at = fmin(w->stores_fit_at, w->queue_free_at);
    add_op_stall(m, s->op, SIM_STALL_LG_MIO_THROTTLE, stores_fit_at - w->operands_ready_at);
    add_op_stall(m, s->op,
                 at && is_global_atomic(*at)       ? SIM_STALL_LONG_SCOREBOARD_ATOMIC
                 : m->dram_free_at > m->l2_free_at ? SIM_STALL_LONG_SCOREBOARD_DRAM
                                                   : SIM_STALL_LONG_SCOREBOARD_L2,
                 w->queue_free_at - stores_fit_at);
    add_op_stall(m, s->op, arithmetic ? SIM_STALL_MATH_PIPE_THROTTLE : SIM_STALL_LG_MIO_THROTTLE,
                 w->pipe_free_at - w->queue_free_at);
    add_op_stall(m, s->op, SIM_STALL_NOT_SELECTED, t - w->pipe_free_at);
    double latency = max2(cycles_to_next(w, s) - s->count, 0);
    add_op_stall(m, s->op, SIM_STALL_WAIT, latency);
    add_op_stall(m, s->op, SIM_STALL_SELECTED, w->issued_at - t - latency);
}

/* Returns true for a fence, and a release, which has one. The measured time of the grid barrier
 * includes its own. */
static bool waits_for_fence(const struct sm_warp *w, const struct sched_insn *s) {
    if (!s->is_release) return s->kind == SCHED_FENCE;
    const u64 *at = access_of_insn(w);
    return at && trace_space(*at) != TRACE_GRID_BARRIER;
}

static void arrive_at_cluster_barrier(struct sm_model *m, const struct sm_warp *w,
                                      const struct sched_insn *s, double t) {
    struct sm_block *b = &m->blocks[w->block_slot];
    b->cluster_arrived_at = max2(b->cluster_arrived_at, t);
    b->relaxed_arrival = m->in->regions->module->ops[s->op].imm; /* decode_cluster.c */
}

/* Reserves a pipe for the next instruction of the heap's first warp. Returns false if the warp has
 * to wait for it: until then, other warps can use the scheduler. */
static bool claim_pipe(struct sm_model *m, struct sm_warp *w, const struct sched_insn *s) {
    if (w->pipe_reserved) return true;
    double at = w->ready_at;
    w->ready_at = w->queue_free_at = apply_backpressure(m, w, at);
    w->ready_at = w->pipe_free_at = reserve_pipe(m, w, s);
    w->pipe_reserved = true;
    if (w->ready_at <= at) return true;
    heap_down(m);
    return false;
}

/* Sets when the registers of an instruction issued at `t` can be read, and be written again. */
static void time_registers(struct sm_model *m, struct sm_warp *w, const struct sched_insn *s,
                           double t) {
    if (s->kind == SCHED_MEMORY || s->kind == SCHED_SPILL ||
        (w->chunk.insns && w->chunk.insns[w->insn_index].event))
        issue_memory(m, w, s, t);
    else
        set_results(w, s,
                    t + (is_disabled(m, TERM_BIT(LATENCY))
                             ? 1
                             : s->latency + (s->count - 1) * m->issue_interval[s->pipe]),
                    SIM_STALL_WAIT);
    if (s->kind == SCHED_CLUSTER_ARRIVE) arrive_at_cluster_barrier(m, w, s, t);
    if (s->is_wgmma) time_wgmma_begin(w, t + pipe_cycles(m, s, PIPE_TENSOR) + wgmma_latency);
    if (s->read_barrier)
        w->register_ready_at[s->read_barrier - 1] =
            max2(w->register_ready_at[s->read_barrier - 1], t + operand_read_cycles);
}

/* Moves the heap's first warp on after it issued `s`: to a barrier, its next instruction or its
 * end. */
static void leave_insn(struct sm_model *m, struct sm_warp *w, const struct sched_insn *s,
                       u32 limit) {
    u32 slot = w->block_slot;
    if (s->kind == SCHED_BARRIER && !is_disabled(m, TERM_BIT(BARRIERS))) {
        heap_pop(m);
        m->barrier_free_at = max2(m->barrier_free_at, w->issued_at) + arrival_cycles;
        w->at_barrier = true, w->ready_at = -1;
        m->blocks[slot].barrier_arrivals++;
    } else if (w->at_grid_barrier) {
        heap_pop(m);
        return;
    } else if (advance(m, w)) {
        heap_down(m);
        return;
    } else {
        heap_pop(m);
        end_warp(m, w, limit);
        if (m->blocks[slot].running_warps == 0) return;
    }
    check_barrier(m, slot, limit);
}

static void issue(struct sm_model *m, u32 limit) {
    struct sm_warp *w = &m->warps[m->heap[0]];
    const struct sched_insn *s = current_insn(w);
    if (!claim_pipe(m, w, s)) return;
    double t = reserve_issue(m, w, s);
    w->pipe_reserved = false;
    m->insns_issued++;
    time_registers(m, w, s, t);
    w->issued_at = issue_spills(m, w, t + cycles_to_next(w, s));
    attribute_issue_stalls(m, w, s, t);
    bool has_fence = waits_for_fence(w, s);
    if (s->empties_l1 && (s->kind == SCHED_FENCE || access_of_insn(w)))
        time_cache_invalidate(&m->l1_cache);
    w->insn_index++;
    stall_until(m, w, w->held_until, SIM_STALL_BARRIER);
    if (has_fence) stall_until(m, w, t + m->lat_fence, SIM_STALL_MEMBAR);
    stall_until(m, w, t + 1e-9 * s->sleep_ns * m->d->clock_hz, SIM_STALL_WAIT);
    leave_insn(m, w, s, limit);
}

/* Releases barriers when no warp can issue; false if none waits at a barrier. With truncated
 * traces, blocks arrive at the grid barrier different numbers of times; and warps at different
 * named barriers would block each other, since the model has only one barrier for a block. */
static bool break_deadlock(struct sm_model *m, u32 limit) {
    bool at_grid = false;
    for (u32 n = 0; n < m->in->resident_blocks * m->warps_per_block; n++)
        at_grid |= m->warps[n].at_grid_barrier;
    if (at_grid) return time_grid_force_release(m), release_grid_barrier(m, limit), true;
    for (u32 slot = 0; slot < m->in->resident_blocks; slot++)
        if (m->blocks[slot].barrier_arrivals) {
            m->blocks[slot].barrier_arrivals = m->blocks[slot].running_warps;
            check_barrier(m, slot, limit);
            return true;
        }
    return false;
}

/* ---- the entry point ---- */

/* Returns the number of blocks to simulate: four waves, fewer if blocks are long. */
static u32 simulated_block_limit(const struct replay_input *in) {
    double work = 0;
    for (u32 i = 0; i < in->nblock_order; i++)
        work += (double)in->trace->blocks[in->block_order[i]].warp_insns;
    work /= in->nblock_order;
    u32 waves = 4;
    while (waves > 1 && work * waves * in->resident_blocks > (double)in->max_insns) waves--;
    u32 n = waves * in->resident_blocks;
    if (in->blocks_on_sm <= n + in->resident_blocks) n = in->blocks_on_sm;
    return n < 1 ? 1 : n;
}

void time_replay(const struct replay_input *in, struct replay_result *out) {
    struct sm_model m;
    u32 limit = simulated_block_limit(in);
    *out = (struct replay_result){0};
    time_sm_open(&m, in);
    for (u32 i = 0; i < in->resident_blocks && i < limit; i++) start_block(&m, i, 0, limit);
    while (m.nheap || break_deadlock(&m, limit))
        for (m.nheap ? issue(&m, limit) : (void)0; time_grid_try_release(&m);)
            release_grid_barrier(&m, limit);
    time_sm_results(&m, out);
    time_sm_close(&m);
}
