/* replay_grid_barrier.c — models the grid barrier of a cooperative launch. The trace shows where a
 * block arrived and where it continued (core/grid_barrier.c). The model synchronizes the SM's
 * resident blocks, and assumes that those of other SMs arrive no later than the last of these;
 * estimate.c corrects for a slower block elsewhere. After the barrier L1 is empty, since it does
 * not have what other SMs wrote. */
#include "grader/sim/timing/sm_model.h"

/* Cycles from the last arrival to the release, without the two block barriers around it. H100,
 * barriers in a row, 32 to 1024 threads a block: 1.07 to 1.12 us for up to 132 blocks, 1.28 to 1.41
 * for 264, 1.58 to 1.63 for 528, 2.24 to 2.30 for 1056 (docs/results/h100/clusters.tsv). That is a
 * round trip to L2 for the arrival, the fence, and a round trip for the poll; or 1.2 ns a block,
 * where that is longer. Other GPUs are assumed to take as many cycles. */
static const double min_grid_barrier_cycles = 2050, block_base_cycles = 1815,
                    cycles_per_block = 2.38;

static double grid_barrier_cycles(const struct sm_model *m) {
    if (is_disabled(m, TERM_BIT(LATENCY))) return 0;
    return max2(min_grid_barrier_cycles,
                block_base_cycles + cycles_per_block * (double)m->in->geometry->nblocks);
}

double time_grid_access(struct sm_model *m, struct sm_warp *w, u64 word, double t, u8 *reason) {
    struct sm_grid_barrier *g = &m->grid_barrier;
    struct sm_block *b = &m->blocks[w->block_slot];
    if (is_disabled(m, TERM_BIT(BARRIERS))) return t;
    *reason = SIM_STALL_BARRIER;
    if (trace_verb(word) == MEM_LOAD) {
        w->at_grid_barrier = b->grid_arrivals > g->generation;
        if (!w->at_grid_barrier) w->held_until = g->released_at;
        return t;
    }
    b->grid_arrivals++;
    g->last_arrival = max2(g->last_arrival, t), g->changed = true;
    return t + m->lat_l2;
}

static void release_generation(struct sm_model *m) {
    struct sm_grid_barrier *g = &m->grid_barrier;
    g->generation++;
    g->released_at = max2(g->last_arrival, g->released_at) + grid_barrier_cycles(m);
    g->total_cycles += grid_barrier_cycles(m);
    g->last_arrival = 0, g->changed = true;
    time_cache_invalidate(&m->l1_cache);
}

/* Blocks that have ended no longer arrive. */
bool time_grid_try_release(struct sm_model *m) {
    struct sm_grid_barrier *g = &m->grid_barrier;
    bool any_running = false;
    if (!g->changed) return false;
    g->changed = false;
    for (u32 i = 0; i < m->in->resident_blocks; i++) {
        const struct sm_block *b = &m->blocks[i];
        if (b->running_warps && b->grid_arrivals <= g->generation) return false;
        any_running |= b->running_warps;
    }
    if (any_running) release_generation(m);
    return any_running;
}

void time_grid_force_release(struct sm_model *m) {
    u32 max_arrivals = 0;
    for (u32 i = 0; i < m->in->resident_blocks; i++)
        max_arrivals =
            m->blocks[i].grid_arrivals > max_arrivals ? m->blocks[i].grid_arrivals : max_arrivals;
    while (m->grid_barrier.generation < max_arrivals) release_generation(m);
}
