/* exec_mem.c — loads and stores: computes their addresses and dispatches on the memory.
 *
 * Theory of operation. The cost of an access depends on the lanes' addresses relative to the first
 * active lane (the *pattern*), and on where that lane lies within a sector (for shared memory,
 * within a word). Most instructions repeat the same pattern, so each one keeps its last pattern
 * with its counts; only a new pattern is counted again (count/exec_pattern.c). The pattern's range
 * also turns the bounds check of 32 lanes into one. Whatever doesn't fit (lanes in different
 * allocations, an address that faults) takes the slow path, lane by lane. exec_mem_global.c,
 * exec_mem_shared.c and exec_mem_local.c check and record accesses to their memory, and
 * exec_mem_move.c moves the data. */
#include "grader/sim/insn/exec_mem.h"

void ISAFN(lane_addresses)(const struct exec *x, const struct op *o, const struct mem_desc *d,
                           u64 ea[32]) {
    u64 imm = (u64)o->imm;
    if (o->src[0] == REF_NONE) {
        FOR_LANES ea[l] = imm;
    } else if (d->address32) {
        const u32 *A = operand_at(x, o->src[0]);
        FOR_LANES ea[l] = A[l] + (u32)imm; /* wraps at 32 bits */
    } else {
        const u64 *A = operand_at(x, o->src[0]);
        FOR_LANES ea[l] = A[l] + imm;
    }
}

/* ---- kernel parameters read through an address ---- */

static void access_param(struct exec *x, const struct op *o, const struct mem_desc *d,
                         const u64 *ea, u32 mask) {
    const struct sim_launch *r = x->worker->launch->request;
    u32 span = access_span(d);
    static const s32 zero_offsets[32];
    FOR_ACTIVE_LANES(mask) {
        bool in_bounds = ea[l] < r->param_bytes && ea[l] + span <= r->param_bytes;
        if (d->verb != MEM_LOAD || !in_bounds)
            core_fault(x, SIM_FAULT_OUT_OF_BOUNDS, o, l, ea[l],
                       "accesses %u bytes at offset %lld of the kernel's %u parameter bytes", span,
                       (long long)ea[l], r->param_bytes);
        else if (ea[l] & (span - 1))
            core_fault(
                x, SIM_FAULT_MISALIGNED, o, l, ea[l],
                "accesses %u bytes at offset %lld of the kernel's parameters, which is not a "
                "multiple of %u",
                span, (long long)ea[l], span);
        else ISAFN(lane_move)
        (x, d, (unsigned char *)r->params + ea[l], zero_offsets, 1u << l, PATTERN_ANY);
    }
}

/* ---- generic addresses: by window ---- */

static u32 lanes_in_window(const u64 *ea, u32 mask, u64 window) {
    u32 in = 0;
    FOR_LANES in |= ea[l] - window < WINDOW_BYTES ? 1u << l : 0;
    return in & mask;
}

static void access_generic(struct exec *x, const struct op *o, const struct mem_desc *d, u64 *ea,
                           u32 mask) {
    u32 shared = lanes_in_window(ea, mask, SHARED_WINDOW),
        local = lanes_in_window(ea, mask, LOCAL_WINDOW);
    u32 param = lanes_in_window(ea, mask, PARAM_WINDOW), global = mask & ~(shared | local | param);
    if (global) ISAFN(lane_access_global)(x, o, d, d->stat, ea, global);
    u64 offset[32];
    if (shared) {
        FOR_LANES offset[l] = ea[l] - SHARED_WINDOW;
        if (x->cluster)
            ISAFN(lane_access_cluster)(x, o, d, d->stat + 1, d->stat + 3, offset, shared);
        else ISAFN(lane_access_shared)(x, o, d, d->stat + 1, offset, shared);
    }
    if (local) {
        FOR_LANES offset[l] = ea[l] - LOCAL_WINDOW;
        ISAFN(lane_access_local)(x, o, d, d->stat + 2, offset, local);
    }
    if (param) {
        FOR_LANES offset[l] = ea[l] - PARAM_WINDOW;
        access_param(x, o, d, offset, param);
    }
}

/* A launch whose kernel addresses no other block has no clusters: all addresses are the block's
 * own. */
static void access_cluster(struct exec *x, const struct op *o, const struct mem_desc *d, u64 *ea,
                           u32 mask) {
    if (x->cluster) ISAFN(lane_access_cluster)(x, o, d, d->stat, d->stat + 1, ea, mask);
    else ISAFN(lane_access_shared)(x, o, d, d->stat, ea, mask);
}

static inline bool access_reused(struct exec *x, const struct op *o, const struct mem_desc *d,
                                 u32 mask) {
    return d->same_address_as &&
           (d->space == SPACE_SHARED ? ISAFN(lane_access_shared_reused)(x, o, d, mask)
                                     : ISAFN(lane_access_global_reused)(x, o, d, mask));
}

static void access_memory(struct exec *x, const struct op *o, u32 mask) {
    const struct mem_desc *d = &x->mems[o->aux];
    u64 ea[32];
    if (access_reused(x, o, d, mask)) return;
    ISAFN(lane_addresses)(x, o, d, ea);
    switch ((enum mem_space)d->space) {
    case SPACE_GLOBAL:
    case SPACE_CONST: ISAFN(lane_access_global)(x, o, d, d->stat, ea, mask); break;
    case SPACE_SHARED: ISAFN(lane_access_shared)(x, o, d, d->stat, ea, mask); break;
    case SPACE_CLUSTER: access_cluster(x, o, d, ea, mask); break;
    case SPACE_LOCAL: ISAFN(lane_access_local)(x, o, d, d->stat, ea, mask); break;
    case SPACE_PARAM: access_param(x, o, d, ea, mask); break;
    case SPACE_GENERIC: access_generic(x, o, d, ea, mask); break;
    }
}

void ISAFN(op_ld)(struct exec *x, const struct op *o, u32 mask) { access_memory(x, o, mask); }
void ISAFN(op_st)(struct exec *x, const struct op *o, u32 mask) { access_memory(x, o, mask); }
