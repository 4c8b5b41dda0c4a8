/* exec_values.h — functions of one lane's values, for the expressions in opcodes*.def. All are
 * branch-free, so that a loop over lanes becomes vector code. Only exec_opcodes.h includes this. */
#pragma once
#include "grader/sim/code/insn.h"

/* A call in a loop prevents vector code, and the compiler limits how much it inlines by itself. */
#define INLINE static inline __attribute__((always_inline))

typedef unsigned __int128 u128;
typedef __int128 s128;

INLINE f32 f32_of(u32 bits) {
    union {
        u32 bits;
        f32 value;
    } v = {.bits = bits};
    return v.value;
}
INLINE u32 bits_of(f32 value) {
    union {
        f32 value;
        u32 bits;
    } v = {.value = value};
    return v.bits;
}
INLINE f64 f64_of(u64 bits) {
    union {
        u64 bits;
        f64 value;
    } v = {.bits = bits};
    return v.value;
}
INLINE u64 bits64_of(f64 value) {
    union {
        f64 value;
        u64 bits;
    } v = {.value = value};
    return v.bits;
}

/* Selects by arithmetic: compilers turn ?: with costly operands into branches. */
INLINE u32 select_u32(bool condition, u32 if_true, u32 if_false) {
    u32 mask = 0 - (u32)condition;
    return (if_true & mask) | (if_false & ~mask);
}

#include "grader/sim/insn/exec_host_float.h"

/* ---- bits ---- */

INLINE u32 popc32(u32 a) {
    a -= a >> 1 & 0x55555555u;
    a = (a & 0x33333333u) + (a >> 2 & 0x33333333u);
    return ((a + (a >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}
INLINE u32 popc64(u64 a) { return popc32((u32)a) + popc32((u32)(a >> 32)); }
INLINE u32 clz32(u32 a) { return a ? (u32)__builtin_clz(a) : 32; }
INLINE u32 clz64(u64 a) { return a ? (u32)__builtin_clzll(a) : 64; }
INLINE u32 brev32(u32 a) {
    a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
    a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
    a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
    a = (a >> 8 & 0x00ff00ffu) | (a & 0x00ff00ffu) << 8;
    return a >> 16 | a << 16;
}
INLINE u64 brev64(u64 a) { return (u64)brev32((u32)a) << 32 | brev32((u32)(a >> 32)); }

/* PTX ISA "bfe": position and length are one byte each; bits beyond the value are 0, or its
 * sign. */
INLINE u32 low_mask32(u32 n) { return n > 31 ? ~0u : (1u << (n & 31)) - 1; }
INLINE u64 low_mask64(u32 n) { return n > 63 ? ~0ull : (1ull << (n & 63)) - 1; }
INLINE u32 bfe_u32(u32 a, u32 b, u32 c) {
    return (b & 255) > 31 ? 0 : a >> (b & 31) & low_mask32(c & 255);
}
INLINE u64 bfe_u64(u64 a, u32 b, u32 c) {
    return (b & 255) > 63 ? 0 : a >> (b & 63) & low_mask64(c & 255);
}
INLINE s32 bfe_s32(s32 a, u32 b, u32 c) {
    u32 from = b & 255, n = c & 255;
    s32 v = a >> (from > 31 ? 31 : from);
    u32 spare = from + n > 31 ? 0 : 32 - n;
    return n == 0 ? 0 : (s32)((u32)v << (spare & 31)) >> (spare & 31);
}
INLINE s64 bfe_s64(s64 a, u32 b, u32 c) {
    u32 from = b & 255, n = c & 255;
    s64 v = a >> (from > 63 ? 63 : from);
    u32 spare = from + n > 63 ? 0 : 64 - n;
    return n == 0 ? 0 : (s64)((u64)v << (spare & 63)) >> (spare & 63);
}
INLINE u32 bfi_b32(u32 a, u32 b, u32 c, u32 e) {
    u32 at = c & 255, field = at > 31 ? 0 : low_mask32(e & 255) << (at & 31);
    return (b & ~field) | (a << (at & 31) & field);
}
INLINE u64 bfi_b64(u64 a, u64 b, u32 c, u32 e) {
    u32 at = c & 255;
    u64 field = at > 63 ? 0 : low_mask64(e & 255) << (at & 63);
    return (b & ~field) | (a << (at & 63) & field);
}
INLINE u32 bmsk(u32 a, u32 b, int clamp) {
    u32 from = a & 31, n = b & 31;
    u32 start = clamp && a > 31 ? 0 : ~0u << from;
    bool overflows = from + n > 31 || (clamp && (a > 31 || b > 31));
    u32 above = overflows ? 0 : n == 0 ? ~0u : ~0u << (from + n);
    return start & ~above;
}
INLINE u32 szext(u32 a, u32 b, int clamp, int is_signed) {
    u32 n = b & 31;
    bool large = clamp && b > 31;
    u32 above = large ? 0 : ~0u << n, sign = a >> ((n - 1) & 31) & 1;
    return (a & ~above) | (is_signed && n && !large && sign ? above : 0);
}
INLINE u32 fns(u32 mask, u32 base, s32 n) {
    s32 at = (s32)base, remaining = n < 0 ? -n : n, step = n < 0 ? -1 : 1;
    if (n == 0) return base < 32 && mask >> base & 1 ? base : ~0u;
    for (; at >= 0 && at < 32; at += step)
        if (mask >> at & 1 && --remaining == 0) return (u32)at;
    return ~0u;
}
INLINE u32 lop3(u32 a, u32 b, u32 c, u32 table) {
    u32 d = 0;
    for (u32 k = 0; k < 8; k++)
        d |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c) & (0 - (table >> k & 1));
    return d;
}
INLINE u32 funnel_left(u32 a, u32 b, u32 n) { return (u32)(((u64)b << 32 | a) << n >> 32); }
INLINE u32 funnel_right(u32 a, u32 b, u32 n) { return (u32)(((u64)b << 32 | a) >> n); }
INLINE u32 clamp_shift32(u32 n) { return n > 32 ? 32 : n; }

/* prmt: byte k of the result is byte `nibble & 7` of b:a, or eight copies of that byte's sign. */
INLINE u32 prmt_byte(u64 ab, u32 nibble) {
    u32 v = (u32)(ab >> 8 * (nibble & 7)) & 255;
    return nibble & 8 ? (v >> 7) * 255 : v;
}
INLINE u32 prmt(u32 a, u32 b, u32 c) {
    u64 ab = (u64)b << 32 | a;
    return prmt_byte(ab, c) | prmt_byte(ab, c >> 4) << 8 | prmt_byte(ab, c >> 8) << 16 |
           prmt_byte(ab, c >> 12) << 24;
}
/* The modes of prmt select bytes by c's two low bits: one selector for each value, PTX ISA
 * table. */
INLINE u32 prmt_mode(u32 a, u32 b, u32 c, u64 selectors) {
    return prmt(a, b, (u32)(selectors >> 16 * (c & 3)) & 0xffff);
}

/* ---- arithmetic ---- */

INLINE s32 saturate_s32(s64 v) {
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (s32)v;
}
#define BYTE_u32(v, k) (u32)(u8)((v) >> 8 * (k))
#define BYTE_s32(v, k) (u32)(s32)(s8)((v) >> 8 * (k))
#define HALF_u32(v, k) (u32)(u16)((v) >> 16 * (k))
#define HALF_s32(v, k) (u32)(s32)(s16)((v) >> 16 * (k))

/* Returns the quotient as an integer where the condition is true, else 0. By arithmetic, as all of
 * these: with ?:, gcc leaves loops scalar that contain more than the division. */
INLINE u32 integer_if_f64(bool condition, f64 quotient) {
    return (u32)(s32)f64_of(bits64_of(quotient) & (0 - (u64)condition));
}
INLINE u32 integer_if_f32(bool condition, f32 quotient) {
    return (u32)(s32)f32_of(bits_of(quotient) & TRUTH_MASK(condition));
}

/* Divides 32-bit integers in f64, since vectors have no integer division: the exact quotient lies
 * at least 2^-32 of itself below the next integer, so rounding can't reach it. Division by zero
 * gives all ones. */
INLINE u32 div_u32(u32 a, u32 b) {
    u32 r = integer_if_f64(b > 1, (f64)a / (f64)b);
    return select_u32(b > 1, r, a | TRUTH_MASK(b == 0));
}
INLINE s32 div_s32(s32 a, s32 b) {
    bool in_range = (b != 0) & (b != -1);
    u32 r = integer_if_f64(in_range, (f64)a / (f64)b);
    return (s32)select_u32(in_range, r, (0 - (u32)a) | TRUTH_MASK(b == 0));
}
/* Divides 16-bit integers in f32 the same way. */
INLINE u16 div_u16(u16 a, u16 b) {
    return (u16)(integer_if_f32(b != 0, (f32)a / (f32)b) | TRUTH_MASK(b == 0));
}
INLINE s16 div_s16(s16 a, s16 b) {
    return (s16)(integer_if_f32(b != 0, (f32)a / (f32)b) | TRUTH_MASK(b == 0));
}

/* ---- floats ---- */

INLINE f32 canonical_nan_f32(f32 v) { return v == v ? v : f32_of(0x7fffffffu); }
INLINE f64 identity_f64(f64 v) { return v; }
/* Makes a zero of any value that compares equal to zero (in an environment that flushes, every
 * subnormal), with its sign. */
INLINE f32 flush_zero_f32(f32 v) {
    return f32_of(bits_of(v) & (TRUTH_MASK(v != 0.0f) | 0x80000000u));
}
#define IS_NEGATIVE(v) \
    _Generic((v), f32 : ((s32)bits_of((f32)(v)) < 0), f64 : ((s64)bits64_of((f64)(v)) < 0))
/* Returns the smaller one; -0 < +0. A NaN operand gives the other one, two NaNs a canonical NaN. */
INLINE f32 min_f32(f32 a, f32 b) {
    f32 r = (a < b) | ((a == b) & IS_NEGATIVE(a)) ? a : b;
    r = b != b ? a : r;
    return canonical_nan_f32(flush_zero_f32(a != a ? b : r));
}
INLINE f32 max_f32(f32 a, f32 b) {
    f32 r = (a > b) | ((a == b) & !IS_NEGATIVE(a)) ? a : b;
    r = b != b ? a : r;
    return canonical_nan_f32(flush_zero_f32(a != a ? b : r));
}
INLINE f64 min_f64(f64 a, f64 b) {
    f64 r = (a < b) | ((a == b) & IS_NEGATIVE(a)) ? a : b;
    r = b != b ? a : r;
    return identity_f64(a != a ? b : r);
}
INLINE f64 max_f64(f64 a, f64 b) {
    f64 r = (a > b) | ((a == b) & !IS_NEGATIVE(a)) ? a : b;
    r = b != b ? a : r;
    return identity_f64(a != a ? b : r);
}
INLINE f32 nan_min_f32(f32 a, f32 b) {
    return (a != a) | (b != b) ? f32_of(0x7fffffffu) : min_f32(a, b);
}
INLINE f32 nan_max_f32(f32 a, f32 b) {
    return (a != a) | (b != b) ? f32_of(0x7fffffffu) : max_f32(a, b);
}
/* .xorsign.abs: min or max of the magnitudes, with the exclusive or of the signs. */
INLINE f32 abs_ftz_f32(f32 a) { return flush_zero_f32(f32_of(bits_of(a) & 0x7fffffffu)); }
INLINE f32 neg_ftz_f32(f32 a) { return flush_zero_f32(f32_of(bits_of(a) ^ 0x80000000u)); }
INLINE f32 xor_sign(f32 v, f32 a, f32 b) {
    return v != v ? v
                  : f32_of((bits_of(v) & 0x7fffffffu) | ((bits_of(a) ^ bits_of(b)) & 0x80000000u));
}
INLINE f64 rni_f64(f64 v) {
    return __builtin_rint(v);
} /* the environment rounds to nearest even here */
INLINE f64 rzi_f64(f64 v) { return __builtin_trunc(v); }
INLINE f64 rmi_f64(f64 v) { return __builtin_floor(v); }
INLINE f64 rpi_f64(f64 v) { return __builtin_ceil(v); }
/* Clamps. Comparisons are false for NaN, which takes the last branch: it becomes 0, or, if operand
 * or result has 64 bits, a 1 and as many zeroes as fit (PTX ISA, "cvt"). */
#define DEFINE_NARROWING(T, low, high, bits)                                             \
    INLINE T to_##T(f64 v, bool from_f64) {                                              \
        f64 nan = from_f64 ? 0x1p##bits : 0.0;                                           \
        return (T)(s64)(v > (low) ? (v < (high) ? v : (high)) : (v == v ? (low) : nan)); \
    }
DEFINE_NARROWING(u8, 0.0, 255.0, 7)
DEFINE_NARROWING(s8, -128.0, 127.0, 7)
DEFINE_NARROWING(u16, 0.0, 65535.0, 15)
DEFINE_NARROWING(s16, -32768.0, 32767.0, 15)
DEFINE_NARROWING(u32, 0.0, 4294967295.0, 31)
DEFINE_NARROWING(s32, -2147483648.0, 2147483647.0, 31)
INLINE s64 to_s64(f64 v, bool from_f64) {
    (void)from_f64;
    return v >= 0x1p63 ? INT64_MAX : v >= -0x1p63 ? (s64)v : INT64_MIN;
}
INLINE u64 to_u64(f64 v, bool from_f64) {
    (void)from_f64;
    return v >= 0x1p64 ? UINT64_MAX : v > 0.0 ? (u64)v : v == v ? 0 : 1ull << 63;
}
#undef DEFINE_NARROWING

/* PTX ISA "testp": decides by exponent and fraction, so that no environment changes the result. */
enum {
    FP_FINITE_CLASS,
    FP_INFINITE_CLASS,
    FP_NUMBER_CLASS,
    FP_NAN_CLASS,
    FP_NORMAL_CLASS,
    FP_SUBNORMAL_CLASS
};
INLINE bool test_fp_class(u64 magnitude, u64 infinity, u64 smallest_normal, int fp_class) {
    switch (fp_class) {
    case FP_FINITE_CLASS: return magnitude < infinity;
    case FP_INFINITE_CLASS: return magnitude == infinity;
    case FP_NUMBER_CLASS: return magnitude <= infinity;
    case FP_NAN_CLASS: return magnitude > infinity;
    case FP_NORMAL_CLASS: return magnitude < infinity && magnitude >= smallest_normal;
    default: return magnitude < smallest_normal && magnitude;
    }
}
#define TESTP_f32(a, what) test_fp_class((a)&0x7fffffffu, 0x7f800000u, 0x00800000u, what)
#define TESTP_f64(a, what) test_fp_class((a) & ~(1ull << 63), 0x7ffull << 52, 1ull << 52, what)
