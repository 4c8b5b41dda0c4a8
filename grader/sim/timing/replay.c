/* replay.c — one SM runs its blocks, in cycles.
 *
 * Theory of operation. The warps of the resident blocks wait in a heap, ordered by when their next
 * instruction has its operands; the first one issues. Every resource (a scheduler, a unit, the L1's
 * data stage, the SM's part of L2 and DRAM bandwidth, an address under atomics) is a time at which
 * it is free again: using it moves that time on, in the order in which requests come. A warp issues
 * in order and never waits for a store; but an instruction whose resource is further behind than
 * its queue is long holds the warp up. L1 is a tag store fed by the warps as they go, so that its
 * hits come out of the interleaving. L2 and DRAM see one SM's part of the traffic, see traffic.c.
 * When a block ends the next one starts; after some rounds of resident blocks the rest is
 * extrapolated from the rate. */
#include "grader/sim/core/pace.h"
#include "grader/sim/timing/machine.h"

#include <stdlib.h>
#include <string.h>

/* A warp's arrival at a barrier takes the unit two cycles; from the last one to when all go on.
 * H100: 256 barriers in a row of 16 warps, 57 cycles each; of 64 in four blocks, 138; of one
 * warp, 30. */
static const double arrival_cycles = 2.1, barrier_latency = 20;
/* The same where machine code is played, whose clocks before and after the barrier are most of
 * that. */
static const double played_barrier_latency = 2;
/* From the last arrival at the barrier of a cluster to when all go on. It is the release that takes
 * long: H100, 256 in a row, 786 cycles for a warp that is alone on its SM, 863 for 8, 872 for 10,
 * 1268 for 12, 1344 for 32; 82 and 132 for 1 and 32 where the arrival is relaxed. A cluster of 8
 * takes 50 to 90 more than one of a single block (docs/results/h100/clusters.tsv). */
static double cluster_barrier(const struct machine *m, bool relaxed) {
    double warps = (double)m->in->resident * m->nwarps;
    if (relaxed) return 70 + 0.8 * warps; /* and what the warps take to come */
    return warps > 10 ? 1260 + 3 * warps : 780 + 10 * warps;
}

/* Until a load or store has read its operands, where machine code says who waits for that. An
 * assumption. */
static const double read_cycles = 10;

/* ---- the heap of warps that can issue ---- */

static void heap_up(struct machine *m, u32 i) {
    u32 w = m->heap[i];
    for (; i && m->warps[m->heap[(i - 1) / 2]].time > m->warps[w].time; i = (i - 1) / 2)
        m->heap[i] = m->heap[(i - 1) / 2];
    m->heap[i] = w;
}

static void heap_down(struct machine *m) {
    u32 w = m->heap[0], i = 0;
    for (;;) {
        u32 c = 2 * i + 1;
        if (c >= m->nheap) break;
        if (c + 1 < m->nheap && m->warps[m->heap[c + 1]].time < m->warps[m->heap[c]].time) c++;
        if (m->warps[m->heap[c]].time >= m->warps[w].time) break;
        m->heap[i] = m->heap[c];
        i = c;
    }
    m->heap[i] = w;
}

static void push(struct machine *m, u32 w) {
    m->heap[m->nheap] = w;
    heap_up(m, m->nheap++);
}

static void pop(struct machine *m) {
    m->heap[0] = m->heap[--m->nheap];
    if (m->nheap) heap_down(m);
}

/* ---- issue ---- */

/* A barrier of machine code holds for all that have yet to release it. */
static void results(struct rwarp *w, const struct step *s, double ready, u8 why) {
    for (u32 i = 0; i < s->ndst; i++)
        if (!s->stall || ready > w->ready[s->dst[i]])
            w->ready[s->dst[i]] = ready, w->why[s->dst[i]] = why;
}

static const struct step *step_at(const struct rwarp *w, u32 i) {
    return w->chunk.list ? w->chunk.list[i].step : &w->region->steps[i];
}

static const struct step *step_of(const struct rwarp *w) { return step_at(w, w->step); }

static u32 steps_of(const struct rwarp *w) {
    return w->chunk.list ? w->chunk.n : w->region ? w->region->nsteps : 0;
}

/* Where the step's first access stands in the stream, + 1; 0 = it makes none. */
static u32 event_of(const struct rwarp *w) {
    if (!w->chunk.list) return w->event[w->step];
    u32 e = w->chunk.list[w->step].event;
    return e ? w->chunk.events[e - 1].word + 1 : 0;
}

static const enum resource unit_resource[UNIT_COUNT] = {
    [UNIT_ALU] = R_ALU, [UNIT_IMAD] = R_FMA, [UNIT_FMA] = R_FMA,      [UNIT_FP64] = R_FP64,
    [UNIT_XU] = R_XU,   [UNIT_LSU] = R_LSU,  [UNIT_TENSOR] = R_TENSOR};

/* Small products take as long as the unit needs for one: H100, 16 x 8 x 8 of halves. */
static const double least_product = 4;
/* From when a warpgroup's product leaves the tensor cores to when a wait for it ends: H100, one at
 * a time, N of 8 to 128. */
static const double product_latency = 50;

static double unit_cycles(const struct machine *m, const struct step *s, u8 unit) {
    if (!s->work) return s->count * m->interval[unit];
    return max2(m->interval[unit] * s->work / WHOLE_PRODUCT, least_product);
}

static u8 chosen_unit(const struct machine *m, const struct rwarp *w, const struct step *s) {
    if (s->unit != UNIT_ADD) return s->unit;
    bool alone =
        m->interval[UNIT_ALU] <= 1 || m->d->cc_major < 7; /* the ALU is as wide as an SM issues */
    double fma = max2(m->unit[UNIT_IMAD][w->scheduler], m->unit[UNIT_FMA][w->scheduler]);
    return !alone && fma < m->unit[UNIT_ALU][w->scheduler] && fma <= w->time ? UNIT_IMAD : UNIT_ALU;
}

/* When the instruction's unit can take it; reserves the unit. */
static double reserve_unit(struct machine *m, struct rwarp *w, const struct step *s) {
    u32 k = w->scheduler;
    double t = w->time, n = s->count;
    u8 unit = chosen_unit(m, w, s);
    if (unit == UNIT_LSU) {
        t = max2(max2(t, m->lsu), m->l1 - l1_queue);
        m->lsu = t + n;
        m->busy[R_LSU] += n;
    } else if (unit != UNIT_NONE && unit != UNIT_CTRL && !off(m, TERM_BIT(UNITS))) {
        t = max2(t, m->unit[unit][k]);
        double cost = unit_cycles(m, s, unit);
        m->unit[unit][k] = t + cost;
        m->busy[unit_resource[unit]] += cost / SCHEDULERS;
        if (s->special)
            m->unit[UNIT_XU][k] = max2(m->unit[UNIT_XU][k], t) + s->special * m->interval[UNIT_XU];
        m->busy[R_XU] += s->special * m->interval[UNIT_XU] / SCHEDULERS;
        /* Integer multiplication runs on the FMA pipe, half of it where that is 128 lanes wide. */
        if (unit == UNIT_IMAD)
            m->unit[UNIT_FMA][k] = max2(m->unit[UNIT_FMA][k], t) + n * m->interval[UNIT_FMA];
    }
    return t;
}

static double reserve_issue(struct machine *m, const struct rwarp *w, const struct step *s) {
    double t = off(m, TERM_BIT(ISSUE)) ? w->time : max2(w->time, m->issue[w->scheduler]);
    m->issue[w->scheduler] = t + s->count;
    m->busy[R_ISSUE] += (double)s->count / SCHEDULERS;
    return t;
}

static double hold_back(struct machine *m, const struct rwarp *w, double t) {
    u32 at = event_of(w);
    if (!at) return t;
    u64 h = w->stream->strings[at - 1];
    if (trace_space(h) != SPACE_GLOBAL || trace_verb(h) == MEM_LOAD) return t;
    if (trace_verb(h) >= MEM_ATOM)
        t = max2(t, time_atomic_backlog(m, w->stream->strings + at - 1) - atomic_queue);
    return max2(t, max2(m->l2, m->dram) - l2_queue);
}

/* The access at `at`, + 1, and those of the same instruction that follow on it. */
static double accesses(struct machine *m, struct rwarp *w, u32 at, double t, const struct step *s,
                       u8 *why) {
    const u64 *words = w->stream->strings;
    u32 op = trace_op_or_segment(words[at - 1]);
    double ready = t;
    while (at - 1 < w->stream->nwords && trace_is_access(words[at - 1]) &&
           trace_op_or_segment(words[at - 1]) == op) {
        if (trace_space(words[at - 1]) == TRACE_GRID_BARRIER)
            ready = time_grid_mark(m, w, words[at - 1], t, why);
        else if (trace_is_mbarrier(words[at - 1]))
            ready = time_copies_mark(m, w, words + at - 1, ready, s->bulk, why);
        else ready = max2(ready, time_memory_access(m, w, words + at - 1, t, why));
        at += 1 + trace_entries(words[at - 1]);
        if (w->chunk.list) break; /* each has an event of its own */
    }
    return ready;
}

/* An access whose predicate is false for the whole warp goes through L1's data stage all the same:
 * tree reductions on an H100 have as many of its passes as if all warps took part in every step
 * (docs/results/h100/ncu.tsv). */
static bool is_off(const struct machine *m, const struct rwarp *w, const struct step *s, u32 at) {
    if (at || w->chunk.list || s->kind != STEP_MEMORY || s->unit != UNIT_LSU || !s->count)
        return false;
    u8 space = m->in->regions->module->mems[m->in->regions->module->ops[s->op].aux].space;
    return space == SPACE_GLOBAL || space == SPACE_SHARED || space == SPACE_GENERIC;
}

static void issue_memory(struct machine *m, struct rwarp *w, const struct step *s, double t) {
    double ready = t + 2;
    u8 why = STALL_NONE;
    u32 at = event_of(w);
    if (is_off(m, w, s, at)) time_memory_l1(m, t, 1, R_L1);
    if (!w->chunk.list && at) ready = max2(ready, accesses(m, w, at, t, s, &why));
    for (u32 e = w->chunk.list ? w->chunk.list[w->step].event : 0; e;
         e = w->chunk.events[e - 1].next)
        ready = max2(ready, accesses(m, w, w->chunk.events[e - 1].word + 1, t, s, &why));
    if (!at && s->kind == STEP_SPILL) ready = time_memory_frame(m, t), why = STALL_L1;
    if (s->copies) time_copies_begin(w, ready, why);
    results(w, s, off(m, TERM_BIT(LATENCY)) ? t + 1 : ready, why);
}

/* Accesses to spilled registers are the work of ptxas: where they stand is not in the PTX, so they
 * are spread evenly over what is. Each takes a slot of issue, of the load/store unit, and a pass of
 * L1; the warp waits only where queues are full. */
static double spill(struct machine *m, struct rwarp *w, double t) {
    static const struct step access = {.unit = UNIT_LSU, .count = 1};
    if (w->chunk.list) return t; /* machine code shows them */
    for (w->spills += m->in->spills; w->spills >= 1; w->spills--) {
        w->time = t;
        t = reserve_issue(m, w, &access) + 1;
        m->lsu = max2(m->lsu, t) + 1;
        m->busy[R_LSU]++;
        t = max2(time_memory_spill(m, t), m->lsu - l1_queue);
    }
    return t;
}

/* ---- the stream of a warp ---- */

static bool next_chunk(struct machine *m, struct rwarp *w) {
    w->step = 0;
    while (time_schedule_next(m->in->schedule, w->stream, &w->at, &w->chunk))
        if (w->chunk.n) return true;
    return w->chunk.n = 0, false;
}

static bool next_region(struct machine *m, struct rwarp *w) {
    const struct trace_warp *s = w->stream;
    if (m->in->schedule) return next_chunk(m, w);
    while (w->at < s->nwords && trace_is_access(s->strings[w->at]))
        w->at += 1 + trace_entries(s->strings[w->at]);
    if (w->at >= s->nwords) return false;
    struct region *g = time_region_at(m->in->regions, s, w->at);
    memset(w->event, 0, g->nsteps * sizeof *w->event);
    u32 next = 0,
        i = w->at; /* the least segment of the region that may follow: some are led past */
    for (; i < s->nwords; i++) {
        u64 h = s->strings[i];
        if (!trace_is_access(h)) {
            u32 segment = trace_op_or_segment(h) - g->segment;
            if (segment < next || segment >= g->nsegments) break;
            next = segment + 1;
            continue;
        }
        u32 op = trace_op_or_segment(h);
        if (op >= g->first_op && op < g->end_op && !w->event[g->step_of[op - g->first_op]])
            w->event[g->step_of[op - g->first_op]] = i + 1;
        i += trace_entries(h);
    }
    w->at = i;
    w->region = g;
    w->step = 0;
    return true;
}

static const enum sim_stall_reason wait_of[STALL_COUNT] = {
    [STALL_ARITHMETIC] = SIM_STALL_WAIT,
    [STALL_SHARED] = SIM_STALL_SHORT_SCOREBOARD,
    [STALL_L1] = SIM_STALL_LONG_SCOREBOARD_L1,
    [STALL_L2] = SIM_STALL_LONG_SCOREBOARD_L2,
    [STALL_DRAM] = SIM_STALL_LONG_SCOREBOARD_DRAM,
    [STALL_ATOMIC] = SIM_STALL_LONG_SCOREBOARD_ATOMIC,
    [STALL_BARRIER] = SIM_STALL_BARRIER};

/* Goes to the next instruction that takes an issue slot, and to when its operands are there. False:
 * the warp is done. */
static bool advance(struct machine *m, struct rwarp *w) {
    for (;;) {
        if (w->step >= steps_of(w)) {
            if (!next_region(m, w)) return false;
            continue;
        }
        const struct step *s = step_of(w);
        if (s->kind == STEP_GROUP) time_copies_group(m, w, &m->in->regions->module->ops[s->op]);
        double t = w->issued;
        u8 why = STALL_NONE;
        for (u32 i = 0; i < s->nsrc; i++)
            if (w->ready[s->src[i]] > t) t = w->ready[s->src[i]], why = w->why[s->src[i]];
        if (!s->count) { /* renamed or folded: the result is there when the operands are */
            results(w, s, t + (off(m, TERM_BIT(LATENCY)) ? 0 : s->latency), why);
            w->step++;
            continue;
        }
        m->stalls[why] += t - w->issued;
        wait_at(m, s->op, wait_of[why], t - w->issued);
        w->time = w->operands = t;
        return true;
    }
}

/* ---- blocks ---- */

static double dispatch(struct machine *m, double now) {
    if (off(m, TERM_BIT(LAUNCH))) return now;
    double start = max2(now, m->dispatch);
    m->dispatch = start + block_dispatch_cycles * m->in->active_sms;
    return start;
}

/* The n-th block of an SM. The blocks of one SM lie as many apart as the device has SMs: of a grid
 * that gives it fewer than were traced, they are taken from all of the sample, and not from its
 * first ones, which are neighbours and share lines as no two blocks of one SM do. Where blocks wait
 * for those before them, it is the SM that has the last one whose time counts. */
static const struct trace_block *nth_block(const struct replay_input *in, u32 n) {
    bool few = in->blocks < in->norder;
    u64 at = few && in->last_waits ? (n + 1ull) * in->norder / in->blocks - 1
                                   : (u64)n * in->norder / in->blocks;
    return &in->trace->blocks[in->order[few ? (u32)at : n % in->norder]];
}

static void start_block(struct machine *m, u32 slot, double at, u32 limit) {
    const struct replay_input *in = m->in;
    double now = dispatch(m, at);
    u32 n = m->started++;
    const struct trace_block *t = nth_block(in, n);
    struct rblock *b = &m->blocks[slot];
    struct touched touched = b->touched;
    time_touched_clear(&touched);
    *b = (struct rblock){
        .warps = m->nwarps, .copy = n / in->norder, .last = now, .touched = touched};
    for (u32 i = 0; i < m->nwarps; i++) {
        struct rwarp *w = &m->warps[slot * m->nwarps + i];
        w->stream = &t->warps[i];
        w->at = 0, w->region = NULL, w->step = 0, w->chunk.n = 0, w->parked = w->ticket = false;
        w->copies = w->products = (struct flights){0};
        w->at_grid = false, w->held = 0;
        w->slot = slot;
        w->scheduler = (slot * m->nwarps + i) % SCHEDULERS;
        w->issued = now + (off(m, TERM_BIT(LATENCY)) ? 0 : block_start_cycles);
        memset(w->ready, 0, (in->regions->nregisters + SASS_BARRIER_COUNT) * sizeof *w->ready);
        w->running = advance(m, w);
        b->running += w->running;
        if (w->running) push(m, slot * m->nwarps + i);
    }
    if (b->running) return;
    m->done[m->ndone++] = now + block_start_cycles; /* nothing was traced */
    if (m->started < limit) start_block(m, slot, now + block_start_cycles, limit);
}

static void end_warp(struct machine *m, struct rwarp *w, u32 limit) {
    struct rblock *b = &m->blocks[w->slot];
    w->running = false;
    b->running--;
    b->last = max2(b->last, w->issued);
    if (b->running) return;
    m->done[m->ndone++] = b->last;
    m->grid.changed = true;
    if (m->started < limit) start_block(m, w->slot, b->last, limit);
}

static bool waits_for_cluster(const struct machine *m, const struct rwarp *w) {
    const struct sim_module *module = m->in->regions->module;
    u32 op = step_at(w, w->step - 1)->op;
    return op < module->nops && module->ops[op].kind == OP_BAR &&
           module->bars[module->ops[op].aux].is_cluster;
}

/* Of the cluster's barrier: all of its blocks are taken to come when this one does. */
static void release(struct machine *m, u32 slot) {
    struct rblock *b = &m->blocks[slot];
    bool cluster = false;
    double t = 0;
    for (u32 i = 0; i < m->nwarps; i++) {
        struct rwarp *w = &m->warps[slot * m->nwarps + i];
        if (w->parked) t = max2(t, w->issued), cluster |= waits_for_cluster(m, w);
    }
    t = max2(t, m->barrier);
    double go = off(m, TERM_BIT(LATENCY))
                    ? t
                    : t + (m->in->schedule ? played_barrier_latency : barrier_latency);
    if (cluster && !off(m, TERM_BIT(LATENCY)))
        go = max2(go, b->came + cluster_barrier(m, b->relaxed));
    b->parked = 0;
    for (u32 i = 0; i < m->nwarps; i++) {
        struct rwarp *w = &m->warps[slot * m->nwarps + i];
        if (!w->parked) continue;
        w->parked = false;
        m->stalls[STALL_BARRIER] += go - w->issued;
        wait_at(m, step_at(w, w->step - 1)->op, SIM_STALL_BARRIER, go - w->issued);
        w->issued = go;
    }
}

static void check_barrier(struct machine *m, u32 slot, u32 limit) {
    struct rblock *b = &m->blocks[slot];
    if (!b->parked || b->parked < b->running) return;
    release(m, slot);
    for (u32 i = 0; i < m->nwarps && b->running; i++) {
        u32 n = slot * m->nwarps + i;
        struct rwarp *w = &m->warps[n];
        bool waiting = w->running && w->time < 0;
        if (!waiting) continue;
        w->time = 0;
        if (advance(m, w)) push(m, n);
        else end_warp(m, w, limit);
    }
}

/* ---- the barrier of the grid ---- */

static void hold(struct machine *m, struct rwarp *w, double until) {
    if (until <= w->issued) return;
    m->stalls[STALL_BARRIER] += until - w->issued;
    wait_at(m, step_at(w, w->step - 1)->op, SIM_STALL_BARRIER, until - w->issued);
    w->issued = until;
}

/* Those that waited for the other blocks of the SM. */
static void let_go(struct machine *m, u32 limit) {
    for (u32 n = 0; n < m->in->resident * m->nwarps; n++) {
        struct rwarp *w = &m->warps[n];
        if (!w->at_grid || m->blocks[w->slot].met > m->grid.phases) continue;
        w->at_grid = false;
        hold(m, w, m->grid.go);
        if (advance(m, w)) push(m, n);
        else end_warp(m, w, limit);
    }
}

/* ---- one instruction ---- */

/* Of an instruction whose operands were there: until its unit took it, until the scheduler did,
 * until it was issued at `t`. What machine code waits for longer than that is a result of known
 * latency. */
static void spent(struct machine *m, const struct rwarp *w, const struct step *s, double t) {
    bool arithmetic = s->unit != UNIT_LSU && s->kind == STEP_PLAIN;
    wait_at(m, s->op, arithmetic ? SIM_STALL_MATH_PIPE_THROTTLE : SIM_STALL_LG_MIO_THROTTLE,
            w->unit_free - w->operands);
    wait_at(m, s->op, SIM_STALL_NOT_SELECTED, t - w->unit_free);
    double latency = s->stall > s->count ? s->stall - s->count : 0;
    wait_at(m, s->op, SIM_STALL_WAIT, latency);
    wait_at(m, s->op, SIM_STALL_SELECTED, w->issued - t - latency);
}

static void come_to_cluster(struct machine *m, const struct rwarp *w, const struct step *s,
                            double t) {
    struct rblock *b = &m->blocks[w->slot];
    b->came = max2(b->came, t);
    b->relaxed = m->in->regions->module->ops[s->op].imm; /* decode_cluster.c */
}

static void issue(struct machine *m, u32 limit) {
    u32 n = m->heap[0];
    struct rwarp *w = &m->warps[n];
    const struct step *s = step_of(w);
    if (!w->ticket) {
        double at = w->time;
        w->time = hold_back(m, w, at);
        w->time = w->unit_free = reserve_unit(m, w, s);
        w->ticket = true;
        if (w->time > at) { /* the scheduler is free for others until the unit is */
            heap_down(m);
            return;
        }
    }
    double t = reserve_issue(m, w, s);
    w->ticket = false;
    m->steps++;
    if (s->kind == STEP_MEMORY || s->kind == STEP_SPILL ||
        (w->chunk.list && w->chunk.list[w->step].event))
        issue_memory(m, w, s, t);
    else
        results(w, s,
                t + (off(m, TERM_BIT(LATENCY))
                         ? 1
                         : s->latency + (s->count - 1) * m->interval[s->unit]),
                STALL_ARITHMETIC);
    if (s->kind == STEP_ARRIVE) come_to_cluster(m, w, s, t);
    if (s->product) time_products_begin(w, t + unit_cycles(m, s, UNIT_TENSOR) + product_latency);
    if (s->read) w->ready[s->read - 1] = max2(w->ready[s->read - 1], t + read_cycles);
    w->issued = spill(m, w, t + (s->stall ? s->stall : s->count));
    spent(m, w, s, t);
    w->step++;
    hold(m, w, w->held);
    u32 slot = w->slot;
    if (s->kind == STEP_BARRIER && !off(m, TERM_BIT(BARRIERS))) {
        pop(m);
        m->barrier = max2(m->barrier, w->issued) + arrival_cycles;
        w->parked = true, w->time = -1;
        m->blocks[slot].parked++;
    } else if (w->at_grid) {
        pop(m);
        return;
    } else if (advance(m, w)) {
        heap_down(m);
        return;
    } else {
        pop(m);
        end_warp(m, w, limit);
        if (m->blocks[slot].running == 0) return;
    }
    check_barrier(m, slot, limit);
}

/* Of streams of which parts were left out, blocks come to the grid's barrier more or less often;
 * warps that wait at different named barriers wait here for each other for ever, since the model
 * has one barrier. */
static bool unlock(struct machine *m, u32 limit) {
    bool at_grid = false;
    for (u32 n = 0; n < m->in->resident * m->nwarps; n++) at_grid |= m->warps[n].at_grid;
    if (at_grid) return time_grid_force(m), let_go(m, limit), true;
    for (u32 slot = 0; slot < m->in->resident; slot++)
        if (m->blocks[slot].parked) {
            m->blocks[slot].parked = m->blocks[slot].running;
            check_barrier(m, slot, limit);
            return true;
        }
    return false;
}

/* ---- the whole ---- */

/* Blocks worth simulating: four rounds of the resident ones, fewer where they are long. */
static u32 blocks_to_simulate(const struct replay_input *in) {
    double work = 0;
    for (u32 i = 0; i < in->norder; i++) work += (double)in->trace->blocks[in->order[i]].warp_insns;
    work /= in->norder;
    u32 rounds = 4;
    while (rounds > 1 && work * rounds * in->resident > (double)in->most_steps) rounds--;
    u32 n = rounds * in->resident;
    if (in->blocks <= n + in->resident) n = in->blocks;
    return n < 1 ? 1 : n;
}

void time_replay(const struct replay_input *in, struct replay_result *out) {
    struct machine m;
    u32 limit = blocks_to_simulate(in);
    *out = (struct replay_result){0};
    time_machine_open(&m, in);
    for (u32 i = 0; i < in->resident && i < limit; i++) start_block(&m, i, 0, limit);
    while (m.nheap || unlock(&m, limit))
        for (m.nheap ? issue(&m, limit) : (void)0; time_grid_meets(&m);) let_go(&m, limit);
    time_machine_results(&m, out);
    time_machine_close(&m);
}
