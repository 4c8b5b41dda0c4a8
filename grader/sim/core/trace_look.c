/* trace_look.c — of each memory instruction the access that costs most, as its lanes asked for it:
 * what pictures of accesses show. Only in a few of the traced blocks, so that it costs nothing that
 * counts. */
#include "grader/sim/core/trace.h"
#include "common/grow.h"

#include <stdlib.h>
#include <string.h>

static struct trace_look *find(struct trace_block *t, const struct trace_seen *a) {
    if (!t->look_of) t->look_of = xcalloc(a->nops, sizeof *t->look_of);
    if (!t->look_of[a->op]) {
        GROW(t->look, t->nlook + 1, t->look_room, 16);
        t->look[t->nlook] = (struct trace_look){.op = a->op};
        t->look_of[a->op] = ++t->nlook;
    }
    return &t->look[t->look_of[a->op] - 1];
}

/* Of two that cost the same the one with more lanes, then the first. */
void trace_look_at(struct trace_block *t, const struct trace_seen *a) {
    struct trace_look *l = find(t, a);
    int more = __builtin_popcount(a->mask) - __builtin_popcount(l->mask);
    if (l->mask && (a->cost < l->cost || (a->cost == l->cost && more <= 0))) return;
    l->mask = a->mask, l->cost = a->cost, l->space = a->space, l->verb = a->verb, l->span = a->span;
    memcpy(l->ea, a->ea, sizeof l->ea);
}

void trace_look_free(struct trace_block *t) {
    free(t->look);
    free(t->look_of);
}
