/* block_work.c — sums up the work of each block of a traced launch, so that the time model can tell
 * whether the sampled blocks represent the others. Workers count by instruction, not by block: the
 * increase since the last call is the work of the block that ran. */
#include "grader/sim/core/grid_barrier.h"
#include "grader/sim/core/repeated_loads.h"

static struct sim_block_work sum_work(const struct worker *k) {
    const struct sim_module *m = k->launch->module;
    struct sim_block_work w = {0};
    for (u32 i = 0; i < m->nstats; i++) {
        const struct stat_entry *o = &m->stat_entries[i];
        const u64 *s = k->stats[i];
        if (o->space == SPACE_SHARED) w.wavefronts += s[STAT_WAVEFRONTS] + s[STAT_SERIALIZED];
        else if (o->space != SPACE_CONST) w.sectors += s[STAT_SECTORS];
        if (o->space == SPACE_GLOBAL && (o->verb == MEM_ATOM || o->verb == MEM_RED))
            w.wavefronts += s[STAT_SERIALIZED];
    }
    return w;
}

static void update_max(uint64_t *a, uint64_t b) { *a = b > *a ? b : *a; }

void block_work_account(struct worker *k, struct block *b) {
    core_count_repeated_loads(k);
    struct sim_block_work current = sum_work(k);
    b->work.sectors += current.sectors - k->accounted_work.sectors;
    b->work.wavefronts += current.wavefronts - k->accounted_work.wavefronts;
    b->work.warp_insns = b->warp_insns;
    for (u32 i = 0; i < b->nwarps; i++)
        update_max(&b->work.longest_warp_insns, b->warps[i].warp_insns);
    k->accounted_work = current;
}

void block_work_finish(struct worker *k, struct block *b) {
    struct launch *l = k->launch;
    block_work_account(k, b);
    if (l->grid_barrier.word_address) grid_barrier_record_work(l, b);
    pthread_mutex_lock(&l->work_lock);
    l->total_work.warp_insns += b->work.warp_insns,
        update_max(&l->max_block_work.warp_insns, b->work.warp_insns);
    l->total_work.sectors += b->work.sectors,
        update_max(&l->max_block_work.sectors, b->work.sectors);
    l->total_work.wavefronts += b->work.wavefronts,
        update_max(&l->max_block_work.wavefronts, b->work.wavefronts);
    update_max(&l->max_block_work.longest_warp_insns, b->work.longest_warp_insns);
    pthread_mutex_unlock(&l->work_lock);
}
