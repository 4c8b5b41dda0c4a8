/* grid.c — the barrier over all blocks of a cooperative launch, this_grid().sync().
 *
 * Theory of operation. Cooperative Groups builds it of an atomic and a loop: a thread of each block
 * adds the block's part to a word of the workspace that the launch gave it, and looks at that word
 * until the sum has turned its highest bit over. The word is ours, and so is known: an addition of
 * the block's part is its arrival, and a load of the word by a block that has come waits here until
 * all have. So the loop turns once, whoever comes first; what is counted does not depend on the
 * order in which blocks run, and the time model is told where a block came and where it went on.
 * The parts are those of Cooperative Groups: 1 for each block, for the first one what is lacking to
 * 2^31.
 *
 * Nothing is believed. Who is there is counted by block, each once a phase, not read from the word:
 * what else is written to it completes nothing, and an addition of another number is no arrival.
 * Where the highest bit turns over all the same, or where that leaves blocks that wait for ever,
 * they look at the word as often as they like from then on, and the launch is one whose blocks wait
 * for each other, which the time model does not know. Flags and counters of the program's own are
 * no barrier of the grid. */
#include "grader/sim/core/grid.h"

#include <string.h>

enum { BARRIER_AT = 4 /* in the workspace, behind its size */ };

/* Needs one worker, and blocks that wait for no cluster besides. */
void grid_open(struct launch *l) {
    bool whole =
        l->request->cooperative && l->code->interblock_dependent && !l->clustered && !l->chosen;
    if (whole && l->sim->grid_workspace) l->grid.word = l->sim->grid_workspace + BARRIER_AT;
}

static u32 part_of(const struct launch *l, const struct block *b) {
    return b->linear ? 1 : 0x80000000u - (u32)(l->nblocks - 1);
}

static bool is_one_lane_at(u64 word, const u64 *ea, u32 mask) {
    return !(mask & (mask - 1)) && ea[__builtin_ctz(mask)] == word;
}

/* ---- what blocks do between two barriers, of a traced launch ---- */

static void most(uint64_t *a, uint64_t b) { *a = b > *a ? b : *a; }

static void add(struct sim_work *a, const struct sim_work *b) {
    a->executed += b->executed, a->sectors += b->sectors, a->passes += b->passes;
}

void grid_note_work(struct launch *l, struct block *b) {
    most(&l->grid.slowest.executed, b->work.executed - b->came_with.executed);
    most(&l->grid.slowest.sectors, b->work.sectors - b->came_with.sectors);
    most(&l->grid.slowest.passes, b->work.passes - b->came_with.passes);
    b->came_with = b->work;
}

struct sim_work grid_slowest(const struct launch *l) {
    struct sim_work sum = l->grid.phased;
    add(&sum, &l->grid.slowest);
    return sum;
}

/* ---- the barrier ---- */

static void release(struct worker *k) {
    for (u32 i = 0; i < k->nblocks; i++)
        for (u32 w = 0; w < k->blocks[i].nwarps; w++) k->blocks[i].warps[w].at_grid = false;
}

static void complete(struct worker *k) {
    struct grid *g = &k->launch->grid;
    g->phases++, g->came = 0;
    if (k->launch->hooks) g->met = k->launch->hooks->next_tick(k->x.block);
    add(&g->phased, &g->slowest);
    g->slowest = (struct sim_work){0};
    release(k);
}

static u32 word_of(const struct exec *x) {
    u32 value;
    memcpy(&value, x->memory->bytes + (x->worker->launch->grid.word - SIM_BASE), sizeof value);
    return value;
}

bool grid_arrive(struct exec *x, const struct op *o, const struct mem_desc *d, const u64 *ea,
                 u32 mask) {
    struct launch *l = x->worker->launch;
    struct block *b = x->block;
    if (!is_one_lane_at(l->grid.word, ea, mask) || d->atom != ATOM_ADD || d->width != 4)
        return false;
    u32 value = ((const u32 *)operand_at(x, d->operand[0]))[__builtin_ctz(mask)];
    if (value != part_of(l, b) || b->came != l->grid.phases) return false;
    if (l->trace) block_work_account(x->worker, b), grid_note_work(l, b);
    if (x->trace) trace_grid(x, o, MEM_ATOM);
    b->came++, b->came_at = word_of(x);
    if (++l->grid.came == l->nblocks) complete(x->worker);
    return true;
}

static bool looks_at(const struct exec *x, const struct op *o, u32 mask, u64 word) {
    const struct mem_desc *d = &x->mems[o->aux];
    if (o->src[0] == REF_NONE || d->address32) return false;
    const u64 *base = operand_at(x, o->src[0]);
    for (; mask; mask &= mask - 1)
        if (base[__builtin_ctz(mask)] + (u64)o->imm == word) return true;
    return false;
}

/* The whole warp waits: lanes that go round the loop's other way would come to what is behind it
 * alone, and not with the one that looks. */
bool grid_holds(struct exec *x, u32 lanes, const struct op *o) {
    const struct grid *g = &x->worker->launch->grid;
    lanes &= *(const u32 *)operand_at(x, o->guard) ^ o->guard_xor;
    struct block *b = x->block;
    if (!g->word || g->given_up || !b->came || !looks_at(x, o, lanes, g->word)) return false;
    if (b->came > g->phases) return x->warp->at_grid = true;
    if (g->met > b->acquired) b->acquired = g->met;
    return false;
}

bool grid_still_holds(struct exec *x) {
    if (!((word_of(x) ^ x->block->came_at) >> 31)) return true;
    grid_give_up(x->worker);
    return false;
}

bool grid_is_seen(struct exec *x, const struct mem_desc *d, const u64 *ea, u32 mask) {
    const struct grid *g = &x->worker->launch->grid;
    struct block *b = x->block;
    bool first = b->came == g->phases && b->seen_phases < b->came;
    if (!g->word || !first || d->verb != MEM_LOAD || !is_one_lane_at(g->word, ea, mask))
        return false;
    b->seen_phases = b->came;
    return true;
}

/* ---- blocks that wait ---- */

bool grid_waits(const struct block *b) {
    for (u32 w = 0; w < b->nwarps; w++)
        if (b->warps[w].at_grid) return true;
    return false;
}

void grid_give_up(struct worker *k) {
    k->launch->grid.given_up = true;
    k->launch->waits = k->launch->trace != NULL;
    release(k);
}
