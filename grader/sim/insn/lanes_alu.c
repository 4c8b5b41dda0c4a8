/* lanes_alu.c — the lane functions of the rows that are a C expression, and the table of all lane functions. */
#include "grader/sim/insn/lanes.h"

#include <math.h>
#include <string.h>

typedef unsigned __int128 u128;
typedef __int128 s128;

/* ---- what expressions in rows may use ---- */

static inline s32 saturate_s32(s64 v) { return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (s32)v; }
static inline f32 canonical(f32 v) {
    union { u32 bits; f32 value; } nan = {.bits = 0x7fffffffu};
    return v == v ? v : nan.value;
}
static inline f64 same(f64 v) { return v; }
static inline f64 high_word(f64 v) {
    union { f64 value; u64 bits; } w = {.value = v};
    w.bits &= 0xffffffff00000000ull;
    return w.value;
}
#define FMA_f32 __builtin_fmaf
#define FMA_f64 __builtin_fma
#define SQRT_f32 __builtin_sqrtf
#define SQRT_f64 __builtin_sqrt
/* -0 < +0; a NaN operand gives the other one, two NaNs a canonical NaN. */
static inline f32 min_f32(f32 a, f32 b) {
    f32 r = a < b || (a == b && signbit(a)) ? a : b;
    return canonical(a != a ? b : b != b ? a : r);
}
static inline f32 max_f32(f32 a, f32 b) {
    f32 r = a > b || (a == b && !signbit(a)) ? a : b;
    return canonical(a != a ? b : b != b ? a : r);
}
static inline f64 min_f64(f64 a, f64 b) {
    f64 r = a < b || (a == b && signbit(a)) ? a : b;
    return a != a ? b : b != b ? a : r;
}
static inline f64 max_f64(f64 a, f64 b) {
    f64 r = a > b || (a == b && !signbit(a)) ? a : b;
    return a != a ? b : b != b ? a : r;
}
static inline f64 rni_f64(f64 v) { return __builtin_rint(v); } /* the environment rounds to nearest even here */
static inline f64 rzi_f64(f64 v) { return __builtin_trunc(v); }
static inline f64 rmi_f64(f64 v) { return __builtin_floor(v); }
static inline f64 rpi_f64(f64 v) { return __builtin_ceil(v); }
/* Clamping: the comparison is false for NaN, which then takes the last branch. */
#define TO_NARROW(T, low, high)                                                                              \
    static inline T to_##T(f64 v) { return (T)(s64)(v > (low) ? (v < (high) ? v : (high)) : (v == v ? (low) : 0.0)); }
TO_NARROW(u8, 0.0, 255.0)
TO_NARROW(s8, -128.0, 127.0)
TO_NARROW(u16, 0.0, 65535.0)
TO_NARROW(s16, -32768.0, 32767.0)
TO_NARROW(u32, 0.0, 4294967295.0)
TO_NARROW(s32, -2147483648.0, 2147483647.0)
static inline s64 to_s64(f64 v) { return v >= 0x1p63 ? INT64_MAX : v >= -0x1p63 ? (s64)v : INT64_MIN; }
static inline u64 to_u64(f64 v) { return v >= 0x1p64 ? UINT64_MAX : v > 0.0 ? (u64)v : v == v ? 0 : 1ull << 63; }

/* ---- storage: 8-bit values live in 16-bit registers ---- */

typedef u16 st_u8;
typedef u16 st_s8;
typedef u16 st_u16;
typedef s16 st_s16;
typedef u32 st_u32;
typedef s32 st_s32;
typedef u64 st_u64;
typedef s64 st_s64;
typedef f32 st_f32;
typedef f64 st_f64;
#define WIDEN_u8 (u16)
#define WIDEN_s8 (u16)(s16)
#define WIDEN_u16
#define WIDEN_s16
#define WIDEN_u32
#define WIDEN_s32
#define WIDEN_u64
#define WIDEN_s64
#define WIDEN_f32
#define WIDEN_f64

static void clamp_f32(struct exec *x, const struct op *o, u32 mask) {
    f32 *D = at(x, o->dst);
    STORE_LANES(D, mask, D[l] > 0.0f ? (D[l] < 1.0f ? D[l] : 1.0f) : 0.0f); /* NaN becomes +0 */
}

/* Only the f32 rows admit .sat; for the others the test folds away. */
#define SAT_STEP(mods) \
    if ((mods) & MOD_SAT && o->flags & OPF_SAT) clamp_f32(x, o, mask)


#define SRC(i, T) const st_##T *P##i = at(x, o->src[i])
#define ARG(n, i, T) T n = (T)P##i[l]
#define LOOP(TD, ARGS, expr)                                                                                 \
    if (mask == ~0u) {                                                                                       \
        LANES { ARGS; D[l] = WIDEN_##TD(TD)(expr); }                                                         \
    } else {                                                                                                 \
        LANES { ARGS; D[l] = (mask >> l & 1) ? WIDEN_##TD(TD)(expr) : D[l]; }                                \
    }
#define HEAD(id, TD)                                                                                         \
    static void op_##id(struct exec *x, const struct op *o, u32 mask) {                                      \
        st_##TD *D = at(x, o->dst)
#define TAIL(mods) SAT_STEP(mods); }


#define R1(id, name, mods, pipe, flops, TD, TA, expr)                                                        \
    HEAD(id, TD); SRC(0, TA); LOOP(TD, ARG(a, 0, TA), expr) TAIL(mods)
#define R2(id, name, mods, pipe, flops, TD, TA, TB, expr)                                                    \
    HEAD(id, TD); SRC(0, TA); SRC(1, TB); LOOP(TD, ARG(a, 0, TA); ARG(b, 1, TB), expr) TAIL(mods)
#define R3(id, name, mods, pipe, flops, TD, TA, TB, TC, expr)                                                \
    HEAD(id, TD); SRC(0, TA); SRC(1, TB); SRC(2, TC);                                                        \
    LOOP(TD, ARG(a, 0, TA); ARG(b, 1, TB); ARG(c, 2, TC), expr) TAIL(mods)
#define R4(id, name, mods, pipe, flops, TD, TA, TB, TC, TE, expr)                                            \
    HEAD(id, TD); SRC(0, TA); SRC(1, TB); SRC(2, TC); SRC(3, TE);                                            \
    LOOP(TD, ARG(a, 0, TA); ARG(b, 1, TB); ARG(c, 2, TC); ARG(e, 3, TE), expr) TAIL(mods)

/* setp p|q, a, b, c: p = (a cmp b) op c, q = !(a cmp b) op c. aux: 0 none, 1 and, 2 or, 3 xor; imm flips c;
 * src[3] is q. */
static inline u32 combine(u32 v, u32 how, u32 c) { return how == 1 ? v & c : how == 2 ? v | c : how == 3 ? v ^ c : v; }
static inline void put_mask(struct exec *x, ref r, u32 value, u32 mask) {
    u32 *D = at(x, r);
    *D = (*D & ~mask) | (value & mask);
}
static inline void put_comparison(struct exec *x, const struct op *o, u32 bits, u32 mask) {
    u32 c = o->aux ? mask_at(x, o->src[2]) ^ (u32)o->imm : 0;
    put_mask(x, o->dst, combine(bits, o->aux, c), mask);
    if (o->src[3] != REF_NONE) put_mask(x, o->src[3], combine(~bits, o->aux, c), mask);
}
#define RP(id, name, mods, pipe, TA, TB, expr)                                                               \
    static void op_##id(struct exec *x, const struct op *o, u32 mask) {                                      \
        SRC(0, TA); SRC(1, TB);                                                                              \
        u32 bits = 0;                                                                                        \
        LANES { ARG(a, 0, TA); ARG(b, 1, TB); bits |= (expr) ? 1u << l : 0; }                                \
        put_comparison(x, o, bits, mask);                                                                    \
    }
#define RM(id, name, nsrc, expr)                                                                             \
    static void op_##id(struct exec *x, const struct op *o, u32 mask) {                                      \
        u32 a = mask_at(x, o->src[0]) ^ (u32)o->imm, b = nsrc > 1 ? mask_at(x, o->src[1]) ^ (u32)(o->imm >> 32) : 0; \
        (void)b;                                                                                             \
        put_mask(x, o->dst, expr, mask);                                                                     \
    }
#define RS(id, name, T)                                                                                      \
    static void op_##id(struct exec *x, const struct op *o, u32 mask) {                                      \
        T *D = at(x, o->dst);                                                                                \
        SRC(0, T); SRC(1, T);                                                                                \
        u32 p = mask_at(x, o->src[2]) ^ (u32)o->imm;                                                         \
        LOOP(u64, (void)0, (p >> l & 1 ? P0[l] : P1[l]))                                                            \
    }
#define RL(id, name, pipe, text)
#define RX(id, name, kind, pipe, text)
#include "grader/sim/insn/rows.def"
#undef R1
#undef R2
#undef R3
#undef R4
#undef RP
#undef RM
#undef RS
#undef RL

#undef RX

#define R1(id, ...) op_##id,
#define R2(id, ...) op_##id,
#define R3(id, ...) op_##id,
#define R4(id, ...) op_##id,
#define RP(id, ...) op_##id,
#define RM(id, ...) op_##id,
#define RS(id, ...) op_##id,
#define RL(id, ...) ISAFN(op_##id),
#define RX(id, ...) NULL,
op_fn *const ISAFN(lane_rows)[] = {
#include "grader/sim/insn/rows.def"
};
