/* replay_memory.c — what the SM's accesses take: passes through L1's data and tag stages, L1 hits,
 * the SM's part of L2 and DRAM bandwidth. Atomics in global memory: replay_atomics.c. */
#include "grader/sim/timing/machine.h"

#include <math.h>
#include <stdlib.h>

/* One line of four sectors or one of one sector takes the same slot of an L2 slice: 64 bytes at
 * least. */
static const double l2_least_sectors = 2;

/* ---- L2 and DRAM ---- */

/* Sectors of a line go through the SM's part of L2; returns when L2 has them. */
double time_memory_l2(struct machine *m, double t, double sectors) {
    double cost = max2(sectors, l2_least_sectors) * m->l2_cycles;
    m->l2 = max2(m->l2, t) + cost;
    m->busy[R_L2] += cost;
    return m->l2 - cost;
}

static const double under_load = 0.4, most_waits = 2;

/* How busy DRAM has been of late. */
static const double window = 2000; /* cycles */

static void note_load(struct machine *m, double t, double cost) {
    double passed = t > m->dram_noted ? t - m->dram_noted : 0, keep = exp(-passed / window);
    m->dram_load = m->dram_load * keep + cost / window;
    m->dram_noted = max2(m->dram_noted, t);
}

static double dram_transfer(struct machine *m, double t, double sectors) {
    double cost = sectors * m->dram_cycles;
    note_load(m, t, cost);
    m->dram = max2(m->dram, t) + cost;
    m->busy[R_DRAM] += cost;
    return m->dram - cost;
}

/* Under load a request waits longer than for those before it at this SM's share: channels are not
 * loaded alike. Streams of 1 to 64 warps an SM on an H100 give latency / (1 - load), or less where
 * reads are long and no writes come between. */
static double dram_latency(const struct machine *m) {
    double load = m->dram_load < 0.9 ? m->dram_load : 0.9, waits = load / (1 - load);
    return m->lat_dram * (1 + under_load * (waits < most_waits ? waits : most_waits));
}

/* No two lines are equally far: channels, banks, the halves of L2, refreshes. Fitted to walks of
 * few warps (micro.cu: walk-…), on an H100 and an H200 alike; warps that wait for each other wait
 * for the last. Multiples of the golden ratio are spread evenly over 0 to 1, however few follow on
 * each other; and they do not hang on addresses, so that a program takes the same time wherever its
 * buffers lie. */
static const double spread = 0.5, golden = 0.6180339887498949;

static double apart(struct machine *m) {
    double u = (double)++m->dram_requests * golden;
    return 1 + spread * (2 * (u - floor(u)) - 1);
}

/* From when L2 misses it; the queue before it is a part of the time under load. */
static double dram_arrival(struct machine *m, double t, double sectors) {
    double latency = dram_latency(m) * apart(m);
    return max2(dram_transfer(m, t, sectors) + m->lat_dram, t + latency);
}

/* DRAM gives 64 bytes at a time: sectors of one half of a line come together. Counted in sectors.
 */
static double fetched(u32 sectors) { return 2.0 * (!!(sectors & 3) + !!(sectors & 12)); }

/* 0, or, where the sectors come from (go to) DRAM, the factor of a transfer. `first`: those that
 * the block touches for the first time. */
static double in_dram(struct machine *m, u64 word, u32 sectors, u32 first, u32 verb) {
    struct traffic *t = m->in->traffic;
    struct buffer_traffic *b = time_traffic_buffer(t, line_number(word) << 7);
    if (!b) return first ? 1 : 0;
    double *debt = &m->debt[2 * (b - t->buffer) + verb];
    *debt += b->dram[verb] * __builtin_popcount(first);
    if (first & sectors) {
        double owed = __builtin_popcount(sectors & first);
        if (*debt < owed - 1e-9) return 0;
        *debt -= owed;
        return b->page_cost[verb];
    }
    if (!m->l2_limited || verb) return 0;
    struct cache_line *line = time_cache_find(&m->l2_lines, line_number(word));
    return !line || (sectors & ~line->sectors) ? b->page_cost[verb] : 0;
}

double time_memory_far(struct machine *m, u64 line, u32 sectors, u32 first, double cost, double t) {
    double page = in_dram(m, line << 8, sectors, first, 1);
    return page > 0 ? dram_arrival(m, t, page * cost) : t;
}

static void note_l2(struct machine *m, u64 line, u32 sectors) {
    if (!m->l2_limited) return;
    struct cache_line *l = time_cache_find(&m->l2_lines, line);
    if (!l) l = time_cache_insert(&m->l2_lines, line);
    l->sectors |= (u8)sectors;
}

/* ---- one line of a global access ---- */

/* Lines of a block whose trace serves a second time are other lines, unless blocks share the
 * buffer. */
static u64 own_line(const struct machine *m, u64 word, u32 copy) {
    if (!copy) return line_number(word);
    const struct buffer_traffic *b = time_traffic_buffer(m->in->traffic, line_number(word) << 7);
    bool common = b && (b->shared[0] > 0.5 || b->shared[1] > 0.5);
    return line_number(word) + (common ? 0 : (u64)copy << 44);
}

/* What must come for them: nothing where their neighbour brought them along; and what that pushes
 * out. */
static double come(const struct machine *m, u32 missing, u32 before) {
    return fetched(missing & ~before & ~(before << 1 & 10) & ~(before >> 1 & 5)) *
           (1 + m->in->traffic->evicted);
}

static double load_line(struct machine *m, struct rblock *b, u64 word, double t, bool cached,
                        u8 *why) {
    u64 line = own_line(m, word, b->copy);
    u32 sectors = line_sectors(word);
    struct cache_line *l = cached ? time_cache_find(&m->l1_lines, line) : NULL;
    u32 missing = l ? sectors & ~(u32)l->sectors : sectors,
        before = time_touched_get(&b->touched, line_number(word)),
        first = time_touched_add(&b->touched, line_number(word), false, sectors);
    m->sectors += __builtin_popcount(sectors);
    m->hits += __builtin_popcount(sectors & ~missing);
    if (!missing) {
        in_dram(m, word, 0, first, 0);
        if (l->ready > t + m->lat_l1 && *why < STALL_L2) *why = STALL_L2;
        return max2(l->ready, t + m->lat_l1);
    }
    u32 n = (u32)__builtin_popcount(missing);
    double page = in_dram(m, word, missing, first, 0);
    bool far = page > 0;
    double start = time_memory_l2(m, t, n), ready = start + m->lat_l2;
    m->l2_sectors += n;
    if (far) ready = dram_arrival(m, start, page * come(m, missing, before));
    else m->l2_hits += n;
    if (*why < (far ? STALL_DRAM : STALL_L2)) *why = far ? STALL_DRAM : STALL_L2;
    note_l2(m, line, missing);
    if (cached && !l) l = time_cache_insert(&m->l1_lines, line);
    if (l) l->sectors |= (u8)missing, l->ready = max2(l->ready, ready);
    return ready;
}

/* Sectors that a store covers only in part cost L2 more: its slot of a line, and a little for each
 * of them. By what 4 M stores of 4 bytes and structures of 3 to 16 floats take on an H100
 * (docs/time-model.md, Stores). Stores of a warp that follow on each other fill the same lines up
 * in L1 where those are few. */
static const double part_line = 2.8, part_sector = 1.1;
enum { FEW_LINES = 6 };

static void begin_store(struct rwarp *w, u32 lines) {
    w->before = w->now;
    w->now = (struct stored){.n = 0, .open = lines <= FEW_LINES};
}

/* What the line costs L2, in sectors. */
static double stored(struct rwarp *w, u64 word) {
    u64 line = line_number(word);
    u32 sectors = line_sectors(word), parts = line_parts(word);
    for (u32 i = 0; i < w->before.n; i++)
        if (w->before.line[i] == line && w->now.open && w->now.n < FEW_LINES)
            return w->now.line[w->now.n++] = line, 0;
    if (parts && w->now.open && w->now.n < FEW_LINES) w->now.line[w->now.n++] = line;
    double whole = __builtin_popcount(sectors & ~parts), part = __builtin_popcount(parts);
    return part > 0 ? whole + part_line + part_sector * part : whole;
}

/* DRAM turns round between reads and writes: H100, 512 MiB: reads 3.2 TB/s with what they push out,
 * copies 3.0. */
static const double write_cost = 1.1;

/* What goes to DRAM for sectors that are first written: 64 bytes at least, and the rest of a
 * sector, or of 64 bytes, must be fetched where only a part of it is written and nothing of it had
 * been there. */
static double written(u32 first, u32 parts) {
    double n = __builtin_popcount(first);
    return max2(n, 2) + (parts == first ? fetched(parts) / (n > 2 ? 2 : 1) : 0);
}

/* Writes go through to L2, and the written sectors leave L1. */
static void store_line(struct machine *m, struct rblock *b, struct rwarp *w, u64 word, double t) {
    u64 line = own_line(m, word, b->copy);
    u32 sectors = line_sectors(word), parts = line_parts(word),
        before = time_touched_get(&b->touched, line_number(word));
    double start = time_memory_l2(m, t, stored(w, word));
    struct cache_line *l = time_cache_find(&m->l1_lines, line);
    if (l) l->sectors &= (u8)~sectors;
    u32 first = time_touched_add(&b->touched, line_number(word), true, sectors);
    double page = in_dram(m, word, sectors, first, 1);
    if (page > 0) dram_transfer(m, start, page * write_cost * written(first, parts & ~before));
    note_l2(m, line, sectors);
}

/* ---- accesses ---- */

/* Tag passes. Lines are looked up four at a time where they lie in different ones of four tag
 * banks; a pass costs a quarter for each line beyond the first (facts: L1-hit loads by stride on an
 * H200, 1.00 to 2.72 for 1 to 8 neighbouring lines). That lines of one tag bank take a pass each is
 * a hypothesis that two published results suggest: products whose lanes are a row apart
 * (docs/time-model.md). */
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

/* A load's registers are filled 128 bytes a pass, also where all lanes read the same: 16 bytes a
 * lane take four, whatever the addresses (H100, l1-read8 and l1-read16 of micro.cu: 2.00 and 3.99
 * passes a request, 4.2 cycles). Shared memory does not. */
static const double filled_at_once = 128;

/* Passes of the data stage and of the tag stage: the longest counts. */
static double l1_passes(const struct machine *m, const u64 *p, const struct mem_desc *d) {
    double bank = trace_wavefronts(*p), tag = tag_passes(p, trace_entries(*p)),
           fill = trace_verb(*p) == MEM_LOAD ? 32.0 * d->width * d->count / filled_at_once : 1;
    if (off(m, TERM_BIT(PASSES))) return 1;
    return max2(max2(max2(bank, tag), fill), 1);
}

double time_memory_l1(struct machine *m, double t, double passes, enum resource r) {
    m->l1 = max2(m->l1, t) + passes;
    m->busy[r] += passes;
    return m->l1;
}

static double access_global(struct machine *m, struct rwarp *w, const u64 *p, double t,
                            const struct mem_desc *d, u8 *why) {
    u64 h = *p;
    double at = time_memory_l1(m, t, l1_passes(m, p, d), R_L1), ready = at + m->lat_l1;
    bool cached = !off(m, TERM_BIT(CACHE)) && !d->strong && d->cache_op != 'g';
    struct rblock *b = &m->blocks[w->slot];
    if (trace_verb(h) == MEM_STORE) begin_store(w, trace_entries(h));
    for (u32 k = 1; k <= trace_entries(h); k++) {
        if (trace_verb(h) == MEM_LOAD) ready = max2(ready, load_line(m, b, p[k], at, cached, why));
        else store_line(m, b, w, p[k], at);
    }
    return ready;
}

/* Increments by one are merged where they meet (decode.h: mem_desc.increment), at this rate
 * whatever the number of addresses: 289 G additions a second on 20 SMs of 1.57 GHz
 * (docs/time-model.md, sources of the atomics). */
static const double increment_cycles = 3.5;

/* Integer atomics of 32 bits are done in place; those of floats, and of 64 bits but for exchanges,
 * are a loop of load and compare-and-swap (ptxas), in which one lane a word gets through each time.
 */
static bool is_loop(const struct mem_desc *d) {
    bool swap = d->atom == ATOM_EXCH || d->atom == ATOM_CAS;
    return !swap && (d->width == 8 || d->type == PTX_F32 || d->type == PTX_F64);
}

/* Lanes that are left try again: n, n - 1, … of them, each swap so many passes, and three for the
 * rest of the loop. Measured on an H100: 32 lanes on one word, 1452 cycles for floats, 986 for 64
 * bits; on 1024 words, 30. */
static double swap_passes(double n, unsigned width) {
    return (width == 8 ? 1.7 : 2.6) * n * (n + 1) / 2 + 3 * n;
}

static double shared_passes(const struct machine *m, u64 h, const struct mem_desc *d) {
    double passes = trace_wavefronts(h);
    bool atomic = trace_verb(h) >= MEM_ATOM;
    if (off(m, TERM_BIT(SHARED))) return 1;
    if (atomic && d->is_increment) return max2(passes, increment_cycles);
    /* The first of merged accesses has the passes of the wide one. */
    if (off(m, TERM_BIT(MERGING)) && d->merged_bytes > MERGED_INTO_OTHER)
        passes = passes * d->width / d->merged_bytes;
    if (atomic && is_loop(d)) return swap_passes(passes, d->width);
    return max2(passes, 1);
}

static double access_shared(struct machine *m, u64 h, double t, const struct mem_desc *d, u8 *why) {
    double passes = shared_passes(m, h, d), at = time_memory_l1(m, t, passes, R_SHARED),
           ready = at + m->lat_shared;
    if (trace_verb(h) >= MEM_ATOM && is_loop(d)) ready += 2 * m->lat_shared * trace_wavefronts(h);
    *why = STALL_SHARED;
    return ready;
}

/* Shared memory of another block of the cluster, through the network between SMs, by sectors of 32
 * bytes. Measured on an H100 (docs/results/h100/clusters.tsv), all SMs at it: a chain of loads
 * takes 191 cycles each in clusters of 2 and 207 in larger ones, where one's own memory takes 33; a
 * warp that loads neighbouring words 8 to 9 (4 sectors), words of 32 sectors 64 to 75; that stores
 * them 7 to 8 and 59 to 65; that adds to neighbouring words 14 to 21, to random ones 107 to 126.
 * Not seen here: loads of random words, which conflict in the banks (101 to 112); additions of many
 * lanes to few words, which take their lanes one by one, 7 cycles each. */
static const double cluster_latency = 204, cluster_store = 2, cluster_load = 2.3,
                    cluster_atomic = 3.7;

static double access_cluster(struct machine *m, u64 h, double t, u8 *why) {
    double of_sector = trace_verb(h) == MEM_STORE  ? cluster_store
                       : trace_verb(h) == MEM_LOAD ? cluster_load
                                                   : cluster_atomic;
    double at = time_memory_l1(m, t, max2(1, of_sector * trace_wavefronts(h)), R_SHARED);
    *why = STALL_SHARED;
    return at + cluster_latency;
}

static double access_local(struct machine *m, u64 h, double t, u8 *why) {
    double sectors = trace_wavefronts(h), at = time_memory_l1(m, t, max2(1, sectors / 4), R_L1);
    *why = STALL_L1;
    if (!m->local_spills && trace_verb(h) == MEM_LOAD) return at + m->lat_l1;
    /* Write-through; too much for L1 to hold. Lanes at different elements write a word of a sector
     * each. */
    bool parts = trace_verb(h) == MEM_STORE && sectors * 8 > trace_lanes(h) * 1.5 && sectors > 4;
    double start = time_memory_l2(m, at, parts ? sectors * (part_line + part_sector) : sectors);
    dram_transfer(m, start, sectors * m->local_dram);
    *why = STALL_L2;
    return start + m->lat_l2;
}

/* What fits into L1 is taken to stay there, stores as well: the least that spills can cost. */
double time_memory_spill(struct machine *m, double t) {
    double at = time_memory_l1(m, t, 1, R_L1);
    if (!m->local_spills) return max2(t, m->l1 - l1_queue);
    dram_transfer(m, time_memory_l2(m, at, 4), 4 * m->local_dram);
    return max2(t, max2(m->l2, m->dram) - l2_queue);
}

double time_memory_frame(struct machine *m, double t) {
    double at = time_memory_l1(m, t, 1, R_L1);
    if (!m->local_spills) return at + m->lat_l1;
    double start = time_memory_l2(m, at, 4);
    dram_transfer(m, start, 4 * m->local_dram);
    return start + m->lat_l2;
}

/* Each word that lanes want takes two cycles (H100, constant-run16 to -run1: 4.1, 8.1, 16.2
 * and 64.4 for 2, 4, 8 and 32); one word for all is most often an operand and no access. */
static double constant_passes(u64 h) {
    return trace_wavefronts(h) > 1 ? 2.0 * trace_wavefronts(h) : 0;
}

double time_memory_access(struct machine *m, struct rwarp *w, const u64 *p, double t, u8 *why) {
    const struct sim_module *module = m->in->regions->module;
    const struct mem_desc *d = &module->mems[module->ops[trace_op_or_segment(*p)].aux];
    switch (trace_space(*p)) {
    case SPACE_SHARED: return access_shared(m, *p, t, d, why);
    case SPACE_CLUSTER: return access_cluster(m, *p, t, why);
    case SPACE_LOCAL: return access_local(m, *p, t, why);
    case SPACE_CONST:
        *why = STALL_L1;
        return time_memory_l1(m, t, constant_passes(*p), R_L1) + m->lat_l1 / 2;
    default: break;
    }
    return trace_verb(*p) >= MEM_ATOM ? time_atomic_access(m, &m->blocks[w->slot], p, t, d, why)
                                      : access_global(m, w, p, t, d, why);
}
