/* replay_memory.c — what the SM's accesses take: passes through L1's data and tag stages, L1 hits, the SM's
 * part of L2 and DRAM bandwidth. Atomics in global memory: replay_atomics.c. */
#include "grader/sim/timing/machine.h"

#include <stdlib.h>

/* One line of four sectors or one of one sector takes the same slot of an L2 slice: 64 bytes at least. */
static const double l2_least_sectors = 2;

/* ---- L2 and DRAM ---- */

/* Sectors of a line go through the SM's part of L2; returns when L2 has them. */
double time_memory_l2(struct machine *m, double t, double sectors) {
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
    struct buffer_traffic *b = time_traffic_buffer(t, line_number(word) << 7);
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
    struct cache_line *line = time_cache_find(&m->l2_lines, line_number(word));
    return !line || (sectors & ~line->sectors);
}

static void note_l2(struct machine *m, u64 line, u32 sectors) {
    if (!m->l2_limited) return;
    struct cache_line *l = time_cache_find(&m->l2_lines, line);
    if (!l) l = time_cache_insert(&m->l2_lines, line);
    l->sectors |= (u8)sectors;
}

/* ---- one line of a global access ---- */

/* Lines of a block whose trace serves a second time are other lines, unless blocks share the buffer. */
static u64 own_line(const struct machine *m, u64 word, u32 copy) {
    if (!copy) return line_number(word);
    const struct buffer_traffic *b = time_traffic_buffer(m->in->traffic, line_number(word) << 7);
    bool common = b && (b->shared[0] > 0.5 || b->shared[1] > 0.5);
    return line_number(word) + (common ? 0 : (u64)copy << 44);
}

static double load_line(struct machine *m, struct rblock *b, u64 word, double t, bool cached, u8 *why) {
    u64 line = own_line(m, word, b->copy);
    u32 sectors = line_sectors(word);
    struct cache_line *l = cached ? time_cache_find(&m->l1_lines, line) : NULL;
    u32 missing = l ? sectors & ~(u32)l->sectors : sectors,
        first = time_touched_add(&b->touched, line_number(word), false, sectors);
    m->sectors += __builtin_popcount(sectors);
    m->hits += __builtin_popcount(sectors & ~missing);
    if (!missing) {
        in_dram(m, word, 0, first, 0);
        if (l->ready > t + m->lat_l1 && *why < STALL_L2) *why = STALL_L2;
        return max2(l->ready, t + m->lat_l1);
    }
    u32 n = (u32)__builtin_popcount(missing);
    bool far = in_dram(m, word, missing, first, 0);
    double start = time_memory_l2(m, t, n), ready = start + m->lat_l2;
    m->l2_sectors += n;
    if (far) ready = dram_transfer(m, start, n) + m->lat_dram;
    else m->l2_hits += n;
    if (*why < (far ? STALL_DRAM : STALL_L2)) *why = far ? STALL_DRAM : STALL_L2;
    note_l2(m, line, missing);
    if (cached && !l) l = time_cache_insert(&m->l1_lines, line);
    if (l) l->sectors |= (u8)missing, l->ready = max2(l->ready, ready);
    return ready;
}

/* Writes go through to L2, and the written sectors leave L1. */
static void store_line(struct machine *m, struct rblock *b, u64 word, double t) {
    u64 line = own_line(m, word, b->copy);
    u32 sectors = line_sectors(word), n = (u32)__builtin_popcount(sectors);
    double start = time_memory_l2(m, t, n);
    struct cache_line *l = time_cache_find(&m->l1_lines, line);
    if (l) l->sectors &= (u8)~sectors;
    if (in_dram(m, word, sectors, time_touched_add(&b->touched, line_number(word), true, sectors), 1))
        dram_transfer(m, start, n);
    note_l2(m, line, sectors);
}

/* ---- accesses ---- */

/* Tag passes. Lines are looked up four at a time where they lie in different ones of four tag banks; a pass
 * costs a quarter for each line beyond the first (facts: L1-hit loads by stride on an H200, 1.00 to 2.72 for
 * 1 to 8 neighbouring lines). That lines of one tag bank take a pass each is a hypothesis that two published
 * results suggest: products whose lanes are a row apart (docs/time-model.md). */
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

double time_memory_l1(struct machine *m, double t, double passes, enum resource r) {
    m->l1 = max2(m->l1, t) + passes;
    m->busy[r] += passes;
    return m->l1;
}

static double access_global(struct machine *m, const struct rwarp *w, const u64 *p, double t, const struct mem_desc *d,
                            u8 *why) {
    u64 h = *p;
    double at = time_memory_l1(m, t, l1_passes(m, p), R_L1), ready = at + m->lat_l1;
    bool cached = !off(m, TERM_BIT(CACHE)) && !d->strong && d->cache_op != 'g';
    struct rblock *b = &m->blocks[w->slot];
    for (u32 k = 1; k <= trace_entries(h); k++) {
        if (trace_verb(h) == MEM_LOAD) ready = max2(ready, load_line(m, b, p[k], at, cached, why));
        else store_line(m, b, p[k], at);
    }
    return ready;
}

/* Increments by one are merged where they meet (decode.h: mem_desc.increment), at this rate whatever the number of
 * addresses: 289 G additions a second on 20 SMs of 1.57 GHz (docs/time-model.md, sources of the atomics). */
static const double increment_cycles = 3.5;

static double shared_passes(const struct machine *m, u64 h, const struct mem_desc *d) {
    double passes = trace_wavefronts(h);
    bool atomic = trace_verb(h) >= MEM_ATOM;
    if (off(m, TERM_BIT(SHARED))) return 1;
    if (atomic && d->increment) return max2(passes, increment_cycles);
    /* The first of merged accesses has the passes of the wide one. */
    if (off(m, TERM_BIT(MERGING)) && d->merge > MERGED_AWAY) passes = passes * d->width / d->merge;
    /* Integer atomics are done in place; floating-point ones are a loop that locks the word (ptxas). */
    if (atomic && (d->type == PTX_F32 || d->type == PTX_F64)) return 4 * passes;
    return max2(passes, 1);
}

static double access_shared(struct machine *m, u64 h, double t, const struct mem_desc *d, u8 *why) {
    double passes = shared_passes(m, h, d), at = time_memory_l1(m, t, passes, R_SHARED), ready = at + m->lat_shared;
    bool loop = trace_verb(h) >= MEM_ATOM && (d->type == PTX_F32 || d->type == PTX_F64);
    if (loop) ready += 2 * m->lat_shared * trace_wavefronts(h);
    *why = STALL_SHARED;
    return ready;
}

/* Shared memory of another block of the cluster: through the network between SMs. Latency and rate as measured on an H800
 * (Luo and others, "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture", arXiv 2402.13499): 180 cycles; 3.27 TB/s
 * over 114 SMs at 1.755 GHz, 16 bytes a clock and SM, for clusters of two. Larger ones get less there; that is left out. */
static const double cluster_latency = 180, cluster_cycles = 2 /* of a sector */;

static double access_cluster(struct machine *m, u64 h, double t, u8 *why) {
    double at = time_memory_l1(m, t, max2(1, cluster_cycles * trace_wavefronts(h)), R_SHARED);
    *why = STALL_SHARED;
    return at + cluster_latency;
}

static double access_local(struct machine *m, u64 h, double t, u8 *why) {
    double sectors = trace_wavefronts(h), at = time_memory_l1(m, t, max2(1, sectors / 4), R_L1);
    *why = STALL_L1;
    if (!m->local_spills && trace_verb(h) == MEM_LOAD) return at + m->lat_l1;
    double start = time_memory_l2(m, at, sectors); /* write-through; too much for L1 to hold */
    *why = STALL_L2;
    return start + m->lat_l2;
}

/* What fits into L1 is taken to stay there, stores as well: the least that spills can cost. */
double time_memory_spill(struct machine *m, double t) {
    double at = time_memory_l1(m, t, 1, R_L1);
    if (!m->local_spills) return max2(t, m->l1 - l1_queue);
    time_memory_l2(m, at, 4);
    return max2(t, m->l2 - l2_queue);
}

double time_memory_access(struct machine *m, const struct rwarp *w, const u64 *p, double t, const struct step *s,
                          u8 *why) {
    const struct mem_desc *d = &m->in->regions->module->mems[m->in->regions->module->ops[s->op].aux];
    switch (trace_space(*p)) {
    case SPACE_SHARED: return access_shared(m, *p, t, d, why);
    case SPACE_CLUSTER: return access_cluster(m, *p, t, why);
    case SPACE_LOCAL: return access_local(m, *p, t, why);
    case SPACE_CONST: *why = STALL_L1; return time_memory_l1(m, t, trace_wavefronts(*p) - 1.0, R_L1) + m->lat_l1 / 2;
    default: break;
    }
    return trace_verb(*p) >= MEM_ATOM ? time_atomic_access(m, p, t, d, why) : access_global(m, w, p, t, d, why);
}
