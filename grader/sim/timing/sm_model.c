/* sm_model.c — sets up the replayed SM (rates and caches from the device's description), and
 * computes its results: utilization, stalls, and the time of all its blocks, extrapolated from the
 * ends of those simulated. replay.c calls it. */
#include "grader/sim/timing/sm_model.h"

#include <stdlib.h>

static double shared_carveout(const struct gpu_device *d, double shared) {
    static const double kib[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
    if (d->cc_major < 7) return 0;
    for (u32 i = 0; i < sizeof kib / sizeof *kib; i++)
        if (kib[i] * 1024 >= shared) return kib[i] * 1024;
    return shared;
}

/* DRAM's peak rate relative to the rate that streams reach, which queueing reduces
 * (replay_memory.c, dram_latency). */
static const double dram_peak_factor = 1.02;

static void init_rates(struct sm_model *m) {
    const struct gpu_device *d = m->d;
    const struct replay_input *in = m->in;
    double lanes[PIPE_COUNT] = {[PIPE_ALU] = d->int_lanes,
                                [PIPE_IADD] = d->int_lanes,
                                [PIPE_IMAD] = d->cc_major < 7 ? 128 / 3.0 : 64,
                                [PIPE_FMA] = d->fp32_lanes,
                                [PIPE_FP64] = d->fp64_lanes,
                                [PIPE_XU] = d->sfu_lanes};
    for (u32 i = 0; i < PIPE_COUNT; i++)
        m->issue_interval[i] = lanes[i] > 0 ? 32 / (lanes[i] / SCHEDULERS_PER_SM) : 1;
    m->issue_interval[PIPE_TENSOR] = device_mma_cycles(d);
    double per_sector = 32 * in->active_sms * d->clock_hz;
    m->l2_sector_cycles =
        is_disabled(m, TERM_BIT(L2))
            ? 0
            : max2(per_sector / d->l2_rate, 0.5); /* 0.5: an SM's own link has 64 bytes a clock */
    m->dram_sector_cycles =
        is_disabled(m, TERM_BIT(DRAM)) ? 0 : per_sector / (dram_peak_factor * d->dram_rate);
    m->lat_l1 = d->lat_l1, m->lat_l2 = d->lat_l2, m->lat_dram = d->lat_dram,
    m->lat_shared = d->lat_shared;
    m->lat_atomic = d->lat_atomic;
    m->lat_fence = is_disabled(m, TERM_BIT(LATENCY)) ? 0 : d->lat_fence;
}

/* The size at which LRU has the hit rates of an H100's L2, relative to its size: 67 % at 40 MiB of
 * 50, 26 % at 44 (terms.cu, own-again-…x4). */
static const double lru_l2_fraction = 0.82;

static void init_caches(struct sm_model *m) {
    const struct replay_input *in = m->in;
    double shared = (double)in->resident_blocks * (in->shared_bytes + m->d->shared_reserved);
    double l1 = m->d->l1_bytes - shared_carveout(m->d, shared);
    time_cache_open(&m->l1_cache, max2(l1, 8192), false);
    time_local_open(m, l1);
    double l2 = lru_l2_fraction * (double)m->d->l2_bytes, all = in->traffic->wave_sectors;
    m->l2_limited = 32 * all > l2;
    /* The SM's blocks have the share of L2 that their share of the wave's footprint occupies. */
    double footprint_share = all > 0 ? in->traffic->block_sectors * in->resident_blocks / all : 1;
    if (m->l2_limited)
        time_cache_open(&m->l2_cache, l2 * (footprint_share < 1 ? footprint_share : 1), true);
}

void time_sm_open(struct sm_model *m, const struct replay_input *in) {
    *m = (struct sm_model){
        .in = in, .d = in->device, .warps_per_block = in->trace->blocks[in->block_order[0]].nwarps};
    u32 n = m->warps_per_block * in->resident_blocks,
        registers = in->regions->nregisters + SASS_BARRIER_COUNT + 1;
    m->warps = xcalloc(n, sizeof *m->warps);
    m->blocks = xcalloc(in->resident_blocks, sizeof *m->blocks);
    m->heap = xcalloc(n + 1, sizeof *m->heap);
    for (u32 i = 0; i < n; i++) {
        m->warps[i].register_ready_at = xcalloc(registers, sizeof *m->warps[i].register_ready_at);
        m->warps[i].register_reason = xcalloc(registers, 1);
        m->warps[i].access_index =
            xcalloc(in->regions->max_insns + 1, sizeof *m->warps[i].access_index);
    }
    m->op_stalls =
        xcalloc(in->regions->module->nops + 1ul, sizeof *m->op_stalls); /* the last: for no op */
    m->dram_sectors_owed = xcalloc(2ul * in->traffic->nbuffers + 2, sizeof *m->dram_sectors_owed);
    m->block_end_times = xcalloc(in->blocks_on_sm + 1ul, sizeof *m->block_end_times);
    init_rates(m);
    init_caches(m);
    time_atomic_open(m, in->trace);
}

void time_sm_close(struct sm_model *m) {
    for (u32 i = 0; i < m->warps_per_block * m->in->resident_blocks; i++)
        free(m->warps[i].register_ready_at), free(m->warps[i].register_reason),
            free(m->warps[i].access_index), free(m->warps[i].chunk.insns),
            free(m->warps[i].chunk.events), free(m->warps[i].chunk.words);
    for (u32 i = 0; i < m->in->resident_blocks; i++) time_sector_set_free(&m->blocks[i].sectors);
    free(m->warps), free(m->blocks), free(m->heap), free(m->dram_sectors_owed),
        free(m->block_end_times), free(m->atomic_units), free(m->op_stalls);
    time_cache_close(&m->l1_cache), time_cache_close(&m->l2_cache);
}

/* ---- results ---- */

static int by_time(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double extrapolate(struct sm_model *m) {
    const struct replay_input *in = m->in;
    qsort(m->block_end_times, m->blocks_done, sizeof *m->block_end_times, by_time);
    double last = m->block_end_times[m->blocks_done - 1],
           drained = time_atomic_drain_time(m, max2(last, memory_free_at(m)));
    if (in->blocks_on_sm <= m->blocks_done) return drained;
    double remaining = in->blocks_on_sm - m->blocks_done;
    if (m->blocks_done >= 2 * in->resident_blocks)
        return drained + remaining * (last - m->block_end_times[in->resident_blocks - 1]) /
                             (m->blocks_done - in->resident_blocks);
    return drained * in->blocks_on_sm / m->blocks_done;
}

static double last_block_end(const struct sm_model *m) {
    double t = 0;
    for (u32 i = 0; i < m->blocks_done; i++) t = max2(t, m->block_end_times[i]);
    return t;
}

/* Streams reach 0.93 of DRAM's peak rate. Utilization is relative to the peak, as in profilers;
 * what a launch leaves to others, to what streams reach. */
static void set_shared_utilization(const struct sm_model *m, struct replay_result *out) {
    static const enum resource shared[] = {RESOURCE_L2, RESOURCE_DRAM, RESOURCE_ATOMIC_ADDRESS,
                                           RESOURCE_ATOMIC_L2_SLICE};
    for (u32 i = 0; i < sizeof shared / sizeof *shared; i++)
        out->shared_utilization = max2(out->shared_utilization, out->utilization[shared[i]]);
    out->utilization[RESOURCE_DRAM] *= dram_peak_factor * m->d->dram_rate / m->d->dram_peak_rate;
}

void time_sm_results(struct sm_model *m, struct replay_result *out) {
    if (!m->blocks_done) return;
    double end = time_atomic_drain_time(m, max2(last_block_end(m), memory_free_at(m))), stalls = 0;
    time_atomic_add_busy(m);
    for (u32 i = 0; i < RESOURCE_COUNT; i++)
        out->utilization[i] = end > 0 ? m->busy_cycles[i] / end : 0;
    set_shared_utilization(m, out);
    for (u32 i = SIM_STALL_WAIT; i < SIM_STALL_COUNT; i++) stalls += m->stall_cycles[i];
    for (u32 i = SIM_STALL_WAIT; i < SIM_STALL_COUNT; i++)
        out->stall_share[i] = stalls > 0 ? m->stall_cycles[i] / stalls : 0;
    out->l1_hit_rate = m->l1_sectors > 0 ? m->l1_hits / m->l1_sectors : 0;
    out->l2_hit_rate = m->l2_sectors > 0 ? m->l2_hits / m->l2_sectors : 0;
    out->simulated_blocks = m->blocks_done;
    for (u32 i = 0; i < m->in->nblock_order; i++)
        out->truncated |= m->in->trace->blocks[m->in->block_order[i]].truncated;
    out->cycles = extrapolate(m), out->grid_barrier_cycles = m->grid_barrier.total_cycles;
    out->op_stalls = m->op_stalls, m->op_stalls = NULL;
}
