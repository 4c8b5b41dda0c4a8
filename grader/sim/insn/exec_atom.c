/* exec_atom.c — executes atomics, lane after lane. The blocks of a kernel that uses an atomic's
 * result run in order on one worker (sim_func.interblock_dependent), so that results never depend
 * on the number of workers. Only plain integer reductions run concurrently; the host's atomics
 * execute them. The host's atomics are also used in memory that the host can access at the same
 * time. */
#include "grader/sim/insn/exec.h"
#include "grader/sim/core/grid_barrier.h"
#include "grader/sim/insn/exec_half.h"
#include "grader/sim/race/race.h"

#include <string.h>

#define APPLY_INT(T)                                         \
    static u64 apply_##T(u8 atom, u64 old, u64 vb, u64 vc) { \
        T a = (T)old, b = (T)vb, c = (T)vc;                  \
        (void)c;                                             \
        switch (atom) {                                      \
            ATOM_CASES(T)                                    \
        default: return old;                                 \
        }                                                    \
    }
#define ATOM_CASES(T)                                        \
    case ATOM_ADD: return (u64)(T)((u64)a + (u64)b);         \
    case ATOM_MIN: return (u64)(a < b ? a : b);              \
    case ATOM_MAX: return (u64)(a > b ? a : b);              \
    case ATOM_AND: return (u64)(T)(a & b);                   \
    case ATOM_OR: return (u64)(T)(a | b);                    \
    case ATOM_XOR: return (u64)(T)(a ^ b);                   \
    case ATOM_EXCH: return (u64)b;                           \
    case ATOM_CAS: return (u64)(a == b ? c : a);             \
    case ATOM_INC: return (u64)(a >= b ? (T)0 : (T)(a + 1)); \
    case ATOM_DEC: return (u64)(a == 0 || a > b ? b : (T)(a - 1));
APPLY_INT(u16)
APPLY_INT(u32)
APPLY_INT(s32)
APPLY_INT(u64)
APPLY_INT(s64)

/* In global memory subnormal operands and results become zero, in shared memory they don't (PTX
 * ISA, "atom"). */
static f32 ftz_f32(f32 v) {
    return bits_of(v) & 0x7f800000u ? v : f32_of(bits_of(v) & 0x80000000u);
}
static u64 apply_f32(u8 atom, u64 old, u64 vb, bool global) {
    f32 a = f32_of((u32)old), b = f32_of((u32)vb);
    if (atom != ATOM_ADD) return (u32)vb;
    return bits_of(canonical_nan_f32(global ? ftz_f32(ftz_f32(a) + ftz_f32(b)) : a + b));
}
static u64 apply_f64(u8 atom, u64 old, u64 vb) {
    return atom == ATOM_ADD ? bits64_of(ADD_f64(f64_of(old), f64_of(vb))) : vb;
}

/* Halves are added without flushing: PTX has only .noftz. */
#define APPLY_HALF(H)                                               \
    static u16 apply_##H(u8 atom, u16 a, u16 b) {                   \
        return atom == ATOM_ADD   ? add_##H(a, b)                   \
               : atom == ATOM_MIN ? min_##H(a, b)                   \
                                  : max_##H(a, b);                  \
    }                                                               \
    static u32 apply_##H##x2(u8 atom, u32 a, u32 b) {               \
        u32 high = apply_##H(atom, (u16)(a >> 16), (u16)(b >> 16)); \
        return apply_##H(atom, (u16)a, (u16)b) | high << 16;        \
    }
APPLY_HALF(f16)
APPLY_HALF(bf16)
#undef APPLY_HALF

static u64 apply(const struct mem_desc *d, u64 old, u64 b, u64 c, bool global) {
    switch ((enum ptx_type)d->type) {
    case PTX_F32: return apply_f32(d->atom, old, b, global);
    case PTX_F64: return apply_f64(d->atom, old, b);
    case PTX_S32: return (u32)apply_s32(d->atom, old, b, c);
    case PTX_S64: return apply_s64(d->atom, old, b, c);
    case PTX_F16: return apply_f16(d->atom, (u16)old, (u16)b);
    case PTX_BF16: return apply_bf16(d->atom, (u16)old, (u16)b);
    case PTX_F16X2: return apply_f16x2(d->atom, (u32)old, (u32)b);
    case PTX_BF16X2: return apply_bf16x2(d->atom, (u32)old, (u32)b);
    default: break;
    }
    return d->width == 8   ? apply_u64(d->atom, old, b, c)
           : d->width == 4 ? apply_u32(d->atom, old, b, c)
                           : apply_u16(d->atom, old, b, c);
}

u64 ISAFN(lane_atom_value)(const struct mem_desc *d, u64 old, u64 b) {
    return apply(d, old, b, 0, true);
}

#define UPDATE(T)                                                                                \
    do {                                                                                         \
        T old = __atomic_load_n((T *)p, __ATOMIC_RELAXED), next;                                 \
        do next = (T)apply(d, old, b, c, global);                                                \
        while (shared_host && !__atomic_compare_exchange_n((T *)p, &old, next, false,            \
                                                           __ATOMIC_RELAXED, __ATOMIC_RELAXED)); \
        if (!shared_host) *(T *)p = next;                                                        \
        return old;                                                                              \
    } while (0)

/* Returns the old value. `shared_host`: another worker, or the host's program, may update the same
 * word. */
static u64 update(const struct mem_desc *d, void *p, u64 b, u64 c, bool shared_host, bool global) {
    if (d->width == 4) UPDATE(u32);
    if (d->width == 8) UPDATE(u64);
    UPDATE(u16);
}

static u64 lane_operand(const struct exec *x, ref r, u32 lane, u32 width) {
    if (r == REF_NONE) return 0;
    const unsigned char *p = operand_at(x, r);
    if (width == 8) return ((const u64 *)p)[lane];
    if (width == 4) return ((const u32 *)p)[lane];
    return ((const u16 *)p)[lane];
}

static void lane_result(const struct exec *x, ref r, u32 lane, u32 width, u64 v) {
    if (r == REF_NONE) return;
    unsigned char *p = operand_at(x, r);
    if (width == 8) ((u64 *)p)[lane] = v;
    else if (width == 4) ((u32 *)p)[lane] = (u32)v;
    else ((u16 *)p)[lane] = (u16)v;
}

/* Exchange and compare-and-swap of 16 bytes. Kernels that use them run on one worker. A register of
 * 128 bits is two of 64 bits side by side. */
static void update_b128(const struct exec *x, const struct mem_desc *d, u64 *p, u32 lane) {
    enum { HIGH = 32 };
    const u64 *b = operand_at(x, d->operand[0]);
    u64 old[2] = {p[0], p[1]};
    bool is_cas = d->atom == ATOM_CAS, equal = old[0] == b[lane] && old[1] == b[HIGH + lane];
    const u64 *next = is_cas ? operand_at(x, d->operand[1]) : b;
    if (!is_cas || equal) p[0] = next[lane], p[1] = next[HIGH + lane];
    if (d->result == REF_NONE) return;
    u64 *result = operand_at(x, d->result);
    result[lane] = old[0];
    result[HIGH + lane] = old[1];
}

static void update_lane(struct exec *x, const struct mem_desc *d, void *p, u32 lane,
                        bool concurrent, bool global) {
    if (d->width == 16) return update_b128(x, d, p, lane);
    u64 b = lane_operand(x, d->operand[0], lane, d->width),
        c = lane_operand(x, d->operand[1], lane, d->width);
    lane_result(x, d->result, lane, d->width, update(d, p, b, c, concurrent, global));
}

/* An atomic whose result is used may order later accesses, depending on the value it found and on
 * whether it changed it. */
static void update_lane_ordered(struct exec *x, const struct op *o, void *p, u32 lane, u64 address,
                                bool concurrent) {
    const struct mem_desc *d = &x->mems[o->aux];
    u8 old_value[16];
    memcpy(old_value, p, d->width);
    update_lane(x, d, p, lane, concurrent, true);
    race_hb_atom(x, o, lane, address, memcmp(old_value, p, d->width) != 0);
}

/* Updates words that are already checked and that no other worker accesses, as most atomics do.
 * Returns false for other kinds. `F`: the new value, from the old one `a` and the operand `b`. */
#define EACH(T, F)                                          \
    do {                                                    \
        const T *B = operand_at(x, d->operand[0]);          \
        FOR_ACTIVE_LANES(mask) {                            \
            T *p = (T *)(memory + ea[l]), a = *p, b = B[l]; \
            *p = (F);                                       \
            if (old) ((T *)old)[l] = a;                     \
        }                                                   \
    } while (0)
static bool atom_words(const struct exec *x, const struct mem_desc *d, unsigned char *memory,
                       const u64 *ea, u32 mask) {
    void *old = d->result == REF_NONE ? NULL : operand_at(x, d->result);
    bool is_signed = d->type == PTX_S32;
    if (d->width != 4 || !(is_signed || d->type == PTX_U32 || d->type == PTX_B32)) return false;
    switch (d->atom) {
    case ATOM_ADD: EACH(u32, a + b); return true;
    case ATOM_AND: EACH(u32, a & b); return true;
    case ATOM_OR: EACH(u32, a | b); return true;
    case ATOM_XOR: EACH(u32, a ^ b); return true;
    case ATOM_EXCH: EACH(u32, b); return true;
    case ATOM_MIN:
        if (is_signed) EACH(s32, a < b ? a : b);
        else EACH(u32, a < b ? a : b);
        return true;
    case ATOM_MAX:
        if (is_signed) EACH(s32, a > b ? a : b);
        else EACH(u32, a > b ? a : b);
        return true;
    default: return false;
    }
}
#undef EACH

static bool is_host_visible(const struct memory *m, const u64 *ea, u32 mask) {
    if (m->regions[MEM_HOST_SHARED].ever_used_end == m->regions[MEM_HOST_SHARED].low) return false;
    FOR_ACTIVE_LANES(mask) if (ea[l] - SIM_BASE < SIM_HOST_SHARED_BYTES) return true;
    return false;
}

static void atom_lanes(struct exec *x, const struct op *o, const struct mem_desc *d, const u64 *ea,
                       u32 mask, u8 space, bool checked) {
    bool global = space != SPACE_SHARED;
    bool concurrent =
        global && (x->worker->launch->nworkers > 1 || is_host_visible(x->memory, ea, mask));
    bool is_ordering = global && d->verb == MEM_ATOM && x->tracks_happens_before;
    unsigned char *memory = global ? x->memory->bytes : x->shared;
    u64 first = global ? SIM_BASE : 0;
    if (checked && !is_ordering && !concurrent && atom_words(x, d, memory - first, ea, mask))
        return;
    FOR_ACTIVE_LANES(mask) {
        bool allowed = checked  ? true
                       : global ? ISAFN(lane_may_access_global)(x, o, d, l, ea[l])
                                : ISAFN(lane_may_access_shared)(x, o, d, l, ea[l]);
        if (!allowed) continue;
        void *p = memory + (ea[l] - first);
        if (is_ordering) update_lane_ordered(x, o, p, l, ea[l], concurrent);
        else update_lane(x, d, p, l, concurrent, global);
    }
}

/* Returns the lanes whose compare-and-swap finds the value that it expects. The words are checked.
 */
static u32 swapping_lanes(const struct exec *x, const struct mem_desc *d, const u64 *ea, u32 mask) {
    u32 lanes = 0;
    if (d->atom != ATOM_CAS || d->width > 8) return 0;
    FOR_ACTIVE_LANES(mask) {
        u64 expected = lane_operand(x, d->operand[0], l, d->width), found = 0;
        memcpy(&found, x->memory->bytes + (ea[l] - SIM_BASE), d->width);
        if (found == expected) lanes |= 1u << l;
    }
    return lanes;
}

/* Updates the shared memory of other blocks of the cluster, which this worker runs, too. */
static void atom_remote(struct exec *x, const struct op *o, const struct mem_desc *d, u32 stat,
                        const u64 *ea, u32 mask) {
    ISAFN(lane_count_cluster)(x, stat, ea, mask, d->width);
    TRACE(x, o, SPACE_CLUSTER, stat, ea, mask);
    FOR_ACTIVE_LANES(mask) {
        void *p = ISAFN(lane_cluster_pointer)(x, o, d, l, ea[l]);
        if (p) update_lane(x, d, p, l, false, false);
    }
}

void ISAFN(op_atom)(struct exec *x, const struct op *o, u32 mask) {
    const struct mem_desc *d = &x->mems[o->aux];
    u64 ea[32];
    u32 shared = d->space == SPACE_SHARED || d->space == SPACE_CLUSTER ? mask : 0;
    core_add_simulation_cost(x->worker->launch, (u64)__builtin_popcount(mask) / 2);
    ISAFN(lane_addresses)(x, o, d, ea);
    if (d->space == SPACE_GENERIC) FOR_LANES {
            bool in = ea[l] - SHARED_WINDOW < WINDOW_BYTES && (mask >> l & 1);
            shared |= in ? 1u << l : 0;
            ea[l] -= in ? SHARED_WINDOW : 0;
        }
    if (x->cluster && shared) {
        u32 remote_mask = ISAFN(lane_split_remote)(x, ea, shared);
        if (remote_mask)
            atom_remote(x, o, d,
                        d->stat + (d->space == SPACE_GENERIC ? 3 : d->space == SPACE_CLUSTER), ea,
                        remote_mask);
        mask &= ~remote_mask, shared &= ~remote_mask;
    }
    if (mask & ~shared) {
        bool checked = ISAFN(lane_count_atomic_global)(x, o, d, d->stat, ea, mask & ~shared);
        bool at_grid_barrier = x->worker->launch->grid_barrier.word_address &&
                               grid_barrier_arrive(x, o, d, ea, mask & ~shared);
        if (x->trace && checked)
            x->trace->swapping_lanes = swapping_lanes(x, d, ea, mask & ~shared);
        if (!at_grid_barrier) TRACE(x, o, SPACE_GLOBAL, d->stat, ea, mask & ~shared);
        atom_lanes(x, o, d, ea, mask & ~shared, SPACE_GLOBAL, checked);
    }
    if (shared) {
        bool checked = ISAFN(lane_count_atomic_shared)(
            x, o, d, d->stat + (d->space == SPACE_GENERIC), ea, shared);
        TRACE(x, o, SPACE_SHARED, d->stat + (d->space == SPACE_GENERIC), ea, shared);
        atom_lanes(x, o, d, ea, shared, SPACE_SHARED, checked);
    }
}
