/* grid_barrier.c — the grid barrier of a cooperative launch, this_grid().sync(). The lane functions
 * of atomics and loads call it.
 *
 * Theory of operation. Cooperative Groups builds the barrier of an atomic and a loop: one thread of
 * each block adds the block's increment to a word of the launch's workspace, and polls that word
 * until the sum has flipped its highest bit. We allocate the workspace, so the word is known: an
 * addition of the increment is the block's arrival, and a load of the word by a block that has
 * arrived waits here until all have. So the loop iterates once, whatever the order of blocks;
 * counters don't depend on that order, and the trace records where a block arrives and where it
 * proceeds. The increments are those of Cooperative Groups: 1 for each block but the first, and for
 * the first one the rest to 2^31.
 *
 * A program can't forge a completion. Arrivals are counted by block, once in each generation, not
 * read from the word: other writes to it complete nothing, and an addition of another number is no
 * arrival. If the highest bit flips nevertheless, or blocks would wait forever, the barrier is
 * abandoned: its waiters poll the word as often as they like, and the launch is one whose blocks
 * wait for each other, which the time model does not support. A program's own flags and counters
 * are no grid barrier. */
#include "grader/sim/core/grid_barrier.h"

#include <string.h>

enum { BARRIER_OFFSET = 4 /* in the workspace, after its size */ };

/* Opens the barrier if the launch has one worker and no clusters. */
void grid_barrier_open(struct launch *l) {
    bool is_supported = l->request->cooperative && l->code->interblock_dependent &&
                        !l->has_clusters && !l->selected_blocks;
    if (is_supported && l->sim->grid_workspace)
        l->grid_barrier.word_address = l->sim->grid_workspace + BARRIER_OFFSET;
}

static u32 arrival_increment(const struct launch *l, const struct block *b) {
    return b->linear ? 1 : 0x80000000u - (u32)(l->nblocks - 1);
}

static bool is_one_lane_at(u64 word, const u64 *ea, u32 mask) {
    return !(mask & (mask - 1)) && ea[__builtin_ctz(mask)] == word;
}

/* ---- the work of blocks between two barriers, in a traced launch ---- */

static void update_max(uint64_t *a, uint64_t b) { *a = b > *a ? b : *a; }

static void add_work(struct sim_block_work *a, const struct sim_block_work *b) {
    a->warp_insns += b->warp_insns, a->sectors += b->sectors, a->wavefronts += b->wavefronts;
}

void grid_barrier_record_work(struct launch *l, struct block *b) {
    update_max(&l->grid_barrier.max_block_work.warp_insns,
               b->work.warp_insns - b->work_at_arrival.warp_insns);
    update_max(&l->grid_barrier.max_block_work.sectors,
               b->work.sectors - b->work_at_arrival.sectors);
    update_max(&l->grid_barrier.max_block_work.wavefronts,
               b->work.wavefronts - b->work_at_arrival.wavefronts);
    b->work_at_arrival = b->work;
}

struct sim_block_work grid_barrier_max_work(const struct launch *l) {
    struct sim_block_work sum = l->grid_barrier.summed_max_work;
    add_work(&sum, &l->grid_barrier.max_block_work);
    return sum;
}

/* ---- the barrier ---- */

static void release_waiters(struct worker *k) {
    for (u32 i = 0; i < k->nblocks; i++)
        for (u32 w = 0; w < k->blocks[i].nwarps; w++) k->blocks[i].warps[w].at_grid_barrier = false;
}

static void complete_generation(struct worker *k) {
    struct grid_barrier *g = &k->launch->grid_barrier;
    g->generation++, g->arrived_blocks = 0;
    if (k->launch->race_callbacks)
        g->release_clock = k->launch->race_callbacks->advance_clock(k->exec.block);
    add_work(&g->summed_max_work, &g->max_block_work);
    g->max_block_work = (struct sim_block_work){0};
    release_waiters(k);
}

static u32 read_barrier_word(const struct exec *x) {
    u32 value;
    memcpy(&value, x->memory->bytes + (x->worker->launch->grid_barrier.word_address - SIM_BASE),
           sizeof value);
    return value;
}

bool grid_barrier_arrive(struct exec *x, const struct op *o, const struct mem_desc *d,
                         const u64 *ea, u32 mask) {
    struct launch *l = x->worker->launch;
    struct block *b = x->block;
    if (!is_one_lane_at(l->grid_barrier.word_address, ea, mask) || d->atom != ATOM_ADD ||
        d->width != 4)
        return false;
    u32 value = ((const u32 *)operand_at(x, d->operand[0]))[__builtin_ctz(mask)];
    if (value != arrival_increment(l, b) || b->grid_arrivals != l->grid_barrier.generation)
        return false;
    if (l->trace) block_work_account(x->worker, b), grid_barrier_record_work(l, b);
    if (x->trace) trace_grid_barrier(x, o, MEM_ATOM);
    b->grid_arrivals++, b->grid_word_at_arrival = read_barrier_word(x);
    if (++l->grid_barrier.arrived_blocks == l->nblocks) complete_generation(x->worker);
    return true;
}

static bool accesses_word(const struct exec *x, const struct op *o, u32 mask, u64 word) {
    const struct mem_desc *d = &x->mems[o->aux];
    if (o->src[0] == REF_NONE || d->address32) return false;
    const u64 *base = operand_at(x, o->src[0]);
    for (; mask; mask &= mask - 1)
        if (base[__builtin_ctz(mask)] + (u64)o->imm == word) return true;
    return false;
}

/* Makes the whole warp wait: lanes on the loop's other path would otherwise run ahead, separated
 * from the polling lane. */
bool grid_barrier_must_wait(struct exec *x, u32 lanes, const struct op *o) {
    const struct grid_barrier *g = &x->worker->launch->grid_barrier;
    lanes &= *(const u32 *)operand_at(x, o->guard) ^ o->guard_xor;
    struct block *b = x->block;
    if (!g->word_address || g->abandoned || !b->grid_arrivals ||
        !accesses_word(x, o, lanes, g->word_address))
        return false;
    if (b->grid_arrivals > g->generation) return x->warp->at_grid_barrier = true;
    if (g->release_clock > b->acquire_clock) b->acquire_clock = g->release_clock;
    b->grid_clock = g->release_clock;
    return false;
}

bool grid_barrier_still_waits(struct exec *x) {
    if (!((read_barrier_word(x) ^ x->block->grid_word_at_arrival) >> 31)) return true;
    grid_barrier_abandon(x->worker);
    return false;
}

bool grid_barrier_observes_release(struct exec *x, const struct mem_desc *d, const u64 *ea,
                                   u32 mask) {
    const struct grid_barrier *g = &x->worker->launch->grid_barrier;
    struct block *b = x->block;
    bool is_first =
        b->grid_arrivals == g->generation && b->grid_observed_generation < b->grid_arrivals;
    if (!g->word_address || !is_first || d->verb != MEM_LOAD ||
        !is_one_lane_at(g->word_address, ea, mask))
        return false;
    b->grid_observed_generation = b->grid_arrivals;
    return true;
}

/* ---- waiting blocks ---- */

bool grid_barrier_has_waiters(const struct block *b) {
    for (u32 w = 0; w < b->nwarps; w++)
        if (b->warps[w].at_grid_barrier) return true;
    return false;
}

void grid_barrier_abandon(struct worker *k) {
    k->launch->grid_barrier.abandoned = true;
    k->launch->blocks_depend = k->launch->trace != NULL;
    release_waiters(k);
}
