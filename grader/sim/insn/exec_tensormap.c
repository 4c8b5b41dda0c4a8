/* exec_tensormap.c — executes changes of tensor maps by kernels. See code/tensor.h;
 * sim/tensor_map.def has the map's bytes.
 *
 * A map of zeroes becomes valid by tensormap.replace, as compilers use it. An invalid field is
 * reported where the map is used. */
#include "grader/sim/insn/exec_async.h"
#include "grader/sim/code/async.h"
#include "grader/sim/code/tensor.h"
#include "grader/sim/core/undef.h"
#include "grader/sim/mem/tensor_tile.h"
#include "grader/sim/race/tensor_map_proxy.h"

#include <string.h>

/* The 128 bytes of a map, their shadow, and the map's offset in shared memory or its address. */
struct map_bytes {
    unsigned char *bytes, *written;
    u64 address;
};

static bool find_shared(struct exec *x, const struct op *o, u32 lane, u64 address,
                        struct map_bytes *m) {
    m->address = address - SHARED_WINDOW < WINDOW_BYTES ? address - SHARED_WINDOW : address;
    if (x->cluster) m->address = cluster_offset(m->address);
    m->bytes = ISAFN(lane_bulk_shared)(x, o, m->address, TENSOR_MAP_BYTES, lane, &m->written);
    return m->bytes != NULL;
}

static bool find_global(struct exec *x, const struct op *o, u32 lane, u64 address,
                        struct map_bytes *m) {
    char location[256];
    int i = memory_find_range(x->memory, address, TENSOR_MAP_BYTES);
    *m = (struct map_bytes){x->memory->bytes + (address - SIM_BASE),
                            x->memory->init_shadow + (address - SIM_BASE), address};
    if (i >= 0 && !x->memory->allocations[i].is_constant) return true;
    if (i >= 0)
        core_fault(x, SIM_FAULT_READ_ONLY, o, lane, address,
                   "changes a tensor map in `%s` in constant memory",
                   x->memory->allocations[i].name);
    else {
        memory_describe(x->memory, address, TENSOR_MAP_BYTES, location, sizeof location);
        core_fault(x, SIM_FAULT_OUT_OF_BOUNDS, o, lane, address,
                   "changes a tensor map at 0x%llx, %s", (unsigned long long)address, location);
    }
    return false;
}

static bool is_shared(const struct tensormap_desc *t, u64 address) {
    return t->in_shared || address - SHARED_WINDOW < WINDOW_BYTES;
}

static bool find_map(struct exec *x, const struct op *o, u32 lane, u64 address, bool shared,
                     struct map_bytes *m) {
    if (address % TENSOR_MAP_ALIGN) {
        core_fault(x, SIM_FAULT_MISALIGNED, o, lane, address,
                   "uses a tensor map at 0x%llx, which is not a multiple of %d",
                   (unsigned long long)address, TENSOR_MAP_ALIGN);
        return false;
    }
    return shared ? find_shared(x, o, lane, address, m) : find_global(x, o, lane, address, m);
}

/* Reports a map that has uninitialized bytes. */
static void check_map_initialized(struct exec *x, const struct op *o, u32 lane,
                                  const struct map_bytes *m, bool shared) {
    bool all_defined = true;
    for (u32 i = 0; i < TENSOR_MAP_BYTES; i++) all_defined &= m->written[i] == 1;
    if (x->sanitize && !all_defined)
        undef_report_access(x, o, lane, m->address, 4, shared ? SPACE_SHARED : SPACE_GLOBAL);
    memset(m->written, 1, TENSOR_MAP_BYTES);
}

static void record_map_access(struct exec *x, const struct op *o, u32 lane,
                              const struct map_bytes *m, bool shared,
                              enum race_access_kind access) {
    static const s32 zero_offsets[32];
    if (!x->sanitize) return;
    if (shared) ISAFN(race_shared_access)
    (x, o, NULL, m->address, zero_offsets, 1u << lane, TENSOR_MAP_BYTES, access);
    else if (x->tracks_global_races &&
             memory_find_allocation(x->memory, m->address)->is_race_checked)
        ISAFN(race_global_lane_access)(x, o, x->mems[o->aux].stat + BULK_STAT_GLOBAL, lane,
                                       m->address, TENSOR_MAP_BYTES, access);
    if (!shared) race_tensor_map_update(x, o, m->address);
}

/* ---- fields ---- */

/* Returns the type that tensormap.replace numbers so: PTX manual, tensormap.replace. */
static u8 type_from_number(u64 v) {
    static const u8 types[] = {TENSOR_UINT8,       TENSOR_UINT16,  TENSOR_UINT32,   TENSOR_INT32,
                               TENSOR_UINT64,      TENSOR_INT64,   TENSOR_FLOAT16,  TENSOR_FLOAT32,
                               TENSOR_FLOAT32_FTZ, TENSOR_FLOAT64, TENSOR_BFLOAT16, TENSOR_TFLOAT32,
                               TENSOR_TFLOAT32_FTZ};
    return v < sizeof types ? types[v] : UINT8_MAX;
}
static u8 saturate_u8(u64 v) { return v < UINT8_MAX ? (u8)v : UINT8_MAX; }
static u32 saturate_u32(u64 v) { return v < UINT32_MAX ? (u32)v : UINT32_MAX; }

static void set_field(struct tensor_map *m, struct tensormap_desc t, u64 v) {
    switch ((enum tensormap_field)t.field) {
    case TENSORMAP_GLOBAL_ADDRESS: m->address = v; break;
    case TENSORMAP_RANK: m->rank = saturate_u8(v + 1); break;
    case TENSORMAP_BOX_DIM: m->box[t.dimension] = saturate_u32(v); break;
    case TENSORMAP_GLOBAL_DIM: m->dim[t.dimension] = v; break;
    case TENSORMAP_GLOBAL_STRIDE: m->stride[t.dimension] = v; break;
    case TENSORMAP_ELEMENT_STRIDE: m->element_stride[t.dimension] = saturate_u8(v); break;
    case TENSORMAP_ELEMTYPE: m->type = type_from_number(v); break;
    case TENSORMAP_INTERLEAVE: m->interleave = saturate_u8(v); break;
    case TENSORMAP_SWIZZLE: m->swizzle = saturate_u8(v); break;
    default: m->fill_with_nan = saturate_u8(v);
    }
}

/* Replaces a field. Bytes that are neither a map nor zeroes stay invalid. */
static void replace(struct exec *x, const struct op *o, u32 lane, struct tensormap_desc t) {
    static const struct tensor_map zeroes;
    struct map_bytes at;
    struct tensor_map m;
    u64 address = ((const u64 *)operand_at(x, o->src[0]))[lane];
    bool shared = is_shared(&t, address);
    if (!find_map(x, o, lane, address, shared, &at)) return;
    check_map_initialized(x, o, lane, &at, shared);
    record_map_access(x, o, lane, &at, shared, RACE_WRITE);
    memcpy(&m, at.bytes, sizeof m);
    if (!memcmp(&m, &zeroes, sizeof m)) memory_tensor_map_mark(&m);
    set_field(&m, t, ((const u64 *)operand_at(x, o->src[1]))[lane]);
    memcpy(at.bytes, &m, sizeof m);
}

/* ---- copies ---- */

static void publish(struct exec *x, const struct op *o, u32 mask) {
    struct map_bytes to, from;
    const u64 *target = operand_at(x, o->src[0]), *source = operand_at(x, o->src[1]);
    if (!ISAFN(lane_require_full_warp)(x, o, mask)) return;
    if (!find_map(x, o, 0, source[0], true, &from) || !find_map(x, o, 0, target[0], false, &to))
        return;
    check_map_initialized(x, o, 0, &from, true);
    record_map_access(x, o, 0, &from, true, RACE_READ);
    record_map_access(x, o, 0, &to, false, RACE_WRITE);
    memcpy(to.bytes, from.bytes, TENSOR_MAP_BYTES);
    memset(to.written, 1, TENSOR_MAP_BYTES);
}

void ISAFN(op_tensormap)(struct exec *x, const struct op *o, u32 mask) {
    struct tensormap_desc t;
    memcpy(&t, &o->target, sizeof t);
    if (t.verb == TENSORMAP_CP_FENCEPROXY) publish(x, o, mask);
    if (t.verb == TENSORMAP_REPLACE) FOR_ACTIVE_LANES(mask) replace(x, o, l, t);
    if (t.verb == TENSORMAP_ACQUIRE && x->sanitize) FOR_ACTIVE_LANES(mask)
    race_tensor_map_acquire(x, ((const u64 *)operand_at(x, o->src[0]))[l]);
}
