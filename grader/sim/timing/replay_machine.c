/* replay_machine.c — the replayed SM before and after: rates and caches from the device's row, what
 * the blocks' ends say about the rest of the launch. */
#include "grader/sim/timing/machine.h"

#include <stdlib.h>

static double carve_out(const struct gpu_device *d, double shared) {
    static const double kib[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
    if (d->cc_major < 7) return 0;
    for (u32 i = 0; i < sizeof kib / sizeof *kib; i++)
        if (kib[i] * 1024 >= shared) return kib[i] * 1024;
    return shared;
}

/* What streams reach is less than what the memory gives: requests wait (replay_memory.c, under
 * load). */
static const double dram_peak = 1.02;

static void open_rates(struct machine *m) {
    const struct gpu_device *d = m->d;
    const struct replay_input *in = m->in;
    double lanes[UNIT_COUNT] = {[UNIT_ALU] = d->int_lanes,
                                [UNIT_ADD] = d->int_lanes,
                                [UNIT_IMAD] = d->cc_major < 7 ? 128 / 3.0 : 64,
                                [UNIT_FMA] = d->fp32_lanes,
                                [UNIT_FP64] = d->fp64_lanes,
                                [UNIT_XU] = d->sfu_lanes};
    for (u32 u = 0; u < UNIT_COUNT; u++)
        m->interval[u] = lanes[u] > 0 ? 32 / (lanes[u] / SCHEDULERS) : 1;
    m->interval[UNIT_TENSOR] = device_mma_cycles(d);
    double per_sector = 32 * in->active_sms * d->clock_hz;
    m->l2_cycles = off(m, TERM_BIT(L2)) ? 0
                                        : max2(per_sector / d->l2_rate,
                                               0.5); /* an SM's own link: 64 bytes a clock */
    m->dram_cycles = off(m, TERM_BIT(DRAM)) ? 0 : per_sector / (dram_peak * d->dram_rate);
    m->lat_l1 = d->lat_l1, m->lat_l2 = d->lat_l2, m->lat_dram = d->lat_dram,
    m->lat_shared = d->lat_shared;
}

static void open_caches(struct machine *m) {
    const struct replay_input *in = m->in;
    double shared = (double)in->resident * (in->shared_bytes + m->d->shared_reserved);
    double l1 = m->d->l1_bytes - carve_out(m->d, shared),
           local = (double)in->local_bytes * in->threads * in->resident;
    time_cache_open(&m->l1_lines, max2(l1, 8192));
    m->local_spills = local > l1;
    double resident = local * in->active_sms, held = 0.8 * (double)m->d->l2_bytes;
    m->local_dram = resident > held ? 1 - held / resident : 0;
    double l2 = (double)m->d->l2_bytes / 32 * 0.8, all = in->traffic->wave_sectors;
    m->l2_limited = all > l2;
    /* The SM's blocks see the part of L2 that their part of the footprint would hold. */
    double part = all > 0 ? in->traffic->sample_sectors * in->resident / all : 1;
    if (m->l2_limited)
        time_cache_open(&m->l2_lines, (double)m->d->l2_bytes * (part < 1 ? part : 1));
}

void time_machine_open(struct machine *m, const struct replay_input *in) {
    *m = (struct machine){
        .in = in, .d = in->device, .nwarps = in->trace->blocks[in->order[0]].nwarps};
    u32 n = m->nwarps * in->resident, registers = in->regions->nregisters + SASS_BARRIER_COUNT + 1;
    m->warps = xcalloc(n, sizeof *m->warps);
    m->blocks = xcalloc(in->resident, sizeof *m->blocks);
    m->heap = xcalloc(n + 1, sizeof *m->heap);
    for (u32 i = 0; i < n; i++) {
        m->warps[i].ready = xcalloc(registers, sizeof *m->warps[i].ready);
        m->warps[i].why = xcalloc(registers, 1);
        m->warps[i].event = xcalloc(in->regions->most_steps + 1, sizeof *m->warps[i].event);
    }
    m->waits = xcalloc(in->regions->module->nops + 1ul, sizeof *m->waits); /* the last: of no op */
    m->debt = xcalloc(2ul * in->traffic->nbuffers + 2, sizeof *m->debt);
    m->done = xcalloc(in->blocks + 1ul, sizeof *m->done);
    open_rates(m);
    open_caches(m);
    time_atomic_open(m, in->trace);
}

void time_machine_close(struct machine *m) {
    for (u32 i = 0; i < m->nwarps * m->in->resident; i++)
        free(m->warps[i].ready), free(m->warps[i].why), free(m->warps[i].event),
            free(m->warps[i].chunk.list), free(m->warps[i].chunk.events);
    for (u32 i = 0; i < m->in->resident; i++) time_touched_free(&m->blocks[i].touched);
    free(m->warps), free(m->blocks), free(m->heap), free(m->debt), free(m->done), free(m->targets),
        free(m->waits);
    time_cache_close(&m->l1_lines), time_cache_close(&m->l2_lines);
}

/* ---- results ---- */

static int by_time(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double extrapolate(struct machine *m) {
    const struct replay_input *in = m->in;
    qsort(m->done, m->ndone, sizeof *m->done, by_time);
    double last = m->done[m->ndone - 1],
           drained = time_atomic_drained(m, max2(last, max2(m->l2, m->dram)));
    if (in->blocks <= m->ndone) return drained;
    double rest = in->blocks - m->ndone;
    if (m->ndone >= 2 * in->resident)
        return drained + rest * (last - m->done[in->resident - 1]) / (m->ndone - in->resident);
    return drained * in->blocks / m->ndone;
}

static double latest(const struct machine *m) {
    double t = 0;
    for (u32 i = 0; i < m->ndone; i++) t = max2(t, m->done[i]);
    return t;
}

void time_machine_results(struct machine *m, struct replay_result *out) {
    if (!m->ndone) return;
    double end = time_atomic_drained(m, max2(latest(m), max2(m->l2, m->dram))), stalls = 0;
    time_atomic_busy(m);
    for (u32 i = 0; i < R_COUNT; i++) out->busy[i] = end > 0 ? m->busy[i] / end : 0;
    for (u32 i = 1; i < STALL_COUNT; i++) stalls += m->stalls[i];
    for (u32 i = 1; i < STALL_COUNT; i++) out->stalls[i] = stalls > 0 ? m->stalls[i] / stalls : 0;
    out->l1_hits = m->sectors > 0 ? m->hits / m->sectors : 0;
    out->l2_hits = m->l2_sectors > 0 ? m->l2_hits / m->l2_sectors : 0;
    out->simulated = m->ndone;
    for (u32 i = 0; i < m->in->norder; i++)
        out->truncated |= m->in->trace->blocks[m->in->order[i]].truncated;
    out->cycles = extrapolate(m), out->grid = m->grid.cycles;
    out->waits = m->waits, m->waits = NULL;
}
