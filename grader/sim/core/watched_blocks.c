/* watched_blocks.c — chooses the blocks that a launch checks for races if it does not check all of
 * them (sim_set_watch): some hundreds at most, so that a large launch costs little more.
 *
 * A race between blocks is mostly one between all of them, or one between neighbours. So the
 * watched blocks are runs of neighbours along x, each with the runs next to it along y and z. A key
 * that no submission knows decides where the runs begin.
 *
 * Unwatched blocks leave no record of what they read and write. Where blocks order each other's
 * accesses, by atomics or strong accesses, such a record is needed of all of them: there only
 * accesses to shared memory are checked. */
#include "grader/sim/core/core.h"

#include <stdlib.h>

enum {
    RUN_BLOCKS = 8,
    MIN_WATCHED_BLOCKS = 2 * RUN_BLOCKS,
    MAX_WATCHED_BLOCKS = 256,
    BLOCKS_PER_WATCHED = 64 /* in a large grid, one in so many */
};

static int compare_blocks(const void *x, const void *y) {
    u64 a = *(const u64 *)x, b = *(const u64 *)y;
    return (a > b) - (a < b);
}

static void add_run(struct launch *l, u64 first) {
    for (u64 i = first; i < first + RUN_BLOCKS && i < l->nblocks; i++)
        l->watched_blocks[l->nwatched_blocks++] = i;
}

static void add_neighbours(struct launch *l, u64 first) {
    const u32 *grid = l->request->grid;
    u64 plane = (u64)grid[0] * grid[1];
    add_run(l, first);
    if (grid[1] > 1) add_run(l, first + grid[0]);
    if (grid[2] > 1) add_run(l, first + plane);
}

void launch_choose_watched_blocks(struct launch *l) {
    enum { MAX_RUNS = 3 };
    u64 target = l->nblocks / BLOCKS_PER_WATCHED;
    if (!l->watches_sample || l->nblocks <= MIN_WATCHED_BLOCKS) return;
    if (target < MIN_WATCHED_BLOCKS) target = MIN_WATCHED_BLOCKS;
    if (target > MAX_WATCHED_BLOCKS) target = MAX_WATCHED_BLOCKS;
    l->watched_blocks = xcalloc(target + MAX_RUNS * RUN_BLOCKS, sizeof *l->watched_blocks);
    for (u64 i = 0; l->nwatched_blocks < target; i++)
        add_neighbours(
            l, launch_hash(l->launch_id * MAX_WATCHED_BLOCKS + i, l->sim->options.watch_key) %
                   l->nblocks);
    qsort(l->watched_blocks, l->nwatched_blocks, sizeof *l->watched_blocks, compare_blocks);
}

bool launch_is_watched(const struct launch *l, u64 linear) {
    if (!l->watches_sample || !l->watched_blocks) return true;
    return bsearch(&linear, l->watched_blocks, l->nwatched_blocks, sizeof linear, compare_blocks);
}
