/* lanes_half.h — 16-bit floating point in 32-bit registers of the host: conversions by bit
 * operations, branch-free.
 *
 * f16 has 5 exponent and 10 fraction bits, bf16 8 and 7. Sums, products, quotients and roots of
 * halves computed in f32 and rounded again are correctly rounded, since 24 bits ≥ 2 × 11 + 2
 * (Figueroa, "When is double rounding innocuous?", 1995); a fused multiply-add is not, so it goes
 * through f64 with what was lost kept in the last bit (round to odd). A NaN result is 0x7fff. */
#pragma once
#include "grader/sim/insn/lanes_values.h"

enum { HALF_NAN = 0x7fff };

INLINE f32 f32_of_f16(u16 h) {
    u32 magnitude = (u32)(h & 0x7fff) << 13, sign = (u32)(h & 0x8000) << 16;
    u32 normal = magnitude + (112u << 23);
    u32 small = bits_of((f32)(s32)(h & 0x3ff) *
                        0x1p-24f); /* by an integer, so that flushing modes do not touch it */
    u32 value = magnitude < 1u << 23     ? small
                : magnitude >= 31u << 23 ? magnitude | 255u << 23
                                         : normal;
    return f32_of(value | sign);
}

/* Rounding of a magnitude cut into `kept` and `rest`, of which `half` is the halfway point. */
enum { TO_NEAREST, TO_ZERO, TO_MINUS, TO_PLUS };
INLINE u32 round_magnitude(u32 kept, u32 rest, u32 half, bool negative, int mode) {
    if (mode == TO_ZERO) return kept;
    if (mode == TO_NEAREST) return kept + (rest > half || (rest == half && (kept & 1)));
    return kept + (rest && negative == (mode == TO_MINUS));
}

/* As f32_of_f16, with less work, but not where a flushing mode is in force. */
INLINE f32 value_f16(u16 h) {
    u32 m = (u32)(h & 0x7fff) << 13, sign = (u32)(h & 0x8000) << 16;
    u32 scaled = bits_of(f32_of(m) * 0x1p112f);
    return f32_of(pick(m >= 31u << 23, m | 255u << 23, scaled) | sign);
}

/* To the nearest, where f32 does the rounding of subnormal results. */
INLINE u16 nearest_f16(f32 v) {
    u32 bits = bits_of(v), sign = bits >> 16 & 0x8000, m = bits & 0x7fffffffu;
    u32 normal = (m + 0xc8000fffu + (m >> 13 & 1)) >> 13,
        small = bits_of(f32_of(m) + 0.5f) - 0x3f000000u;
    u32 r = pick(m < 0x38800000u, small, normal);
    r = pick(m >= 0x477ff000u, 0x7c00, r) | sign;
    return (u16)pick(m > 255u << 23, HALF_NAN, r);
}

/* From the bits of an f32. What overflows becomes infinity, or the largest number where the mode
 * says so. */
INLINE u16 f16_of_bits(u32 v, int mode) {
    if (mode == TO_NEAREST) return nearest_f16(f32_of(v));
    u32 sign = v >> 16 & 0x8000, m = v & 0x7fffffffu, exponent = m >> 23;
    u32 shift = exponent >= 113 ? 13 : exponent >= 102 ? 126 - exponent : 25;
    u32 fraction = (m & 0x7fffffu) | 1u << 23;
    u32 kept = exponent >= 113 ? (m >> 13) - (112u << 10) : fraction >> shift;
    u32 rest = fraction & ((1u << shift) - 1), half = 1u << (shift - 1);
    kept = exponent < 102 ? 0 : kept;
    rest = exponent < 102 ? m != 0
                          : rest; /* below half of the least: inexact, but never nearest to it */
    half = exponent < 102 ? 2 : half;
    u32 r = round_magnitude(kept, rest, half, sign != 0, mode);
    u32 most = mode == TO_ZERO || (mode == TO_MINUS && !sign) || (mode == TO_PLUS && sign) ? 0x7bff
                                                                                           : 0x7c00;
    r = m >= 143u << 23 || r > most ? most : r;
    r = m == 255u << 23 ? 0x7c00 : r;
    return (u16)(m > 255u << 23 ? HALF_NAN : r | sign);
}
INLINE u16 f16_of_f32(f32 v) { return f16_of_bits(bits_of(v), TO_NEAREST); }

INLINE f32 f32_of_bf16(u16 h) { return f32_of((u32)h << 16); }
INLINE u16 bf16_of_bits(u32 v, int mode) {
    u32 m = v & 0x7fffffffu, sign = v >> 16 & 0x8000;
    u32 r = round_magnitude(m >> 16, m & 0xffff, 0x8000, sign != 0, mode);
    bool stays = mode == TO_ZERO || (mode == TO_MINUS && !sign) || (mode == TO_PLUS && sign);
    r = m == 255u << 23 ? 0x7f80 : stays && r > 0x7f7f ? 0x7f7f : r;
    return (u16)(m > 255u << 23 ? HALF_NAN : r | sign);
}
INLINE f32 value_bf16(u16 h) { return f32_of_bf16(h); }
INLINE u16 nearest_bf16(f32 v) {
    u32 b = bits_of(v);
    return (u16)((b & 0x7fffffffu) > 255u << 23 ? HALF_NAN : (b + 0x7fff + (b >> 16 & 1)) >> 16);
}
INLINE u16 bf16_of_f32(f32 v) { return bf16_of_bits(bits_of(v), TO_NEAREST); }
/* tf32: an f32 whose last 13 fraction bits are zero. */
INLINE u32 tf32_of_bits(u32 v, int mode) {
    u32 m = v & 0x7fffffffu;
    u32 r = round_magnitude(m >> 13, m & 0x1fff, 0x1000, v >> 31, mode) << 13;
    return m > 255u << 23 ? 0x7fffffffu : m == 255u << 23 ? v : r | (v & 0x80000000u);
}
INLINE u32 tf32_rna(u32 v) { /* ties away from zero */
    u32 m = v & 0x7fffffffu;
    return m > 255u << 23 ? 0x7fffffffu : m == 255u << 23 ? v : ((v + 0x1000) & ~0x1fffu);
}
INLINE u32 relu_bits(u32 v) { return v > 255u << 23 && v <= 0x7fffffffu ? v : v >> 31 ? 0 : v; }

/* f64 to f32 with everything cut off kept in the last bit; a later rounding to 16 bits then sees
 * it. */
INLINE f32 odd_f32(f64 v) {
    u64 b = bits64_of(v), m = b & ~(1ull << 63);
    u32 sign = (u32)(b >> 32) & 0x80000000u;
    u32 lost = (m & 0x1fffffff) != 0;
    u32 normal = (u32)(m >> 29) - (896u << 23);
    u64 fraction = (m & 0xfffffffffffffull) | 1ull << 52;
    u32 exponent = (u32)(m >> 52), shift = exponent > 896    ? 29
                                           : exponent >= 868 ? 926 - exponent
                                                             : 58;
    u32 small = (u32)(fraction >> shift) | ((fraction & ((1ull << shift) - 1)) != 0);
    u32 r = exponent > 896 ? normal | lost : m ? small : 0;
    r = m >= 1151ull << 52 ? 0x7f7fffffu : r;
    r = m == 2047ull << 52 ? 255u << 23 : m > 2047ull << 52 ? 0x7fffffffu : r;
    return f32_of(r | sign);
}
/* The 8-bit formats: e4m3 has 4 exponent bits (bias 7), no infinity, one NaN, and 448 as its
 * largest number; e5m2 is the high byte of an f16. Results saturate; NaN is 0x7f. */
INLINE u32 e4m3_of_f32(f32 value) {
    u32 v = bits_of(value), m = v & 0x7fffffffu, sign = v >> 24 & 0x80, exponent = m >> 23;
    u32 shift = exponent >= 121 ? 20 : exponent >= 117 ? 141 - exponent : 25;
    u32 fraction = (m & 0x7fffffu) | 1u << 23;
    u32 kept = exponent >= 121 ? (m >> 20) - (120u << 3) : exponent >= 117 ? fraction >> shift : 0;
    u32 rest = exponent >= 117 ? fraction & ((1u << shift) - 1) : 0, half = 1u << (shift - 1);
    u32 r = round_magnitude(kept, rest, half, false, TO_NEAREST);
    r = m >= 136u << 23 || r > 0x7e ? 0x7e : r;
    return m > 255u << 23 ? 0x7f : r | sign;
}
INLINE u32 e5m2_of_f32(f32 value) {
    u32 v = bits_of(value), m = v & 0x7fffffffu, sign = v >> 24 & 0x80, exponent = m >> 23;
    u32 shift = exponent >= 113 ? 21 : exponent >= 110 ? 134 - exponent : 25;
    u32 fraction = (m & 0x7fffffu) | 1u << 23;
    u32 kept = exponent >= 113 ? (m >> 21) - (112u << 2) : exponent >= 110 ? fraction >> shift : 0;
    u32 rest = exponent >= 110 ? fraction & ((1u << shift) - 1) : 0, half = 1u << (shift - 1);
    u32 r = round_magnitude(kept, rest, half, false, TO_NEAREST);
    r = m >= 143u << 23 || r > 0x7b ? 0x7b : r;
    return m > 255u << 23 ? 0x7f : r | sign;
}
INLINE u16 f16_of_e4m3(u32 v) {
    u32 m = v & 0x7f, sign = (v & 0x80) << 8;
    u32 small = (u32)f16_of_f32((f32)(s32)(v & 7) * 0x1p-9f);
    return (u16)(m == 0x7f ? HALF_NAN : (m < 8 ? small : (m << 7) + (8u << 10)) | sign);
}
INLINE u16 f16_of_e5m2(u32 v) { return (v & 0x7f) > 0x7c ? HALF_NAN : (u16)((v & 0xff) << 8); }
INLINE u32 relu_e4m3(u32 v) { return v & 0x80 ? 0 : v; }
INLINE u32 relu_e5m2(u32 v) { return v & 0x80 ? 0 : v; }

/* fma_odd of f16s, whose products are exact in f32. */
INLINE f32 fma_odd_f16(f32 a, f32 b, f32 c) {
    f32 p = a * b, s = p + c, t = s - p;
    u32 bits = bits_of(s), lost = bits_of((p - (s - t)) + (c - t));
    bool inexact = (lost << 1 != 0) & ((bits & 255u << 23) != 255u << 23);
    return f32_of(
        pick(inexact, (bits - ((lost ^ bits) >> 31)) | 1, bits)); /* cut off, then made odd */
}

/* Any integer as an f32 rounded to odd, which a later rounding to 16 bits does not notice. */
INLINE f32 odd_of_u64(u64 v) {
    u64 high = v >> 16 | ((v & 0xffff) != 0);
    return odd_f32(v >> 48 ? (f64)(s64)high * 65536.0 : (f64)(s64)v);
}
INLINE f32 odd_of_s64(s64 v) {
    f32 m = odd_of_u64(v < 0 ? 0 - (u64)v : (u64)v);
    return v < 0 ? -m : m;
}

/* What rows do with a pair of halves in a register. */
#define BOTH1(f, a) ((u32)f((u16)(a)) | (u32)f((u16)((a) >> 16)) << 16)
#define BOTH2(f, a, b) \
    ((u32)f((u16)(a), (u16)(b)) | (u32)f((u16)((a) >> 16), (u16)((b) >> 16)) << 16)
#define BOTH3(f, a, b, c)                   \
    ((u32)f((u16)(a), (u16)(b), (u16)(c)) | \
     (u32)f((u16)((a) >> 16), (u16)((b) >> 16), (u16)((c) >> 16)) << 16)

INLINE u16 flushed_f16(u16 h) { return h & 0x7c00 ? h : h & 0x8000; }
INLINE u16 flushed_bf16(u16 h) { return h & 0x7f80 ? h : h & 0x8000; }
INLINE bool nan_f16(u16 h) { return (h & 0x7fff) > 0x7c00; }
INLINE bool nan_bf16(u16 h) { return (h & 0x7fff) > 0x7f80; }
INLINE u16 unit_f16(u16 h) { return nan_f16(h) || h >> 15 ? 0 : h > 0x3c00 ? 0x3c00 : h; }
INLINE u16 unit_bf16(u16 h) { return nan_bf16(h) || h >> 15 ? 0 : h > 0x3f80 ? 0x3f80 : h; }
INLINE u16 relu_f16(u16 h) { return nan_f16(h) ? HALF_NAN : h >> 15 ? 0 : h; }
INLINE u16 relu_bf16(u16 h) { return nan_bf16(h) ? HALF_NAN : h >> 15 ? 0 : h; }
INLINE u16 signed_f16(u16 v, u32 sign) {
    return nan_f16(v) ? HALF_NAN : (u16)((v & 0x7fff) | (sign & 0x8000));
}
INLINE u16 signed_bf16(u16 v, u32 sign) {
    return nan_bf16(v) ? HALF_NAN : (u16)((v & 0x7fff) | (sign & 0x8000));
}

/* One definition for both formats: H is f16 or bf16. */
#define HALF_FUNCTIONS(H)                                                                          \
    INLINE u16 add_##H(u16 a, u16 b) { return nearest_##H(value_##H(a) + value_##H(b)); }          \
    INLINE u16 sub_##H(u16 a, u16 b) { return nearest_##H(value_##H(a) - value_##H(b)); }          \
    INLINE u16 mul_##H(u16 a, u16 b) { return nearest_##H(value_##H(a) * value_##H(b)); }          \
    INLINE u16 neg_##H(u16 a) { return nan_##H(a) ? HALF_NAN : a ^ 0x8000; }                       \
    INLINE u16 abs_##H(u16 a) { return nan_##H(a) ? HALF_NAN : a & 0x7fff; }                       \
    /* as integers, halves in sign and magnitude are in order */                                   \
    INLINE s32 order_##H(u16 a) { return a & 0x8000 ? -(s32)(a & 0x7fff) - 1 : a; }                \
    INLINE u16 min_##H(u16 a, u16 b) {                                                             \
        u16 r = order_##H(a) < order_##H(b) ? a : b;                                               \
        return nan_##H(a) && nan_##H(b) ? HALF_NAN : nan_##H(a) ? b : nan_##H(b) ? a : r;          \
    }                                                                                              \
    INLINE u16 max_##H(u16 a, u16 b) {                                                             \
        u16 r = order_##H(a) > order_##H(b) ? a : b;                                               \
        return nan_##H(a) && nan_##H(b) ? HALF_NAN : nan_##H(a) ? b : nan_##H(b) ? a : r;          \
    }                                                                                              \
    INLINE u16 nan_min_##H(u16 a, u16 b) {                                                         \
        return nan_##H(a) || nan_##H(b) ? HALF_NAN : min_##H(a, b);                                \
    }                                                                                              \
    INLINE u16 nan_max_##H(u16 a, u16 b) {                                                         \
        return nan_##H(a) || nan_##H(b) ? HALF_NAN : max_##H(a, b);                                \
    }                                                                                              \
    INLINE u16 xors_min_##H(u16 a, u16 b) {                                                        \
        return signed_##H(min_##H(a & 0x7fff, b & 0x7fff), a ^ b);                                 \
    }                                                                                              \
    INLINE u16 xors_max_##H(u16 a, u16 b) {                                                        \
        return signed_##H(max_##H(a & 0x7fff, b & 0x7fff), a ^ b);                                 \
    }                                                                                              \
    INLINE u16 nan_xors_min_##H(u16 a, u16 b) {                                                    \
        return signed_##H(nan_min_##H(a & 0x7fff, b & 0x7fff), a ^ b);                             \
    }                                                                                              \
    INLINE u16 nan_xors_max_##H(u16 a, u16 b) {                                                    \
        return signed_##H(nan_max_##H(a & 0x7fff, b & 0x7fff), a ^ b);                             \
    }                                                                                              \
    /* comparisons: ordered ones are false for NaN, the ...u forms true */                         \
    INLINE bool num_##H(u16 a, u16 b) { return !(nan_##H(a) | nan_##H(b)); }                       \
    INLINE bool unordered_##H(u16 a, u16 b) { return nan_##H(a) | nan_##H(b); }                    \
    INLINE bool same_##H(u16 a, u16 b) { return (a == b) | !((a | b) & 0x7fff); }                  \
    INLINE bool less_##H(u16 a, u16 b) { return (order_##H(a) < order_##H(b)) & !same_##H(a, b); } \
    INLINE bool eq_##H(u16 a, u16 b) { return num_##H(a, b) & same_##H(a, b); }                    \
    INLINE bool ne_##H(u16 a, u16 b) { return num_##H(a, b) & !same_##H(a, b); }                   \
    INLINE bool lt_##H(u16 a, u16 b) { return num_##H(a, b) & less_##H(a, b); }                    \
    INLINE bool le_##H(u16 a, u16 b) { return num_##H(a, b) & !less_##H(b, a); }                   \
    INLINE bool gt_##H(u16 a, u16 b) { return num_##H(a, b) & less_##H(b, a); }                    \
    INLINE bool ge_##H(u16 a, u16 b) { return num_##H(a, b) & !less_##H(a, b); }                   \
    INLINE bool equ_##H(u16 a, u16 b) { return !ne_##H(a, b); }                                    \
    INLINE bool neu_##H(u16 a, u16 b) { return !eq_##H(a, b); }                                    \
    INLINE bool ltu_##H(u16 a, u16 b) { return !ge_##H(a, b); }                                    \
    INLINE bool leu_##H(u16 a, u16 b) { return !gt_##H(a, b); }                                    \
    INLINE bool gtu_##H(u16 a, u16 b) { return !le_##H(a, b); }                                    \
    INLINE bool geu_##H(u16 a, u16 b) { return !lt_##H(a, b); }
HALF_FUNCTIONS(f16)
HALF_FUNCTIONS(bf16)
INLINE u16 fma_f16(u16 a, u16 b, u16 c) {
    return nearest_f16(fma_odd_f16(value_f16(a), value_f16(b), value_f16(c)));
}
INLINE u16 fma_bf16(u16 a, u16 b, u16 c) {
    return nearest_bf16(odd_f32(fma_odd(f32_of_bf16(a), f32_of_bf16(b), f32_of_bf16(c))));
}
#undef HALF_FUNCTIONS

/* The variants of f16 that modifiers ask for. */
/* clang-format off */
#define FTZ_OF(op)                                                                                           \
    INLINE u16 op##_ftz_f16(u16 a, u16 b) { return flushed_f16(op##_f16(flushed_f16(a), flushed_f16(b))); }
#define SAT_OF(op)                                                                                           \
    INLINE u16 op##_sat_f16(u16 a, u16 b) { return unit_f16(op##_f16(a, b)); }                        \
    INLINE u16 op##_ftz_sat_f16(u16 a, u16 b) { return unit_f16(op##_ftz_f16(a, b)); }
FTZ_OF(add) FTZ_OF(sub) FTZ_OF(mul) SAT_OF(add) SAT_OF(sub) SAT_OF(mul)
FTZ_OF(min) FTZ_OF(max) FTZ_OF(nan_min) FTZ_OF(nan_max) FTZ_OF(xors_min) FTZ_OF(xors_max)
FTZ_OF(nan_xors_min) FTZ_OF(nan_xors_max)
#undef FTZ_OF
#undef SAT_OF
    /* clang-format on */
    INLINE u16 fma_ftz_f16(u16 a, u16 b, u16 c) {
    return flushed_f16(fma_f16(flushed_f16(a), flushed_f16(b), flushed_f16(c)));
}
INLINE u16 fma_sat_f16(u16 a, u16 b, u16 c) { return unit_f16(fma_f16(a, b, c)); }
INLINE u16 fma_ftz_sat_f16(u16 a, u16 b, u16 c) { return unit_f16(fma_ftz_f16(a, b, c)); }
INLINE u16 fma_relu_f16(u16 a, u16 b, u16 c) { return relu_f16(fma_f16(a, b, c)); }
INLINE u16 fma_ftz_relu_f16(u16 a, u16 b, u16 c) { return relu_f16(fma_ftz_f16(a, b, c)); }
INLINE u16 fma_relu_bf16(u16 a, u16 b, u16 c) { return relu_bf16(fma_bf16(a, b, c)); }
INLINE u16 neg_ftz_f16(u16 a) { return neg_f16(flushed_f16(a)); }
INLINE u16 abs_ftz_f16(u16 a) { return abs_f16(flushed_f16(a)); }
/* clang-format off */
#define FTZ_COMPARISON(op) \
    INLINE bool op##_ftz_f16(u16 a, u16 b) { return op##_f16(flushed_f16(a), flushed_f16(b)); }
FTZ_COMPARISON(eq) FTZ_COMPARISON(ne) FTZ_COMPARISON(lt) FTZ_COMPARISON(le) FTZ_COMPARISON(gt) FTZ_COMPARISON(ge)
FTZ_COMPARISON(equ) FTZ_COMPARISON(neu) FTZ_COMPARISON(ltu) FTZ_COMPARISON(leu) FTZ_COMPARISON(gtu) FTZ_COMPARISON(geu)
FTZ_COMPARISON(num)
INLINE bool unordered_ftz_f16(u16 a, u16 b) { return unordered_f16(a, b); }
#undef FTZ_COMPARISON
/* clang-format on */
