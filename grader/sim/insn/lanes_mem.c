/* lanes_mem.c — loads and stores: addresses, bounds, counts, and the movement of data.
 *
 * Theory of operation. What an access costs depends on the lanes' addresses relative to the first active lane, and
 * on where that one lies within a sector (or, for shared memory, within a word). Most instructions repeat the same
 * relative pattern for ever, so each keeps the last one with its counts; only a new pattern is counted afresh
 * (mem/pattern.c). The pattern's range also turns the bounds check of 32 lanes into one range check. Whatever does
 * not fit (lanes in different allocations, an address that faults) takes the slow path, lane by lane. */
#include "grader/sim/insn/lanes.h"
#include "grader/sim/count/pattern.h"
#include "grader/sim/core/place.h"

#include <string.h>

static inline __attribute__((always_inline)) void addresses(const struct exec *x, const struct op *o,
                                                            const struct mem_desc *d, u64 *ea) {
    u64 imm = (u64)o->imm;
    if (o->src[0] == REF_NONE) {
        LANES ea[l] = imm;
    } else if (d->address32) {
        const u32 *A = operand_at(x, o->src[0]);
        LANES ea[l] = A[l] + (u32)imm; /* wraps at 32 bits */
    } else {
        const u64 *A = operand_at(x, o->src[0]);
        LANES ea[l] = A[l] + imm;
    }
}

static enum race_access race_kind(const struct mem_desc *d) {
    if (d->verb == MEM_ATOM) return RACE_EXCHANGE;
    if (d->verb == MEM_RED || (d->verb == MEM_STORE && d->strong)) return RACE_UPDATE;
    return d->verb == MEM_STORE ? RACE_WRITE : d->strong ? RACE_OBSERVE : RACE_READ;
}

/* ---- moving data between a row of lanes and memory ---- */

/* One element a lane, from p + rel[l] into D. W: type in memory; R: type of the register. */
#define LOAD_AS(W, R)                                            \
    do {                                                         \
        R *D = reg;                                              \
        if (shape == SHAPE_DENSE && stride == sizeof(W)) {       \
            LANES D[l] = (R)((const W *)p)[l];                   \
        } else if (shape == SHAPE_UNIFORM) {                     \
            R v = (R) * (const W *)p;                            \
            STORE_LANES(D, mask, v);                             \
        } else {                                                 \
            STORE_LANES(D, mask, (R) * (const W *)(p + rel[l])); \
        }                                                        \
    } while (0)

static void load_element(void *reg, const struct mem_desc *d, const unsigned char *p, const s32 *rel, u32 mask,
                         u8 shape, u32 stride) {
    switch (d->width << 8 | d->reg_bytes << 1 | d->is_signed) {
    case 4 << 8 | 4 << 1 | 0:
    case 4 << 8 | 4 << 1 | 1: LOAD_AS(u32, u32); break;
    case 8 << 8 | 8 << 1 | 0:
    case 8 << 8 | 8 << 1 | 1: LOAD_AS(u64, u64); break;
    case 4 << 8 | 8 << 1 | 0: LOAD_AS(u32, u64); break;
    case 4 << 8 | 8 << 1 | 1: LOAD_AS(s32, s64); break;
    case 2 << 8 | 2 << 1 | 0:
    case 2 << 8 | 2 << 1 | 1: LOAD_AS(u16, u16); break;
    case 2 << 8 | 4 << 1 | 0: LOAD_AS(u16, u32); break;
    case 2 << 8 | 4 << 1 | 1: LOAD_AS(s16, s32); break;
    case 2 << 8 | 8 << 1 | 0: LOAD_AS(u16, u64); break;
    case 2 << 8 | 8 << 1 | 1: LOAD_AS(s16, s64); break;
    case 1 << 8 | 2 << 1 | 0: LOAD_AS(u8, u16); break;
    case 1 << 8 | 2 << 1 | 1: LOAD_AS(s8, s16); break;
    case 1 << 8 | 4 << 1 | 0: LOAD_AS(u8, u32); break;
    case 1 << 8 | 4 << 1 | 1: LOAD_AS(s8, s32); break;
    case 1 << 8 | 8 << 1 | 0: LOAD_AS(u8, u64); break;
    case 1 << 8 | 8 << 1 | 1: LOAD_AS(s8, s64); break;
    default: die("load of %u bytes into a register of %u", d->width, d->reg_bytes);
    }
}

/* Lanes store in order: where several write one address, the highest lane's value stays. R: register type. */
#define STORE_AS(W, R)                                     \
    do {                                                   \
        const R *S = reg;                                  \
        if (shape == SHAPE_DENSE && stride == sizeof(W)) { \
            LANES((W *)p)[l] = (W)S[l];                    \
        } else {                                           \
            ACTIVE(mask) * (W *)(p + rel[l]) = (W)S[l];    \
        }                                                  \
    } while (0)

static void store_element(const void *reg, const struct mem_desc *d, unsigned char *p, const s32 *rel, u32 mask,
                          u8 shape, u32 stride) {
    switch (d->width << 8 | d->reg_bytes) {
    case 4 << 8 | 4: STORE_AS(u32, u32); break;
    case 8 << 8 | 8: STORE_AS(u64, u64); break;
    case 4 << 8 | 8: STORE_AS(u32, u64); break;
    case 2 << 8 | 2: STORE_AS(u16, u16); break;
    case 2 << 8 | 4: STORE_AS(u16, u32); break;
    case 2 << 8 | 8: STORE_AS(u16, u64); break;
    case 1 << 8 | 2: STORE_AS(u8, u16); break;
    case 1 << 8 | 4: STORE_AS(u8, u32); break;
    case 1 << 8 | 8: STORE_AS(u8, u64); break;
    default: die("store of %u bytes from a register of %u", d->width, d->reg_bytes);
    }
}

static void move(const struct exec *x, const struct mem_desc *d, unsigned char *p, const s32 *rel, u32 mask, u8 shape) {
    u32 span = (u32)d->width * d->count;
    for (u32 e = 0; e < d->count; e++) {
        if (d->reg[e] == REF_NONE) continue;
        void *reg = operand_at(x, d->reg[e]);
        if (d->verb == MEM_LOAD) load_element(reg, d, p + e * d->width, rel, mask, shape, span);
        else store_element(reg, d, p + e * d->width, rel, mask, shape, span);
    }
}

/* ---- the pattern of an access ---- */

static inline void count(u64 *s, struct mem_memo *m, u32 phase, u8 space, u32 span) {
    if (__builtin_expect(!(m->known >> phase & 1), 0)) ISAFN(pattern_sectors)(m, phase, space, span);
    u32 sectors = m->sectors_at[phase];
    s[STAT_REQUESTS]++;
    s[STAT_LANES] += m->lanes;
    s[STAT_SECTORS] += sectors;
    s[STAT_IDEAL] += sectors < m->packed ? sectors : m->packed;
    s[STAT_WAVEFRONTS] += m->wavefronts;
    s[STAT_MIN_WAVEFRONTS] += m->min_wavefronts;
    s[STAT_OPS] += m->lanes;
    s[STAT_SERIAL] += m->max;
    if (m->max > s[STAT_MAX]) s[STAT_MAX] = m->max;
}

/* An atomic that one lane does for the warp. */
static void count_aggregated(u64 *s, struct mem_memo *m, u32 phase, u8 space, u32 span) {
    u64 ops = s[STAT_OPS], serial = s[STAT_SERIAL], most = s[STAT_MAX];
    count(s, m, phase, space, span);
    s[STAT_OPS] = ops + 1;
    s[STAT_SERIAL] = serial + 1;
    s[STAT_MAX] = most ? most : 1;
}

/* Fills rel; returns false where lanes lie further apart than 32 bits tell. */
static inline bool relate(struct mem_memo *m, const u64 *ea, u32 mask, u8 space, u32 span, s32 *rel) {
    u64 base = ea[__builtin_ctz(mask)], far = 0;
    u32 diff = 0;
    if (mask == ~0u) {
        LANES {
            u64 r = ea[l] - base;
            rel[l] = (s32)r;
            far |= r + 0x40000000u;
            diff |= (u32)(rel[l] ^ m->relative[l]);
        }
    } else {
        LANES {
            u64 r = (mask >> l & 1) ? ea[l] - base : 0;
            rel[l] = (s32)r;
            far |= r + 0x40000000u;
            diff |= (u32)(rel[l] ^ m->relative[l]);
        }
    }
    if (far >> 31) return false;
    if (__builtin_expect((diff | (m->mask ^ mask) | !m->valid) != 0, 0)) ISAFN(pattern_fill)(m, rel, mask, space, span);
    return true;
}

/* ---- global and constant memory ---- */

static void fault_global(struct exec *x, const struct op *o, const struct mem_desc *d, unsigned lane, u64 address) {
    u32 span = (u32)d->width * d->count;
    const char *verb = d->verb == MEM_LOAD ? "reads" : d->verb == MEM_STORE ? "writes" : "updates";
    char where[256];
    memory_describe(x->memory, address, span, where, sizeof where);
    int i = memory_near(x->memory, address);
    bool freed = i >= 0 && x->memory->table[i].state == ALLOCATION_FREED &&
                 address - SIM_BASE - x->memory->table[i].start < x->memory->table[i].size;
    enum sim_fault kind = freed ? SIM_FAULT_USE_AFTER_FREE : SIM_FAULT_OUT_OF_BOUNDS;
    core_fault(x, kind, o, lane, address, "%s %u bytes at 0x%llx, %s", verb, span, (unsigned long long)address, where);
}

/* True if the lane's access is allowed; else the fault is reported. */
static bool lane_allowed(struct exec *x, const struct op *o, const struct mem_desc *d, unsigned lane, u64 address) {
    u32 span = (u32)d->width * d->count;
    int i = memory_find(x->memory, address, span);
    if (i < 0) return fault_global(x, o, d, lane, address), false;
    if (address & (span - 1)) {
        core_fault(x, SIM_FAULT_MISALIGNED, o, lane, address,
                   "accesses %u bytes at 0x%llx, which is not a multiple of %u", span, (unsigned long long)address,
                   span);
        return false;
    }
    if (d->verb != MEM_LOAD && x->memory->table[i].constant) {
        core_fault(x, SIM_FAULT_READ_ONLY, o, lane, address, "writes to `%s` in constant memory",
                   x->memory->table[i].name);
        return false;
    }
    return true;
}

/* Bytes of the shadow, [from, from + n) of an access, that decide whether an element was written. */
struct stretch {
    s32 from;
    u32 n;
};

/* An element counts as written if any of its bytes is: structures have padding. They are copied with all of it, in vectors of
 * any type: one whose values are only stored counts as a whole, and bytes and halves with the 8 bytes around them. */
static struct stretch stretch_of(const struct mem_desc *d, u32 element, u64 address) {
    u32 at = element * d->width;
    if (!(d->copied >> element & 1)) return (struct stretch){(s32)at, d->width};
    if (d->width >= 4) return (struct stretch){0, (u32)d->width * d->count};
    return (struct stretch){(s32)at - (s32)((address + at) & 7), 8};
}

/* The first element of which nothing was written, or -1. `w`: shadow of the access. */
static int raw_element(const struct mem_desc *d, const unsigned char *w, u64 address) {
    for (u32 e = 0; e < d->count; e++) {
        struct stretch s = stretch_of(d, e, address);
        unsigned char any = 0;
        for (u32 i = 0; i < s.n; i++) any |= w[s.from + (s32)i];
        if (!any) return (int)e;
    }
    return -1;
}

static void unwritten(struct exec *x, const struct op *o, unsigned lane, u64 address, u32 width) {
    char where[256];
    memory_describe(x->memory, address, width, where, sizeof where);
    core_fault(x, SIM_FAULT_UNINITIALISED, o, lane, address, "reads %u bytes that nothing wrote, at 0x%llx, %s", width,
               (unsigned long long)address, where);
}

static void check_written(struct exec *x, const struct op *o, const struct mem_desc *d, unsigned lane, u64 address) {
    int e = raw_element(d, x->memory->written + (address - SIM_BASE), address);
    if (e >= 0) unwritten(x, o, lane, address + (u32)e * d->width, d->width);
}

static inline bool all_written(const unsigned char *w, u32 n) {
    unsigned char all = 1;
    for (u32 i = 0; i < n; i++) all &= w[i];
    return all;
}

/* The shadow of an access that is in bounds. */
static void shadow_global(struct exec *x, const struct op *o, const struct mem_desc *d, const u64 *ea, u32 mask,
                          u8 shape) {
    u32 span = (u32)d->width * d->count;
    unsigned char *w = x->memory->written;
    if (shape == SHAPE_DENSE) {
        if (d->verb != MEM_LOAD) {
            memset(w + (ea[0] - SIM_BASE), 1, 32 * span);
            return;
        }
        if (all_written(w + (ea[0] - SIM_BASE), 32 * span)) return;
    }
    ACTIVE(mask) {
        if (d->verb != MEM_LOAD) memset(w + (ea[l] - SIM_BASE), 1, span);
        else check_written(x, o, d, l, ea[l]);
    }
}

static void global_slow(struct exec *x, const struct op *o, const struct mem_desc *d, const u64 *ea, u32 mask) {
    static const s32 zero[32];
    ACTIVE(mask) {
        if (!lane_allowed(x, o, d, l, ea[l])) continue;
        if (x->sanitize) shadow_global(x, o, d, ea, 1u << l, SHAPE_ANY);
        if (x->races_global && d->space != SPACE_CONST)
            ISAFN(race_global_lane)(x, o, d->stat, l, ea[l], d->width * (u32)d->count, race_kind(d));
        move(x, d, x->memory->bytes + (ea[l] - SIM_BASE), zero, 1u << l, SHAPE_ANY);
    }
}

/* True if the pattern at `base` lies in one allocation, is aligned and allowed. */
static inline bool global_fits(struct exec *x, const struct mem_desc *d, struct mem_memo *m, u64 base, u32 span) {
    u64 low = base + (u64)(s64)m->low, bytes = (u64)((s64)m->high - m->low) + span;
    const struct allocation *a = x->memory->table + (m->allocation < 0 ? 0 : m->allocation);
    if (m->allocation < 0 || low - SIM_BASE - a->start >= a->size || low - SIM_BASE - a->start + bytes > a->size) {
        m->allocation = memory_find(x->memory, low, bytes);
        if (m->allocation < 0) return false;
        a = x->memory->table + m->allocation;
    }
    if (((u32)base | m->bits) & (span - 1)) return false;
    return d->verb == MEM_LOAD || !a->constant;
}

static void access_global(struct exec *x, const struct op *o, const struct mem_desc *d, u32 stat, const u64 *ea,
                          u32 mask) {
    u32 span = (u32)d->width * d->count;
    struct mem_memo *m = &x->memos[stat];
    s32 rel[32];
    u64 base = ea[__builtin_ctz(mask)];
    u8 space = d->space == SPACE_CONST ? SPACE_CONST : SPACE_GLOBAL;
    bool near = relate(m, ea, mask, space, span, rel);
    if (near) count(x->stats[stat], m, (u32)base & 31, space, span);
    if (!near) ISAFN(pattern_count_far)(x->stats[stat], ea, mask, span);
    TRACE(x, o, space, stat, ea, mask);
    if (!near || !global_fits(x, d, m, base, span)) {
        global_slow(x, o, d, ea, mask);
        return;
    }
    if (x->sanitize && !x->memory->table[m->allocation].initialised) shadow_global(x, o, d, ea, mask, m->shape);
    if (x->races_global && x->memory->table[m->allocation].watched && space == SPACE_GLOBAL)
        ISAFN(race_global)(x, o, stat, m, base, span, race_kind(d));
    move(x, d, x->memory->bytes + (base - SIM_BASE), rel, mask, m->shape);
}

/* ---- shared memory: `ea` holds offsets ---- */

static bool shared_allowed(struct exec *x, const struct op *o, const struct mem_desc *d, unsigned lane, u64 offset) {
    u32 span = (u32)d->width * d->count;
    if (offset < x->shared_bytes && offset + span <= x->shared_bytes && !(offset & (span - 1))) return true;
    char where[128];
    place_shared(x->worker->launch, offset, where, sizeof where);
    if (offset & (span - 1))
        core_fault(x, SIM_FAULT_MISALIGNED, o, lane, offset,
                   "accesses %u bytes at %s, which does not begin at a multiple of %u", span, where, span);
    else
        core_fault(x, SIM_FAULT_OUT_OF_BOUNDS, o, lane, offset,
                   "accesses %u bytes at %s, of which the block has %u bytes", span, where, x->shared_bytes);
    return false;
}

static void check_written_shared(struct exec *x, const struct op *o, const struct mem_desc *d, unsigned lane,
                                 u64 offset) {
    int e = raw_element(d, x->shared_written + offset, offset);
    char where[128];
    if (e < 0) return;
    place_shared(x->worker->launch, offset + (u32)e * d->width, where, sizeof where);
    core_fault(x, SIM_FAULT_UNINITIALISED, o, lane, offset, "reads %u bytes that nothing wrote, at %s", d->width,
               where);
}

/* Words of the shadow, all lanes at once: the usual width. */
static bool words_written(const unsigned char *w, const s32 *rel) {
    u32 all = 0x01010101;
    LANES all &= *(const u32 *)(w + rel[l]);
    return all == 0x01010101;
}

static void shadow_shared(struct exec *x, const struct op *o, const struct mem_desc *d, u64 base, const s32 *rel,
                          u32 mask, u8 shape) {
    u32 span = (u32)d->width * d->count;
    unsigned char *w = x->shared_written + base;
    if (d->verb != MEM_LOAD) {
        if (shape == SHAPE_DENSE) memset(w, 1, 32 * span);
        else if (span == 4) ACTIVE(mask) * (u32 *)(w + rel[l]) = 0x01010101;
        else ACTIVE(mask) memset(w + rel[l], 1, span);
        return;
    }
    if (shape == SHAPE_UNIFORM && all_written(w, span)) return;
    if (shape == SHAPE_DENSE && all_written(w, 32 * span)) return;
    if (span == 4 && words_written(w, rel)) return;
    ACTIVE(mask) check_written_shared(x, o, d, l, base + (u64)(s64)rel[l]);
}

/* In the block's shared memory, but not in the array that the address is made from: a device does not notice. */
static void check_array(struct exec *x, const struct op *o, const struct mem_desc *d, u64 base, const s32 *rel,
                        u32 mask) {
    u32 span = (u32)d->width * d->count;
    ACTIVE(mask) {
        u64 offset = base + (u64)(s64)rel[l];
        char where[128], array[128];
        if (offset >= d->array_from && offset + span <= d->array_to) continue;
        place_shared(x->worker->launch, offset, where, sizeof where);
        place_shared_name(x->worker->launch, d->array_from, array, sizeof array);
        core_fault(x, SIM_FAULT_SHARED_ARRAY, o, l, offset, "indexes %s of %u bytes and %s %s", array,
                   d->array_to - d->array_from,
                   d->verb == MEM_LOAD    ? "reads"
                   : d->verb == MEM_STORE ? "writes"
                                          : "updates",
                   where);
    }
}

static inline bool in_array(const struct mem_desc *d, const struct mem_memo *m, u64 base, u32 span) {
    u64 low = base + (u64)(s64)m->low;
    return !d->array_to || (low >= d->array_from && low + (u64)((s64)m->high - m->low) + span <= d->array_to);
}

static bool shared_fits(const struct exec *x, const struct mem_memo *m, u64 base, u32 span) {
    u64 low = base + (u64)(s64)m->low;
    return low < x->shared_bytes && low + (u64)((s64)m->high - m->low) + span <= x->shared_bytes &&
           !(((u32)base | m->bits) & (span - 1));
}

static void access_shared(struct exec *x, const struct op *o, const struct mem_desc *d, u32 stat, const u64 *ea,
                          u32 mask) {
    u32 span = (u32)d->width * d->count;
    struct mem_memo *m = &x->memos[stat];
    s32 rel[32];
    u64 base = ea[__builtin_ctz(mask)];
    bool near = relate(m, ea, mask, SPACE_SHARED, span, rel);
    if (near && d->merge != MERGED_AWAY) count(x->stats[stat], m, 0, SPACE_SHARED, span);
    TRACE(x, o, SPACE_SHARED, stat, ea, mask);
    bool fits = near && shared_fits(x, m, base, span);
    if (!fits) {
        ACTIVE(mask) if (!shared_allowed(x, o, d, l, ea[l])) mask &= ~(1u << l);
        if (!mask || !near) return;
        base = ea[__builtin_ctz(mask)];
        LANES rel[l] = (mask >> l & 1) ? (s32)(ea[l] - base) : 0;
    }
    if (x->sanitize && d->array_to && (!fits || !in_array(d, m, base, span))) check_array(x, o, d, base, rel, mask);
    if (x->sanitize) shadow_shared(x, o, d, base, rel, mask, fits ? m->shape : SHAPE_ANY);
    if (x->sanitize) ISAFN(race_shared)(x, o, fits ? m : NULL, base, rel, mask, span, race_kind(d));
    move(x, d, x->shared + base, rel, mask, fits ? m->shape : SHAPE_ANY);
}

/* ---- local memory: word w of lane l lies at (w × 32 + l) × 4, as on the hardware ---- */

static void local_bytes(const struct exec *x, const struct mem_desc *d, unsigned char *rows, u64 offset, u32 lane,
                        u32 element) {
    if (d->reg[element] == REF_NONE) return;
    unsigned char *reg = (unsigned char *)operand_at(x, d->reg[element]) + lane * d->reg_bytes;
    u64 value = 0;
    if (d->verb == MEM_STORE) memcpy(&value, reg, d->reg_bytes);
    for (u32 i = 0; i < d->width; i++) {
        u64 byte = offset + i;
        unsigned char *p = rows + (byte / 4 * 32 + lane) * 4 + byte % 4;
        if (d->verb == MEM_STORE) *p = (unsigned char)(value >> 8 * i);
        else value |= (u64)*p << 8 * i;
    }
    if (d->verb == MEM_STORE) return;
    if (d->is_signed && d->width < 8) value = (u64)((s64)(value << (64 - 8 * d->width)) >> (64 - 8 * d->width));
    memcpy(reg, &value, d->reg_bytes);
}

/* Whole words at one offset in all lanes, the usual case: rows of 32 words. */
static bool local_rows(const struct exec *x, const struct mem_desc *d, unsigned char *rows, u64 offset, u32 mask) {
    if (d->width != d->reg_bytes || d->width < 4 || offset % 4) return false;
    for (u32 e = 0; e < d->count; e++) {
        if (d->reg[e] == REF_NONE) continue;
        u32 *reg = operand_at(x, d->reg[e]), words = d->width / 4;
        for (u32 w = 0; w < words; w++) {
            u32 *row = (u32 *)(rows + (offset / 4 + e * words + w) * 128);
            if (d->verb == MEM_LOAD)
                LANES reg[l * (int)words + (int)w] = (mask >> l & 1) ? row[l] : reg[l * (int)words + (int)w];
            else LANES row[l] = (mask >> l & 1) ? reg[l * (int)words + (int)w] : row[l];
        }
    }
    return true;
}

static unsigned char *local_byte(unsigned char *rows, u64 at, u32 lane) {
    return rows + (at / 4 * 32 + lane) * 4 + at % 4;
}

static void check_written_local(struct exec *x, const struct op *o, const struct mem_desc *d, unsigned lane,
                                u64 offset) {
    for (u32 e = 0; e < d->count; e++) {
        struct stretch s = stretch_of(d, e, offset);
        unsigned char any = 0;
        for (u32 i = 0; i < s.n; i++) any |= *local_byte(x->warp->local_written, offset + (u64)(s64)s.from + i, lane);
        if (any) continue;
        core_fault(x, SIM_FAULT_UNINITIALISED, o, lane, offset,
                   "reads %u bytes of local memory that nothing wrote, at offset %llu", d->width,
                   (unsigned long long)offset + e * d->width);
        return;
    }
}

static void shadow_local(struct exec *x, const struct op *o, const struct mem_desc *d, const u64 *ea, u32 mask) {
    u32 span = (u32)d->width * d->count;
    ACTIVE(mask) {
        if (d->verb == MEM_LOAD) check_written_local(x, o, d, l, ea[l]);
        else
            for (u32 i = 0; i < span; i++) *local_byte(x->warp->local_written, ea[l] + i, l) = 1;
    }
}

/* The same for whole words at one offset: a row of the shadow for each. */
static bool shadow_local_rows(const struct exec *x, const struct mem_desc *d, u64 offset, u32 mask) {
    u32 words = (u32)d->width * d->count / 4;
    u32 *row = (u32 *)(x->warp->local_written + offset / 4 * 128), missing = 0, step = d->width / 4u;
    if (d->width < 4 || offset % 4) return false;
    for (u32 w = 0; w < words && d->verb != MEM_LOAD; w++)
        LANES row[w * 32 + (u32)l] = (mask >> l & 1) ? 0x01010101 : row[w * 32 + (u32)l];
    for (u32 w = 0; w < words && d->verb == MEM_LOAD; w += step)
        LANES missing |= (row[w * 32 + (u32)l] | row[(w + step - 1) * 32 + (u32)l]) ? 0 : 1u << l;
    return !(missing & mask);
}

static void access_local(struct exec *x, const struct op *o, const struct mem_desc *d, u32 stat, const u64 *ea,
                         u32 mask) {
    u32 span = (u32)d->width * d->count;
    struct mem_memo *m = &x->memos[stat];
    s32 rel[32];
    if (relate(m, ea, mask, SPACE_LOCAL, span, rel))
        count(x->stats[stat], m, (u32)ea[__builtin_ctz(mask)] & 3, SPACE_LOCAL, span);
    TRACE(x, o, SPACE_LOCAL, stat, ea, mask);
    ACTIVE(mask) {
        if (ea[l] < x->local_bytes && ea[l] + span <= x->local_bytes && !(ea[l] & (d->width - 1u))) continue;
        core_fault(x, ea[l] + span <= x->local_bytes ? SIM_FAULT_MISALIGNED : SIM_FAULT_OUT_OF_BOUNDS, o, l, ea[l],
                   "accesses %u bytes at offset %lld of local memory, of which a thread has %u bytes", span,
                   (long long)(s64)ea[l], x->local_bytes);
        mask &= ~(1u << l);
    }
    if (!mask) return;
    unsigned char *rows = x->warp->local;
    bool uniform = m->valid && m->shape == SHAPE_UNIFORM;
    if (x->sanitize && !(uniform && shadow_local_rows(x, d, ea[__builtin_ctz(mask)], mask)))
        shadow_local(x, o, d, ea, mask);
    if (uniform && local_rows(x, d, rows, ea[__builtin_ctz(mask)], mask)) return;
    ACTIVE(mask) for (u32 e = 0; e < d->count; e++) local_bytes(x, d, rows, ea[l] + e * d->width, l, e);
}

/* A device function's parameters lie in its frame like local memory, at a place known when decoding: target is the
 * frame offset, imm the byte within the parameter. */
static void access_formal(struct exec *x, const struct op *o, u32 mask) {
    const struct mem_desc *d = &x->mems[o->aux];
    unsigned char *rows = x->base[BASE_FRAME] + o->target;
    if (local_rows(x, d, rows, (u64)o->imm, mask)) return;
    ACTIVE(mask) for (u32 e = 0; e < d->count; e++) local_bytes(x, d, rows, (u64)o->imm + e * d->width, l, e);
}
void ISAFN(op_paramld)(struct exec *x, const struct op *o, u32 mask) { access_formal(x, o, mask); }
void ISAFN(op_paramst)(struct exec *x, const struct op *o, u32 mask) { access_formal(x, o, mask); }

/* ---- kernel parameters read through an address ---- */

static void access_param(struct exec *x, const struct op *o, const struct mem_desc *d, const u64 *ea, u32 mask) {
    const struct sim_launch *r = x->worker->launch->request;
    u32 span = (u32)d->width * d->count;
    static const s32 zero[32];
    ACTIVE(mask) {
        if (d->verb == MEM_LOAD && ea[l] < r->param_bytes && ea[l] + span <= r->param_bytes)
            move(x, d, (unsigned char *)r->params + ea[l], zero, 1u << l, SHAPE_ANY);
        else
            core_fault(x, SIM_FAULT_OUT_OF_BOUNDS, o, l, ea[l],
                       "accesses %u bytes at offset %lld of the kernel's %u parameter bytes", span, (long long)ea[l],
                       r->param_bytes);
    }
}

/* ---- generic addresses: by window ---- */

static u32 in_window(const u64 *ea, u32 mask, u64 window) {
    u32 in = 0;
    LANES in |= ea[l] - window < WINDOW_BYTES ? 1u << l : 0;
    return in & mask;
}

static void access_generic(struct exec *x, const struct op *o, const struct mem_desc *d, u64 *ea, u32 mask) {
    u32 shared = in_window(ea, mask, SHARED_WINDOW), local = in_window(ea, mask, LOCAL_WINDOW);
    u32 param = in_window(ea, mask, PARAM_WINDOW), global = mask & ~(shared | local | param);
    if (global) access_global(x, o, d, d->stat, ea, global);
    u64 offset[32];
    if (shared) {
        LANES offset[l] = ea[l] - SHARED_WINDOW;
        access_shared(x, o, d, d->stat + 1, offset, shared);
    }
    if (local) {
        LANES offset[l] = ea[l] - LOCAL_WINDOW;
        access_local(x, o, d, d->stat + 2, offset, local);
    }
    if (param) {
        LANES offset[l] = ea[l] - PARAM_WINDOW;
        access_param(x, o, d, offset, param);
    }
}

static void access(struct exec *x, const struct op *o, u32 mask) {
    const struct mem_desc *d = &x->mems[o->aux];
    u64 ea[32];
    addresses(x, o, d, ea);
    switch ((enum mem_space)d->space) {
    case SPACE_GLOBAL:
    case SPACE_CONST: access_global(x, o, d, d->stat, ea, mask); break;
    case SPACE_SHARED: access_shared(x, o, d, d->stat, ea, mask); break;
    case SPACE_LOCAL: access_local(x, o, d, d->stat, ea, mask); break;
    case SPACE_PARAM: access_param(x, o, d, ea, mask); break;
    case SPACE_GENERIC: access_generic(x, o, d, ea, mask); break;
    }
}

void ISAFN(op_ld)(struct exec *x, const struct op *o, u32 mask) { access(x, o, mask); }
void ISAFN(op_st)(struct exec *x, const struct op *o, u32 mask) { access(x, o, mask); }

/* ---- for lanes_atom.c ---- */

void ISAFN(lane_addresses)(const struct exec *x, const struct op *o, const struct mem_desc *d, u64 ea[32]) {
    addresses(x, o, d, ea);
}
bool ISAFN(lane_allowed_global)(struct exec *x, const struct op *o, const struct mem_desc *d, unsigned lane,
                                u64 address) {
    if (!lane_allowed(x, o, d, lane, address)) return false;
    unsigned char *w = x->memory->written + (address - SIM_BASE);
    if (x->sanitize) check_written(x, o, d, lane, address);
    if (x->sanitize) memset(w, 1, d->width);
    if (x->races_global && d->verb != MEM_ATOM)
        ISAFN(race_global_lane)(x, o, d->stat, lane, address, d->width, RACE_UPDATE);
    return true;
}
bool ISAFN(lane_allowed_shared)(struct exec *x, const struct op *o, const struct mem_desc *d, unsigned lane,
                                u64 offset) {
    if (!shared_allowed(x, o, d, lane, offset)) return false;
    if (!x->sanitize) return true;
    check_written_shared(x, o, d, lane, offset);
    memset(x->shared_written + offset, 1, d->width);
    static const s32 here[32];
    ISAFN(race_shared)(x, o, NULL, offset, here, 1u << lane, d->width, race_kind(d));
    return true;
}
/* All lanes' places are written; what an atomic leaves is written too. */
static bool atomic_written(const unsigned char *w, const s32 *rel, u32 mask, u32 width) {
    if (width == 4) return words_written(w, rel);
    bool all = true;
    ACTIVE(mask) all &= all_written(w + rel[l], width);
    return all;
}

bool ISAFN(lane_count)(struct exec *x, const struct op *o, const struct mem_desc *d, u32 stat, u8 space,
                       const u64 ea[32], u32 mask) {
    s32 rel[32];
    struct mem_memo *m = &x->memos[stat];
    u64 base = ea[__builtin_ctz(mask)];
    if (!relate(m, ea, mask, space, d->width, rel)) {
        ISAFN(pattern_count_far)(x->stats[stat], ea, mask, d->width);
        return false;
    }
    bool one = m->shape == SHAPE_UNIFORM &&
               (d->aggregate == AGGREGATE_ALWAYS || (d->aggregate == AGGREGATE_WHOLE_WARPS && mask == ~0u));
    (one ? count_aggregated : count)(x->stats[stat], m, (u32)base & 31, space, d->width);
    if (space == SPACE_SHARED) {
        if (!shared_fits(x, m, base, d->width)) return false;
        if (!x->sanitize) return true;
        if (!in_array(d, m, base, d->width)) check_array(x, o, d, base, rel, mask);
        if (!atomic_written(x->shared_written + base, rel, mask, d->width)) return false;
        ISAFN(race_shared)(x, o, m, base, rel, mask, d->width, race_kind(d));
        return true;
    }
    if (!global_fits(x, d, m, base, d->width)) return false;
    bool written = !x->sanitize || x->memory->table[m->allocation].initialised ||
                   atomic_written(x->memory->written + (base - SIM_BASE), rel, mask, d->width);
    if (written && x->races_global && d->verb != MEM_ATOM)
        ISAFN(race_global)(x, o, stat, m, base, d->width, RACE_UPDATE);
    return written;
}
