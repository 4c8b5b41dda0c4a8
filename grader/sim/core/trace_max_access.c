/* trace_max_access.c — keeps the costliest access of each memory instruction, by lane: the reports'
 * pictures of access patterns show it. Only a few of the traced blocks record it, so its cost is
 * negligible. */
#include "grader/sim/core/trace.h"
#include "common/grow.h"

#include <stdlib.h>
#include <string.h>

static struct trace_max_access *find_or_add_access(struct trace_block *t,
                                                   const struct trace_observed_access *a) {
    if (!t->max_access_index) t->max_access_index = xcalloc(a->nops, sizeof *t->max_access_index);
    if (!t->max_access_index[a->op]) {
        GROW(t->max_accesses, t->nmax_accesses + 1, t->max_access_capacity, 16);
        t->max_accesses[t->nmax_accesses] = (struct trace_max_access){.op = a->op};
        t->max_access_index[a->op] = ++t->nmax_accesses;
    }
    return &t->max_accesses[t->max_access_index[a->op] - 1];
}

/* Of two accesses that cost the same, keeps the one with more lanes, else the first. */
void trace_update_max_access(struct trace_block *t, const struct trace_observed_access *a) {
    struct trace_max_access *l = find_or_add_access(t, a);
    int extra_lanes = __builtin_popcount(a->mask) - __builtin_popcount(l->mask);
    if (l->mask && (a->cost < l->cost || (a->cost == l->cost && extra_lanes <= 0))) return;
    l->mask = a->mask, l->cost = a->cost, l->space = a->space, l->verb = a->verb, l->span = a->span;
    memcpy(l->ea, a->ea, sizeof l->ea);
}

void trace_free_max_accesses(struct trace_block *t) {
    free(t->max_accesses);
    free(t->max_access_index);
}
