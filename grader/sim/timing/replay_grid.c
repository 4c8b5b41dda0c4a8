/* replay_grid.c — the barrier over all blocks of a cooperative launch. The trace says where a block
 * came to it and where it went on (core/grid.c). The SM's resident blocks meet here; those of other
 * SMs are taken to come when they do, as late as the last of them (estimate.c has what a phase
 * costs whose slowest block is elsewhere). Who goes on finds nothing in L1: what other SMs wrote is
 * not there. */
#include "grader/sim/timing/machine.h"

/* From the last arrival to when all go on, beside the two barriers of the block around it. H100,
 * one behind another, of 32 to 1024 threads a block: 1.07 to 1.12 us for up to 132 blocks, 1.28
 * to 1.41 for 264, 1.58 to 1.63 for 528, 2.24 to 2.30 for 1056 (docs/results/h100/clusters.tsv): a
 * trip to L2 and back for the arrival, what was written before it to be seen, another trip for the
 * look; and 1.2 ns for each block, where that is longer. In cycles, also where another GPU's are
 * others: an assumption. */
static const double least_grid = 2050, some_blocks = 1815, of_a_block = 2.38;

static double grid_cycles(const struct machine *m) {
    if (off(m, TERM_BIT(LATENCY))) return 0;
    return max2(least_grid, some_blocks + of_a_block * (double)m->in->place->nblocks);
}

double time_grid_mark(struct machine *m, struct rwarp *w, u64 mark, double t, u8 *why) {
    struct grid_meeting *g = &m->grid;
    struct rblock *b = &m->blocks[w->slot];
    if (off(m, TERM_BIT(BARRIERS))) return t;
    *why = STALL_BARRIER;
    if (trace_verb(mark) == MEM_LOAD) {
        w->at_grid = b->met > g->phases;
        if (!w->at_grid) w->held = g->go;
        return t;
    }
    b->met++;
    g->came = max2(g->came, t), g->changed = true;
    return t + m->lat_l2;
}

static void meet(struct machine *m) {
    struct grid_meeting *g = &m->grid;
    g->phases++;
    g->go = max2(g->came, g->go) + grid_cycles(m);
    g->cycles += grid_cycles(m);
    g->came = 0, g->changed = true;
    time_cache_forget(&m->l1_lines);
}

/* Blocks that have ended come no more. */
bool time_grid_meets(struct machine *m) {
    struct grid_meeting *g = &m->grid;
    bool some = false;
    if (!g->changed) return false;
    g->changed = false;
    for (u32 i = 0; i < m->in->resident; i++) {
        const struct rblock *b = &m->blocks[i];
        if (b->running && b->met <= g->phases) return false;
        some |= b->running;
    }
    if (some) meet(m);
    return some;
}

void time_grid_force(struct machine *m) {
    u32 most = 0;
    for (u32 i = 0; i < m->in->resident; i++)
        most = m->blocks[i].met > most ? m->blocks[i].met : most;
    while (m->grid.phases < most) meet(m);
}
