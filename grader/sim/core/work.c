/* work.c — what each block of a traced launch did, so that the time model can tell whether those it
 * looked at speak for the others. Workers count by instruction, not by block: what was added since
 * the last look is the work of the block that ran. */
#include "grader/sim/core/grid.h"

static struct sim_work counted(const struct worker *k) {
    const struct sim_module *m = k->launch->module;
    struct sim_work w = {0};
    for (u32 i = 0; i < m->nstats; i++) {
        const struct stat_entry *o = &m->stat_entries[i];
        const u64 *s = k->stats[i];
        if (o->space == SPACE_SHARED) w.passes += s[STAT_WAVEFRONTS] + s[STAT_SERIAL];
        else if (o->space != SPACE_CONST) w.sectors += s[STAT_SECTORS];
        if (o->space == SPACE_GLOBAL && (o->verb == MEM_ATOM || o->verb == MEM_RED))
            w.passes += s[STAT_SERIAL];
    }
    return w;
}

void block_work_account(struct worker *k, struct block *b) {
    struct sim_work now = counted(k);
    b->work.sectors += now.sectors - k->counted.sectors;
    b->work.passes += now.passes - k->counted.passes;
    b->work.executed = b->executed;
    k->counted = now;
}

static void most(uint64_t *a, uint64_t b) { *a = b > *a ? b : *a; }

void block_work_finish(struct worker *k, struct block *b) {
    struct launch *l = k->launch;
    block_work_account(k, b);
    if (l->grid.word) grid_note_work(l, b);
    pthread_mutex_lock(&l->work_lock);
    l->work.executed += b->work.executed, most(&l->heaviest.executed, b->work.executed);
    l->work.sectors += b->work.sectors, most(&l->heaviest.sectors, b->work.sectors);
    l->work.passes += b->work.passes, most(&l->heaviest.passes, b->work.passes);
    pthread_mutex_unlock(&l->work_lock);
}
