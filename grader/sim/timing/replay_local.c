/* replay_local.c — models local memory, for replay_memory.c: arrays that threads index, whose lines
 * the trace has, and spilled registers, whose addresses are unknown.
 *
 * L1 writes stores through to L2 and keeps them: on an H100, L2 receives every sector that is
 * stored, and a load hits where L1's capacity allows (terms.cu, local-…, counted by ncu). */
#include "grader/sim/timing/sm_model.h"

static double share(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

/* L2's own hit rates, by the footprint of all resident threads relative to its size. H100: it
 * fetches nothing of 0.66 and 0.9 of 2.6 times its size, and writes back 0.53 and 0.95 of the
 * stores. */
void time_local_open(struct sm_model *m, double l1_bytes) {
    const struct replay_input *in = m->in;
    double bytes = (double)in->local_bytes * in->threads_per_block * in->resident_blocks,
           l2_share = bytes * in->active_sms / (double)m->d->l2_bytes;
    m->spill_miss_rate = bytes > l1_bytes ? 1 - l1_bytes / bytes : 0;
    m->local_fetched = share((l2_share - 0.7) / 0.22);
    m->local_written_back = share((l2_share - 0.44) / 0.44);
}

/* ---- arrays ---- */

/* Returns the key of a line in L1: no global line has this bit, and warps in one slot of the SM use
 * the same addresses. */
static u64 key_of_line(const struct sm_model *m, const struct sm_warp *w, u64 word) {
    return 1ull << 55 | (u64)(w - m->warps) << 32 | line_number(word);
}

/* Sends `n` stored sectors to L2. */
static void write_through(struct sm_model *m, double n, double t) {
    double before = memory_free_at(m),
           start = time_memory_l2(m, t, time_memory_store_sectors(m, n, 0));
    time_memory_dram_transfer(m, start, n * m->local_written_back);
    queue_store(m, t, before);
}

static void store_line(struct sm_model *m, u64 key, u32 sectors, double t) {
    struct cache_line *l = time_cache_find(&m->l1_cache, key);
    u32 n = (u32)__builtin_popcount(sectors);
    if (!l) l = time_cache_insert(&m->l1_cache, key);
    l->sectors |= (u8)sectors;
    write_through(m, n, t);
}

/* Returns when L2 answers for `n` sectors, part of which come from DRAM. */
static double fetch(struct sm_model *m, double n, double t) {
    double start = time_memory_l2(m, t, n);
    if (m->local_fetched <= 0) return start + m->lat_l2;
    double transfer = time_memory_dram_transfer(m, start, n * m->local_fetched);
    return max2(transfer, start) + m->lat_l2 + m->local_fetched * (m->lat_dram - m->lat_l2);
}

static double load_line(struct sm_model *m, u64 key, u32 sectors, double t, u8 *reason) {
    struct cache_line *l = time_cache_find(&m->l1_cache, key);
    u32 missing = sectors & ~(l ? (u32)l->sectors : 0), n = (u32)__builtin_popcount(missing);
    m->l1_sectors += __builtin_popcount(sectors);
    m->l1_hits += __builtin_popcount(sectors & ~missing);
    *reason = SIM_STALL_LONG_SCOREBOARD_L1;
    if (!missing) return max2(l->ready, t + m->lat_l1);
    if (!l) l = time_cache_insert(&m->l1_cache, key);
    l->sectors |= (u8)missing;
    l->ready = fetch(m, n, t), l->reason = *reason = m->local_fetched > 0.5
                                                         ? SIM_STALL_LONG_SCOREBOARD_DRAM
                                                         : SIM_STALL_LONG_SCOREBOARD_L2;
    return l->ready;
}

double time_local_access(struct sm_model *m, const struct sm_warp *w, const u64 *p, double t,
                         u8 *reason) {
    double at = time_memory_l1(m, t, max2(1, trace_wavefronts(*p) / 4.0), RESOURCE_L1),
           ready = at + m->lat_l1;
    *reason = SIM_STALL_LONG_SCOREBOARD_L1;
    for (u32 k = 1; k <= trace_entries(*p); k++) {
        u64 key = key_of_line(m, w, p[k]);
        u8 line_reason;
        if (trace_verb(*p) == MEM_STORE) {
            store_line(m, key, line_sectors(p[k]), at);
            continue;
        }
        double line_ready = load_line(m, key, line_sectors(p[k]), at, &line_reason);
        if (line_ready > ready) ready = line_ready, *reason = line_reason;
    }
    return ready;
}

/* ---- spilled registers ---- */

/* Returns when the data arrives. */
static double access_spill(struct sm_model *m, double t, bool is_store) {
    enum { SECTORS = 4 };
    double at = time_memory_l1(m, t, 1, RESOURCE_L1);
    if (!is_store)
        return m->spill_miss_rate > 0 ? fetch(m, SECTORS * m->spill_miss_rate, at) : at + m->lat_l1;
    write_through(m, SECTORS, at);
    return at + m->lat_l1;
}

double time_local_spill(struct sm_model *m, double t) {
    access_spill(m, t, m->spill_accesses++ % 2 == 0); /* every second one is a store */
    return max2(t, max2(m->l1_free_at - l1_queue_cycles, memory_free_at(m) - l2_queue_cycles));
}

double time_local_sass_spill(struct sm_model *m, double t, bool is_store) {
    return access_spill(m, t, is_store);
}
