/* writable_allocations.c — marks the allocations that a launch may change. The race detector checks
 * only these: memory that nothing writes cannot race.
 *
 * The decoder has found from which parameters and variables the address of each store is computed
 * (code/underlying_object.c). Here the parameters have values. If one of a store's parameters
 * points into an allocation, the store is taken to stay in such allocations; if none does, all
 * memory is checked. A kernel may yet compute an address in one allocation from one in another, so
 * this is no proof: a store to an unmarked allocation is recorded all the same, and from the next
 * launch of its kernel on all memory is checked. A grader runs each launch at least twice. */
#include "grader/sim/race/race.h"

#include <string.h>

static void mark_all(struct memory *m, bool others, bool module_vars) {
    for (unsigned i = 0; i < m->count; i++)
        m->allocations[i].is_race_checked = m->allocations[i].is_module_var ? module_vars : others;
}

static void mark_module_vars(struct memory *m) {
    for (unsigned i = 0; i < m->count; i++)
        if (m->allocations[i].is_module_var) m->allocations[i].is_race_checked = true;
}

/* Marks the allocations that device addresses in a parameter point into, and sets `is_found` if
 * there are any, or if the parameter is a null pointer. Returns false if an address points into
 * none, such as the address before an array that counts from 1. */
static bool mark_pointees(struct memory *m, const u8 *param, u32 bytes, bool *is_found) {
    static const u8 null_pointer[8];
    *is_found |= bytes == 8 && !memcmp(param, null_pointer, 8);
    for (u32 at = 0; at + 8 <= bytes; at++) { /* every offset: a structure may be packed */
        u64 value;
        memcpy(&value, param + at, 8);
        if (value - SIM_BASE >= SIM_SPAN) continue;
        struct allocation *a = memory_find_allocation(m, value);
        if (!a) return false;
        *is_found = a->is_race_checked = true;
    }
    return true;
}

static u32 align_up(u32 at, u32 align) { return align > 1 ? (at + align - 1) / align * align : at; }

/* Marks the allocations that a store whose address has this set of objects may reach. Returns false
 * if it may reach any. */
static bool mark_set(const struct launch *l, u64 set) {
    struct memory *m = &l->sim->memory;
    const struct ptx_func *f = l->code->func;
    bool is_found = set >> OBJ_MODULE_VARS & 1;
    u32 at = 0;
    if (set >> OBJ_UNKNOWN & 1) return false;
    if (is_found) mark_module_vars(m);
    for (unsigned i = 0; i < f->nparams && i < OBJ_MODULE_VARS; i++) {
        u32 first = align_up(at, f->params[i].align);
        at = first + (u32)f->params[i].bytes;
        if (!(set >> i & 1) || at > l->request->param_bytes) continue;
        if (!mark_pointees(m, (const u8 *)l->request->params + first, (u32)f->params[i].bytes,
                           &is_found))
            return false;
    }
    return is_found;
}

void race_mark_writable_allocations(const struct launch *l) {
    struct memory *m = &l->sim->memory;
    /* Commands of other streams may change what the launch doesn't. */
    bool all = l->code->has_unproven_stores || l->sim->streams;
    mark_all(m, all, all);
    for (u32 i = 0; i < l->code->nmod_sets && !all; i++) all = !mark_set(l, l->code->mod_sets[i]);
    if (all) mark_all(m, true, true);
}

void race_keep_unproven_stores(const struct launch *l) {
    if (!atomic_load(&l->has_unproven_store)) return;
    struct sim_module *m = l->code->kernel->module;
    m->funcs[l->code - m->funcs].has_unproven_stores = true;
}
