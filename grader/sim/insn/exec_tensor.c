/* exec_tensor.c — executes bulk copies and reductions by tensor maps: the whole tile at once, for
 * each lane that starts one. See code/tensor.h and mem/tensor_tile.h.
 *
 * In shared memory a tile counts as one range, whether swizzled, with gaps, or plain; in global
 * memory each of its rows is a range of its own, counted, traced and checked for races. The part of
 * a row outside the tensor is filled in, and its bytes arrive at the mbarrier like the rest. */
#include "grader/sim/code/tensor.h"
#include "grader/sim/code/async.h"
#include "grader/sim/count/inflight.h"
#include "grader/sim/insn/exec_async.h"
#include "grader/sim/insn/exec_half.h"
#include "grader/sim/mem/tensor_tile.h"
#include "grader/sim/race/async.h"
#include "grader/sim/race/tensor_map_proxy.h"
#include "grader/sim/race/race.h"

#include <string.h>

/* A tile in one block's shared memory, its shadow, and the mbarrier there. */
struct tile_target {
    unsigned char *bytes, *written;
    u64 *mbarrier;
    u64 address;
};

struct tile_copy {
    struct exec *x;
    const struct op *o;
    const struct tensor_desc *d;
    /* The tile's bytes of shared memory and their offset, the same in each block. */
    u32 lane, span_bytes, offset;
    struct memory_tile tile;
    struct tile_target targets[CLUSTER_MAX_SIZE];
    u32 ntargets;
    u32 moved_bytes; /* bytes of the tile within the tensor */
    unsigned char row[TENSOR_MAX_ROW_BYTES], shadow[TENSOR_MAX_ROW_BYTES];
};

static u64 operand_value(const struct tile_copy *c, ref r) {
    return ((const u64 *)operand_at(c->x, r))[c->lane];
}

/* ---- the map ---- */

static const unsigned char *map_at(const struct tile_copy *c, u64 address) {
    struct exec *x = c->x;
    const struct sim_launch *r = x->worker->launch->request;
    u64 offset = address - PARAM_WINDOW;
    if (address % TENSOR_MAP_ALIGN) {
        core_fault(x, SIM_FAULT_MISALIGNED, c->o, c->lane, address,
                   "uses a tensor map at 0x%llx, which is not a multiple of %d",
                   (unsigned long long)address, TENSOR_MAP_ALIGN);
        return NULL;
    }
    if (offset < r->param_bytes && r->param_bytes - offset >= TENSOR_MAP_BYTES)
        return (const u8 *)r->params + offset;
    if (memory_find_range(x->memory, address, TENSOR_MAP_BYTES) >= 0)
        return x->memory->bytes + (address - SIM_BASE);
    core_fault(x, SIM_FAULT_OUT_OF_BOUNDS, c->o, c->lane, address,
               "uses a tensor map at 0x%llx, which is neither a parameter of the kernel (const "
               "__grid_constant__ CUtensorMap) nor in global or constant memory",
               (unsigned long long)address);
    return NULL;
}

static bool report_invalid_map(const struct tile_copy *c, u64 address, const char *reason) {
    core_fault(c->x, SIM_FAULT_TENSOR_MAP, c->o, c->lane, address,
               "uses 128 bytes that are not a valid tensor map: %s", reason);
    return false;
}

static bool read_map(struct tile_copy *c) {
    struct tensor_map m;
    u64 address = operand_value(c, c->o->src[1]);
    s32 at[TENSOR_MAX_RANK] = {0};
    const unsigned char *bytes = map_at(c, address);
    if (!bytes) return false;
    const char *reason = memory_tensor_map_parse(bytes, &m);
    if (reason) return report_invalid_map(c, address, reason);
    if (m.rank != c->d->rank) {
        core_fault(c->x, SIM_FAULT_TENSOR_MAP, c->o, c->lane, address,
                   "copies with %u coordinates, but the tensor map has %u dimensions", c->d->rank,
                   m.rank);
        return false;
    }
    if (c->x->sanitize) race_tensor_map_use(c->x, c->o, c->lane, address);
    for (u32 i = 0; i < m.rank; i++)
        at[i] = ((const s32 *)operand_at(c->x, c->d->coord[i]))[c->lane];
    return memory_tile_init(&c->tile, &m, at) ||
           report_invalid_map(c, address, "its tensor ends past the last address");
}

/* ---- where the tile lies ---- */

/* Checks what GPUs reject, though the manuals don't say so; measured: docs/simgpu.md. */
static bool check_coordinates(struct tile_copy *c) {
    const struct memory_tile *t = &c->tile;
    long long byte = (long long)t->coord[0] * t->element_bytes;
    u32 first_negative_dim = 0; /* the first dimension in which the tile begins before the tensor */
    while (first_negative_dim < t->map.rank && t->coord[first_negative_dim] >= 0)
        first_negative_dim++;
    if (byte % TENSOR_CHUNK_BYTES)
        core_fault(c->x, SIM_FAULT_TENSOR_MAP, c->o, c->lane, operand_value(c, c->o->src[1]),
                   "copies a tile that begins at coordinate %lld of the innermost dimension, byte "
                   "%lld of a row, which is not a multiple of %d",
                   (long long)t->coord[0], byte, TENSOR_CHUNK_BYTES);
    else if (c->o->imm == BULK_SHARED_TO_GLOBAL && first_negative_dim < t->map.rank)
        core_fault(c->x, SIM_FAULT_TENSOR_MAP, c->o, c->lane, operand_value(c, c->o->src[1]),
                   "copies a tile to coordinate %lld of dimension %u: only loads may begin before "
                   "the tensor",
                   (long long)t->coord[first_negative_dim], first_negative_dim);
    else return true;
    return false;
}

static bool check_global(struct tile_copy *c) {
    const struct memory_tile *t = &c->tile;
    struct memory *m = c->x->memory;
    u64 n = t->high - t->low;
    char location[256];
    if (!n) return true;
    int i = memory_find_range(m, t->low, n);
    if (i >= 0 && (c->o->imm == BULK_GLOBAL_TO_SHARED || !m->allocations[i].is_constant))
        return true;
    if (i >= 0)
        core_fault(c->x, SIM_FAULT_READ_ONLY, c->o, c->lane, t->low,
                   "copies to `%s` in constant memory", m->allocations[i].name);
    else {
        memory_describe(m, t->low, n < UINT32_MAX ? (u32)n : UINT32_MAX, location, sizeof location);
        core_fault(c->x, SIM_FAULT_OUT_OF_BOUNDS, c->o, c->lane, t->low,
                   "copies a tile of a tensor from 0x%llx to 0x%llx, %s",
                   (unsigned long long)t->low, (unsigned long long)t->high, location);
    }
    return false;
}

/* Checks the range in shared memory before anything uses the tile's size. */
static bool check_shared(struct tile_copy *c) {
    u64 to = operand_value(c, c->o->src[0]), span_bytes = memory_tile_shared_bytes(&c->tile);
    if (to % 128) {
        core_fault(c->x, SIM_FAULT_MISALIGNED, c->o, c->lane, to,
                   "copies a tile at 0x%llx of shared memory, which is not a multiple of 128",
                   (unsigned long long)to);
        return false;
    }
    if (span_bytes > c->x->shared_bytes) {
        core_fault(c->x, SIM_FAULT_OUT_OF_BOUNDS, c->o, c->lane, to,
                   "copies a tile of %llu bytes; the block has %u bytes of shared memory",
                   (unsigned long long)span_bytes, c->x->shared_bytes);
        return false;
    }
    c->span_bytes = (u32)span_bytes;
    c->offset = to - SHARED_WINDOW < WINDOW_BYTES ? (u32)(to - SHARED_WINDOW) : (u32)to;
    if (c->x->cluster) c->offset = cluster_offset(c->offset);
    return true;
}

/* ---- ends in shared memory ---- */

static bool add_target(struct tile_copy *c, u64 address, u64 barrier) {
    struct tile_target *e = &c->targets[c->ntargets++];
    e->address = address;
    e->bytes = ISAFN(lane_bulk_shared)(c->x, c->o, address, c->span_bytes, c->lane, &e->written);
    if (!e->bytes) return false;
    if (c->o->src[3] == REF_NONE) return true;
    e->mbarrier = ISAFN(lane_mbarrier_at)(c->x, c->o, barrier, c->lane, false);
    return e->mbarrier != NULL;
}

static u64 rank_address(u64 address, u32 rank) {
    return address - SHARED_WINDOW < WINDOW_BYTES
               ? rank_address(address - SHARED_WINDOW, rank)
               : (u64)(rank + 1) << CLUSTER_RANK_SHIFT | cluster_offset(address);
}

/* Adds the blocks in the mask as targets. The tile and its mbarrier have the same offsets in each
 * block. */
static bool add_targets(struct tile_copy *c) {
    const struct op *o = c->o;
    u64 to = operand_value(c, o->src[0]),
        barrier = o->src[3] == REF_NONE ? 0 : operand_value(c, o->src[3]);
    u32 blocks = c->x->cluster ? c->x->cluster->nblocks : 1;
    if (c->d->cta_mask == REF_NONE) return add_target(c, to, barrier);
    u32 mask = ((const u16 *)operand_at(c->x, c->d->cta_mask))[c->lane];
    if (mask >> blocks) {
        core_fault(c->x, SIM_FAULT_DSMEM, o, c->lane, to,
                   "copies to ranks 0x%x of a cluster of %u blocks", mask, blocks);
        return false;
    }
    for (u32 r = 0; r < blocks; r++) {
        if (!(mask >> r & 1)) continue;
        if (c->x->cluster ? !add_target(c, rank_address(to, r), rank_address(barrier, r))
                          : !add_target(c, to, barrier))
            return false;
    }
    return true;
}

/* Returns a row of the tile. A store's row ends with a whole chunk, as on an H100, which also
 * writes behind the end of a tensor's row. */
static struct tile_row row_of(const struct tile_copy *c, u64 row) {
    struct tile_row r = memory_tile_row(&c->tile, row);
    u32 padding = -r.inside_bytes % TENSOR_CHUNK_BYTES;
    if (c->o->imm == BULK_SHARED_TO_GLOBAL && padding &&
        memory_find_range(c->x->memory, r.address, r.inside_bytes + padding) >= 0)
        r.inside_bytes += padding;
    return r;
}

/* ---- counting, and races: docs/counters.md ---- */

static void count_row(struct tile_copy *c, struct trace_strided_copy *t, const struct tile_row *r,
                      u64 *s) {
    struct exec *x = c->x;
    bool load = c->o->imm == BULK_GLOBAL_TO_SHARED;
    s[STAT_LANES] += r->inside_bytes;
    s[STAT_SECTORS] += (r->address + r->inside_bytes - 1) / 32 - r->address / 32 + 1;
    c->moved_bytes += r->inside_bytes;
    if (x->trace)
        trace_strided_copy_add(x, c->o, load ? MEM_LOAD : MEM_STORE, t, r->address,
                               r->inside_bytes);
    if (!x->sanitize || !x->tracks_global_races ||
        !memory_find_allocation(x->memory, r->address)->is_race_checked)
        return;
    ISAFN(race_global_lane_access)
    (x, c->o, x->mems[c->o->aux].stat + BULK_STAT_GLOBAL, c->lane, r->address, r->inside_bytes,
     load                 ? RACE_READ
     : c->d->is_reduction ? RACE_RED
                          : RACE_WRITE);
}

static void count_tile(struct tile_copy *c) {
    struct exec *x = c->x;
    struct trace_strided_copy lines = {0};
    u64 *s = x->stats[x->mems[c->o->aux].stat + BULK_STAT_GLOBAL];
    s[STAT_REQUESTS]++;
    for (u64 i = 0; i < c->tile.rows; i++) {
        struct tile_row r = row_of(c, i);
        if (r.inside_bytes) count_row(c, &lines, &r, s);
    }
    if (x->trace)
        trace_strided_copy_end(x, c->o, c->o->imm == BULK_GLOBAL_TO_SHARED ? MEM_LOAD : MEM_STORE,
                               &lines);
    core_add_simulation_cost(x->worker->launch,
                             (c->tile.rows + c->tile.bytes / 64) * (c->ntargets + 1));
}

static void count_target(const struct tile_copy *c, const struct tile_target *e) {
    struct exec *x = c->x;
    bool in = c->o->imm == BULK_GLOBAL_TO_SHARED;
    if (cluster_block_containing(x, e->bytes) !=
        x->block) { /* lane_bulk_shared has checked other blocks */
        x->stats[x->mems[c->o->aux].stat + BULK_STAT_SHARED_STORE][STAT_LANES] += c->tile.bytes;
        return;
    }
    ISAFN(lane_bulk_count)
    (x, c->o, in ? BULK_STAT_SHARED_STORE : BULK_STAT_SHARED_LOAD, c->offset, (u32)c->tile.bytes);
    if (x->sanitize) ISAFN(lane_bulk_check_race)
    (x, c->o, c->lane, e->address, c->span_bytes, in ? RACE_WRITE : RACE_READ);
    if (!e->mbarrier || !mbarrier_is_local(x, e->mbarrier)) return;
    u32 mbarrier_offset = shared_offset(x->block, e->mbarrier);
    if (c->moved_bytes)
        inflight_issue_bulk(x, c->o, x->mems[c->o->aux].stat + BULK_STAT_GLOBAL, mbarrier_offset,
                            c->moved_bytes);
    if (x->trace) trace_mbarrier(x, c->o, MEM_STORE, mbarrier_offset);
}

/* ---- into shared memory ---- */

/* Returns where the chunk at byte `at` of the tile lies, from the tile's first byte on. */
static u32 swizzled_chunk_offset(const struct tile_copy *c, u64 at) {
    return (u32)memory_tile_swizzle(&c->tile, c->offset + at) - c->offset;
}

static void write_shared_row(const struct tile_copy *c, const struct tile_target *e, u64 at,
                             u32 n) {
    for (u32 i = 0; i < n; i += TENSOR_CHUNK_BYTES) {
        u32 to = swizzled_chunk_offset(c, at + i);
        memcpy(e->bytes + to, c->row + i, TENSOR_CHUNK_BYTES);
        if (c->x->sanitize) memcpy(e->written + to, c->shadow + i, TENSOR_CHUNK_BYTES);
    }
}

/* Converts elements as a load does; FLOAT32_FTZ leaves them unchanged
 * (tests/programs/tensor_maps.cu, on an H100). */
static void convert_row(struct tile_copy *c, const struct tile_row *r) {
    if (c->tile.map.type != TENSOR_TFLOAT32 && c->tile.map.type != TENSOR_TFLOAT32_FTZ) return;
    for (u32 i = 0; i < r->inside_bytes; i += 4) {
        u32 v;
        memcpy(&v, c->row + r->skip_bytes + i, 4);
        v = (v & INT32_MAX) > 255u << 23 ? 0x7fffe000 : tf32_of_bits(v, ROUND_RN);
        memcpy(c->row + r->skip_bytes + i, &v, 4);
    }
}

static void load_rows(struct tile_copy *c) {
    const struct memory *m = c->x->memory;
    u32 n = memory_tile_row_bytes(&c->tile), pitch = memory_tile_shared_pitch(&c->tile);
    for (u64 i = 0; i < c->tile.rows; i++) {
        struct tile_row r = memory_tile_row(&c->tile, i);
        memory_tile_fill_row(&c->tile, c->row);
        memset(c->shadow, 1, n);
        if (r.inside_bytes)
            memcpy(c->row + r.skip_bytes, m->bytes + (r.address - SIM_BASE), r.inside_bytes);
        if (r.inside_bytes)
            memcpy(c->shadow + r.skip_bytes, m->init_shadow + (r.address - SIM_BASE),
                   r.inside_bytes);
        convert_row(c, &r);
        for (u32 k = 0; k < c->ntargets; k++) write_shared_row(c, &c->targets[k], i * pitch, n);
    }
}

static void arrive_tile(struct tile_copy *c, const struct tile_target *e) {
    struct exec *x = c->x;
    struct block *b = cluster_block_containing(x, e->bytes);
    if (x->sanitize && cluster_block_containing(x, e->mbarrier) == b)
        race_async_tile(x, b, c->o, ASYNC_BULK_TO_SHARED, c->lane, c->offset, &c->tile,
                        shared_offset(b, e->mbarrier) + 1,
                        (u8)ISAFN(lane_mbarrier_phase)(*e->mbarrier));
    ISAFN(lane_mbarrier_complete_tx)(x, c->o, c->lane, e->mbarrier, (u32)c->tile.bytes);
}

/* ---- out of shared memory ---- */

static void read_shared_row(struct tile_copy *c, u64 at, u32 n) {
    const struct tile_target *e = &c->targets[0];
    for (u32 i = 0; i < n; i += TENSOR_CHUNK_BYTES) {
        u32 from = swizzled_chunk_offset(c, at + i);
        memcpy(c->row + i, e->bytes + from, TENSOR_CHUNK_BYTES);
        memcpy(c->shadow + i, e->written + from, TENSOR_CHUNK_BYTES);
    }
    for (u32 i = 0; i < n; i++)
        if (c->shadow[i] == UNDEF_PENDING) c->shadow[i] = 1; /* reported already */
}

static void store_row(struct tile_copy *c, const struct tile_row *r) {
    struct memory *m = c->x->memory;
    unsigned char *written = m->init_shadow + (r->address - SIM_BASE);
    memcpy(m->bytes + (r->address - SIM_BASE), c->row + r->skip_bytes, r->inside_bytes);
    if (!c->x->sanitize) {
        memset(written, 1, r->inside_bytes);
        return;
    }
    memcpy(written, c->shadow + r->skip_bytes, r->inside_bytes);
    bool all_defined = true;
    for (u32 i = 0; i < r->inside_bytes; i++) all_defined &= written[i] == 1;
    if (all_defined) return;
    memory_forget_initialized(memory_find_allocation(m, r->address));
    m->has_undef_marks = true;
}

/* Checks an operand of a reduction, both of which decide the result: an uninitialized one is
 * reported once, and then counts as written. */
static void check_operand(struct tile_copy *c, unsigned char *written, u32 n, u64 address,
                          enum mem_space space) {
    bool all_defined = true;
    for (u32 i = 0; i < n; i++) all_defined &= written[i] == 1;
    if (!all_defined)
        undef_report_access(c->x, c->o, c->lane, address, c->tile.element_bytes, space);
    memset(written, 1, n);
}

static void reduce_row(struct tile_copy *c, const struct tile_row *r, const struct mem_desc *d) {
    unsigned char *to = c->x->memory->bytes + (r->address - SIM_BASE),
                  *from = c->row + r->skip_bytes;
    if (c->x->sanitize) {
        check_operand(c, c->shadow + r->skip_bytes, r->inside_bytes, c->offset, SPACE_SHARED);
        check_operand(c, c->x->memory->init_shadow + (r->address - SIM_BASE), r->inside_bytes,
                      r->address, SPACE_GLOBAL);
    }
    for (u32 i = 0; i < r->inside_bytes; i += c->tile.element_bytes) {
        u64 old = 0, b = 0;
        memcpy(&old, to + i, c->tile.element_bytes);
        memcpy(&b, from + i, c->tile.element_bytes);
        u64 value = ISAFN(lane_atom_value)(d, old, b);
        memcpy(to + i, &value, c->tile.element_bytes);
    }
}

static void store_rows(struct tile_copy *c, const struct mem_desc *d) {
    u32 n = memory_tile_row_bytes(&c->tile), pitch = memory_tile_shared_pitch(&c->tile);
    for (u64 i = 0; i < c->tile.rows; i++) {
        struct tile_row r = row_of(c, i);
        if (!r.inside_bytes) continue;
        read_shared_row(c, i * pitch, n);
        if (d) reduce_row(c, &r, d);
        else store_row(c, &r);
    }
}

/* Sets the type that atomics use for the map's elements. Returns true for those reductions that an
 * H100 executes (tests/programs/tensor_maps.cu). */
static bool reduction_of(struct tile_copy *c, struct mem_desc *d) {
    static const struct {
        u8 type;
        u32 atoms;
    } allowed[TENSOR_TYPE_COUNT] = {
        [TENSOR_UINT32] = {PTX_U32, 1u << ATOM_ADD | 1u << ATOM_MIN | 1u << ATOM_MAX |
                                        1u << ATOM_AND | 1u << ATOM_OR | 1u << ATOM_XOR |
                                        1u << ATOM_INC | 1u << ATOM_DEC},
        [TENSOR_INT32] = {PTX_S32, 1u << ATOM_ADD | 1u << ATOM_MIN | 1u << ATOM_MAX |
                                       1u << ATOM_AND | 1u << ATOM_OR | 1u << ATOM_XOR},
        [TENSOR_UINT64] = {PTX_U64, 1u << ATOM_ADD | 1u << ATOM_MIN | 1u << ATOM_MAX |
                                        1u << ATOM_AND | 1u << ATOM_OR | 1u << ATOM_XOR},
        [TENSOR_INT64] = {PTX_S64, 1u << ATOM_MIN | 1u << ATOM_MAX},
        [TENSOR_FLOAT16] = {PTX_F16, 1u << ATOM_ADD | 1u << ATOM_MIN | 1u << ATOM_MAX},
        [TENSOR_BFLOAT16] = {PTX_BF16, 1u << ATOM_ADD | 1u << ATOM_MIN | 1u << ATOM_MAX},
        [TENSOR_FLOAT32] = {PTX_F32, 1u << ATOM_ADD},
        [TENSOR_FLOAT64] = {PTX_F64, 1u << ATOM_ADD},
    };
    u8 type = c->tile.map.type;
    *d = (struct mem_desc){.type = allowed[type].type,
                           .atom = c->d->atom,
                           .width = (u8)c->tile.element_bytes,
                           .count = 1};
    if (allowed[type].atoms >> c->d->atom & 1) return true;
    core_fault(c->x, SIM_FAULT_TENSOR_MAP, c->o, c->lane, 0,
               "uses a reduction that does not exist for elements of the map's type");
    return false;
}

/* Checks a rule that was measured, as in check_coordinates. */
static bool check_row_end(struct tile_copy *c) {
    const struct memory_tile *t = &c->tile;
    u64 end = (u64)t->coord[0] + t->count[0];
    if (end <= t->map.dim[0] || t->map.dim[0] * t->element_bytes % TENSOR_CHUNK_BYTES == 0)
        return true;
    core_fault(c->x, SIM_FAULT_TENSOR_MAP, c->o, c->lane, operand_value(c, c->o->src[1]),
               "reduces into a tile that extends beyond a row of %llu bytes, which is not a "
               "multiple of %d",
               (unsigned long long)(t->map.dim[0] * t->element_bytes), TENSOR_CHUNK_BYTES);
    return false;
}

static void store_tile(struct tile_copy *c) {
    struct exec *x = c->x;
    struct mem_desc d;
    struct block *b = cluster_block_containing(x, c->targets[0].bytes);
    if (c->d->is_reduction && (!reduction_of(c, &d) || !check_row_end(c))) return;
    if (x->sanitize && memchr(c->targets[0].written, UNDEF_PENDING, c->span_bytes))
        race_async_report_unfinished(x, b, c->o, c->lane, c->offset, c->span_bytes, "copies from");
    store_rows(c, c->d->is_reduction ? &d : NULL);
    if (x->sanitize)
        race_async_tile(x, b, c->o, ASYNC_BULK_FROM_SHARED, c->lane, c->offset, &c->tile, 0, 0);
}

/* ---- the instruction ---- */

static void tile_lane(struct exec *x, const struct op *o, u32 lane) {
    struct tile_copy c = {
        .x = x, .o = o, .d = &x->worker->launch->module->tensors[o->target], .lane = lane};
    if (!read_map(&c) || !check_coordinates(&c) || o->imm == BULK_PREFETCH) return;
    if (!check_shared(&c) || !check_global(&c) || !add_targets(&c)) return;
    count_tile(&c);
    for (u32 i = 0; i < c.ntargets; i++) count_target(&c, &c.targets[i]);
    if (o->imm == BULK_SHARED_TO_GLOBAL) {
        store_tile(&c);
        return;
    }
    load_rows(&c);
    for (u32 i = 0; i < c.ntargets; i++) arrive_tile(&c, &c.targets[i]);
}

void ISAFN(op_cpasyncbulktensor)(struct exec *x, const struct op *o, u32 mask) {
    FOR_ACTIVE_LANES(mask) tile_lane(x, o, l);
}
