/* lanes_race.c — who touched what: races in shared memory, and between blocks in global memory.
 *
 * Shared memory. Each granule (a word; a byte in kernels that access less than words) has two stamps: its last write
 * and its last reads. A stamp says in which interval between block barriers that was, by which thread, and in which
 * interval between barriers of its warp. Two accesses of different threads, one of them a write, race unless a barrier
 * lies between them; lanes of one warp may also be ordered by a warp barrier. Atomics do not race with atomics.
 *
 *   bits 0-5 warp interval · 6-15 thread · 16-18 kind · 19-31 block interval (0 = never)
 *
 * Global memory. Each granule has, for each worker, the block that wrote it and the block that read it: none, one, or
 * many. A write and an access of different blocks in one launch race. Each worker's notes are exact for the blocks that
 * it ran, and joining them loses nothing (none < one < many), so what is found does not depend on which worker ran
 * which block. Kernels that order their blocks by atomics or flags are left out: see code.synchronises. */
#include "grader/sim/insn/lanes.h"
#include "grader/sim/insn/pattern.h"
#include "grader/sim/mem/race.h"

/* ---- shared memory ---- */

static inline u32 my_stamp(const struct exec *x, u32 lane) {
    u32 thread = x->warp->index * 32 + lane;
    return x->block->interval << 19 | thread << 6 | (x->warp->interval & 63);
}

static inline u32 kind_of(u32 stamp) { return stamp >> 16 & 7; }

/* All ones if true: conditions are combined as masks, which is what becomes vector code. */
#define TRUTH(condition) ((condition) ? ~0u : 0u)

/* Whether an access stamped `mine` by a plain instruction may meet `theirs` without order between them: all ones or 0. */
static inline u32 unordered(u32 theirs, u32 mine) {
    u32 diff = theirs ^ mine, kind = theirs & 7u << 16;
    u32 same_interval = TRUTH(diff >> 19 == 0), same_thread = TRUTH((diff & 0xffc0) == 0), same_warp = TRUTH((diff & 0xf800) == 0);
    u32 one = TRUTH(kind == RACE_ONE << 16) | TRUTH(kind == RACE_ATOMIC_ONE << 16);
    u32 many_warps = TRUTH(kind == RACE_WARPS << 16) | TRUTH(kind == RACE_ATOMIC_MANY << 16);
    u32 warp_ordered = same_warp & ~many_warps & TRUTH((diff & 63) != 0);
    return same_interval & ~(one & same_thread) & ~warp_ordered;
}

static inline bool is_atomic(u32 stamp) { return kind_of(stamp) >= RACE_ATOMIC_ONE; }

/* What the reads of a granule are after one more: by one thread, by lanes of one warp, by several warps. */
static inline u32 join_read(u32 old, u32 mine) {
    u32 diff = old ^ mine, kind = old & 7u << 16;
    u32 same_interval = TRUTH(diff >> 19 == 0), same_thread = TRUTH((diff & 0xffc0) == 0), same_warp = TRUTH((diff & 0xf800) == 0);
    u32 warps = TRUTH(kind == RACE_WARPS << 16) | ~same_warp, lanes = ~(same_thread & TRUTH(kind == RACE_ONE << 16)) & ~warps;
    return mine | (same_interval & ((warps & RACE_WARPS << 16) | (lanes & RACE_LANES << 16)));
}

static inline u32 join_atomic(u32 old, u32 mine) {
    u32 diff = old ^ mine, kind = old & 7u << 16, same_interval = TRUTH(diff >> 19 == 0);
    u32 many = same_interval & TRUTH(kind >= RACE_ATOMIC_ONE << 16) & ~(TRUTH((diff & 0xffc0) == 0) & TRUTH(kind == RACE_ATOMIC_ONE << 16));
    return mine | (many ? RACE_ATOMIC_MANY << 16 : RACE_ATOMIC_ONE << 16);
}

static void report_shared(struct exec *x, const struct op *o, u32 lane, u64 offset, u32 theirs, bool they_wrote, bool i_write) {
    const u32 *dim = x->worker->launch->request->block;
    u32 t = theirs >> 6 & 1023;
    report_fault(x, SIM_FAULT_SHARED_RACE, o, lane, offset,
                 "%s offset %llu of shared memory, which thread (%u,%u,%u)%s %s with no barrier between", i_write ? "writes" : "reads",
                 (unsigned long long)offset, t % dim[0], t / dim[0] % dim[1], t / dim[0] / dim[1],
                 kind_of(theirs) == RACE_ONE || kind_of(theirs) == RACE_ATOMIC_ONE ? "" : " and others", they_wrote ? "wrote" : "read");
}

/* One granule of one lane. */
static void shared_one(struct exec *x, const struct op *o, u32 lane, u64 granule, enum race_access access) {
    u32 *w = x->block->race_write + granule, *r = x->block->race_read + granule, mine = my_stamp(x, lane);
    u64 offset = granule << x->worker->launch->shared_shift;
    bool i_write = access != RACE_READ;
    if (unordered(*w, mine) && !(access == RACE_UPDATE && is_atomic(*w))) report_shared(x, o, lane, offset, *w, true, i_write);
    else if (i_write && unordered(*r, mine)) report_shared(x, o, lane, offset, *r, false, true);
    if (access == RACE_READ) *r = join_read(*r, mine);
    else *w = access == RACE_UPDATE ? join_atomic(*w, mine) : mine;
}

static void shared_slow(struct exec *x, const struct op *o, u64 base, const s32 *rel, u32 mask, u32 span, enum race_access access) {
    u32 shift = x->worker->launch->shared_shift;
    ACTIVE(mask)
    for (u64 at = base + (u64)(s64)rel[l], g = at >> shift; g <= (at + span - 1) >> shift; g++) shared_one(x, o, l, g, access);
}

/* A word of each lane, all lanes at once; false where something has to be looked at lane by lane. */
static bool shared_reads(struct exec *x, const struct mem_memo *m, u64 base, const s32 *rel, u32 mask) {
    u32 *w = x->block->race_write + base / 4, *r = x->block->race_read + base / 4, stamp0 = my_stamp(x, 0);
    u32 written[32], old[32], fresh[32], bad = 0, twins = m->twins;
    LANES written[l] = w[rel[l] >> 2];
    LANES old[l] = r[rel[l] >> 2];
    LANES {
        u32 mine = stamp0 + ((u32)l << 6), joined = join_read(old[l], mine);
        u32 twin = TRUTH((joined & 7u << 16) == 0) & TRUTH(twins >> l & 1);
        bad |= unordered(written[l], mine) & TRUTH(mask >> l & 1);
        fresh[l] = joined | (twin & RACE_LANES << 16);
    }
    if (bad) return false;
    ACTIVE(m->leaders) r[rel[l] >> 2] = fresh[l];
    return true;
}

static bool shared_writes(struct exec *x, const struct mem_memo *m, u64 base, const s32 *rel, u32 mask) {
    u32 *w = x->block->race_write + base / 4, *r = x->block->race_read + base / 4, stamp0 = my_stamp(x, 0);
    u32 written[32], read[32], bad = 0;
    if (m->twins) return false; /* lanes of this very instruction write one word */
    LANES written[l] = w[rel[l] >> 2];
    LANES read[l] = r[rel[l] >> 2];
    LANES {
        u32 mine = stamp0 + ((u32)l << 6);
        bad |= (unordered(written[l], mine) | unordered(read[l], mine)) & TRUTH(mask >> l & 1);
    }
    if (bad) return false;
    if (m->shape == SHAPE_DENSE && m->run[0].bytes == 128) LANES w[l] = stamp0 + ((u32)l << 6);
    else ACTIVE(mask) w[rel[l] >> 2] = stamp0 + ((u32)l << 6);
    return true;
}

static bool shared_updates(struct exec *x, const struct mem_memo *m, u64 base, const s32 *rel, u32 mask) {
    u32 *w = x->block->race_write + base / 4, *r = x->block->race_read + base / 4, stamp0 = my_stamp(x, 0);
    u32 written[32], read[32], fresh[32], bad = 0, twins = m->twins;
    LANES written[l] = w[rel[l] >> 2];
    LANES read[l] = r[rel[l] >> 2];
    LANES {
        u32 mine = stamp0 + ((u32)l << 6), atomic = TRUTH((written[l] & 7u << 16) >= RACE_ATOMIC_ONE << 16);
        bad |= ((unordered(written[l], mine) & ~atomic) | unordered(read[l], mine)) & TRUTH(mask >> l & 1);
        fresh[l] = (twins >> l & 1) ? mine | RACE_ATOMIC_MANY << 16 : join_atomic(written[l], mine);
    }
    if (bad) return false;
    ACTIVE(m->leaders) w[rel[l] >> 2] = fresh[l];
    return true;
}

/* Lanes that read one word: one stamp for all. */
static bool shared_broadcast(struct exec *x, u64 base, u32 mask) {
    u32 *w = x->block->race_write + base / 4, *r = x->block->race_read + base / 4, mine = my_stamp(x, (u32)__builtin_ctz(mask));
    if (*w >> 19 == mine >> 19) return false;
    bool others = *r >> 19 == mine >> 19 && (kind_of(*r) == RACE_WARPS || (*r >> 11 & 31) != (mine >> 11 & 31));
    u32 kind = others ? RACE_WARPS : mask & (mask - 1) ? RACE_LANES : kind_of(join_read(*r, mine));
    *r = mine | kind << 16;
    return true;
}

void ISAFN(race_shared)(struct exec *x, const struct op *o, struct mem_memo *m, u64 base, const s32 *rel, u32 mask, u32 span,
                        enum race_access access) {
    bool words = m && span % 4 == 0 && x->worker->launch->shared_shift == 2;
    if (words && !m->nruns) ISAFN(pattern_runs)(m, span);
    for (u32 at = 0; words && at < span; at += 4) {
        bool done = access == RACE_UPDATE           ? shared_updates(x, m, base + at, rel, mask)
                    : access == RACE_WRITE      ? shared_writes(x, m, base + at, rel, mask)
                    : m->shape == SHAPE_UNIFORM ? shared_broadcast(x, base + at, mask)
                                                : shared_reads(x, m, base + at, rel, mask);
        if (!done) shared_slow(x, o, base + at, rel, mask, 4, access);
    }
    if (!words) shared_slow(x, o, base, rel, mask, span, access);
}

/* ---- global memory ---- */

static inline u16 join_block(u16 old, u16 me) { return old == 0 || old == me ? me : RACE_MANY_BLOCKS; }

static inline void note_reads(struct race_plane *p, u64 granule, u32 n, u16 me) {
    u16 *w = p->write + granule, *r = p->read + granule;
    u32 bad = 0;
    for (u32 i = 0; i < n; i++) {
        bad |= (w[i] != 0) & (w[i] != me);
        r[i] = join_block(r[i], me);
    }
    p->raced |= bad;
}

static inline void note_writes(struct race_plane *p, u64 granule, u32 n, u16 me) {
    u16 *w = p->write + granule, *r = p->read + granule;
    u32 bad = 0;
    for (u32 i = 0; i < n; i++) {
        bad |= ((w[i] != 0) & (w[i] != me)) | ((r[i] != 0) & (r[i] != me));
        w[i] = join_block(w[i], me);
    }
    p->raced |= bad;
}

/* Reductions do not race with each other, but with plain accesses: they are noted as reads. */
void ISAFN(race_global)(struct exec *x, struct mem_memo *m, u64 base, u32 span, enum race_access access) {
    struct race_plane *p = &x->worker->plane;
    u32 shift = x->worker->launch->global_shift;
    u64 offset = base - SIM_BASE, low = offset + (u64)(s64)m->low, high = offset + (u64)(s64)m->high + span;
    u16 me = (u16)(1 + x->block->linear % (RACE_MANY_BLOCKS - 1));
    struct race_range *range = &p->touched[m - x->memos];
    if (low < range->low) range->low = low;
    if (high > range->high) range->high = high;
    if (!m->nruns) ISAFN(pattern_runs)(m, span);
    for (u32 i = 0; i < m->nruns; i++) {
        u64 at = offset + (u64)(s64)m->run[i].at;
        u32 n = (u32)(((at + m->run[i].bytes - 1) >> shift) - (at >> shift)) + 1;
        if (access == RACE_WRITE) note_writes(p, at >> shift, n, me);
        else note_reads(p, at >> shift, n, me);
    }
}
