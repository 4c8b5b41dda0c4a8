/* maps.c — see maps.h. Kept are the maps in global memory that the worker's blocks changed in this
 * launch. That any thread has acquired one since counts for all: who has to is a question of
 * barriers, which races tell. */
#include "grader/sim/race/maps.h"
#include "common/grow.h"
#include "grader/sim/core/place.h"

#include <stdlib.h>

struct change {
    u64 address;
    u32 op;
    bool acquired;
};
struct race_maps {
    struct change *change;
    u32 n, capacity;
};

static struct change *find(const struct exec *x, u64 address) {
    struct race_maps *m = x->worker->tensor_maps;
    for (u32 i = 0; m && i < m->n; i++)
        if (m->change[i].address == address) return &m->change[i];
    return NULL;
}

void race_map_change(struct exec *x, const struct op *o, u64 address) {
    struct change *c = find(x, address), new = {address, (u32)(o - x->worker->launch->ops), false};
    if (!x->worker->tensor_maps)
        x->worker->tensor_maps = xcalloc(1, sizeof *x->worker->tensor_maps);
    struct race_maps *m = x->worker->tensor_maps;
    if (c) {
        *c = new;
        return;
    }
    GROW(m->change, m->n + 1, m->capacity, 16);
    m->change[m->n++] = new;
}

void race_map_acquire(struct exec *x, u64 address) {
    struct change *c = find(x, address);
    if (c) c->acquired = true;
}

void race_map_use(struct exec *x, const struct op *o, u32 lane, u64 address) {
    const struct change *c = find(x, address);
    char line[128], where[256];
    if (!c || c->acquired) return;
    source_location_format_op(x->worker->launch, c->op, o, line, sizeof line);
    memory_describe(x->memory, address, 128, where, sizeof where);
    core_fault(x, SIM_FAULT_MISSING_FENCE, o, lane, address,
               "copies by the tensor map %s, which was changed%s: no "
               "fence.proxy.tensormap::generic.acquire of it stands "
               "between",
               where, line);
}

void race_maps_free(struct worker *k) {
    if (!k->tensor_maps) return;
    free(k->tensor_maps->change);
    free(k->tensor_maps);
    k->tensor_maps = NULL;
}
