/* lanes_global.c — who touched what in global memory: races between blocks, and between the warps
 * of a block.
 *
 * Only memory that the launch may change is looked at (code/roots.c). Between blocks: each granule
 * (a word; a byte in kernels that access less than words) has, for each worker, the block that
 * wrote it, that read it and that updated it by atomics: none, one, or many. A write and an access
 * of different blocks in one launch race, and so do an update and a read. Each worker's notes are
 * exact for the blocks that it ran, and joining them loses nothing (none < one < many), so what is
 * found does not depend on which worker ran which block. Blocks that all store the same value do
 * not race with each other, so a hash of the last value is kept.
 *
 * Granules lie in rows of a warp's width, which have one note for all as long as each access is one
 * of whole rows (planes.c); what this file does to granules it then does to the row.
 *
 * Within a block: a granule also has the tick and the warp of its last write, last reads and last
 * update. A worker's tick goes on with each block and each barrier of a block, so that notes of the
 * tick at hand are of the same block with no barrier between. Two of different warps race if one is
 * a write, or one an update and one a read. A store that leaves what it finds is not told: many
 * threads may set one flag. Lanes of one store that leave different values in one word race too;
 * other accesses of one warp: near.c.
 *
 * Kernels whose blocks may see each other's writes take another way: race/order.c. */
#include "grader/sim/race/lanes_race.h"
#include "grader/sim/count/pattern.h"
#include "grader/sim/race/race.h"

#include <string.h>

/* The note is of this tick, by another warp or by several. */
static inline u32 clashes(u32 note, u32 mine) {
    return TRUTH_MASK((note ^ mine) - 1 < RACE_TICK - 1);
}
static inline u32 join_stamp(u32 old, u32 mine) {
    return mine | (clashes(old, mine) & RACE_MANY_WARPS);
}
static inline u16 join_block(u16 old, u16 me) {
    return old == 0 || old == me ? me : RACE_MANY_BLOCKS;
}

struct granules {
    u64 first;
    u32 n;
};

static struct granules run_of(const struct access_pattern *m, u32 i, u64 offset, u32 shift) {
    u64 from = offset + (u64)(s64)m->runs[i].offset, first = from >> shift;
    return (struct granules){first, (u32)(((from + m->runs[i].bytes - 1) >> shift) - first) + 1};
}

/* Each returns whether there may be a race within the block. */

static u32 note_reads(struct race_plane *p, struct granules at, u16 me, u32 mine) {
    const u16 *w = p->write + at.first, *u = p->update + at.first;
    const u32 *wrote = p->wrote + at.first, *updated = p->updated + at.first;
    u16 *r = p->read + at.first;
    u32 *was_read = p->was_read + at.first, bad = 0, soon = 0;
    p->reads = true;
    for (u32 i = 0; i < at.n; i++) {
        bad |= (w[i] != 0) & (w[i] != me);
        r[i] = join_block(r[i], me);
    }
    for (u32 i = 0; i < at.n; i++) {
        soon |= clashes(wrote[i], mine);
        was_read[i] = join_stamp(was_read[i], mine);
    }
    for (u32 i = 0; p->updates && i < at.n; i++) {
        bad |= (u[i] != 0) & (u[i] != me);
        soon |= clashes(updated[i], mine);
    }
    p->raced |= bad;
    return soon;
}

/* A plain load of what an atomic then checks again: ordered after stores, and free beside updates.
 */
static u32 note_peeks(struct race_plane *p, struct granules at, u16 me, u32 mine) {
    const u16 *w = p->write + at.first;
    const u32 *wrote = p->wrote + at.first;
    u32 bad = 0, soon = 0;
    for (u32 i = 0; i < at.n; i++) {
        bad |= (w[i] != 0) & (w[i] != me);
        soon |= clashes(wrote[i], mine);
    }
    p->raced |= bad;
    return soon;
}

static u32 note_updates(struct race_plane *p, struct granules at, u16 me, u32 mine) {
    const u16 *w = p->write + at.first, *r = p->read + at.first;
    const u32 *wrote = p->wrote + at.first, *was_read = p->was_read + at.first;
    u16 *u = p->update + at.first;
    u32 *updated = p->updated + at.first, bad = 0, soon = 0;
    for (u32 i = 0; i < at.n; i++) {
        bad |= ((w[i] != 0) & (w[i] != me)) | ((r[i] != 0) & (r[i] != me));
        u[i] = join_block(u[i], me);
    }
    for (u32 i = 0; i < at.n; i++) {
        soon |= clashes(wrote[i], mine) | clashes(was_read[i], mine);
        updated[i] = join_stamp(updated[i], mine);
    }
    p->raced |= bad;
    return soon;
}

static u32 stores_clash(struct race_plane *p, struct granules at, u16 me, u32 mine) {
    const u16 *u = p->update + at.first;
    const u32 *wrote = p->wrote + at.first, *was_read = p->was_read + at.first,
              *updated = p->updated + at.first;
    u32 soon = 0, bad = 0;
    for (u32 i = 0; i < at.n; i++) soon |= clashes(wrote[i], mine);
    for (u32 i = 0; p->reads && i < at.n; i++) soon |= clashes(was_read[i], mine);
    for (u32 i = 0; p->updates && i < at.n; i++) {
        bad |= (u[i] != 0) & (u[i] != me);
        soon |= clashes(updated[i], mine);
    }
    p->raced |= bad;
    return soon;
}

/* ---- stores, between blocks ---- */

/* What the notes of a granule are after a store; *bad is set if it raced, or may have. */
static inline void note_one(struct race_plane *p, u64 g, u16 value, u16 me, u32 *bad) {
    u16 w = p->write[g], r = p->read[g];
    bool others = w != 0 && w != me, differs = p->value[g] != value;
    *bad |= (others & (differs | (r != 0))) | (r != 0 && r != me);
    p->write[g] = !others                            ? me
                  : differs || w == RACE_MANY_BLOCKS ? RACE_MANY_BLOCKS
                                                     : RACE_SAME_VALUE;
    p->value[g] = value;
}

static inline u16 hash_word(u32 v) { return (u16)((v * 0x9e3779b1u) >> 16); }

/* In vectors: gcc keeps a loop that narrows its results one lane at a time. */
typedef u32 half_row __attribute__((vector_size(64)));
typedef u16 half_hashes __attribute__((vector_size(32)));
static inline void hash_row(u16 *value, const u32 *words) {
    half_row w[2];
    memcpy(w, words, sizeof w);
    for (u32 i = 0; i < 2; i++) {
        half_hashes h = __builtin_convertvector((w[i] * 0x9e3779b1u) >> 16, half_hashes);
        memcpy(value + 16 * i, &h, sizeof h);
    }
}

/* A word of each lane, side by side. */
static void note_row(struct race_plane *p, u64 granule, const u32 *values, u16 me) {
    u16 *W = p->write + granule, *r = p->read + granule, *V = p->value + granule;
    u32 bad = 0;
    FOR_LANES {
        u16 value = hash_word(values[l]), w = W[l];
        u32 others = TRUTH_MASK(w != 0) & TRUTH_MASK(w != me), differs = TRUTH_MASK(V[l] != value),
            read = TRUTH_MASK(r[l] != 0);
        bad |= (others & (differs | read)) | (read & TRUTH_MASK(r[l] != me));
        u32 many = differs | TRUTH_MASK(w == RACE_MANY_BLOCKS);
        W[l] = (u16)((~others & me) |
                     (others & ((many & RACE_MANY_BLOCKS) | (~many & RACE_SAME_VALUE))));
        V[l] = value;
    }
    p->raced |= bad;
}

static void note_words(struct race_plane *p, const void *reg, const struct mem_desc *d,
                       const struct access_pattern *m, u64 offset, u16 me) {
    u32 bad = 0;
    for (u32 word = 0; word < d->width / 4u; word++) FOR_ACTIVE_LANES(m->mask) {
            u32 v = d->reg_bytes == 8 ? (u32)(((const u64 *)reg)[l] >> 32 * word)
                                      : ((const u32 *)reg)[l];
            note_one(p, (offset + (u64)(s64)m->lane_offset[l] + 4 * word) >> 2, hash_word(v), me,
                     &bad);
        }
    p->raced |= bad;
}

static void note_bytes(struct race_plane *p, const u8 *reg, const struct mem_desc *d,
                       const struct access_pattern *m, u64 offset, u16 me) {
    u32 bad = 0;
    for (u32 byte = 0; byte < d->width; byte++) FOR_ACTIVE_LANES(m->mask)
    note_one(p, offset + (u64)(s64)m->lane_offset[l] + byte, reg[l * d->reg_bytes + byte], me,
             &bad);
    p->raced |= bad;
}

/* Of a bulk copy: whatever it stores counts as different from what other blocks do. */
static void note_bulk(struct race_plane *p, struct granules at, u16 me) {
    u32 bad = 0;
    for (u32 i = 0; i < at.n; i++) note_one(p, at.first + i, me, me, &bad);
    p->raced |= bad;
}

static void note_stores(struct exec *x, const struct mem_desc *d, const struct access_pattern *m,
                        u64 offset, u16 me) {
    struct race_plane *p = x->worker->race_shadow;
    if (d->is_bulk) note_bulk(p, run_of(m, 0, offset, x->worker->launch->global_shift), me);
    for (u32 e = 0; e < d->count; e++, offset += d->width) {
        const void *reg = operand_at(x, d->reg[e]);
        if (x->worker->launch->global_shift == 0) note_bytes(p, reg, d, m, offset, me);
        else if (m->shape == PATTERN_UNIT_STRIDE && d->count == 1 && d->width == 4 &&
                 d->reg_bytes == 4)
            note_row(p, offset >> 2, reg, me);
        else note_words(p, reg, d, m, offset, me);
    }
}

/* ---- an access ---- */

static void widen(struct race_range *r, u64 low, u64 high) {
    if (low < r->low) r->low = low;
    if (high > r->high) r->high = high;
}

static bool whole_rows(struct granules at) {
    return at.n >= RACE_ROW && !(at.first % RACE_ROW) && !(at.n % RACE_ROW);
}

/* The row's note, if it has one for all. */
static struct race_row *flat_row(struct race_plane *p, u64 row) {
    struct race_row *r = &p->rows[row];
    if (race_row_state(p, row) == ROW_UNTOUCHED)
        *r = (struct race_row){.state = p->epoch + ROW_FLAT};
    return r->state == p->epoch + ROW_FLAT ? r : NULL;
}

/* Each returns whether that was all: not where a race is likely, or a row has several notes. */

static bool read_rows(struct race_plane *p, struct granules at, u16 me, u32 mine) {
    u64 first = at.first / RACE_ROW, end = first + at.n / RACE_ROW;
    for (u64 i = first; i < end; i++) {
        const struct race_row *r = flat_row(p, i);
        if (!r || clashes(r->wrote, mine)) return false;
    }
    for (u64 i = first; i < end; i++) {
        struct race_row *r = &p->rows[i];
        p->raced |= (r->write != 0) & (r->write != me);
        r->read = join_block(r->read, me);
        r->was_read = join_stamp(r->was_read, mine);
    }
    p->reads = true;
    return true;
}

/* The values side by side, as they will lie in memory. */
static void note_values(const struct exec *x, u16 *value, const struct mem_desc *d) {
    u32 words = d->width / 4u, all = words * d->count;
    for (u32 e = 0; e < d->count; e++) {
        const void *reg = operand_at(x, d->reg[e]);
        if (d->reg_bytes == 4 && all == 1) hash_row(value, reg);
        else if (d->reg_bytes == 4)
            FOR_LANES value[(u32)l * all + e] = hash_word(((const u32 *)reg)[l]);
        else
            for (u32 w = 0; w < words; w++)
                FOR_LANES value[(u32)l * all + e * words + w] =
                    hash_word((u32)(((const u64 *)reg)[l] >> 32 * w));
    }
}

static bool store_rows(struct exec *x, const struct mem_desc *d, struct granules at, u16 me,
                       u32 mine) {
    struct race_plane *p = x->worker->race_shadow;
    u64 first = at.first / RACE_ROW, end = first + at.n / RACE_ROW;
    for (u64 i = first; i < end; i++) {
        const struct race_row *r = flat_row(p, i);
        if (!r || (r->write && r->write != me) || clashes(r->wrote, mine) ||
            clashes(r->was_read, mine))
            return false;
    }
    for (u64 i = first; i < end; i++) {
        struct race_row *r = &p->rows[i];
        p->raced |= (r->read != 0) & (r->read != me);
        r->write = me;
        r->wrote = mine;
    }
    note_values(x, p->value + at.first, d);
    return true;
}

static bool touch_rows(struct exec *x, const struct access_pattern *m, const struct touch *t,
                       struct granules at) {
    const struct mem_desc *d = &x->mems[t->o->aux];
    u16 me = race_block(x->block);
    u32 mine = race_stamp(x->block, x->warp);
    if (t->access == RACE_READ) return read_rows(x->worker->race_shadow, at, me, mine);
    return t->access == RACE_WRITE && m->shape == PATTERN_UNIT_STRIDE && !d->is_bulk &&
           x->worker->launch->global_shift == 2 && store_rows(x, d, at, me, mine);
}

static void open_rows(struct race_plane *p, struct granules at) {
    for (u64 row = at.first / RACE_ROW; row * RACE_ROW < at.first + at.n; row++)
        race_need_row(p, row * RACE_ROW);
}

static void touch_each(struct exec *x, const struct access_pattern *m, const struct touch *t) {
    struct race_plane *p = x->worker->race_shadow;
    u32 shift = x->worker->launch->global_shift, soon = 0, mine = race_stamp(x->block, x->warp);
    u16 me = race_block(x->block);
    bool store = t->access == RACE_WRITE;
    for (u32 i = 0; i < m->nruns; i++) {
        struct granules run = run_of(m, i, t->base, shift);
        open_rows(p, run);
        soon |= store                                ? stores_clash(p, run, me, mine)
                : t->access == RACE_READ             ? note_reads(p, run, me, mine)
                : t->access == RACE_READ_REVALIDATED ? note_peeks(p, run, me, mine)
                                                     : note_updates(p, run, me, mine);
    }
    if (!store) {
        if (soon) race_in_block(x, t);
        return;
    }
    note_stores(x, &x->mems[t->o->aux], m, t->base, me);
    if (soon || m->duplicate_mask) return race_stores(x, t);
    for (u32 i = 0; i < m->nruns; i++) {
        struct granules run = run_of(m, i, t->base, shift);
        for (u32 k = 0; k < run.n; k++) p->wrote[run.first + k] = mine;
    }
}

/* Where something ordered a part of the block since its last barrier: notes since then, but for
 * those of the tick at hand. */
static void touch_partly(struct exec *x, const struct access_pattern *m, const struct touch *t) {
    for (u32 i = 0; i < m->nruns; i++) {
        struct granules run = run_of(m, i, t->base, x->worker->launch->global_shift);
        open_rows(x->worker->race_shadow, run);
        for (u32 k = 0; k < run.n; k++) race_partly(x, t, run.first + k);
    }
}

static void touch(struct exec *x, u32 stat, const struct access_pattern *m, const struct touch *t) {
    struct race_plane *p = x->worker->race_shadow;
    u64 low = t->base + (u64)(s64)m->min_offset, high = t->base + (u64)(s64)m->max_offset + t->span;
    widen(&p->range, low, high);
    widen(&p->touched[stat], low, high);
    struct granules all = run_of(m, 0, t->base, x->worker->launch->global_shift);
    bool partly = p->tick != x->block->logical_clock;
    if (partly) touch_partly(x, m, t);
    if (partly || m->nruns > 1 || !whole_rows(all) || !touch_rows(x, m, t, all))
        touch_each(x, m, t);
}

void ISAFN(race_global)(struct exec *x, const struct op *o, u32 stat, struct access_pattern *m,
                        u64 base, u32 span, enum race_access_kind access) {
    struct touch t = {o, base - SIM_BASE, m->lane_offset, m->mask, span, access, m->duplicate_mask};
    struct race_past *e = race_remember(x, o, stat, false, t.base + (u64)(s64)m->min_offset,
                                        t.base + (u64)(s64)m->max_offset + span, m->mask, access);
    race_near(x, m, &t, e);
    if (x->tracks_happens_before) return race_ordered(x, &t);
    if (!m->nruns) ISAFN(pattern_runs)(m, span);
    touch(x, stat, m, &t);
}

/* A lane alone, where the lanes of an instruction lie in several allocations. */
void ISAFN(race_global_lane)(struct exec *x, const struct op *o, u32 stat, u32 lane, u64 address,
                             u32 span, enum race_access_kind access) {
    struct access_pattern m = {
        .mask = 1u << lane, .first_lane_mask = 1u << lane, .nruns = 1, .lane_count = 1};
    m.runs[0].bytes = span;
    ISAFN(race_global)(x, o, stat, &m, address, span, access);
}
