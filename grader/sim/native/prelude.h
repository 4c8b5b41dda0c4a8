/* prelude.h — the C text that precedes all generated code: types, one function for each regular row
 * of the instruction table, and the guards of loads. The Makefile preprocesses it; prelude.c holds
 * the result as text, and generate.c describes what follows it. No file of the simulator includes
 * it.
 *
 * lane_<row> takes and returns the bits of a lane's registers; its expression is the row's own, so
 * that both tiers compute the same bits. */
#define ISA native
#include "grader/sim/insn/exec.h"
#include "grader/sim/insn/exec_values.h"

/* The same by arithmetic: from ?: and a comparison of the value, gcc makes control flow in a loop,
 * and then no vector code. */
INLINE f32 canonical_nan_by_mask(f32 v) {
    u32 number = TRUTH_MASK(v == v);
    return f32_of((bits_of(v) & number) | (0x7fffffffu & ~number));
}
#define canonical_nan_f32 canonical_nan_by_mask

#include "grader/sim/insn/exec_half.h"
#include "grader/sim/insn/exec_mufu.h"
#include "grader/sim/native/native.h"

/* ---- registers: 8-bit values live in 16-bit registers ---- */

typedef u16 bits_u8;
typedef u16 bits_s8;
typedef u16 bits_u16;
typedef u16 bits_s16;
typedef u32 bits_u32;
typedef u32 bits_s32;
typedef u64 bits_u64;
typedef u64 bits_s64;
typedef u32 bits_f32;
typedef u64 bits_f64;
#define FROM_u8(v)  (u8)(v)
#define FROM_s8(v)  (s8)(v)
#define FROM_u16(v) (v)
#define FROM_s16(v) (s16)(v)
#define FROM_u32(v) (v)
#define FROM_s32(v) (s32)(v)
#define FROM_u64(v) (v)
#define FROM_s64(v) (s64)(v)
#define FROM_f32(v) f32_of(v)
#define FROM_f64(v) f64_of(v)
#define TO_u8(v)    (u16)(u8)(v)
#define TO_s8(v)    (u16)(s16)(s8)(v)
#define TO_u16(v)   (u16)(v)
#define TO_s16(v)   (u16)(s16)(v)
#define TO_u32(v)   (u32)(v)
#define TO_s32(v)   (u32)(s32)(v)
#define TO_u64(v)   (u64)(v)
#define TO_s64(v)   (u64)(s64)(v)
#define TO_f32(v)   bits_of((f32)(v))
#define TO_f64(v)   bits64_of((f64)(v))
#define IN(T, n)    T n = FROM_##T(n##_bits)

/* ---- the rows; a lane's predicate is all ones or zero ---- */

#define R1(id, name, mods, pipe, flops, D, A, expr) \
    INLINE bits_##D lane_##id(bits_##A a_bits) {    \
        const u32 env = 0;                          \
        IN(A, a);                                   \
        (void)env, (void)a;                         \
        return TO_##D(expr);                        \
    }
#define R2(id, name, mods, pipe, flops, D, A, B, expr)            \
    INLINE bits_##D lane_##id(bits_##A a_bits, bits_##B b_bits) { \
        const u32 env = 0;                                        \
        IN(A, a);                                                 \
        IN(B, b);                                                 \
        (void)env, (void)a, (void)b;                              \
        return TO_##D(expr);                                      \
    }
#define R3(id, name, mods, pipe, flops, D, A, B, C, expr)                          \
    INLINE bits_##D lane_##id(bits_##A a_bits, bits_##B b_bits, bits_##C c_bits) { \
        const u32 env = 0;                                                         \
        IN(A, a);                                                                  \
        IN(B, b);                                                                  \
        IN(C, c);                                                                  \
        (void)env, (void)a, (void)b, (void)c;                                      \
        return TO_##D(expr);                                                       \
    }
#define R4(id, name, mods, pipe, flops, D, A, B, C, E, expr)                     \
    INLINE bits_##D lane_##id(bits_##A a_bits, bits_##B b_bits, bits_##C c_bits, \
                              bits_##E e_bits) {                                 \
        const u32 env = 0;                                                       \
        IN(A, a);                                                                \
        IN(B, b);                                                                \
        IN(C, c);                                                                \
        IN(E, e);                                                                \
        (void)env, (void)a, (void)b, (void)c, (void)e;                           \
        return TO_##D(expr);                                                     \
    }
#define RP(id, name, mods, pipe, A, B, expr)                 \
    INLINE u32 lane_##id(bits_##A a_bits, bits_##B b_bits) { \
        IN(A, a);                                            \
        IN(B, b);                                            \
        return TRUTH_MASK(expr);                             \
    }
#define RT(id, name, pipe, A, expr)         \
    INLINE u32 lane_##id(bits_##A a_bits) { \
        IN(A, a);                           \
        return TRUTH_MASK(expr);            \
    }
#define RM(id, name, nsrc, expr)         \
    INLINE u32 lane_##id(u32 a, u32 b) { \
        (void)b;                         \
        return expr;                     \
    }
#define RS(id, name, T)
#define RP2(id, name, mods, pipe, compare)
/* Returns the sum with its carry out; `carry` is all ones or zero. */
#define RC(id, name, pipe, takes, gives, T, W, bits, expr)                             \
    INLINE W lane_##id(bits_##T a_bits, bits_##T b_bits, bits_##T c_bits, u32 carry) { \
        const W k = carry & 1;                                                         \
        IN(T, a);                                                                      \
        IN(T, b);                                                                      \
        IN(T, c);                                                                      \
        (void)c;                                                                       \
        return expr;                                                                   \
    }
#define RL(id, name, pipe, text)
#define RX(id, name, kind, pipe, text)
#define RD(id, name, text)
#include "grader/sim/insn/opcodes.def"

/* Sums and products of f32 whose NaN is not canonical yet: raw_<row>. */
#undef R1
#undef R2
#undef R3
#undef canonical_nan_f32
#define R1(...)
#define R2(id, name, mods, pipe, flops, D, A, B, expr)           \
    INLINE bits_##D raw_##id(bits_##A a_bits, bits_##B b_bits) { \
        IN(A, a);                                                \
        IN(B, b);                                                \
        return TO_##D(expr);                                     \
    }
#define R3(id, name, mods, pipe, flops, D, A, B, C, expr)                         \
    INLINE bits_##D raw_##id(bits_##A a_bits, bits_##B b_bits, bits_##C c_bits) { \
        IN(A, a);                                                                 \
        IN(B, b);                                                                 \
        IN(C, c);                                                                 \
        return TO_##D(expr);                                                      \
    }
#define canonical_nan_f32(v) (v)
#include "grader/sim/insn/opcodes_float.def"
#undef canonical_nan_f32
INLINE u32 lane_canonical(u32 bits) { return bits_of(canonical_nan_by_mask(f32_of(bits))); }

INLINE u64 lane_cvta(u64 a, s64 window) { return a + (u64)window; }

INLINE u32 lane_saturate(u32 bits) {
    f32 v = f32_of(bits);
    return bits_of(v > 0.0f ? (v < 1.0f ? v : 1.0f) : 0.0f);
}

/* Choose by arithmetic: gcc makes control flow of some ?:, and then no vector code. */
INLINE u16 choose16(u32 p, u16 a, u16 b) { return (u16)((a & p) | (b & ~p)); }
INLINE u32 choose32(u32 p, u32 a, u32 b) { return (a & p) | (b & ~p); }
INLINE u64 choose64(u32 p, u64 a, u64 b) {
    u64 mask = (u64)(s64)(s32)p;
    return (a & mask) | (b & ~mask);
}
/* A mask's bit of each lane. */
#define BITS4(n) 1u << (n), 2u << (n), 4u << (n), 8u << (n)
static const u32 lane_bit[32] __attribute__((aligned(64))) = {
    BITS4(0), BITS4(4), BITS4(8), BITS4(12), BITS4(16), BITS4(20), BITS4(24), BITS4(28)};
INLINE u32 predicate_of(u32 mask, u32 bit) { return TRUTH_MASK(mask & bit); }

/* ---- guards ---- */

/* gcc guesses that a check fails half of the time, and does not vectorize what follows many. */
#define is_unlikely(condition) __builtin_expect_with_probability((condition), 0, 1.0)
INLINE bool fails(bool is_ok) { return is_unlikely(!is_ok); }

/* Return true if all active lanes of a register hold the first one's value. */
INLINE bool is_uniform32(const u32 *r, u32 mask, u32 value) {
    u32 diff = 0;
    FOR_LANES diff |= (mask >> l & 1) ? r[l] ^ value : 0;
    return !diff;
}
INLINE bool is_uniform64(const u64 *r, u32 mask, u64 value) {
    u64 diff = 0;
    FOR_LANES diff |= (mask >> l & 1) ? r[l] ^ value : 0;
    return !diff;
}
INLINE bool is_uniform16(const u16 *r, u32 mask, u16 value) {
    u16 diff = 0;
    FOR_LANES diff |= (mask >> l & 1) ? r[l] ^ value : 0;
    return !diff;
}
/* Return true if the active lanes' values are where the pattern has them, from the first one on. */
INLINE bool has_pattern64(const u64 *r, u32 mask, u64 base, const struct access_pattern *m) {
    u64 diff = 0;
    FOR_LANES diff |= ((mask >> l & 1) ? r[l] - base : 0) ^ (u64)(s64)m->lane_offset[l];
    return !diff && m->mask == mask && m->valid;
}
INLINE bool has_pattern32(const u32 *r, u32 mask, u32 base, const struct access_pattern *m) {
    u64 diff = 0;
    FOR_LANES diff |= ((mask >> l & 1) ? (u64)r[l] - base : 0) ^ (u64)(s64)m->lane_offset[l];
    return !diff && m->mask == mask && m->valid;
}
INLINE bool is_uniform_pattern(const struct access_pattern *m, u32 mask) {
    return m->mask == mask && m->valid && m->shape == PATTERN_UNIFORM;
}
INLINE bool is_same_pattern(const struct access_pattern *m, const struct access_pattern *other) {
    u32 diff = m->mask ^ other->mask;
    FOR_LANES diff |= (u32)(m->lane_offset[l] ^ other->lane_offset[l]);
    return !diff && m->valid;
}

typedef u32 u32_loose __attribute__((aligned(1), may_alias));

/* Returns true if all bytes of the access are initialized; w: the first lane's byte of the shadow.
 */
static __attribute__((noinline)) bool are_initialized(const unsigned char *w,
                                                      const struct access_pattern *m, u32 span) {
    u32 all = 0x01010101;
    if (m->shape == PATTERN_UNIFORM) {
        for (u32 i = 0; i < span; i++)
            if (!(w[i] & 1)) return false;
        return true;
    }
    if (span != 4) return false;
    FOR_LANES all &= *(const u32_loose *)(w + m->lane_offset[l]);
    return all == 0x01010101;
}
INLINE bool is_initialized(const unsigned char *w, const struct access_pattern *m, u32 span) {
    u32 all = 0x01010101;
    if (span == 4 && m->shape == PATTERN_UNIFORM) return *(const u32_loose *)w == all;
    if (span != 4 || m->shape != PATTERN_UNIT_STRIDE) return are_initialized(w, m, span);
    FOR_LANES all &= ((const u32_loose *)w)[l];
    return all == 0x01010101;
}

/* Returns true if a load is recorded for races, as exec_mem_global.c does it: what a launch can't
 * change only where commands of other streams may. */
INLINE bool is_load_recorded(const struct exec *x, const struct allocation *a, bool is_const) {
    bool may_change = is_const ? x->worker->launch->sim->streams != NULL : a->is_race_checked;
    return x->tracks_global_races && may_change;
}

/* Returns where a load of global memory reads, or NULL if only the interpreter can do it. Sets
 * is_recorded if it must be recorded for races. */
INLINE const unsigned char *guard_global(const struct exec *x, struct access_pattern *m, u64 base,
                                         u32 span, bool is_const, bool *is_recorded) {
    if (is_unlikely(m->allocation < 0)) return NULL;
    const struct allocation *a = x->memory->allocations + m->allocation;
    u64 low = base + (u64)(s64)m->min_offset - SIM_BASE - a->start,
        bytes = (u64)((s64)m->max_offset - m->min_offset) + span;
    bool fits = low < a->size && low + bytes <= a->size &&
                !(((u32)base | m->offset_bits) & (span - 1)) &&
                m->valid_alignments >> (base & 31) & 1;
    if (is_unlikely(!fits)) return NULL;
    if (x->sanitize && !a->is_initialized &&
        is_unlikely(!is_initialized(x->memory->init_shadow + (base - SIM_BASE), m, span)))
        return NULL;
    *is_recorded = is_load_recorded(x, a, is_const);
    return x->memory->bytes + (base - SIM_BASE);
}
/* Returns true if accesses with that pattern lie in the block's shared memory, and in the array;
 * `bytes`: from the first lane's first byte to its last one. */
INLINE bool is_in_shared(const struct exec *x, const struct access_pattern *m, u64 base, u64 bytes,
                         u32 span, u32 array_begin, u32 array_end) {
    u64 low = base + (u64)(s64)m->min_offset,
        high = low + (u64)((s64)m->max_offset - m->min_offset) + bytes;
    if (is_unlikely(low >= x->shared_bytes || high > x->shared_bytes ||
                    (((u32)base | m->offset_bits) & (span - 1))))
        return false;
    return !x->sanitize || !is_unlikely(array_end && (low < array_begin || high > array_end));
}
INLINE const unsigned char *guard_shared(const struct exec *x, struct access_pattern *m, u64 base,
                                         u32 span, u32 array_begin, u32 array_end) {
    if (is_unlikely(!is_in_shared(x, m, base, span, span, array_begin, array_end))) return NULL;
    if (x->sanitize && is_unlikely(!is_initialized(x->shared_written + base, m, span))) return NULL;
    return x->shared + base;
}

/* The same for stores. Memory that the analysis didn't expect to be written is the interpreter's.
 * has_shadow: bytes become initialized. */
INLINE unsigned char *guard_global_store(const struct exec *x, struct access_pattern *m, u64 base,
                                         u32 span, bool *has_shadow, bool *is_recorded) {
    if (is_unlikely(m->allocation < 0)) return NULL;
    const struct allocation *a = x->memory->allocations + m->allocation;
    u64 low = base + (u64)(s64)m->min_offset - SIM_BASE - a->start,
        bytes = (u64)((s64)m->max_offset - m->min_offset) + span;
    bool fits = low < a->size && low + bytes <= a->size &&
                !(((u32)base | m->offset_bits) & (span - 1)) &&
                m->valid_alignments >> (base & 31) & 1;
    *is_recorded = x->tracks_global_races;
    *has_shadow = x->sanitize && !a->is_initialized;
    if (is_unlikely(!fits || a->is_constant || (*is_recorded && !a->is_race_checked))) return NULL;
    return x->memory->bytes + (base - SIM_BASE);
}
INLINE unsigned char *guard_shared_store(const struct exec *x, struct access_pattern *m, u64 base,
                                         u32 span, u32 array_begin, u32 array_end) {
    return is_in_shared(x, m, base, span, span, array_begin, array_end) ? x->shared + base : NULL;
}
INLINE unsigned char *global_shadow(const struct exec *x, u64 address) {
    return x->memory->init_shadow + (address - SIM_BASE);
}
INLINE void mark_initialized(unsigned char *w, const struct access_pattern *m, u32 span) {
    if (m->shape == PATTERN_UNIT_STRIDE) {
        __builtin_memset(w, 1, 32 * span);
    } else if (span == 4) {
        FOR_LANES *(u32_loose *)(w + m->lane_offset[l]) = 0x01010101;
    } else {
        FOR_LANES __builtin_memset(w + m->lane_offset[l], 1, span);
    }
}

/* Counts an access, as pattern_count does, and notes where it was. */
INLINE void commit_load(u64 s[STAT_COUNT], struct access_pattern *m, u64 base, u32 phase, u32 mask,
                        bool is_counted) {
    u32 sectors = m->sectors_by_alignment[phase];
    pattern_move(m, base);
    m->last_mask = mask;
    if (!is_counted) return;
    s[STAT_REQUESTS]++;
    s[STAT_LANES] += m->lane_count;
    s[STAT_SECTORS] += sectors;
    s[STAT_IDEAL_SECTORS] += sectors < m->ideal_sectors ? sectors : m->ideal_sectors;
    s[STAT_WAVEFRONTS] += m->wavefronts;
    s[STAT_MIN_WAVEFRONTS] += m->min_wavefronts;
    s[STAT_OPS] += m->lane_count;
    s[STAT_SERIALIZED] += m->max_multiplicity;
    if (m->max_multiplicity > s[STAT_MAX_MULTIPLICITY])
        s[STAT_MAX_MULTIPLICITY] = m->max_multiplicity;
}

/* Return the values of an element of W bytes, lane by lane: in memory where the lanes lie side by
 * side, else gathered. */
#define DEFINE_GATHER(T)                                                               \
    static __attribute__((noinline)) void gather_lanes_##T(                            \
        const unsigned char *p, const struct access_pattern *m, T *buffer) {           \
        FOR_LANES buffer[l] = *(const T *)(p + m->lane_offset[l]);                     \
    }                                                                                  \
    INLINE const T *gather_##T(const unsigned char *p, const struct access_pattern *m, \
                               bool is_row, T *buffer) {                               \
        if (is_row && m->shape == PATTERN_UNIT_STRIDE) return (const T *)p;            \
        gather_lanes_##T(p, m, buffer);                                                \
        return buffer;                                                                 \
    }
/* Stores an element of each lane. */
#define DEFINE_SCATTER(T)                                                       \
    static __attribute__((noinline)) void scatter_##T(                          \
        unsigned char *p, const struct access_pattern *m, const T *buffer) {    \
        for (int l = 0; l < 32; l++) *(T *)(p + m->lane_offset[l]) = buffer[l]; \
    }
DEFINE_SCATTER(u8)
DEFINE_SCATTER(u16)
DEFINE_SCATTER(u32)
DEFINE_SCATTER(u64)
DEFINE_GATHER(u8)
DEFINE_GATHER(u16)
DEFINE_GATHER(u32)
DEFINE_GATHER(u64)

/* Record an access for races, by the functions that follow the lane functions in their table. */
INLINE void record_global(struct exec *x, const struct op *o, u32 stat, struct access_pattern *m,
                          u64 base, u32 span, enum race_access_kind access, u32 opcode_count) {
    __typeof__(race_global_access_native) *record = (__typeof__(record))(void (*)(
        void))x->worker->launch->op_fns[opcode_count + LANE_RACE_GLOBAL];
    record(x, o, stat, m, base, span, access);
}
INLINE void record_shared(struct exec *x, const struct op *o, struct access_pattern *m, u64 base,
                          u32 mask, u32 span, enum race_access_kind access, u32 opcode_count) {
    __typeof__(race_shared_access_native) *record = (__typeof__(record))(void (*)(
        void))x->worker->launch->op_fns[opcode_count + LANE_RACE_SHARED];
    record(x, o, m, base, m->lane_offset, mask, span, access);
}

#include "grader/sim/native/prelude_repeated.h"

/* ---- failed checks ---- */

/* A chunk whose checks fail more often than one time in eight is left to the interpreter. */
enum { FAILURE_WEIGHT = 8, MAX_FAILURES = 4000 };
INLINE void count_failure(int *failures) {
    int n = __atomic_load_n(failures, __ATOMIC_RELAXED);
    if (n <= MAX_FAILURES) __atomic_store_n(failures, n + FAILURE_WEIGHT, __ATOMIC_RELAXED);
}
INLINE void count_successes(int *failures, u32 count) {
    int n = __atomic_load_n(failures, __ATOMIC_RELAXED);
    if (__builtin_expect(n > 0, 0))
        __atomic_store_n(failures, (u32)n > count ? n - (int)count : 0, __ATOMIC_RELAXED);
}

/* ---- loads of a loop ---- */

/* What is known of a load while its loop runs. */
struct load_state {
    const unsigned char *memory; /* that address 0 would have */
    const unsigned char *shadow; /* the same, of initialized bytes; NULL = all are */
    u64 low, range; /* first addresses with which the pattern is in bounds; none if not known */
    u32 alignments; /* bit p: aligned, and the sectors for a first address of p modulo 32 known */
    bool is_known, is_recorded, is_plain; /* is_plain: neither recorded nor checked */
    u32 sectors, ideal_sectors;           /* not yet counted */
};

INLINE void forget_loads(struct load_state *t, u32 n) {
    for (u32 i = 0; i < n; i++)
        t[i].is_known = false, t[i].range = 0, t[i].sectors = t[i].ideal_sectors = 0;
}

static __attribute__((noinline)) bool has_offsets64(const u64 *offset,
                                                    const struct access_pattern *m) {
    return has_pattern64(offset, ~0u, 0, m);
}
static __attribute__((noinline)) bool has_offsets32(const u32 *offset,
                                                    const struct access_pattern *m) {
    u32 diff = 0;
    FOR_LANES diff |= offset[l] ^ (u32)m->lane_offset[l];
    return !diff && m->mask == ~0u && m->valid;
}

/* Notes that the pattern must lie in `size` bytes from `start` on. Returns false if it can't. */
INLINE bool finish_learning(struct load_state *t, struct access_pattern *m, u64 start, u64 size,
                            u32 span) {
    /* By log2 of the span: the multiples of it, modulo 32. */
    static const u32 aligned[] = {~0u, 0x55555555, 0x11111111, 0x01010101, 0x00010001};
    u64 bytes = (u64)((s64)m->max_offset - m->min_offset) + span;
    if (size < bytes || m->offset_bits & (span - 1)) return false;
    t->low = start - (u64)(s64)m->min_offset, t->range = size - bytes + 1;
    t->alignments &= aligned[__builtin_ctz(span)];
    t->is_plain = !t->shadow && !t->is_recorded;
    m->last_mask = ~0u;
    return t->is_known = true;
}

/* Return true if native code can do the load, and what it needs for that. */
static __attribute__((noinline)) bool learn_global(const struct exec *x, struct load_state *t,
                                                   struct access_pattern *m, u32 span,
                                                   bool is_const) {
    if (m->allocation < 0) return false;
    const struct allocation *a = x->memory->allocations + m->allocation;
    t->memory = x->memory->bytes - SIM_BASE;
    t->shadow = x->sanitize && !a->is_initialized ? x->memory->init_shadow - SIM_BASE : NULL;
    t->is_recorded = is_load_recorded(x, a, is_const);
    t->alignments = m->valid_alignments;
    return finish_learning(t, m, SIM_BASE + a->start, a->size, span);
}
static __attribute__((noinline)) bool learn_shared(const struct exec *x, struct load_state *t,
                                                   struct access_pattern *m, u32 span,
                                                   u32 array_begin, u32 array_end) {
    bool in_array = x->sanitize && array_end;
    u32 begin = in_array ? array_begin : 0, end = in_array ? array_end : x->shared_bytes;
    if (end > x->shared_bytes) return false;
    t->memory = x->shared;
    t->shadow = x->sanitize ? x->shared_written : NULL;
    t->is_recorded = x->sanitize;
    t->alignments = ~0u;
    return finish_learning(t, m, begin, end - begin, span);
}

/* Returns true if the load at that first address can be done. */
INLINE bool may_load(const struct load_state *t, u64 address) {
    return address - t->low < t->range && t->alignments >> (address & 31) & 1;
}
INLINE bool has_defined_bytes(const struct load_state *t, const struct access_pattern *m,
                              u64 address, u32 span) {
    return !t->shadow || is_initialized(t->shadow + address, m, span);
}

/* Counts a load, but for what each run of its chunk adds, and notes where it was. */
INLINE void note_load(struct load_state *t, struct access_pattern *m, u64 address, bool is_shared) {
    m->base = address;
    if (is_shared) return;
    u32 sectors = m->sectors_by_alignment[address & 31];
    t->sectors += sectors;
    t->ideal_sectors += sectors < m->ideal_sectors ? sectors : m->ideal_sectors;
}

/* Adds what a load has counted in `runs` runs. */
static __attribute__((noinline)) void flush_load(u64 s[STAT_COUNT], const struct access_pattern *m,
                                                 struct load_state *t, u32 runs, bool is_counted) {
    u32 sectors = t->sectors, ideal_sectors = t->ideal_sectors;
    t->sectors = t->ideal_sectors = 0;
    if (!is_counted) return;
    s[STAT_REQUESTS] += runs;
    s[STAT_LANES] += (u64)runs * m->lane_count;
    s[STAT_SECTORS] += sectors;
    s[STAT_IDEAL_SECTORS] += ideal_sectors;
    s[STAT_WAVEFRONTS] += (u64)runs * m->wavefronts;
    s[STAT_MIN_WAVEFRONTS] += (u64)runs * m->min_wavefronts;
    s[STAT_OPS] += (u64)runs * m->lane_count;
    s[STAT_SERIALIZED] += (u64)runs * m->max_multiplicity;
    if (m->max_multiplicity > s[STAT_MAX_MULTIPLICITY])
        s[STAT_MAX_MULTIPLICITY] = m->max_multiplicity;
}

/* ---- registers of a loop ---- */

#define DEFINE_LANES(bits)                                                                    \
    INLINE void store_lanes##bits(void *to, const void *from) {                               \
        FOR_LANES((u##bits *)to)[l] = ((const u##bits *)from)[l];                             \
    }                                                                                         \
    INLINE void store_uniform##bits(void *to, u##bits value) {                                \
        FOR_LANES((u##bits *)to)[l] = value;                                                  \
    }                                                                                         \
    INLINE void store_affine##bits(void *to, const u##bits *offset, u##bits value) {          \
        FOR_LANES((u##bits *)to)[l] = (u##bits)(offset[l] + value);                           \
    }                                                                                         \
    INLINE void take_offsets##bits(u##bits *offset, const void *from) {                       \
        FOR_LANES offset[l] = (u##bits)(((const u##bits *)from)[l] - *(const u##bits *)from); \
    }
DEFINE_LANES(16)
DEFINE_LANES(32)
DEFINE_LANES(64)

/* ---- lanes that part ---- */

/* Lanes reach a segment, at which others may wait. */
INLINE void meet(u32 *mask, u64 *runtime, u32 lanes, u64 lanes_runtime) {
    if (!lanes) return;
    *runtime = *mask && *runtime < lanes_runtime ? *runtime : lanes_runtime;
    *mask |= lanes;
}

/* Returns true if none of the warp's splits uses up its timeslice within that many instructions:
 * then the earliest in the code runs first (core/warp_split.c). */
INLINE bool is_same_timeslice(const struct exec *x, u64 runtime, u32 insns) {
    u32 log2 = x->worker->launch->timeslice_log2;
    return runtime >> log2 == (runtime + insns) >> log2;
}

/* Counts complete runs of a segment. */
INLINE void count_runs(struct worker *k, u32 segment, u32 times, u64 lanes, bool has_branch,
                       u32 diverged) {
    k->segment_runs[segment] += times;
    k->segment_lanes[segment] += lanes;
    if (has_branch) k->branch_runs[segment] += times, k->branch_diverged[segment] += diverged;
}

/* ---- running chunks ---- */

typedef bool chunk_fn(struct exec *x, const struct op *ops, u32 mask);
INLINE bool run_chunk(struct exec *x, const struct op *ops, chunk_fn *chunk, int *failures) {
    bool done =
        __builtin_expect(x->fast_mask == ~0u, 1) ? chunk(x, ops, ~0u) : chunk(x, ops, x->fast_mask);
    if (done) count_successes(failures, 1);
    else count_failure(failures);
    return done;
}

/* Runs ops as the interpreter does. Returns false if a load read undefined bytes: the interpreter
 * must repeat the segment. */
static __attribute__((noinline)) bool interpret(struct exec *x, const struct op *o, u32 n) {
    for (; n; n--, o++) {
        u32 mask = x->fast_mask & (*(const u32 *)operand_at(x, o->guard) ^ o->guard_xor);
        if (mask) o->run(x, o, mask);
    }
    return x->fast_mask;
}
