/* replay_memory.c — models the SM's memory accesses, for replay.c: wavefronts of L1's data and tag
 * stages, L1 hits, the SM's share of L2 and DRAM bandwidth. replay_atomics.c has atomics in global
 * memory. */
#include "grader/sim/timing/sm_model.h"

#include <math.h>
#include <stdlib.h>

/* A line takes at least 64 bytes of an L2 slice's bandwidth, also for a single sector. */
static const double min_l2_sectors = 2;

enum { NO_OP = UINT32_MAX };

/* ---- L2 and DRAM ---- */

/* Cycles of its share of L2 and DRAM that an SM can make up after it left them to the others. SMs
 * that load and compute in turn drift apart, so a burst gets more than its share: on an H100, 16
 * KiB at a time, with 2 us of arithmetic in between, cost 0.94 us each, back to back 1.25
 * (terms-h100.tsv, burst-16K-…; of 0.70 us at the share 0.3 to 0.4 are made up). */
static const double share_window = 1000;

/* Cycles of a sector on the SM's own link to L2, which has 64 bytes a clock. */
static const double link_sector_cycles = 0.5;

/* Sends sectors of a line through the SM's share of L2; returns when L2 has them. */
double time_memory_l2(struct sm_model *m, double t, double sectors) {
    double cost = max2(sectors, min_l2_sectors) * m->l2_sector_cycles,
           link_cost = m->l2_sector_cycles > 0 ? sectors * link_sector_cycles : 0;
    m->l2_free_at = max2(m->l2_free_at, t - share_window) + cost;
    m->link_free_at = max2(m->link_free_at, t) + link_cost;
    m->busy_cycles[RESOURCE_L2] += cost;
    return max2(m->l2_free_at - cost, m->link_free_at - link_cost);
}

static const double load_latency_factor = 0.4, max_load_delay = 2;

/* Time constant of the recent DRAM utilization. */
static const double load_window = 2000; /* cycles */

static void update_dram_load(struct sm_model *m, double t, double cost) {
    double elapsed = t > m->dram_load_at ? t - m->dram_load_at : 0,
           decay = exp(-elapsed / load_window);
    m->dram_load = m->dram_load * decay + cost / load_window;
    m->dram_load_at = max2(m->dram_load_at, t);
}

double time_memory_dram_transfer(struct sm_model *m, double t, double sectors) {
    double cost = sectors * m->dram_sector_cycles;
    update_dram_load(m, t, cost);
    m->dram_free_at = max2(m->dram_free_at, t - share_window) + cost;
    m->busy_cycles[RESOURCE_DRAM] += cost;
    return max2(m->dram_free_at - cost, t);
}

/* Returns the DRAM latency under load. A request waits longer than this SM's share of the queue,
 * because channels are loaded unequally. Streams of 1 to 64 warps an SM on an H100 show latency /
 * (1 - load), or less with long reads and no writes in between. */
static double dram_latency(const struct sm_model *m) {
    double load = m->dram_load < 0.9 ? m->dram_load : 0.9, queue_delay = load / (1 - load);
    return m->lat_dram * (1 + load_latency_factor *
                                  (queue_delay < max_load_delay ? queue_delay : max_load_delay));
}

/* The latency of lines varies with channels, banks, the halves of L2 and refreshes; warps that
 * synchronize wait for the slowest. Fitted to pointer chases of few warps (micro.cu: walk-…), with
 * the same result on an H100 and an H200. Multiples of the golden ratio, modulo 1, are evenly
 * distributed even if there are few; and they don't depend on addresses, so a program takes the
 * same time wherever its buffers lie. */
static const double latency_spread = 0.5, golden_ratio = 0.6180339887498949;

static double latency_jitter(struct sm_model *m) {
    double u = (double)++m->dram_requests * golden_ratio;
    return 1 + latency_spread * (2 * (u - floor(u)) - 1);
}

/* Returns when sectors that L2 misses at `t` arrive: after the transfer queue or after the latency
 * under load, whichever is later. */
static double dram_ready_at(struct sm_model *m, double t, double sectors) {
    double latency = dram_latency(m) * latency_jitter(m);
    return max2(time_memory_dram_transfer(m, t, sectors) + m->lat_dram, t + latency);
}

/* Returns the sectors that DRAM transfers for these: it transfers 64 bytes, half a line, at a time.
 */
static double dram_fetch_sectors(u32 sectors) { return 2.0 * (!!(sectors & 3) + !!(sectors & 12)); }

/* Returns the share of the launch's average with which a first touch by the load goes to DRAM. */
static double early_share(const struct sm_model *m, const struct buffer_traffic *b, u32 op) {
    return op == NO_OP ? 1 : (1 - m->in->traffic->late_share[op]) * b->early_factor;
}

/* Where L2 has replaced sectors that are accessed again, 64 bytes come or go alone, as those of
 * pages with one transfer (random_access.c): an H100 whose threads copy a stretch each, 69 MB of
 * lines at a time, moves 128 bytes for each load and store of a word, at 1.43 TB/s
 * (scattered-h100.tsv, copy-stretch-64-528). */
static const double lone_transfer_cost = 1.65;

static bool is_half_line(u32 sectors) { return !(sectors & 3) || !(sectors & 12); }

/* Returns the cost factor of a DRAM transfer, or 0 if these sectors need none. `first`: the sectors
 * that the block accesses for the first time; `op`: the load, or NO_OP. */
static double dram_cost_factor(struct sm_model *m, u64 word, u32 sectors, u32 first, u32 verb,
                               u32 op) {
    struct traffic *t = m->in->traffic;
    struct buffer_traffic *b = time_traffic_buffer(t, line_number(word) << 7);
    if (!b) return first ? 1 : 0;
    double *sector_balance = &m->dram_sectors_owed[2 * (b - t->buffer) + verb];
    double probability = b->dram_probability[verb] * early_share(m, b, op);
    *sector_balance += (probability < 1 ? probability : 1) * __builtin_popcount(first);
    if (first & sectors) {
        double sectors_owed = __builtin_popcount(sectors & first);
        if (probability <= 0 || *sector_balance < sectors_owed - 1e-9) return 0;
        *sector_balance -= sectors_owed;
        return b->page_cost_factor[verb];
    }
    if (!m->l2_limited) return 0;
    struct cache_line *line = time_cache_find(&m->l2_cache, line_number(word));
    if (line && !(sectors & ~line->sectors)) return 0;
    return max2(b->page_cost_factor[verb], is_half_line(sectors) ? lone_transfer_cost : 1);
}

static void fill_l2(struct sm_model *m, u64 line, u32 sectors) {
    if (!m->l2_limited) return;
    struct cache_line *l = time_cache_find(&m->l2_cache, line);
    if (!l) l = time_cache_insert(&m->l2_cache, line);
    l->sectors |= (u8)sectors;
}

double time_memory_dram(struct sm_model *m, u64 line, u32 sectors, u32 first, double cost,
                        double t) {
    double cost_factor = dram_cost_factor(m, line << 8, sectors, first, 1, NO_OP);
    fill_l2(m, line, sectors);
    return cost_factor > 0 ? dram_ready_at(m, t, cost_factor * cost) : t;
}

/* ---- one line of a global access ---- */

/* Returns the line of an access. If a block's trace is used again, its lines count as different
 * ones, unless blocks share the buffer. */
static u64 block_line(const struct sm_model *m, u64 word, u32 copy) {
    if (!copy) return line_number(word);
    const struct buffer_traffic *b = time_traffic_buffer(m->in->traffic, line_number(word) << 7);
    bool is_shared = b && (b->neighbor_overlap[0] > 0.5 || b->neighbor_overlap[1] > 0.5);
    return line_number(word) + (is_shared ? 0 : (u64)copy << 44);
}

/* Returns the DRAM sectors for a fill of `missing`, of which the block accesses `first` for the
 * first time. These cause write-backs of earlier data, and a sector whose neighbour of the same 64
 * bytes was accessed before is in L2 already. Others were in L2, which has replaced them since. */
static double dram_fill_sectors(const struct sm_model *m, u32 missing, u32 first,
                                u32 touched_before) {
    if (!(missing & first)) return dram_fetch_sectors(missing);
    return dram_fetch_sectors(missing & ~touched_before & ~(touched_before << 1 & 10) &
                              ~(touched_before >> 1 & 5)) *
           (1 + m->in->traffic->eviction_ratio);
}

/* Returns the stall reason of data that L2 started to serve at `start`: the level at which a load
 * that reached L2 at `t` spent most of its time. Where L2's queue takes longer than DRAM, L2 is
 * what the reader waits for, whichever level had the data. */
static u8 load_reason(double t, double start, double ready, bool from_dram) {
    return from_dram && ready - start >= start - t ? SIM_STALL_LONG_SCOREBOARD_DRAM
                                                   : SIM_STALL_LONG_SCOREBOARD_L2;
}

/* Returns when the line's data arrives, and in `reason` the level that a reader waits for. */
static double load_line(struct sm_model *m, struct sm_block *b, u64 word, u32 op, double t,
                        bool cached, double request_cost, u8 *reason) {
    u64 line = block_line(m, word, b->trace_reuse);
    u32 sectors = line_sectors(word);
    struct cache_line *l = cached ? time_cache_find(&m->l1_cache, line) : NULL;
    u32 missing = l ? sectors & ~(u32)l->sectors : sectors,
        touched_before = time_sector_set_get(&b->sectors, line_number(word)),
        first = time_sector_set_add(&b->sectors, line_number(word), false, sectors);
    m->l1_sectors += __builtin_popcount(sectors);
    m->l1_hits += __builtin_popcount(sectors & ~missing);
    if (!missing) {
        dram_cost_factor(m, word, 0, first, 0, op);
        *reason = l->ready > t + m->lat_l1 ? l->reason : SIM_STALL_LONG_SCOREBOARD_L1;
        return max2(l->ready, t + m->lat_l1);
    }
    u32 n = (u32)__builtin_popcount(missing);
    double cost_factor = request_cost * dram_cost_factor(m, word, missing, first, 0, op);
    bool from_dram = cost_factor > 0;
    double start = time_memory_l2(m, t, n), ready = start + m->lat_l2;
    m->l2_sectors += n;
    if (from_dram)
        ready = dram_ready_at(m, start,
                              cost_factor * dram_fill_sectors(m, missing, first, touched_before));
    else m->l2_hits += n;
    *reason = load_reason(t, start, ready, from_dram);
    fill_l2(m, line, missing);
    if (cached && !l) l = time_cache_insert(&m->l1_cache, line);
    if (l && ready > l->ready) l->ready = ready, l->reason = *reason;
    if (l) l->sectors |= (u8)missing;
    return ready;
}

/* From compute capability 9.0 on, a store costs L2 as much whether it writes sectors wholly or in
 * part: H100, 16.5, 25 and 40 ps for 1, 2 and 4 sectors of a line, of 4.6 for a sector read
 * (terms-h100.tsv, parts-store-…, local-…-store-…; ncu counts the lines and sectors). Before, where
 * it wasn't measured, a sector written wholly is assumed to cost as much as one read. */
double time_memory_store_sectors(const struct sm_model *m, double full, double partial) {
    static const double line_cost = 1.9, sector_cost = 1.72;
    static const double partial_line_cost = 2.8, partial_sector_cost = 1.1;
    if (m->d->cc_major >= 9) return line_cost + sector_cost * (full + partial);
    return partial > 0 ? full + partial_line_cost + partial_sector_cost * partial : full;
}

/* If lines are few, consecutive stores of a warp complete them in L1. */
enum { MAX_MERGE_LINES = 6 };

static void begin_store(struct sm_warp *w, u32 lines) {
    w->previous_store = w->current_store;
    w->current_store = (struct partial_store){.n = 0, .mergeable = lines <= MAX_MERGE_LINES};
}

/* Returns the line's cost in L2, in sectors. */
static double store_l2_sectors(const struct sm_model *m, struct sm_warp *w, u64 word) {
    u64 line = line_number(word);
    u32 sectors = line_sectors(word), partial_sectors = line_partial_sectors(word);
    for (u32 i = 0; i < w->previous_store.n; i++)
        if (w->previous_store.line[i] == line && w->current_store.mergeable &&
            w->current_store.n < MAX_MERGE_LINES)
            return w->current_store.line[w->current_store.n++] = line, 0;
    if (partial_sectors && w->current_store.mergeable && w->current_store.n < MAX_MERGE_LINES)
        w->current_store.line[w->current_store.n++] = line;
    double full_count = __builtin_popcount(sectors & ~partial_sectors),
           partial_count = __builtin_popcount(partial_sectors);
    return time_memory_store_sectors(m, full_count, partial_count);
}

/* Writes cost more, because DRAM turns around between reads and writes: H100, 512 MiB: reads 3.2
 * TB/s with the write-backs that they cause, copies 3.0. */
static const double write_turnaround_factor = 1.1;

/* Returns the DRAM sectors for sectors that the block writes for the first time: at least 64 bytes,
 * and a fetch of the rest where all of them are written only in part. */
static double dram_write_sectors(u32 first, u32 partial_sectors) {
    double n = __builtin_popcount(first);
    return max2(n, 2) +
           (partial_sectors == first ? dram_fetch_sectors(partial_sectors) / (n > 2 ? 2 : 1) : 0);
}

/* Models a store to a line. L1 is write-through. It makes room for the line, but drops the written
 * sectors: H100, with 528 blocks of threads that each copy a stretch, 1 % of the sectors hit, with
 * 132 blocks 92 % (scattered-h100.tsv, copy-stretch-64-…, counted by ncu). */
static void store_line(struct sm_model *m, struct sm_block *b, struct sm_warp *w, u64 word,
                       double t, double request_cost) {
    u64 line = block_line(m, word, b->trace_reuse);
    u32 sectors = line_sectors(word), partial_sectors = line_partial_sectors(word),
        touched_before = time_sector_set_get(&b->sectors, line_number(word));
    double before = memory_free_at(m), start = time_memory_l2(m, t, store_l2_sectors(m, w, word));
    struct cache_line *l = time_cache_find(&m->l1_cache, line);
    if (!l) l = time_cache_insert(&m->l1_cache, line);
    l->sectors &= (u8)~sectors;
    u32 first = time_sector_set_add(&b->sectors, line_number(word), true, sectors);
    double cost_factor = request_cost * dram_cost_factor(m, word, sectors, first, 1, NO_OP);
    if (cost_factor > 0)
        time_memory_dram_transfer(m, start,
                                  cost_factor * write_turnaround_factor *
                                      dram_write_sectors(first, partial_sectors & ~touched_before));
    queue_store(m, t, before);
    fill_l2(m, line, sectors);
}

/* ---- accesses ---- */

/* Returns the wavefronts of the tag stage. It looks up four lines at a time if they lie in
 * different ones of four tag banks; each line beyond the first costs a quarter of a wavefront
 * (measured: L1-hit loads by stride on an H200, 1.00 to 2.72 for 1 to 8 neighbouring lines). That
 * lines of one tag bank take a wavefront each is a hypothesis, which two published results suggest:
 * products whose lanes are a row apart (docs/time-model.md). */
static double tag_wavefronts(const u64 *p, u32 n) {
    u32 wavefronts = 0, in_wavefront = 0, banks = 0;
    for (u32 k = 1; k <= n; k++) {
        u32 bank = 1u << (line_number(p[k]) & 3);
        if (!wavefronts || in_wavefront == 4 || banks & bank)
            wavefronts++, in_wavefront = 0, banks = 0;
        in_wavefront++, banks |= bank;
    }
    double unconflicted = 1 + (n - 1) / 4.0;
    return wavefronts > unconflicted ? wavefronts : unconflicted;
}

/* L1 fills a load's registers with 128 bytes a wavefront, also if all lanes read the same address:
 * 16 bytes a lane take four wavefronts (H100, l1-read8 and l1-read16 of micro.cu: 2.00 and 3.99
 * wavefronts a request, 4.2 cycles). Shared memory has no such limit. */
static const double fill_bytes = 128;

/* Returns an access's wavefronts: the maximum of the data stage's and the tag stage's. */
static double l1_wavefronts(const struct sm_model *m, const u64 *p, const struct mem_desc *d) {
    double bank = trace_wavefronts(*p), tag = tag_wavefronts(p, trace_entries(*p)),
           fill = trace_verb(*p) == MEM_LOAD ? 32.0 * d->width * d->count / fill_bytes : 1;
    if (is_disabled(m, TERM_BIT(L1_WAVEFRONTS))) return 1;
    return max2(max2(max2(bank, tag), fill), 1);
}

/* Lets L1 take the data that have arrived before it is free for work that is ready at `t`, and the
 * first of too many. */
static void take_arrivals(struct sm_model *m, double t) {
    struct l1_arrivals *a = &m->l1_arrivals;
    for (; a->n; a->n--, a->first = (a->first + 1) % MAX_L1_ARRIVALS) {
        double at = a->queue[a->first].at, wavefronts = a->queue[a->first].wavefronts;
        bool arrived = at <= max2(m->l1_free_at, t);
        if (!arrived && a->n < MAX_L1_ARRIVALS) return;
        m->l1_free_at = (arrived ? max2(m->l1_free_at, at) : m->l1_free_at) + wavefronts;
        m->busy_cycles[RESOURCE_L1] += wavefronts;
    }
}

double time_memory_l1(struct sm_model *m, double t, double wavefronts, enum resource r) {
    take_arrivals(m, t);
    m->l1_free_at = max2(m->l1_free_at, t) + wavefronts;
    m->busy_cycles[r] += wavefronts;
    return m->l1_free_at;
}

/* Returns how many consecutive lines the access has around its k-th. */
static u32 consecutive_lines(const u64 *p, u32 k) {
    u32 first = k, last = k;
    while (first > 1 && line_number(p[first - 1]) + 1 == line_number(p[first])) first--;
    while (last < trace_entries(*p) && line_number(p[last]) + 1 == line_number(p[last + 1])) last++;
    return last - first + 1;
}

/* DRAM serves small requests less well if the launch both reads and writes: 192 MiB of one to five
 * arrays take an H100 14 % longer than its rate for single arrays of vectors allows if warps access
 * a line at a time (terms-h100.tsv, words-…), two lines 9 %, four 3 % (micro.cu, walks8, walks16).
 */
static double request_cost_factor(const struct sm_model *m, const u64 *p, u32 k) {
    u32 lines = consecutive_lines(p, k);
    if (!m->in->traffic->writes_much) return 1;
    return lines < 2 ? 1.14 : lines < 4 ? 1.09 : 1.03;
}

/* Notes what a load missed: the data take a wavefront of L1 for each 128 bytes when they arrive,
 * and the load another one when it reads them. In a loop bound by loads from shared memory, a load
 * that misses and a store to shared memory take an H100's SM 3 to 5 cycles together, not 2
 * (tiles-h100.tsv: copies less barriers, 32 steps for two pairs). */
static void expect_arrival(struct sm_model *m, double at, double sectors) {
    static const double sectors_per_wavefront = 4;
    struct l1_arrivals *a = &m->l1_arrivals;
    if (!(sectors > 0) || is_disabled(m, TERM_BIT(L1_WAVEFRONTS))) return;
    if (a->n == MAX_L1_ARRIVALS) take_arrivals(m, m->l1_free_at);
    u32 last = (a->first + a->n++) % MAX_L1_ARRIVALS;
    a->queue[last].at = at, a->queue[last].wavefronts = 1 + sectors / sectors_per_wavefront;
}

static double access_global(struct sm_model *m, struct sm_warp *w, const u64 *p, double t,
                            const struct mem_desc *d, u8 *reason) {
    u64 h = *p;
    double at = time_memory_l1(m, t, l1_wavefronts(m, p, d), RESOURCE_L1), ready = at + m->lat_l1;
    bool cached = !is_disabled(m, TERM_BIT(CACHE)) && !d->strong && d->cache_op != 'g';
    struct sm_block *b = &m->blocks[w->block_slot];
    double missed_before = m->l1_sectors - m->l1_hits;
    if (trace_verb(h) == MEM_STORE) begin_store(w, trace_entries(h));
    for (u32 k = 1; k <= trace_entries(h); k++) {
        u8 line_reason = SIM_STALL_LONG_SCOREBOARD_L1;
        if (trace_verb(h) == MEM_STORE) {
            store_line(m, b, w, p[k], at, request_cost_factor(m, p, k));
            continue;
        }
        double line_ready = load_line(m, b, p[k], trace_op_or_segment(h), at, cached,
                                      request_cost_factor(m, p, k), &line_reason);
        if (line_ready >= ready)
            ready = line_ready, *reason = line_reason; /* the last one decides */
    }
    expect_arrival(m, ready, m->l1_sectors - m->l1_hits - missed_before);
    if (at - t > ready - at) *reason = SIM_STALL_LONG_SCOREBOARD_L1; /* it queued for L1 */
    return ready;
}

/* Cycles of a request of increments by one (mem_desc.is_increment), which shared memory combines
 * whatever the number of addresses: 289 G additions/s on 20 SMs of 1.57 GHz (docs/time-model.md,
 * sources of the atomics). */
static const double increment_cycles = 3.5;

/* Returns true if ptxas compiles the atomic to a loop of load and compare-and-swap, as for floats
 * and 64 bits (but not for exchanges). In each iteration one lane for each word succeeds. */
static bool is_cas_loop(const struct mem_desc *d) {
    bool swap = d->atom == ATOM_EXCH || d->atom == ATOM_CAS;
    return !swap && (d->width == 8 || d->type == PTX_F32 || d->type == PTX_F64);
}

/* Returns the wavefronts of a compare-and-swap loop with n lanes on a word. n, n - 1, … lanes try;
 * each lane's swap takes 1.7 or 2.6 wavefronts, the rest of the loop 3. Measured on an H100: 32
 * lanes on one word, 1452 cycles for floats, 986 for 64 bits; on 1024 words, 30. */
static double cas_loop_wavefronts(double n, unsigned width) {
    return (width == 8 ? 1.7 : 2.6) * n * (n + 1) / 2 + 3 * n;
}

static double shared_wavefronts(const struct sm_model *m, u64 h, const struct mem_desc *d) {
    double wavefronts = trace_wavefronts(h);
    bool atomic = trace_verb(h) >= MEM_ATOM;
    if (is_disabled(m, TERM_BIT(SHARED_WAVEFRONTS))) return 1;
    if (atomic && d->is_increment) return max2(wavefronts, increment_cycles);
    /* The first of the merged accesses has the wavefronts of the wide one. */
    if (is_disabled(m, TERM_BIT(MERGING)) && d->merged_bytes > MERGED_INTO_OTHER)
        wavefronts = wavefronts * d->width / d->merged_bytes;
    if (atomic && is_cas_loop(d)) return cas_loop_wavefronts(wavefronts, d->width);
    return max2(wavefronts, 1);
}

static double access_shared(struct sm_model *m, u64 h, double t, const struct mem_desc *d,
                            u8 *reason) {
    double wavefronts = shared_wavefronts(m, h, d),
           at = time_memory_l1(m, t, wavefronts, RESOURCE_SHARED), ready = at + m->lat_shared;
    if (trace_verb(h) >= MEM_ATOM && is_cas_loop(d))
        ready += 2 * m->lat_shared * trace_wavefronts(h);
    *reason = SIM_STALL_SHORT_SCOREBOARD;
    return ready;
}

/* Distributed shared memory: latency, and cycles for each sector of 32 bytes that crosses the
 * network between SMs. Measured on an H100 with all SMs active (docs/results/h100/clusters.tsv), in
 * cycles: a chain of loads 191 each in clusters of 2, 207 in larger ones, 33 in the block's own
 * memory. A warp's load of neighbouring words (4 sectors) 8 to 9, of words in 32 sectors 64 to 75;
 * its store 7 to 8 and 59 to 65; its atomic addition to neighbouring words 14 to 21, to random ones
 * 107 to 126. Not modelled: bank conflicts of loads of random words (101 to 112), and additions of
 * many lanes to few words, which serialize at 7 cycles a lane. */
static const double dsmem_latency = 204, dsmem_store_cost = 2, dsmem_load_cost = 2.3,
                    dsmem_atomic_cost = 3.7;

static double access_dsmem(struct sm_model *m, u64 h, double t, u8 *reason) {
    double per_sector = trace_verb(h) == MEM_STORE  ? dsmem_store_cost
                        : trace_verb(h) == MEM_LOAD ? dsmem_load_cost
                                                    : dsmem_atomic_cost;
    double at = time_memory_l1(m, t, max2(1, per_sector * trace_wavefronts(h)), RESOURCE_SHARED);
    *reason = SIM_STALL_SHORT_SCOREBOARD;
    return at + dsmem_latency;
}

/* Returns the cycles of an access to constant memory: two for each distinct word (H100,
 * constant-run32 to -run1: 2.1, 4.1, 8.1, 16.2 and 64.4 for 1, 2, 4, 8 and 32); none if all lanes
 * have one address by construction, as an operand of another instruction or a uniform load. */
static double constant_wavefronts(u64 h, const struct mem_desc *d) {
    return d->has_lane_address ? 2.0 * trace_wavefronts(h) : 0;
}

double time_memory_access(struct sm_model *m, struct sm_warp *w, const u64 *p, double t,
                          u8 *reason) {
    const struct sim_module *module = m->in->regions->module;
    const struct mem_desc *d = &module->mems[module->ops[trace_op_or_segment(*p)].aux];
    switch (trace_space(*p)) {
    case SPACE_SHARED: return access_shared(m, *p, t, d, reason);
    case SPACE_CLUSTER: return access_dsmem(m, *p, t, reason);
    case SPACE_LOCAL: return time_local_access(m, w, p, t, reason);
    case SPACE_CONST:
        *reason = SIM_STALL_LONG_SCOREBOARD_L1;
        return time_memory_l1(m, t, constant_wavefronts(*p, d), RESOURCE_L1) + m->lat_l1 / 2;
    default: break;
    }
    return trace_verb(*p) >= MEM_ATOM
               ? time_atomic_access(m, &m->blocks[w->block_slot], p, t, d, reason)
               : access_global(m, w, p, t, d, reason);
}
