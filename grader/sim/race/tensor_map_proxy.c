/* tensor_map_proxy.c — finds missing fences after changes of tensor maps; see tensor_map_proxy.h.
 * Each worker lists the maps in global memory that its blocks changed in this launch. An acquire by
 * any thread counts for all: a missing barrier is reported as a race. */
#include "grader/sim/race/tensor_map_proxy.h"
#include "common/grow.h"
#include "grader/sim/core/source_location.h"

#include <stdlib.h>

struct tensor_map_update {
    u64 address;
    u32 op;
    bool acquired;
};
struct tensor_map_updates {
    struct tensor_map_update *updates;
    u32 n, capacity;
};

static struct tensor_map_update *find_update(const struct exec *x, u64 address) {
    struct tensor_map_updates *m = x->worker->tensor_maps;
    for (u32 i = 0; m && i < m->n; i++)
        if (m->updates[i].address == address) return &m->updates[i];
    return NULL;
}

void race_tensor_map_update(struct exec *x, const struct op *o, u64 address) {
    struct tensor_map_update *c = find_update(x, address),
                             entry = {address, (u32)(o - x->worker->launch->ops), false};
    if (!x->worker->tensor_maps)
        x->worker->tensor_maps = xcalloc(1, sizeof *x->worker->tensor_maps);
    struct tensor_map_updates *m = x->worker->tensor_maps;
    if (c) {
        *c = entry;
        return;
    }
    GROW(m->updates, m->n + 1, m->capacity, 16);
    m->updates[m->n++] = entry;
}

void race_tensor_map_acquire(struct exec *x, u64 address) {
    struct tensor_map_update *c = find_update(x, address);
    if (c) c->acquired = true;
}

void race_tensor_map_use(struct exec *x, const struct op *o, u32 lane, u64 address) {
    const struct tensor_map_update *c = find_update(x, address);
    char line[128], location[256];
    if (!c || c->acquired) return;
    source_location_format_op(x->worker->launch, c->op, o, line, sizeof line);
    memory_describe(x->memory, address, 128, location, sizeof location);
    core_fault(x, SIM_FAULT_MISSING_FENCE, o, lane, address,
               "copies by the tensor map %s, which was changed%s, with no "
               "fence.proxy.tensormap::generic.acquire of it between",
               location, line);
}

void race_tensor_maps_free(struct worker *k) {
    if (!k->tensor_maps) return;
    free(k->tensor_maps->updates);
    free(k->tensor_maps);
    k->tensor_maps = NULL;
}
