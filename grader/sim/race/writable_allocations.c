/* writable_allocations.c — marks the allocations that a launch may change. The race detector checks
 * only these: memory that nothing writes cannot race. */
#include "grader/sim/race/race.h"

#include <string.h>

static void mark_all(struct memory *m, bool others, bool module_vars) {
    for (unsigned i = 0; i < m->count; i++)
        m->allocations[i].is_race_checked = m->allocations[i].is_module_var ? module_vars : others;
}

/* Marks the allocations that device addresses in the parameters point into. Returns false if one
 * points into none, such as the address before an array that counts from 1. */
static bool mark_pointees(struct memory *m, const u8 *params, u32 bytes) {
    for (u32 at = 0; at + 8 <= bytes; at++) { /* every offset: a structure may be packed */
        u64 value;
        memcpy(&value, params + at, 8);
        if (value - SIM_BASE >= SIM_SPAN) continue;
        struct allocation *a = memory_find_allocation(m, value);
        if (!a) return false;
        a->is_race_checked = true;
    }
    return true;
}

static u32 align_up(u32 at, u32 align) { return align > 1 ? (at + align - 1) / align * align : at; }

void race_mark_writable_allocations(const struct launch *l) {
    struct memory *m = &l->sim->memory;
    const struct ptx_func *f = l->code->func;
    u64 mod_set = l->code->mod_set;
    bool writes_unknown = mod_set >> OBJ_UNKNOWN & 1, all_resolved = true;
    u32 at = 0;
    mark_all(m, writes_unknown, writes_unknown || (mod_set >> OBJ_MODULE_VARS & 1));
    for (unsigned i = 0; i < f->nparams && i < OBJ_MODULE_VARS && all_resolved; i++) {
        u32 first = align_up(at, f->params[i].align);
        at = first + (u32)f->params[i].bytes;
        if ((mod_set >> i & 1) && at <= l->request->param_bytes)
            all_resolved =
                mark_pointees(m, (const u8 *)l->request->params + first, (u32)f->params[i].bytes);
    }
    if (!all_resolved || l->sim->streams)
        mark_all(m, true, true); /* Commands of other streams may change the rest. */
}
