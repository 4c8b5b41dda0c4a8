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
INLINE bool is_initialized(const unsigned char *w, const struct access_pattern *m, u32 span) {
    u32 all = 0x01010101;
    if (m->shape == PATTERN_UNIFORM) {
        if (span == 4) return *(const u32_loose *)w == all;
        for (u32 i = 0; i < span; i++)
            if (!(w[i] & 1)) return false;
        return true;
    }
    if (span != 4) return false;
    if (m->shape == PATTERN_UNIT_STRIDE) FOR_LANES all &= ((const u32_loose *)w)[l];
    else FOR_LANES all &= *(const u32_loose *)(w + m->lane_offset[l]);
    return all == 0x01010101;
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
    if (is_unlikely(!fits || (is_const && x->tracks_global_races))) return NULL;
    if (x->sanitize && !a->is_initialized &&
        is_unlikely(!is_initialized(x->memory->init_shadow + (base - SIM_BASE), m, span)))
        return NULL;
    *is_recorded = x->tracks_global_races && a->is_race_checked;
    return x->memory->bytes + (base - SIM_BASE);
}
INLINE const unsigned char *guard_shared(const struct exec *x, struct access_pattern *m, u64 base,
                                         u32 span, u32 array_begin, u32 array_end) {
    u64 low = base + (u64)(s64)m->min_offset,
        high = low + (u64)((s64)m->max_offset - m->min_offset) + span;
    if (is_unlikely(low >= x->shared_bytes || high > x->shared_bytes ||
                    (((u32)base | m->offset_bits) & (span - 1))))
        return NULL;
    if (x->sanitize && is_unlikely((array_end && (low < array_begin || high > array_end)) ||
                                   !is_initialized(x->shared_written + base, m, span)))
        return NULL;
    return x->shared + base;
}

/* Counts a load, as pattern_count does, and notes where it was. */
INLINE void commit_load(u64 s[STAT_COUNT], struct access_pattern *m, u64 base, u32 phase, u32 mask,
                        bool is_counted) {
    u32 sectors = m->sectors_by_alignment[phase];
    m->base = base, m->last_mask = mask;
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
    INLINE const T *gather_##T(const unsigned char *p, const struct access_pattern *m, \
                               bool is_row, T *buffer) {                               \
        if (is_row && m->shape == PATTERN_UNIT_STRIDE) return (const T *)p;            \
        FOR_LANES buffer[l] = *(const T *)(p + m->lane_offset[l]);                     \
        return buffer;                                                                 \
    }
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

/* ---- running chunks ---- */

/* A chunk whose checks fail more often than one time in eight is left to the interpreter. */
enum { FAILURE_WEIGHT = 8, MAX_FAILURES = 4000 };
typedef bool chunk_fn(struct exec *x, const struct op *ops, u32 mask);
INLINE bool run_chunk(struct exec *x, const struct op *ops, chunk_fn *chunk, int *failures) {
    bool done =
        __builtin_expect(x->fast_mask == ~0u, 1) ? chunk(x, ops, ~0u) : chunk(x, ops, x->fast_mask);
    int n = __atomic_load_n(failures, __ATOMIC_RELAXED);
    if (!done) __atomic_store_n(failures, n + FAILURE_WEIGHT, __ATOMIC_RELAXED);
    else if (__builtin_expect(n > 0, 0)) __atomic_store_n(failures, n - 1, __ATOMIC_RELAXED);
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
