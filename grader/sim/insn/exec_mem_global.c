/* exec_mem_global.c — loads and stores of global and constant memory. See exec_mem.c. */
#include "grader/sim/insn/exec_mem.h"
#include "grader/sim/race/race.h"

#include <stdio.h>
#include <string.h>

/* Returns the live allocation that the access was meant for, if just one pointer among the kernel's
 * parameters that its address is computed from leads into one; else -1. */
static int intended_allocation(const struct exec *x, const struct mem_desc *d) {
    const struct launch *l = x->worker->launch;
    const struct ptx_func *f = l->code->func;
    int found = -1;
    u32 at = 0;
    if (d->underlying_objects >> OBJ_MODULE_VARS) return -1;
    for (unsigned i = 0; i < f->nparams && i < OBJ_MODULE_VARS; i++) {
        u32 align = f->params[i].align > 1 ? f->params[i].align : 1,
            first = (at + align - 1) / align * align;
        u64 value = 0;
        at = first + (u32)f->params[i].bytes;
        if (!(d->underlying_objects >> i & 1) || f->params[i].bytes != 8 ||
            at > l->request->param_bytes)
            continue;
        memcpy(&value, (const u8 *)l->request->params + first, 8);
        int a = value - SIM_BASE < SIM_SPAN ? memory_find_range(x->memory, value, 0) : -1;
        if (a < 0) continue;
        if (found >= 0 && found != a) return -1;
        found = a;
    }
    return found;
}

/* Describes an address in local or shared memory that has left its thread or block. */
static bool describe_window(u64 address, char *out, size_t size) {
    const char *text = NULL;
    if (address - LOCAL_WINDOW < WINDOW_BYTES)
        text = "an address in local memory: a thread can't use another one's variables, nor those "
               "of a kernel that has ended";
    if (address - SHARED_WINDOW < WINDOW_BYTES)
        text = "an address in shared memory, which is no longer that of a variable: a block can't "
               "use another one's shared memory";
    if (text) snprintf(out, size, "%s", text);
    return text;
}

static void report_global_fault(struct exec *x, const struct op *o, const struct mem_desc *d,
                                unsigned lane, u64 address) {
    u32 span = access_span(d);
    const char *verb = d->verb == MEM_LOAD ? "reads" : d->verb == MEM_STORE ? "writes" : "updates";
    char location[256];
    int intended = intended_allocation(x, d), i = memory_find_preceding(x->memory, address);
    bool freed =
        i >= 0 && x->memory->allocations[i].state == ALLOCATION_FREED &&
        address - SIM_BASE - x->memory->allocations[i].start < x->memory->allocations[i].size;
    if (intended >= 0 && !freed && address - SIM_BASE < SIM_SPAN)
        memory_describe_relative(x->memory, intended, address, span, location, sizeof location);
    else if (!describe_window(address, location, sizeof location))
        memory_describe(x->memory, address, span, location, sizeof location);
    enum sim_fault kind = freed ? SIM_FAULT_USE_AFTER_FREE : SIM_FAULT_OUT_OF_BOUNDS;
    core_fault(x, kind, o, lane, address, "%s %u bytes at 0x%llx, %s", verb, span,
               (unsigned long long)address, location);
}

/* Returns the power of two of which the address must be a multiple. */
static inline u32 access_alignment(const struct mem_desc *d) {
    return d->vector_bytes ? d->vector_bytes : access_span(d);
}

/* Returns true if the lane may access the address; else reports a fault. */
static bool check_lane_access(struct exec *x, const struct op *o, const struct mem_desc *d,
                              unsigned lane, u64 address) {
    u32 span = access_span(d), alignment = access_alignment(d);
    int i = memory_find_range(x->memory, address, span);
    if (i < 0) return report_global_fault(x, o, d, lane, address), false;
    if (address & (alignment - 1)) {
        core_fault(x, SIM_FAULT_MISALIGNED, o, lane, address,
                   "accesses %u bytes at 0x%llx, which is not a multiple of %u", alignment,
                   (unsigned long long)address, alignment);
        return false;
    }
    if (d->verb != MEM_LOAD && x->memory->allocations[i].is_constant) {
        core_fault(x, SIM_FAULT_READ_ONLY, o, lane, address, "writes to `%s` in constant memory",
                   x->memory->allocations[i].name);
        return false;
    }
    return true;
}

static void check_initialized(struct exec *x, const struct op *o, const struct mem_desc *d,
                              unsigned lane, u64 address) {
    const unsigned char *w = x->memory->init_shadow + (address - SIM_BASE);
    if (!all_initialized(w, access_span(d))) undef_access(x, o, d, lane, address, w, SPACE_GLOBAL);
}

/* Returns true if all bytes of the lanes' loads are initialized; false also where lane by lane is
 * as fast. Inactive lanes have the first one's address. */
static bool lanes_initialized(const unsigned char *w, const s32 *rel, u32 mask, u32 span,
                              u8 shape) {
    if (shape == PATTERN_UNIFORM) return span_initialized(w, span);
    if (shape == PATTERN_UNIT_STRIDE) return row_initialized(w, span);
    bool all = span % 4 == 0 && mask & (mask - 1);
    for (u32 i = 0; all && i < span; i += 4) all = words_initialized(w + i, rel);
    return all;
}

/* Marks the bytes of one lane's store; the usual spans need no call. */
static inline void mark_span(unsigned char *w, u32 span) {
    if (span == 4) memset(w, 1, 4);
    else if (span == 8) memset(w, 1, 8);
    else if (span == 16) memset(w, 1, 16);
    else memset(w, 1, span);
}

/* Checks and updates the shadow for an access that is in bounds. */
static void shadow_global(struct exec *x, const struct op *o, const struct mem_desc *d, u64 base,
                          const s32 *rel, u32 mask, u8 shape) {
    u32 span = access_span(d);
    unsigned char *w = x->memory->init_shadow + (base - SIM_BASE);
    if (d->verb == MEM_LOAD) {
        if (lanes_initialized(w, rel, mask, span, shape)) return;
    } else if (shape == PATTERN_UNIT_STRIDE) {
        memset(w, 1, 32 * span);
        return;
    }
    FOR_ACTIVE_LANES(mask) {
        if (d->verb != MEM_LOAD) mark_span(w + rel[l], span);
        else check_initialized(x, o, d, l, base + (u64)(s64)rel[l]);
    }
}

/* Returns true if the access is recorded for races. Loads of memory that the launch can't change
 * are not, unless commands of other streams may change it. A store to memory that the analysis did
 * not find shows that it can't prove what the kernel's stores reach: from the next launch on, all
 * memory is checked. */
static inline bool is_race_recorded(const struct exec *x, const struct mem_desc *d,
                                    const struct allocation *a) {
    struct launch *l = x->worker->launch;
    if (!x->tracks_global_races) return false;
    if (d->space == SPACE_CONST) return l->sim->streams != NULL;
    if (a->is_race_checked) return true;
    if (d->verb == MEM_LOAD) return false;
    race_note_unproven_store(l);
    return true;
}

/* Updates the shadow of initialized bytes. */
static void shadow_access(struct exec *x, const struct op *o, const struct mem_desc *d, u64 base,
                          const s32 *lane_offset, u32 mask, u8 shape) {
    if (d->strong && d->verb == MEM_STORE)
        race_note_first_stores(x, base, lane_offset, mask, d->width * (u32)d->count);
    shadow_global(x, o, d, base, lane_offset, mask, shape);
}

static void access_global_lanes(struct exec *x, const struct op *o, const struct mem_desc *d,
                                const u64 *ea, u32 mask) {
    static const s32 zero_offsets[32];
    FOR_ACTIVE_LANES(mask) {
        if (!check_lane_access(x, o, d, l, ea[l])) continue;
        if (x->sanitize) shadow_access(x, o, d, ea[l], zero_offsets, 1u << l, PATTERN_ANY);
        if (is_race_recorded(x, d, memory_find_allocation(x->memory, ea[l])))
            ISAFN(race_global_lane_access)
        (x, o, d->stat, l, ea[l], d->width * (u32)d->count, race_access_of(d));
        ISAFN(lane_move)
        (x, d, x->memory->bytes + (ea[l] - SIM_BASE), zero_offsets, 1u << l, PATTERN_ANY);
    }
}

/* Returns true if the pattern at `base` lies in one allocation, and is aligned and allowed. */
static inline bool pattern_fits_global(struct exec *x, const struct mem_desc *d,
                                       struct access_pattern *m, u64 base, u32 span) {
    u64 low = base + (u64)(s64)m->min_offset,
        bytes = (u64)((s64)m->max_offset - m->min_offset) + span;
    const struct allocation *a = x->memory->allocations + (m->allocation < 0 ? 0 : m->allocation);
    if (m->allocation < 0 || low - SIM_BASE - a->start >= a->size ||
        low - SIM_BASE - a->start + bytes > a->size) {
        m->allocation = memory_find_range(x->memory, low, bytes);
        if (m->allocation < 0) return false;
        a = x->memory->allocations + m->allocation;
    }
    if (((u32)base | m->offset_bits) & (access_alignment(d) - 1)) return false;
    return d->verb == MEM_LOAD || !a->is_constant;
}

/* Does an access whose pattern fits. */
static inline void access_global_pattern(struct exec *x, const struct op *o,
                                         const struct mem_desc *d, u32 stat,
                                         struct access_pattern *m, u32 mask) {
    bool is_store = d->verb != MEM_LOAD;
    prefetch_next_row(x->memory->bytes + (m->base - SIM_BASE), m, is_store);
    if (x->sanitize && !x->memory->allocations[m->allocation].is_initialized) {
        prefetch_next_row(x->memory->init_shadow + (m->base - SIM_BASE), m, is_store);
        shadow_access(x, o, d, m->base, m->lane_offset, mask, m->shape);
    }
    if (is_race_recorded(x, d, &x->memory->allocations[m->allocation]))
        ISAFN(race_global_access)(x, o, stat, m, m->base, access_span(d), race_access_of(d));
    ISAFN(lane_move)(x, d, x->memory->bytes + (m->base - SIM_BASE), m->lane_offset, mask, m->shape);
}

bool ISAFN(lane_access_global_reused)(struct exec *x, const struct op *o, const struct mem_desc *d,
                                      u32 mask) {
    struct access_pattern *m = &x->pattern_cache[d->stat];
    u32 span = access_span(d);
    if (!reuses_address(x, d, m, mask) || !pattern_fits_global(x, d, m, m->base, span))
        return false;
    pattern_count(x->stats[d->stat], m, (u32)m->base & 31, d->space, span);
    access_global_pattern(x, o, d, d->stat, m, mask);
    return true;
}

void ISAFN(lane_access_global)(struct exec *x, const struct op *o, const struct mem_desc *d,
                               u32 stat, const u64 *ea, u32 mask) {
    u32 span = access_span(d);
    struct access_pattern *m = &x->pattern_cache[stat];
    u8 space = d->space == SPACE_CONST ? SPACE_CONST : SPACE_GLOBAL;
    const s32 *rel = update_pattern(m, ea, mask, space, span);
    if (rel) pattern_count(x->stats[stat], m, (u32)m->base & 31, space, span);
    if (!rel) ISAFN(pattern_count_scattered)(x->stats[stat], ea, mask, span);
    TRACE(x, o, space, stat, ea, mask);
    if (d->same_address_as) record_address_reuse(x, d, m);
    if (rel && pattern_fits_global(x, d, m, m->base, span))
        access_global_pattern(x, o, d, stat, m, mask);
    else access_global_lanes(x, o, d, ea, mask);
}

/* ---- for atomics ---- */

bool ISAFN(lane_may_access_global)(struct exec *x, const struct op *o, const struct mem_desc *d,
                                   unsigned lane, u64 address) {
    if (!check_lane_access(x, o, d, lane, address)) return false;
    if (x->sanitize && d->verb != MEM_LOAD) {
        check_initialized(x, o, d, lane, address);
        memset(x->memory->init_shadow + (address - SIM_BASE), 1, d->width);
    }
    if (is_race_recorded(x, d, memory_find_allocation(x->memory, address)) && d->verb != MEM_ATOM)
        ISAFN(race_global_lane_access)
    (x, o, d->stat, lane, address, d->width, d->verb == MEM_LOAD ? RACE_READ : RACE_RED);
    return true;
}

bool ISAFN(lane_count_atomic_global)(struct exec *x, const struct op *o, const struct mem_desc *d,
                                     u32 stat, const u64 ea[32], u32 mask) {
    struct access_pattern *m = &x->pattern_cache[stat];
    u64 base = ea[__builtin_ctz(mask)];
    const s32 *rel = count_atomic(x, d, stat, SPACE_GLOBAL, ea, mask);
    if (!rel || !pattern_fits_global(x, d, m, base, d->width)) return false;
    bool written =
        !x->sanitize || x->memory->allocations[m->allocation].is_initialized ||
        atomic_initialized(x->memory->init_shadow + (base - SIM_BASE), rel, mask, d->width);
    if (written && is_race_recorded(x, d, &x->memory->allocations[m->allocation]) &&
        d->verb != MEM_ATOM)
        ISAFN(race_global_access)(x, o, stat, m, base, d->width, RACE_RED);
    return written;
}
