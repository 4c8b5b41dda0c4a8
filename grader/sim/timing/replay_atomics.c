/* replay_atomics.c — models atomics in global memory, for replay_memory.c.
 *
 * Theory of operation. L2 executes them, in the slice that holds the address. Lanes on different
 * words of a sector are updated together, lanes on one word one after another: a sector needs as
 * many updates as its busiest word has lanes. (Where ptxas aggregates lanes, one lane does the
 * atomic.) An update takes clock_hz / atomic_rate cycles, and a quarter more where the slice
 * switches to another sector. Each sector and each slice is a resource, shared with the SMs that
 * use it at the same time. Sources: docs/time-model.md, "Atomics".
 *
 * A compare-and-swap that depends on the word's last value, as in a loop that repeats it until it
 * succeeds, comes a round trip after the swap before: until then it finds another value. If more
 * lanes try than L2 serves in that time, a round takes until all have tried once. */
#include "grader/sim/timing/sm_model.h"

#include <math.h>
#include <stdlib.h>

/* In updates, before compute capability 9.0; an H100 has no such cost. */
static const double sector_switch_cycles = 0.25;
/* L2 bandwidth that an update takes, in sectors: it is read, changed and written. Without and with
 * a result: H100 and H200, 4 M lanes on words 4 KiB apart, 53 and 69 us. Lanes on one word of
 * a sector that another warp is updating delay others in the slice: 91 us where the words of 8
 * warps are in one sector (grader/tests/timing/waiting-*.tsv, lanes32-every1024 and -every1). */
static const double red_l2_sectors = 2.8, atom_l2_sectors = 3.65, busy_sector_factor = 1.65;
/* log2 of the bytes of a chunk; each chunk is modelled as a slice of its own. */
enum { SLICE_SHIFT = 9 };

static u64 sector_key(u64 address) { return address | 31; } /* never 0, which marks a free unit */
static u64 slice_key(u64 address) { return L2_SLICE_KEY | address >> SLICE_SHIFT; }

static struct atomic_unit *find(struct sm_model *m, u64 key) {
    u32 h = (u32)((key * 0x9e3779b97f4a7c15ull) >> 40) & (m->atomic_slots - 1);
    while (m->atomic_units[h].key && m->atomic_units[h].key != key)
        h = (h + 1) & (m->atomic_slots - 1);
    return &m->atomic_units[h];
}

static bool all_traced(const struct replay_input *in) {
    return in->trace->nblocks == in->geometry->nblocks;
}

/* Returns false for the base block's neighbours: they share addresses with it more often than other
 * blocks do. */
static bool is_independent_sample(const struct replay_input *in, u64 block) {
    const u32 *grid = in->geometry->grid;
    const u64 stride[3] = {1, grid[0], (u64)grid[0] * grid[1]};
    for (u32 axis = 0; axis < 3; axis++)
        if (grid[axis] > 1 && block == in->base_block + stride[axis]) return all_traced(in);
    return true;
}

static void record_visit(struct sm_model *m, u64 key, u32 block) {
    struct atomic_unit *t = find(m, key);
    t->key = key;
    if (t->last_block != block + 1) t->nblocks++, t->last_block = block + 1;
}

/* Returns the number of atomic words in the block's trace; with `m`, records their units. */
static u64 scan_atomics(struct sm_model *m, const struct trace_block *block, u32 b) {
    u64 n = 0;
    for (u32 w = 0; w < block->nwarps; w++) {
        const struct trace_warp *s = &block->warps[w];
        for (u32 i = 0; i < s->nwords; i++) {
            u64 h = s->words[i];
            if (!trace_is_access(h)) continue;
            bool is_atomic = trace_space(h) == SPACE_GLOBAL && trace_verb(h) >= MEM_ATOM;
            for (u32 k = 1; is_atomic && k <= trace_entries(h); k++, n++)
                if (m)
                    record_visit(m, sector_key(trace_word_address(s->words[i + k])), b),
                        record_visit(m, slice_key(trace_word_address(s->words[i + k])), b);
            i += trace_entries(h);
        }
    }
    return n;
}

void time_atomic_open(struct sm_model *m, const struct sim_trace *t) {
    u64 n = 0;
    for (u32 b = 0; b < t->nblocks; b++) n += 2 * scan_atomics(NULL, &t->blocks[b], b);
    for (m->atomic_slots = 64; m->atomic_slots < 2 * n; m->atomic_slots *= 2) {}
    m->atomic_units = xcalloc(m->atomic_slots, sizeof *m->atomic_units);
    for (u32 b = 0; b < t->nblocks; b++)
        if (is_independent_sample(m->in, t->blocks[b].linear))
            m->sampled_blocks++, scan_atomics(m, &t->blocks[b], b);
}

/* Returns the load of all SMs on the unit relative to this SM's. k of the n sampled blocks use it;
 * seen from one of them, (k - 1) of the n - 1 others do, which is the share assumed for all other
 * blocks. If all blocks are traced, no more than k use it. */
static double contention_factor(const struct sm_model *m, const struct atomic_unit *t) {
    double n = m->sampled_blocks, k = t->nblocks;
    if (k < 2) return 1;
    double all = max2(1, m->in->active_sms * (k - 1) / (n - 1) * n / k);
    return all_traced(m->in) && all > k ? k : all;
}

static double reserve_atomic_unit(struct sm_model *m, u64 key, double at, double cycles) {
    struct atomic_unit *t = find(m, key);
    double cost = is_disabled(m, TERM_BIT(ATOMICS)) ? 0 : cycles * contention_factor(m, t);
    t->free_at = max2(t->free_at, at) + cost;
    t->busy_cycles += cost;
    return t->free_at;
}

/* Cycles between successes of lanes that all try to swap one word, in latencies of an atomic, and
 * the least of them for each lane that tries: H100, 0.25 us with 33 to 264 lanes, 0.35 with 1056,
 * H200 the same (grader/tests/timing/effects-*.tsv, swap4-…). */
static const double swap_latencies = 1.25, swap_attempt_cycles = 0.6;

/* Returns the cycles until n lanes that all try at once have succeeded. */
static double swap_cycles(double n, double latency) {
    double few = latency / swap_attempt_cycles;
    return n <= few ? n * latency : few * latency + swap_attempt_cycles * (n * n - few * few) / 2;
}

/* Returns the number of lanes that need `cycles` to succeed. */
static double swap_count(double cycles, double latency) {
    double few = latency / swap_attempt_cycles, rest = cycles - few * latency;
    return rest <= 0 ? cycles / latency : sqrt(few * few + 2 * rest / swap_attempt_cycles);
}

/* Returns the swaps of the word by all SMs for each of this SM. k of the n sampled blocks swap it;
 * at least one block of the SM does. */
static double swaps_per_own(const struct sm_model *m, const struct atomic_unit *t) {
    double n = m->sampled_blocks, k = t->nblocks;
    if (k < 2) return 1;
    double share = (k - 1) / (n - 1), all = (double)m->in->geometry->nblocks * share;
    return max2(1, all / max2(1, m->in->blocks_on_sm * share));
}

/* Returns when a swap of the word that began at `at` succeeds: after those that try already. */
static double reserve_swap(struct sm_model *m, u64 address, double at) {
    struct atomic_unit *t = find(m, sector_key(address));
    double latency = swap_latencies * m->lat_atomic,
           waiting = swap_count(max2(0, t->swap_free_at - at), latency),
           until = at + swap_cycles(waiting + swaps_per_own(m, t), latency);
    if (is_disabled(m, TERM_BIT(ATOMICS))) return at;
    t->busy_cycles += until - max2(t->swap_free_at, at);
    return t->swap_free_at = until;
}

/* Returns the multiplicity of the busiest word in the sector of p[k]; adds the sector's entries to
 * `sector_entries`. */
static double max_lanes_per_word(const u64 *p, u32 k, u64 *sector_entries) {
    double max_lanes = 0;
    for (u32 j = k; j <= trace_entries(*p); j++) {
        if (trace_word_address(p[j]) >> 5 != trace_word_address(p[k]) >> 5) continue;
        *sector_entries |= 1ull << (j - 1);
        max_lanes = max2(max_lanes, trace_lanes_on_word(p[j]));
    }
    return max_lanes;
}

/* Returns when the sector is in L2. If the slice does not hold it, 64 bytes come from DRAM and go
 * back later, once for both sectors in them; meanwhile the slice serves other requests. H200: 4, 6
 * and 8 M words, one addition each, take 13.02, 17.95 and 22.88 us from a cold L2, at most 1 %
 * longer than from one that holds them. */
static double fetch_sector(struct sm_model *m, struct sm_block *b, u64 address, double t) {
    u64 line = address >> 7;
    u32 index = address >> 5 & 3, sector = 1u << index, neighbor = 1u << (index ^ 1),
        touched_before = time_sector_set_get(&b->sectors, line),
        first = time_sector_set_add(&b->sectors, line, true, sector);
    double sectors = touched_before & neighbor ? 0 : 4; /* 64 bytes, read and written */
    return time_memory_dram(m, line, sector, first, sectors, t);
}

/* Returns when L2 has room for the updates of a sector whose busiest word has `max_lanes` lanes. */
static double reserve_update_bandwidth(struct sm_model *m, u64 address, double start,
                                       double max_lanes, bool has_result) {
    const struct atomic_unit *sector = find(m, sector_key(address));
    bool is_busy = max_lanes > 1 && sector->free_at > start;
    return time_memory_l2(m, start,
                          (has_result ? atom_l2_sectors : red_l2_sectors) * max_lanes *
                              (is_busy ? busy_sector_factor : 1));
}

static double reserve_word(struct sm_model *m, u64 entry, double at, double lanes, double update) {
    u64 address = trace_word_address(entry);
    return entry & TRACE_SWAPPED ? reserve_swap(m, address, at)
                                 : reserve_atomic_unit(m, sector_key(address), at, lanes * update);
}

double time_atomic_access(struct sm_model *m, struct sm_block *b, const u64 *p, double t,
                          const struct mem_desc *d, u8 *reason) {
    double start = time_memory_l1(m, t, 1, RESOURCE_L1), ready = start + m->lat_atomic,
           cycles_per_update = m->d->clock_hz / m->d->atomic_rate;
    bool is_float = d->type == PTX_F32 || d->type == PTX_F64;
    double update_cycles = is_float ? m->d->clock_hz / m->d->atomic_float_rate : cycles_per_update;
    u64 handled_entries = 0;
    m->atomics_executed_at = 0;
    for (u32 k = 1, n = trace_entries(*p); k <= n; k++) {
        if (handled_entries >> (k - 1) & 1) continue;
        double max_lanes = max_lanes_per_word(p, k, &handled_entries),
               at = reserve_update_bandwidth(m, trace_word_address(p[k]), start, max_lanes,
                                             d->result != REF_NONE),
               fetched_at = fetch_sector(m, b, trace_word_address(p[k]), at),
               executed_at = reserve_word(m, p[k], at, max_lanes, update_cycles);
        struct atomic_unit *slice = find(m, slice_key(trace_word_address(p[k])));
        u64 sector = trace_word_address(p[k]) >> 5;
        bool switches_sector = slice->last_sector && slice->last_sector != sector;
        double slice_cycles =
            (max_lanes + (switches_sector && m->d->cc_major < 9 ? sector_switch_cycles : 0)) *
            cycles_per_update;
        slice->last_sector = sector;
        executed_at = max2(executed_at, reserve_atomic_unit(m, slice->key, at, slice_cycles));
        m->atomics_executed_at = max2(m->atomics_executed_at, executed_at);
        ready = max2(ready, max2(fetched_at, executed_at) + m->lat_atomic);
    }
    *reason = SIM_STALL_LONG_SCOREBOARD_ATOMIC;
    return ready;
}

double time_atomic_free_at(struct sm_model *m, const u64 *p) {
    u64 address = trace_word_address(p[1]);
    return max2(find(m, sector_key(address))->free_at, find(m, slice_key(address))->free_at);
}

double time_atomic_drain_time(const struct sm_model *m, double end) {
    for (u32 i = 0; i < m->atomic_slots; i++)
        end = max2(end, max2(m->atomic_units[i].free_at, m->atomic_units[i].swap_free_at));
    return end;
}

void time_atomic_add_busy(struct sm_model *m) {
    for (u32 i = 0; i < m->atomic_slots; i++) {
        enum resource r = m->atomic_units[i].key & L2_SLICE_KEY ? RESOURCE_ATOMIC_L2_SLICE
                                                                : RESOURCE_ATOMIC_ADDRESS;
        m->busy_cycles[r] = max2(m->busy_cycles[r], m->atomic_units[i].busy_cycles);
    }
}
