/* reloads.c — counts what loads with an evict-first hint load again. collect.c calls it after a
 * launch.
 *
 * Such a hint is right for data that is loaded once. Remembering every sector would slow down all
 * loads, so this takes a lower bound. All evict-first loads of a launch from one array have n
 * sectors, and the array has m: at least n - m of them were loaded before. Each load's share is in
 * proportion to its sectors. An instruction's array is the one in which it was last seen, so one
 * that goes through several arrays is counted as if all its sectors were in one of them. */
#include "grader/sim/count/count.h"

#include <stdlib.h>

static bool is_evict_first_load(const struct sim_module *m, const struct stat_entry *s) {
    return s->space == SPACE_GLOBAL && s->verb == MEM_LOAD && !s->is_texture &&
           m->mems[m->ops[s->op].aux].l2_eviction == L2_EVICT_FIRST;
}

static u64 sum_sectors(const struct launch *l, u32 stat) {
    u64 n = 0;
    for (u32 i = 0; i < l->nworkers; i++) n += l->workers[i].stats[stat][STAT_SECTORS];
    return n;
}

/* Returns the index of the allocation in which the instruction was last seen, or -1. */
static int last_allocation(const struct launch *l, u32 stat) {
    for (u32 i = 0; i < l->nworkers; i++) {
        u64 address = l->workers[i].pattern_cache[stat].base;
        int a = address - SIM_BASE < SIM_SPAN ? memory_find_range(&l->sim->memory, address, 1) : -1;
        if (a >= 0) return a;
    }
    return -1;
}

void count_reloads(const struct launch *l, u64 *reloads) {
    const struct memory *memory = &l->sim->memory;
    const struct sim_module *m = l->module;
    u64 *loaded = xcalloc(memory->count + 1ul, sizeof *loaded);
    int *allocation = xcalloc(m->nstats + 1ul, sizeof *allocation);
    for (u32 i = 0; i < m->nstats; i++) {
        allocation[i] = is_evict_first_load(m, &m->stat_entries[i]) ? last_allocation(l, i) : -1;
        if (allocation[i] >= 0) loaded[allocation[i]] += sum_sectors(l, i);
    }
    for (u32 i = 0; i < m->nstats; i++) {
        if (allocation[i] < 0) continue;
        u64 all = loaded[allocation[i]], held = (memory->allocations[allocation[i]].size + 31) / 32;
        if (all > held)
            reloads[i] = (u64)((double)sum_sectors(l, i) * (double)(all - held) / (double)all);
    }
    free(loaded), free(allocation);
}
