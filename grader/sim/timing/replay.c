/* replay.c — one SM runs its blocks, in cycles.
 *
 * Theory of operation. The warps of the resident blocks wait in a heap, ordered by when their next instruction has its
 * operands; the first one issues. Every resource (a scheduler, a unit, the L1's data stage, the SM's part of L2 and
 * DRAM bandwidth, an address under atomics) is a time at which it is free again: using it moves that time on, in the
 * order in which requests come. A warp issues in order and never waits for a store; but an instruction whose resource is
 * further behind than its queue is long holds the warp up. L1 is a tag store fed by the warps as they go, so that its
 * hits come out of the interleaving. L2 and DRAM see one SM's part of the traffic, see traffic.c. When a block ends
 * the next one starts; after some rounds of resident blocks the rest is extrapolated from the rate. */
#include "grader/sim/timing/internal.h"

#include <stdlib.h>
#include <string.h>

enum { SCHEDULERS = 4 };
/* Cycles of work that may be queued before a warp has to wait: loads and stores on their way to L1, stores on their
 * way to L2. No source; between half and twice these values results hardly change. */
static const double l1_queue = 64, l2_queue = 600, atomic_queue = 600;
static const double start_cycles = 200; /* cycles from a block's start to its first instruction: fetch, constants */
static const double barrier_latency = 15;
/* One line of four sectors or one of one sector takes the same slot of an L2 slice: 64 bytes at least. */
static const double l2_least_sectors = 2;
static const double atomic_cycles = 1; /* of an L2 slice for one lane's update of an address */

struct target { /* an address that atomics update */
    u64 address;
    u32 blocks, last; /* traced blocks that do so; the last one seen, + 1 */
    double free, busy;
};

struct rwarp {
    const struct trace_warp *stream;
    u32 at;
    struct region *region;
    u32 step, slot, scheduler;
    double time, issued;
    double *ready;
    u8 *why;    /* by register: whom a reader waits for */
    u32 *event; /* by step: where its access stands in the stream, + 1; 0 = none */
    bool running, parked;
    bool ticket; /* its unit is reserved: only the issue slot is missing */
};

struct rblock {
    u32 warps, running, parked, copy; /* copy: how often its trace has been used before */
    double last;
    struct touched touched;
};

struct machine {
    const struct replay_input *in;
    const struct gpu_device *d;
    struct rwarp *warps;
    struct rblock *blocks;
    u32 nwarps; /* of a block */
    u32 *heap, nheap;
    double issue[SCHEDULERS], unit[UNIT_COUNT][SCHEDULERS], interval[UNIT_COUNT];
    double lsu, l1, l2, dram, sfree;
    double busy[R_COUNT], stalls[STALL_COUNT];
    double l2_cycles, dram_cycles; /* of a sector */
    double lat_l1, lat_l2, lat_dram, lat_shared;
    struct cache l1_lines, l2_lines;
    bool l2_limited, local_spills;
    double *debt; /* DRAM sectors owed, by buffer and verb */
    struct target *targets;
    u32 ntargets, target_slots;
    double hits, sectors, l2_hits, l2_sectors;
    double *done;
    u32 ndone, started;
    u64 steps;
};

/* ---- addresses under atomics ---- */

static struct target *target(struct machine *m, u64 address) {
    u32 h = (u32)((address * 0x9e3779b97f4a7c15ull) >> 40) & (m->target_slots - 1);
    while (m->targets[h].address && m->targets[h].address != address) h = (h + 1) & (m->target_slots - 1);
    return &m->targets[h];
}

static void note_target(struct machine *m, u64 address, u32 block) {
    struct target *t = target(m, address);
    if (!t->address) t->address = address, m->ntargets++;
    if (t->last != block + 1) t->blocks++, t->last = block + 1;
}

static u64 count_targets(const struct sim_trace *t) {
    u64 n = 0;
    for (u32 b = 0; b < t->nblocks; b++)
        for (u32 w = 0; w < t->blocks[b].nwarps; w++)
            for (u32 i = 0; i < t->blocks[b].warps[w].n; i++) {
                u64 h = t->blocks[b].warps[w].words[i];
                if (!trace_is_access(h)) continue;
                if (trace_space(h) == SPACE_GLOBAL && trace_verb(h) >= MEM_ATOM) n += trace_entries(h);
                i += trace_entries(h);
            }
    return n;
}

static void open_targets(struct machine *m, const struct sim_trace *t) {
    u64 n = count_targets(t);
    for (m->target_slots = 64; m->target_slots < 2 * n; m->target_slots *= 2) {}
    m->targets = xcalloc(m->target_slots, sizeof *m->targets);
    for (u32 b = 0; b < t->nblocks && n; b++)
        for (u32 w = 0; w < t->blocks[b].nwarps; w++) {
            const struct trace_warp *s = &t->blocks[b].warps[w];
            for (u32 i = 0; i < s->n; i++) {
                u64 h = s->words[i];
                if (!trace_is_access(h)) continue;
                bool atomic = trace_space(h) == SPACE_GLOBAL && trace_verb(h) >= MEM_ATOM;
                for (u32 k = 1; atomic && k <= trace_entries(h); k++) note_target(m, s->words[i + k] & ((1ull << 56) - 1), b);
                i += trace_entries(h);
            }
        }
}

/* SMs that update the address at the same time as this one. */
static double contenders(const struct machine *m, const struct target *t) {
    u32 n = m->in->trace->nblocks;
    if (t->blocks < 2 || n < 2) return 1;
    return 1 + (m->in->active_sms - 1) * (t->blocks - 1) / (n - 1);
}

/* ---- the heap of warps that can issue ---- */

static void heap_up(struct machine *m, u32 i) {
    u32 w = m->heap[i];
    for (; i && m->warps[m->heap[(i - 1) / 2]].time > m->warps[w].time; i = (i - 1) / 2) m->heap[i] = m->heap[(i - 1) / 2];
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

/* ---- L2 and DRAM ---- */

static double max2(double a, double b) { return a > b ? a : b; }
static bool off(const struct machine *m, unsigned bit) { return m->in->without & bit; }

/* Sectors of a line go through the SM's part of L2; returns when L2 has them. */
static double l2_transfer(struct machine *m, double t, double sectors) {
    double cost = max2(sectors, l2_least_sectors) * m->l2_cycles;
    m->l2 = max2(m->l2, t) + cost;
    m->busy[R_L2] += cost;
    return m->l2 - cost;
}

static double dram_transfer(struct machine *m, double t, double sectors) {
    double cost = max2(sectors, l2_least_sectors) * m->dram_cycles;
    m->dram = max2(m->dram, t) + cost;
    m->busy[R_DRAM] += cost;
    return m->dram - cost;
}

/* Do the sectors come from (go to) DRAM? `first`: those that the block touches for the first time. */
static bool in_dram(struct machine *m, u64 word, u32 sectors, u32 first, u32 verb) {
    struct traffic *t = m->in->traffic;
    struct buffer_traffic *b = traffic_buffer(t, line_number(word) << 7);
    if (!b) return first;
    double *debt = &m->debt[2 * (b - t->buffer) + verb];
    *debt += b->dram[verb] * __builtin_popcount(first);
    if (first & sectors) {
        double owed = __builtin_popcount(sectors & first);
        if (*debt < owed - 1e-9) return false;
        *debt -= owed;
        return true;
    }
    if (!m->l2_limited || verb) return false;
    struct cache_line *line = cache_find(&m->l2_lines, line_number(word));
    return !line || (sectors & ~line->sectors);
}

static void note_l2(struct machine *m, u64 line, u32 sectors) {
    if (!m->l2_limited) return;
    struct cache_line *l = cache_find(&m->l2_lines, line);
    if (!l) l = cache_insert(&m->l2_lines, line);
    l->sectors |= (u8)sectors;
}

/* ---- one line of a global access ---- */

/* Lines of a block whose trace serves a second time are other lines, unless blocks share the buffer. */
static u64 own_line(const struct machine *m, u64 word, u32 copy) {
    if (!copy) return line_number(word);
    const struct buffer_traffic *b = traffic_buffer(m->in->traffic, line_number(word) << 7);
    bool common = b && (b->shared[0] > 0.5 || b->shared[1] > 0.5);
    return line_number(word) + (common ? 0 : (u64)copy << 44);
}

static double load_line(struct machine *m, struct rblock *b, u64 word, double t, bool cached, u8 *why) {
    u64 line = own_line(m, word, b->copy);
    u32 sectors = line_sectors(word);
    struct cache_line *l = cached ? cache_find(&m->l1_lines, line) : NULL;
    u32 missing = l ? sectors & ~(u32)l->sectors : sectors, first = touched_add(&b->touched, line_number(word), false, sectors);
    m->sectors += __builtin_popcount(sectors);
    m->hits += __builtin_popcount(sectors & ~missing);
    if (!missing) {
        in_dram(m, word, 0, first, 0);
        if (l->ready > t + m->lat_l1 && *why < STALL_L2) *why = STALL_L2;
        return max2(l->ready, t + m->lat_l1);
    }
    u32 n = (u32)__builtin_popcount(missing);
    bool far = in_dram(m, word, missing, first, 0);
    double start = l2_transfer(m, t, n), ready = start + m->lat_l2;
    m->l2_sectors += n;
    if (far) ready = dram_transfer(m, start, n) + m->lat_dram;
    else m->l2_hits += n;
    if (*why < (far ? STALL_DRAM : STALL_L2)) *why = far ? STALL_DRAM : STALL_L2;
    note_l2(m, line, missing);
    if (cached && !l) l = cache_insert(&m->l1_lines, line);
    if (l) l->sectors |= (u8)missing, l->ready = max2(l->ready, ready);
    return ready;
}

/* Writes go through to L2, and the written sectors leave L1. */
static void store_line(struct machine *m, struct rblock *b, u64 word, double t) {
    u64 line = own_line(m, word, b->copy);
    u32 sectors = line_sectors(word), n = (u32)__builtin_popcount(sectors);
    double start = l2_transfer(m, t, n);
    struct cache_line *l = cache_find(&m->l1_lines, line);
    if (l) l->sectors &= (u8)~sectors;
    if (in_dram(m, word, sectors, touched_add(&b->touched, line_number(word), true, sectors), 1)) dram_transfer(m, start, n);
    note_l2(m, line, sectors);
}

/* ---- accesses ---- */

/* Tag passes. Lines are looked up four at a time where they lie in different ones of four tag banks; a pass costs a
 * quarter for each line beyond the first (facts: L1-hit loads by stride on an H200, 1.00 to 2.72 for 1 to 8
 * neighbouring lines). That lines of one tag bank take a pass each is a hypothesis that two published results suggest:
 * products whose lanes are a row apart (docs/time-model.md). */
static double tag_passes(const u64 *p, u32 n) {
    u32 passes = 0, in_pass = 0, banks = 0;
    for (u32 k = 1; k <= n; k++) {
        u32 bank = 1u << (line_number(p[k]) & 3);
        if (!passes || in_pass == 4 || banks & bank) passes++, in_pass = 0, banks = 0;
        in_pass++, banks |= bank;
    }
    double neighbours = 1 + (n - 1) / 4.0;
    return passes > neighbours ? passes : neighbours;
}

/* Passes of the data stage and of the tag stage: the longer one counts. */
static double l1_passes(const struct machine *m, const u64 *p) {
    double bank = trace_wavefronts(*p), tag = tag_passes(p, trace_entries(*p));
    if (off(m, TERM_BIT(PASSES))) return 1;
    return max2(max2(bank, tag), 1);
}

static double l1_stage(struct machine *m, double t, double passes, enum resource r) {
    m->l1 = max2(m->l1, t) + passes;
    m->busy[r] += passes;
    return m->l1;
}

static double access_global(struct machine *m, const struct rwarp *w, const u64 *p, double t, const struct mem_desc *d, u8 *why) {
    u64 h = *p;
    double at = l1_stage(m, t, l1_passes(m, p), R_L1), ready = at + m->lat_l1;
    bool cached = !off(m, TERM_BIT(CACHE)) && !d->strong && d->cache_op != 'g';
    struct rblock *b = &m->blocks[w->slot];
    for (u32 k = 1; k <= trace_entries(h); k++) {
        if (trace_verb(h) == MEM_LOAD) ready = max2(ready, load_line(m, b, p[k], at, cached, why));
        else store_line(m, b, p[k], at);
    }
    return ready;
}

static double access_atomic(struct machine *m, const u64 *p, double t, u8 *why) {
    double at = l1_stage(m, t, 1, R_L1), ready = at + m->lat_l2;
    u64 sector = UINT64_MAX;
    for (u32 k = 1; k <= trace_entries(*p); k++) {
        u64 address = p[k] & ((1ull << 56) - 1);
        struct target *a = target(m, address);
        if (address >> 5 != sector) at = max2(at, l2_transfer(m, at, 1));
        sector = address >> 5;
        double cost = (double)(p[k] >> 56) * atomic_cycles * contenders(m, a);
        if (off(m, TERM_BIT(ATOMICS))) cost = 0;
        a->free = max2(a->free, at) + cost;
        a->busy += cost;
        ready = max2(ready, a->free + m->lat_l2);
    }
    *why = STALL_ATOMIC;
    return ready;
}

static double shared_passes(const struct machine *m, u64 h, const struct mem_desc *d) {
    double passes = trace_wavefronts(h);
    bool atomic = trace_verb(h) >= MEM_ATOM;
    if (off(m, TERM_BIT(SHARED))) return 1;
    /* The first of merged accesses has the passes of the wide one. */
    if (off(m, TERM_BIT(MERGING)) && d->merge > MERGED_AWAY) passes = passes * d->width / d->merge;
    /* Integer atomics are done in place; floating-point ones are a loop that locks the word (ptxas). */
    if (atomic && (d->type == PTX_F32 || d->type == PTX_F64)) return 4 * passes;
    return max2(passes, 1);
}

static double access_shared(struct machine *m, u64 h, double t, const struct mem_desc *d, u8 *why) {
    double passes = shared_passes(m, h, d), at = l1_stage(m, t, passes, R_SHARED), ready = at + m->lat_shared;
    bool loop = trace_verb(h) >= MEM_ATOM && (d->type == PTX_F32 || d->type == PTX_F64);
    if (loop) ready += 2 * m->lat_shared * trace_wavefronts(h);
    *why = STALL_SHARED;
    return ready;
}

static double access_local(struct machine *m, u64 h, double t, u8 *why) {
    double sectors = trace_wavefronts(h), at = l1_stage(m, t, max2(1, sectors / 4), R_L1);
    *why = STALL_L1;
    if (!m->local_spills && trace_verb(h) == MEM_LOAD) return at + m->lat_l1;
    double start = l2_transfer(m, at, sectors); /* write-through; too much for L1 to hold */
    *why = STALL_L2;
    return start + m->lat_l2;
}

static double access_one(struct machine *m, const struct rwarp *w, const u64 *p, double t, const struct step *s, u8 *why) {
    const struct mem_desc *d = &m->in->regions->module->mems[m->in->regions->module->ops[s->op].aux];
    switch (trace_space(*p)) {
    case SPACE_SHARED: return access_shared(m, *p, t, d, why);
    case SPACE_LOCAL: return access_local(m, *p, t, why);
    case SPACE_CONST: *why = STALL_L1; return l1_stage(m, t, trace_wavefronts(*p) - 1.0, R_L1) + m->lat_l1 / 2;
    default: break;
    }
    return trace_verb(*p) >= MEM_ATOM ? access_atomic(m, p, t, why) : access_global(m, w, p, t, d, why);
}

/* ---- issue ---- */

static void results(struct rwarp *w, const struct step *s, double ready, u8 why) {
    for (u32 i = 0; i < s->ndst; i++) w->ready[s->dst[i]] = ready, w->why[s->dst[i]] = why;
}

static const enum resource unit_resource[UNIT_COUNT] = {[UNIT_ALU] = R_ALU, [UNIT_IMAD] = R_FMA, [UNIT_FMA] = R_FMA,
                                                        [UNIT_FP64] = R_FP64, [UNIT_XU] = R_XU, [UNIT_LSU] = R_LSU};

/* When the instruction's unit can take it; reserves the unit. */
static double reserve_unit(struct machine *m, struct rwarp *w, const struct step *s) {
    u32 k = w->scheduler;
    double t = w->time, n = s->count;
    if (s->unit == UNIT_LSU) {
        t = max2(max2(t, m->lsu), m->l1 - l1_queue);
        m->lsu = t + n;
        m->busy[R_LSU] += n;
    } else if (s->unit != UNIT_NONE && s->unit != UNIT_CTRL && !off(m, TERM_BIT(UNITS))) {
        t = max2(t, m->unit[s->unit][k]);
        double cost = n * m->interval[s->unit];
        m->unit[s->unit][k] = t + cost;
        m->busy[unit_resource[s->unit]] += cost / SCHEDULERS;
        if (s->special) m->unit[UNIT_XU][k] = max2(m->unit[UNIT_XU][k], t) + s->special * m->interval[UNIT_XU];
        m->busy[R_XU] += s->special * m->interval[UNIT_XU] / SCHEDULERS;
        /* Integer multiplication runs on the FMA pipe, half of it where that is 128 lanes wide. */
        if (s->unit == UNIT_IMAD) m->unit[UNIT_FMA][k] = max2(m->unit[UNIT_FMA][k], t) + n * m->interval[UNIT_FMA];
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
    if (!w->event[w->step]) return t;
    u64 h = w->stream->words[w->event[w->step] - 1];
    if (trace_space(h) != SPACE_GLOBAL || trace_verb(h) == MEM_LOAD) return t;
    if (trace_verb(h) >= MEM_ATOM) {
        struct target *a = target(m, w->stream->words[w->event[w->step]] & ((1ull << 56) - 1));
        t = max2(t, a->free - atomic_queue);
    }
    return max2(t, max2(m->l2, m->dram) - l2_queue);
}

static void issue_memory(struct machine *m, struct rwarp *w, const struct step *s, double t) {
    u32 at = w->event[w->step];
    double ready = t + 2;
    u8 why = STALL_NONE;
    const u64 *words = w->stream->words;
    u32 op = at ? trace_low(words[at - 1]) : 0;
    while (at && at - 1 < w->stream->n && trace_is_access(words[at - 1]) && trace_low(words[at - 1]) == op) {
        ready = max2(ready, access_one(m, w, words + at - 1, t, s, &why));
        at += 1 + trace_entries(words[at - 1]);
    }
    results(w, s, off(m, TERM_BIT(LATENCY)) ? t + 1 : ready, why);
}

/* ---- the stream of a warp ---- */

static bool next_region(struct machine *m, struct rwarp *w) {
    const struct trace_warp *s = w->stream;
    while (w->at < s->n && trace_is_access(s->words[w->at])) w->at += 1 + trace_entries(s->words[w->at]);
    if (w->at >= s->n) return false;
    struct region *g = region_at(m->in->regions, s, w->at);
    memset(w->event, 0, g->nsteps * sizeof *w->event);
    u32 segments = 0, i = w->at;
    for (; i < s->n; i++) {
        u64 h = s->words[i];
        if (!trace_is_access(h)) {
            if (segments++ == g->nsegments) break;
            continue;
        }
        u32 op = trace_low(h);
        if (op >= g->first_op && op < g->end_op && !w->event[g->step_of[op - g->first_op]]) w->event[g->step_of[op - g->first_op]] = i + 1;
        i += trace_entries(h);
    }
    w->at = i;
    w->region = g;
    w->step = 0;
    return true;
}

/* Goes to the next instruction that takes an issue slot, and to when its operands are there. False: the warp is done. */
static bool advance(struct machine *m, struct rwarp *w) {
    for (;;) {
        if (!w->region || w->step == w->region->nsteps) {
            if (!next_region(m, w)) return false;
            continue;
        }
        const struct step *s = &w->region->steps[w->step];
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
        w->time = t;
        return true;
    }
}

/* ---- blocks ---- */

static void start_block(struct machine *m, u32 slot, double now, u32 limit) {
    const struct replay_input *in = m->in;
    u32 n = m->started++;
    const struct trace_block *t = &in->trace->blocks[in->order[n % in->norder]];
    struct rblock *b = &m->blocks[slot];
    struct touched touched = b->touched;
    touched_clear(&touched);
    *b = (struct rblock){.warps = m->nwarps, .copy = n / in->norder, .last = now, .touched = touched};
    for (u32 i = 0; i < m->nwarps; i++) {
        struct rwarp *w = &m->warps[slot * m->nwarps + i];
        w->stream = &t->warps[i];
        w->at = 0, w->region = NULL, w->step = 0, w->parked = w->ticket = false;
        w->slot = slot;
        w->scheduler = (slot * m->nwarps + i) % SCHEDULERS;
        w->issued = now + (off(m, TERM_BIT(LATENCY)) ? 0 : start_cycles);
        memset(w->ready, 0, in->regions->nregisters * sizeof *w->ready);
        w->running = advance(m, w);
        b->running += w->running;
        if (w->running) push(m, slot * m->nwarps + i);
    }
    if (b->running) return;
    m->done[m->ndone++] = now + start_cycles; /* nothing was traced */
    if (m->started < limit) start_block(m, slot, now + start_cycles, limit);
}

static void end_warp(struct machine *m, struct rwarp *w, u32 limit) {
    struct rblock *b = &m->blocks[w->slot];
    w->running = false;
    b->running--;
    b->last = max2(b->last, w->issued);
    if (b->running) return;
    m->done[m->ndone++] = b->last;
    if (m->started < limit) start_block(m, w->slot, b->last, limit);
}

static void release(struct machine *m, u32 slot) {
    struct rblock *b = &m->blocks[slot];
    double t = 0;
    for (u32 i = 0; i < m->nwarps; i++) {
        struct rwarp *w = &m->warps[slot * m->nwarps + i];
        if (w->parked) t = max2(t, w->issued);
    }
    b->parked = 0;
    for (u32 i = 0; i < m->nwarps; i++) {
        struct rwarp *w = &m->warps[slot * m->nwarps + i];
        if (!w->parked) continue;
        w->parked = false;
        double go = off(m, TERM_BIT(LATENCY)) ? t : t + barrier_latency;
        m->stalls[STALL_BARRIER] += go - w->issued;
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

/* ---- one instruction ---- */

static void issue(struct machine *m, u32 limit) {
    u32 n = m->heap[0];
    struct rwarp *w = &m->warps[n];
    const struct step *s = &w->region->steps[w->step];
    if (!w->ticket) {
        double at = w->time;
        w->time = hold_back(m, w, at);
        w->time = reserve_unit(m, w, s);
        w->ticket = true;
        if (w->time > at) { /* the scheduler is free for others until the unit is */
            heap_down(m);
            return;
        }
    }
    double t = reserve_issue(m, w, s);
    w->ticket = false;
    m->steps++;
    if (s->kind == STEP_MEMORY) issue_memory(m, w, s, t);
    else results(w, s, t + (off(m, TERM_BIT(LATENCY)) ? 1 : s->latency + (s->count - 1) * m->interval[s->unit]), STALL_ARITHMETIC);
    w->issued = t + s->count;
    w->step++;
    u32 slot = w->slot;
    if (s->kind == STEP_BARRIER && !off(m, TERM_BIT(BARRIERS))) {
        pop(m);
        w->parked = true, w->time = -1;
        m->blocks[slot].parked++;
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

/* Warps that wait at different named barriers wait here for each other for ever: the model has one barrier. */
static bool unlock(struct machine *m, u32 limit) {
    for (u32 slot = 0; slot < m->in->resident; slot++)
        if (m->blocks[slot].parked) {
            m->blocks[slot].parked = m->blocks[slot].running;
            check_barrier(m, slot, limit);
            return true;
        }
    return false;
}

/* ---- the whole ---- */

static double carve_out(const struct gpu_device *d, double shared) {
    static const double kib[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
    if (d->cc_major < 7) return 0;
    for (u32 i = 0; i < sizeof kib / sizeof *kib; i++)
        if (kib[i] * 1024 >= shared) return kib[i] * 1024;
    return shared;
}

static void open_rates(struct machine *m) {
    const struct gpu_device *d = m->d;
    const struct replay_input *in = m->in;
    double lanes[UNIT_COUNT] = {[UNIT_ALU] = d->int_lanes, [UNIT_IMAD] = d->cc_major < 7 ? 128 / 3.0 : 64, [UNIT_FMA] = d->fp32_lanes,
                                [UNIT_FP64] = d->fp64_lanes, [UNIT_XU] = d->sfu_lanes};
    for (u32 u = 0; u < UNIT_COUNT; u++) m->interval[u] = lanes[u] > 0 ? 32 / (lanes[u] / SCHEDULERS) : 1;
    double per_sector = 32 * in->active_sms * d->clock_hz;
    m->l2_cycles = off(m, TERM_BIT(L2)) ? 0 : max2(per_sector / d->l2_rate, 0.5); /* an SM's own link: 64 bytes a clock */
    m->dram_cycles = off(m, TERM_BIT(DRAM)) ? 0 : per_sector / d->dram_rate;
    m->lat_l1 = d->lat_l1, m->lat_l2 = d->lat_l2, m->lat_dram = d->lat_dram, m->lat_shared = d->lat_shared;
}

static void open_caches(struct machine *m) {
    const struct replay_input *in = m->in;
    double shared = (double)in->resident * (in->shared_bytes + m->d->shared_reserved);
    double l1 = m->d->l1_bytes - carve_out(m->d, shared), local = (double)in->local_bytes * in->threads * in->resident;
    cache_open(&m->l1_lines, max2(l1, 8192));
    m->local_spills = local > l1;
    double l2 = (double)m->d->l2_bytes / 32 * 0.8, all = in->traffic->wave_sectors;
    m->l2_limited = all > l2;
    /* The SM's blocks see the part of L2 that their part of the footprint would hold. */
    double part = all > 0 ? in->traffic->sample_sectors * in->resident / all : 1;
    if (m->l2_limited) cache_open(&m->l2_lines, (double)m->d->l2_bytes * (part < 1 ? part : 1));
}

static void open_machine(struct machine *m, const struct replay_input *in) {
    *m = (struct machine){.in = in, .d = in->device, .nwarps = in->trace->blocks[in->order[0]].nwarps};
    u32 n = m->nwarps * in->resident, registers = in->regions->nregisters + 1;
    m->warps = xcalloc(n, sizeof *m->warps);
    m->blocks = xcalloc(in->resident, sizeof *m->blocks);
    m->heap = xcalloc(n + 1, sizeof *m->heap);
    for (u32 i = 0; i < n; i++) {
        m->warps[i].ready = xcalloc(registers, sizeof *m->warps[i].ready);
        m->warps[i].why = xcalloc(registers, 1);
        m->warps[i].event = xcalloc(in->regions->most_steps + 1, sizeof *m->warps[i].event);
    }
    m->debt = xcalloc(2ul * in->traffic->nbuffers + 2, sizeof *m->debt);
    m->done = xcalloc(in->blocks + 1ul, sizeof *m->done);
    open_rates(m);
    open_caches(m);
    open_targets(m, in->trace);
}

static void close_machine(struct machine *m) {
    for (u32 i = 0; i < m->nwarps * m->in->resident; i++) free(m->warps[i].ready), free(m->warps[i].why), free(m->warps[i].event);
    for (u32 i = 0; i < m->in->resident; i++) touched_free(&m->blocks[i].touched);
    free(m->warps), free(m->blocks), free(m->heap), free(m->debt), free(m->done), free(m->targets);
    cache_close(&m->l1_lines), cache_close(&m->l2_lines);
}

static int by_time(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Blocks worth simulating: three rounds of the resident ones, fewer where they are long. */
static u32 blocks_to_simulate(const struct replay_input *in) {
    double work = 0;
    for (u32 i = 0; i < in->norder; i++) work += (double)in->trace->blocks[in->order[i]].executed;
    work /= in->norder;
    u32 rounds = 4;
    while (rounds > 1 && work * rounds * in->resident > (double)in->most_steps) rounds--;
    u32 n = rounds * in->resident;
    if (in->blocks <= n + in->resident) n = in->blocks;
    return n < 1 ? 1 : n;
}

static double extrapolate(struct machine *m) {
    const struct replay_input *in = m->in;
    qsort(m->done, m->ndone, sizeof *m->done, by_time);
    double last = m->done[m->ndone - 1], drained = max2(last, max2(m->l2, m->dram)), t = drained;
    for (u32 i = 0; i < m->target_slots; i++) t = max2(t, m->targets[i].free);
    drained = t;
    if (in->blocks <= m->ndone) return t;
    double rest = in->blocks - m->ndone;
    if (m->ndone >= 2 * in->resident) return drained + rest * (last - m->done[in->resident - 1]) / (m->ndone - in->resident);
    return drained * in->blocks / m->ndone;
}

static void summarise(struct machine *m, struct replay_result *out) {
    double end = max2(m->done[m->ndone - 1], max2(m->l2, m->dram)), stalls = 0, hottest = 0;
    for (u32 i = 0; i < m->target_slots; i++) end = max2(end, m->targets[i].free), hottest = max2(hottest, m->targets[i].busy);
    m->busy[R_ATOMICS] = hottest;
    for (u32 i = 0; i < R_COUNT; i++) out->busy[i] = end > 0 ? m->busy[i] / end : 0;
    for (u32 i = 1; i < STALL_COUNT; i++) stalls += m->stalls[i];
    for (u32 i = 1; i < STALL_COUNT; i++) out->stalls[i] = stalls > 0 ? m->stalls[i] / stalls : 0;
    out->l1_hits = m->sectors > 0 ? m->hits / m->sectors : 0;
    out->l2_hits = m->l2_sectors > 0 ? m->l2_hits / m->l2_sectors : 0;
    out->simulated = m->ndone;
    for (u32 i = 0; i < m->in->norder; i++) out->truncated |= m->in->trace->blocks[m->in->order[i]].truncated;
}

void replay(const struct replay_input *in, struct replay_result *out) {
    struct machine m;
    u32 limit = blocks_to_simulate(in);
    *out = (struct replay_result){0};
    open_machine(&m, in);
    for (u32 i = 0; i < in->resident && i < limit; i++) start_block(&m, i, 0, limit);
    while (m.nheap || unlock(&m, limit))
        if (m.nheap) issue(&m, limit);
    if (m.ndone) {
        summarise(&m, out);
        out->cycles = extrapolate(&m);
    }
    close_machine(&m);
}
