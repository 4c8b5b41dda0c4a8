/* exec_global.c — records accesses to global memory in the shadow memory, and finds races between
 * blocks and between the warps of a block.
 *
 * Only memory that the launch may change is checked (writable_allocations.c). Between blocks: each
 * cell (a word; a byte in kernels with narrower accesses) has, for each worker, the block that
 * wrote it, that read it and that updated it by atomics: none, one, or many. A write and an access
 * by different blocks of one launch race, and so do an update and a read. Each worker's shadow is
 * exact for the blocks that it ran, and joining shadows loses nothing (none < one < many), so the
 * findings don't depend on which worker ran which block. Blocks that all store the same value don't
 * race with each other; a hash of the last value shows this.
 *
 * Cells lie in rows of a warp's width, which share one record as long as each access covers whole
 * rows (shadow.c); this file then updates that record in place of the cells.
 *
 * Within a block: a cell also has the epoch (tick and warp) of its last write, last reads and last
 * update. A worker's tick advances with each block and each barrier of a block, so an epoch of the
 * current tick is of the same block with no barrier between. Two accesses by different warps race
 * if one is a write, or one an update and one a read. Silent stores, which leave the value as it
 * was, are not reported: many threads may set one flag. Lanes of one store that leave different
 * values in one word race too; for other accesses of one warp see intra_warp.c.
 *
 * Kernels whose blocks may observe each other's writes use happens_before.c instead. */
#include "grader/sim/race/exec_race.h"
#include "grader/sim/count/pattern.h"
#include "grader/sim/race/race.h"

#include <string.h>

/* Returns all ones if the epoch is of this tick, by another warp or by several; else 0. */
static inline u32 conflicts(u32 epoch, u32 current) {
    return TRUTH_MASK((epoch ^ current) - 1 < RACE_CLOCK_UNIT - 1);
}
static inline u32 join_epoch(u32 old, u32 current) {
    return current | (conflicts(old, current) & RACE_MANY_WARPS);
}
static inline u16 join_block(u16 old, u16 block_id) {
    return old == 0 || old == block_id ? block_id : RACE_MANY_BLOCKS;
}

struct cell_range {
    u64 first;
    u32 n;
};

static struct cell_range cells_of_run(const struct access_pattern *m, u32 i, u64 offset,
                                      u32 shift) {
    u64 from = offset + (u64)(s64)m->runs[i].offset, first = from >> shift;
    return (struct cell_range){first, (u32)(((from + m->runs[i].bytes - 1) >> shift) - first) + 1};
}

/* Each of these returns nonzero if there may be a race within the block. */

static u32 record_reads(struct race_shadow *p, struct cell_range at, u16 block_id, u32 current) {
    const u16 *w = p->writer_block + at.first, *u = p->updater_block + at.first;
    const u32 *last_write = p->last_write_epoch + at.first,
              *last_update = p->last_update_epoch + at.first;
    u16 *r = p->reader_block + at.first;
    u32 *last_read = p->last_read_epoch + at.first, bad = 0, may_race = 0;
    p->has_reads = true;
    for (u32 i = 0; i < at.n; i++) {
        bad |= (w[i] != 0) & (w[i] != block_id);
        r[i] = join_block(r[i], block_id);
    }
    for (u32 i = 0; i < at.n; i++) {
        may_race |= conflicts(last_write[i], current);
        last_read[i] = join_epoch(last_read[i], current);
    }
    for (u32 i = 0; p->has_updates && i < at.n; i++) {
        bad |= (u[i] != 0) & (u[i] != block_id);
        may_race |= conflicts(last_update[i], current);
    }
    p->has_block_race |= bad;
    return may_race;
}

/* Checks plain loads whose value an atomic verifies: they race with stores, not with updates. */
static u32 record_revalidated_reads(struct race_shadow *p, struct cell_range at, u16 block_id,
                                    u32 current) {
    const u16 *w = p->writer_block + at.first;
    const u32 *last_write = p->last_write_epoch + at.first;
    u32 bad = 0, may_race = 0;
    for (u32 i = 0; i < at.n; i++) {
        bad |= (w[i] != 0) & (w[i] != block_id);
        may_race |= conflicts(last_write[i], current);
    }
    p->has_block_race |= bad;
    return may_race;
}

static u32 record_updates(struct race_shadow *p, struct cell_range at, u16 block_id, u32 current) {
    const u16 *w = p->writer_block + at.first, *r = p->reader_block + at.first;
    const u32 *last_write = p->last_write_epoch + at.first,
              *last_read = p->last_read_epoch + at.first;
    u16 *u = p->updater_block + at.first;
    u32 *last_update = p->last_update_epoch + at.first, bad = 0, may_race = 0,
        has_block_scope = p->block_scope_cells != NULL;
    for (u32 i = 0; i < at.n; i++) {
        bad |= ((w[i] != 0) & (w[i] != block_id)) | ((r[i] != 0) & (r[i] != block_id)) |
               (has_block_scope & (u[i] != 0) & (u[i] != block_id));
        u[i] = join_block(u[i], block_id);
    }
    for (u32 i = 0; i < at.n; i++) {
        may_race |= conflicts(last_write[i], current) | conflicts(last_read[i], current);
        last_update[i] = join_epoch(last_update[i], current);
    }
    p->has_block_race |= bad;
    return may_race;
}

static u32 stores_conflict(struct race_shadow *p, struct cell_range at, u16 block_id, u32 current) {
    const u16 *u = p->updater_block + at.first;
    const u32 *last_write = p->last_write_epoch + at.first,
              *last_read = p->last_read_epoch + at.first,
              *last_update = p->last_update_epoch + at.first;
    u32 may_race = 0, bad = 0;
    for (u32 i = 0; i < at.n; i++) may_race |= conflicts(last_write[i], current);
    for (u32 i = 0; p->has_reads && i < at.n; i++) may_race |= conflicts(last_read[i], current);
    for (u32 i = 0; p->has_updates && i < at.n; i++) {
        bad |= (u[i] != 0) & (u[i] != block_id);
        may_race |= conflicts(last_update[i], current);
    }
    p->has_block_race |= bad;
    return may_race;
}

/* ---- stores, between blocks ---- */

/* Records a store in a cell; sets *bad if it raced, or may have. */
static inline void record_store(struct race_shadow *p, u64 g, u16 value, u16 block_id, u32 *bad) {
    u16 w = p->writer_block[g], r = p->reader_block[g];
    bool others = w != 0 && w != block_id, differs = p->value_hash[g] != value;
    *bad |= (others & (differs | (r != 0))) | (r != 0 && r != block_id);
    p->writer_block[g] = !others                            ? block_id
                         : differs || w == RACE_MANY_BLOCKS ? RACE_MANY_BLOCKS
                                                            : RACE_SAME_VALUE;
    p->value_hash[g] = value;
}

static inline u16 hash_word(u32 v) { return (u16)((v * 0x9e3779b1u) >> 16); }

/* Written with vectors: gcc does not vectorize a loop that narrows its results. */
typedef u32 u32x16 __attribute__((vector_size(64)));
typedef u16 u16x16 __attribute__((vector_size(32)));
static inline void hash_row(u16 *value, const u32 *words) {
    u32x16 w[2];
    memcpy(w, words, sizeof w);
    for (u32 i = 0; i < 2; i++) {
        u16x16 h = __builtin_convertvector((w[i] * 0x9e3779b1u) >> 16, u16x16);
        memcpy(value + 16 * i, &h, sizeof h);
    }
}

/* ---- stores at unit stride: the hashes of all values, in the order of memory ---- */

enum { MAX_STORE_CELLS = 32 * 32 }; /* lanes of 32 bytes, with a cell for each byte */

static void hash_words(u16 *value, const void *reg, const struct mem_desc *d, u32 e) {
    u32 words = d->width / 4u, lane_words = words * d->count;
    if (d->reg_bytes == 4 && lane_words == 1) hash_row(value, reg);
    else if (d->reg_bytes == 4)
        FOR_LANES value[(u32)l * lane_words + e] = hash_word(((const u32 *)reg)[l]);
    else
        for (u32 w = 0; w < words; w++)
            FOR_LANES value[(u32)l * lane_words + e * words + w] =
                hash_word((u32)(((const u64 *)reg)[l] >> 32 * w));
}

/* A byte is its own hash. */
static void hash_bytes(u16 *value, const u8 *reg, const struct mem_desc *d, u32 e) {
    u32 lane_bytes = (u32)d->width * d->count, first = e * d->width;
    if (d->reg_bytes == 2 && lane_bytes == 1) FOR_LANES value[l] = reg[2 * l];
    else if (d->width == d->reg_bytes && d->count == 1)
        for (u32 i = 0; i < 32 * lane_bytes; i++) value[i] = reg[i];
    else FOR_LANES
    for (u32 byte = 0; byte < d->width; byte++)
        value[(u32)l * lane_bytes + first + byte] = reg[(u32)l * d->reg_bytes + byte];
}

static void hash_values(const struct exec *x, u16 *value, const struct mem_desc *d) {
    for (u32 e = 0; e < d->count; e++)
        if (x->worker->launch->global_shift) hash_words(value, operand_at(x, d->reg[e]), d, e);
        else hash_bytes(value, operand_at(x, d->reg[e]), d, e);
}

/* Records 32 stores to neighbouring cells. */
static u32 record_row_stores(struct race_shadow *p, u64 cell, const u16 *values, u16 block_id) {
    u16 *W = p->writer_block + cell, *r = p->reader_block + cell, *V = p->value_hash + cell;
    u32 bad = 0;
    FOR_LANES {
        u16 value = values[l], w = W[l];
        u32 others = TRUTH_MASK(w != 0) & TRUTH_MASK(w != block_id),
            differs = TRUTH_MASK(V[l] != value), read = TRUTH_MASK(r[l] != 0);
        bad |= (others & (differs | read)) | (read & TRUTH_MASK(r[l] != block_id));
        u32 many_blocks = differs | TRUTH_MASK(w == RACE_MANY_BLOCKS);
        W[l] =
            (u16)((~others & block_id) |
                  (others & ((many_blocks & RACE_MANY_BLOCKS) | (~many_blocks & RACE_SAME_VALUE))));
        V[l] = value;
    }
    return bad;
}

static void record_contiguous_stores(struct exec *x, const struct mem_desc *d, u64 offset,
                                     u16 block_id) {
    struct race_shadow *p = x->worker->race_shadow;
    u16 values[MAX_STORE_CELLS];
    u32 shift = x->worker->launch->global_shift, rows = (u32)(d->width * d->count) >> shift,
        bad = 0;
    hash_values(x, values, d);
    for (u32 i = 0; i < rows; i++)
        bad |= record_row_stores(p, (offset >> shift) + 32 * i, values + 32 * i, block_id);
    p->has_block_race |= bad;
}

/* ---- other stores, lane by lane ---- */

static void record_word_stores(struct race_shadow *p, const void *reg, const struct mem_desc *d,
                               const struct access_pattern *m, u64 offset, u16 block_id) {
    u32 bad = 0;
    for (u32 word = 0; word < d->width / 4u; word++) FOR_ACTIVE_LANES(m->mask) {
            u32 v = d->reg_bytes == 8 ? (u32)(((const u64 *)reg)[l] >> 32 * word)
                                      : ((const u32 *)reg)[l];
            record_store(p, (offset + (u64)(s64)m->lane_offset[l] + 4 * word) >> 2, hash_word(v),
                         block_id, &bad);
        }
    p->has_block_race |= bad;
}

static void record_byte_stores(struct race_shadow *p, const u8 *reg, const struct mem_desc *d,
                               const struct access_pattern *m, u64 offset, u16 block_id) {
    u32 bad = 0;
    for (u32 byte = 0; byte < d->width; byte++) FOR_ACTIVE_LANES(m->mask)
    record_store(p, offset + (u64)(s64)m->lane_offset[l] + byte, reg[l * d->reg_bytes + byte],
                 block_id, &bad);
    p->has_block_race |= bad;
}

/* Records a bulk copy's store. Its value counts as different from that of any other block. */
static void record_bulk_store(struct race_shadow *p, struct cell_range at, u16 block_id) {
    u32 bad = 0;
    for (u32 i = 0; i < at.n; i++) record_store(p, at.first + i, block_id, block_id, &bad);
    p->has_block_race |= bad;
}

static void record_stores(struct exec *x, const struct mem_desc *d, const struct access_pattern *m,
                          u64 offset, u16 block_id) {
    struct race_shadow *p = x->worker->race_shadow;
    if (d->is_bulk)
        record_bulk_store(p, cells_of_run(m, 0, offset, x->worker->launch->global_shift), block_id);
    else if (m->shape == PATTERN_UNIT_STRIDE)
        return record_contiguous_stores(x, d, offset, block_id);
    for (u32 e = 0; e < d->count; e++, offset += d->width) {
        const void *reg = operand_at(x, d->reg[e]);
        if (x->worker->launch->global_shift == 0)
            record_byte_stores(p, reg, d, m, offset, block_id);
        else record_word_stores(p, reg, d, m, offset, block_id);
    }
}

/* ---- an access ---- */

static void extend_range(struct offset_range *r, u64 low, u64 high) {
    if (low < r->low) r->low = low;
    if (high > r->high) r->high = high;
}

static bool covers_whole_rows(struct cell_range at) {
    return at.n >= SHADOW_ROW_CELLS && !(at.first % SHADOW_ROW_CELLS) && !(at.n % SHADOW_ROW_CELLS);
}

/* Returns the row if it is compact, NULL if it is expanded. An empty row becomes compact. */
static struct shadow_row *compact_row(struct race_shadow *p, u64 row) {
    struct shadow_row *r = &p->rows[row];
    if (shadow_row_state(p, row) == ROW_EMPTY)
        *r = (struct shadow_row){.state = p->row_state_base + ROW_COMPACT};
    return r->state == p->row_state_base + ROW_COMPACT ? r : NULL;
}

/* Each returns true if it has recorded the access in compact rows; false, before any change, where
 * a race is possible or a row is expanded. */

static bool read_compact_rows(struct race_shadow *p, struct cell_range at, u16 block_id,
                              u32 current) {
    u64 first = at.first / SHADOW_ROW_CELLS, end = first + at.n / SHADOW_ROW_CELLS;
    for (u64 i = first; i < end; i++) {
        const struct shadow_row *r = compact_row(p, i);
        if (!r || conflicts(r->last_write_epoch, current)) return false;
    }
    for (u64 i = first; i < end; i++) {
        struct shadow_row *r = &p->rows[i];
        p->has_block_race |= (r->writer_block != 0) & (r->writer_block != block_id);
        r->reader_block = join_block(r->reader_block, block_id);
        r->last_read_epoch = join_epoch(r->last_read_epoch, current);
    }
    p->has_reads = true;
    return true;
}

static bool store_compact_rows(struct exec *x, const struct mem_desc *d, struct cell_range at,
                               u16 block_id, u32 current) {
    struct race_shadow *p = x->worker->race_shadow;
    u64 first = at.first / SHADOW_ROW_CELLS, end = first + at.n / SHADOW_ROW_CELLS;
    for (u64 i = first; i < end; i++) {
        const struct shadow_row *r = compact_row(p, i);
        if (!r || (r->writer_block && r->writer_block != block_id) ||
            conflicts(r->last_write_epoch, current) || conflicts(r->last_read_epoch, current))
            return false;
    }
    for (u64 i = first; i < end; i++) {
        struct shadow_row *r = &p->rows[i];
        p->has_block_race |= (r->reader_block != 0) & (r->reader_block != block_id);
        r->writer_block = block_id;
        r->last_write_epoch = current;
    }
    hash_values(x, p->value_hash + at.first, d);
    return true;
}

static bool access_compact_rows(struct exec *x, const struct access_pattern *m,
                                const struct mem_access *t, struct cell_range at) {
    const struct mem_desc *d = &x->mems[t->o->aux];
    u16 block_id = race_block_id(x->block);
    u32 current = race_global_epoch(x->block, x->warp);
    if (t->kind == RACE_READ)
        return read_compact_rows(x->worker->race_shadow, at, block_id, current);
    return t->kind == RACE_WRITE && m->shape == PATTERN_UNIT_STRIDE && !d->is_bulk &&
           store_compact_rows(x, d, at, block_id, current);
}

static void expand_rows(struct race_shadow *p, struct cell_range at) {
    for (u64 row = at.first / SHADOW_ROW_CELLS; row * SHADOW_ROW_CELLS < at.first + at.n; row++)
        race_ensure_expanded_row(p, row * SHADOW_ROW_CELLS);
}

static void access_cells(struct exec *x, const struct access_pattern *m,
                         const struct mem_access *t) {
    struct race_shadow *p = x->worker->race_shadow;
    u32 shift = x->worker->launch->global_shift, may_race = 0,
        current = race_global_epoch(x->block, x->warp);
    u16 block_id = race_block_id(x->block);
    bool is_store = t->kind == RACE_WRITE;
    for (u32 i = 0; i < m->nruns; i++) {
        struct cell_range run = cells_of_run(m, i, t->base, shift);
        expand_rows(p, run);
        may_race |= is_store               ? stores_conflict(p, run, block_id, current)
                    : t->kind == RACE_READ ? record_reads(p, run, block_id, current)
                    : t->kind == RACE_READ_REVALIDATED
                        ? record_revalidated_reads(p, run, block_id, current)
                        : record_updates(p, run, block_id, current);
    }
    if (!is_store) {
        if (may_race) race_report_in_block(x, t);
        return;
    }
    record_stores(x, &x->mems[t->o->aux], m, t->base, block_id);
    if (may_race || m->duplicate_mask) return race_check_stores(x, t);
    for (u32 i = 0; i < m->nruns; i++) {
        struct cell_range run = cells_of_run(m, i, t->base, shift);
        for (u32 k = 0; k < run.n; k++) p->last_write_epoch[run.first + k] = current;
    }
}

/* Checks the cells against accesses of earlier ticks since the block's last barrier, where only
 * some of its threads have been ordered since. */
static void check_partial_sync_cells(struct exec *x, const struct access_pattern *m,
                                     const struct mem_access *t) {
    for (u32 i = 0; i < m->nruns; i++) {
        struct cell_range run = cells_of_run(m, i, t->base, x->worker->launch->global_shift);
        expand_rows(x->worker->race_shadow, run);
        for (u32 k = 0; k < run.n; k++) race_check_partial_sync(x, t, run.first + k);
    }
}

/* Loads into the cache the records of what the next warp is likely to access (core/lanes.h). */
static void prefetch_next_records(const struct race_shadow *p, const struct access_pattern *m,
                                  const struct mem_access *t, u32 shift) {
    u64 cell = (t->base + m->step) >> shift;
    if (m->shape != PATTERN_UNIT_STRIDE || t->base + m->step >= p->covered_end) return;
    __builtin_prefetch(&p->rows[cell / SHADOW_ROW_CELLS], 1);
    if (t->kind == RACE_WRITE) __builtin_prefetch(&p->value_hash[cell], 1);
}

static void record_global_access(struct exec *x, u32 stat, const struct access_pattern *m,
                                 const struct mem_access *t) {
    struct race_shadow *p = x->worker->race_shadow;
    u64 low = t->base + (u64)(s64)m->min_offset, high = t->base + (u64)(s64)m->max_offset + t->span;
    extend_range(&p->accessed_range, low, high);
    extend_range(&p->insn_ranges[stat], low, high);
    struct cell_range all = cells_of_run(m, 0, t->base, x->worker->launch->global_shift);
    prefetch_next_records(p, m, t, x->worker->launch->global_shift);
    bool partial_sync = p->logical_clock != x->block->logical_clock;
    if (partial_sync) check_partial_sync_cells(x, m, t);
    if (partial_sync || m->nruns > 1 || !covers_whole_rows(all) ||
        !access_compact_rows(x, m, t, all))
        access_cells(x, m, t);
}

void ISAFN(race_global_access)(struct exec *x, const struct op *o, u32 stat,
                               struct access_pattern *m, u64 base, u32 span,
                               enum race_access_kind access) {
    struct mem_access t = {o,    base - SIM_BASE, m->lane_offset,   m->mask,
                           span, access,          m->duplicate_mask};
    struct access_record *e =
        race_record_access(x, o, stat, false, t.base + (u64)(s64)m->min_offset,
                           t.base + (u64)(s64)m->max_offset + span, m->mask, access);
    race_check_intra_warp(x, m, &t, e);
    if (!m->nruns) ISAFN(pattern_runs)(m, span);
    if (x->mems[o->aux].nc) race_read_only_load(x, m, &t);
    else if (access == RACE_WRITE && x->worker->race_shadow->read_only_cells)
        race_read_only_store(x, m, &t);
    if (x->tracks_happens_before) return race_hb_access(x, &t);
    if (access == RACE_RED && x->mems[o->aux].is_block_scope) race_note_block_scope(x, &t);
    record_global_access(x, stat, m, &t);
}

/* Checks one lane, where the lanes of an instruction access several allocations. */
void ISAFN(race_global_lane_access)(struct exec *x, const struct op *o, u32 stat, u32 lane,
                                    u64 address, u32 span, enum race_access_kind access) {
    struct access_pattern m = {
        .mask = 1u << lane, .first_lane_mask = 1u << lane, .nruns = 1, .lane_count = 1};
    m.runs[0].bytes = span;
    ISAFN(race_global_access)(x, o, stat, &m, address, span, access);
}
