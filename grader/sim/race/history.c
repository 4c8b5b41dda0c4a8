/* history.c — finds the instruction of the earlier access of a race, for the report.
 *
 * Shadow cells record the thread and epoch of an access, not its instruction; storing that would
 * double their size. Each worker instead keeps its last accesses, one record for each execution of
 * a memory instruction, and a report searches them, the latest first. A record has the address
 * range of all lanes; where the instruction still has the access pattern of that execution, the
 * search finds the lane as well. */
#include "grader/sim/race/race.h"

#include <stdlib.h>

struct access_record *race_history_new(void) {
    return xcalloc(RACE_HISTORY_SIZE, sizeof(struct access_record));
}

/* Returns the lane of the record that accessed the address: -1 if unknown, -2 if none did. */
static int lane_of(const struct exec *x, const struct access_record *e, u64 address) {
    const struct mem_desc *d = &x->mems[x->worker->launch->ops[e->op].aux];
    const struct access_pattern *m = &x->pattern_cache[e->stat];
    u32 span = d->is_bulk ? (u32)(e->high - e->low) : (u32)d->width * d->count;
    if (address < e->low || address >= e->high) return -2;
    if (!(e->mask & (e->mask - 1))) return __builtin_ctz(e->mask);
    if (!m->valid || m->mask != e->mask ||
        (u64)((s64)m->max_offset - m->min_offset) + span != e->high - e->low)
        return -1;
    for (u32 lanes = e->mask; lanes; lanes &= lanes - 1) {
        u32 l = (u32)__builtin_ctz(lanes);
        if (address - (e->low + (u64)((s64)m->lane_offset[l] - m->min_offset)) < span)
            return (int)l;
    }
    return -2;
}

bool race_history_find(const struct exec *x, const struct history_query *w, u32 *op, int *lane) {
    const struct race_shadow *p = x->worker->race_shadow;
    u32 oldest = p->nrecords > RACE_HISTORY_SIZE ? p->nrecords - RACE_HISTORY_SIZE : 0;
    for (u32 i = p->nrecords; i-- > oldest;) {
        const struct access_record *e = &p->history[i % RACE_HISTORY_SIZE];
        bool is_current_access =
            i + 1 == p->nrecords && w->lane < 0; /* A given lane may be of this instruction. */
        if (is_current_access || e->shared != w->shared || e->access_kind != w->access_kind ||
            e->block != w->block)
            continue;
        if (w->warp >= 0 && e->warp != (u32)w->warp) continue;
        if (w->lane >= 0 && !(e->mask >> w->lane & 1)) continue;
        int l = lane_of(x, e, w->address);
        if (l == -2 || (w->lane >= 0 && l >= 0 && l != w->lane && e->mask & (e->mask - 1)))
            continue;
        *op = e->op;
        *lane = l;
        return true;
    }
    return false;
}
