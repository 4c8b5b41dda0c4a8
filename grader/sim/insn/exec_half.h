/* exec_half.h — 16-bit floating point in 32-bit registers of the host: conversions by bit
 * operations, branch-free.
 *
 * f16 has 5 exponent and 10 fraction bits, bf16 8 and 7. Sums, products, quotients and roots of
 * halves that are computed in f32 and rounded again are correctly rounded, since 24 bits ≥ 2 × 11 +
 * 2 (Figueroa, "When is double rounding innocuous?", 1995). A fused multiply-add isn't, so it goes
 * through f64, rounded to odd: what was lost stays visible in the last bit. A NaN result is
 * 0x7fff. */
#pragma once
#include "grader/sim/insn/exec_values.h"

enum { HALF_NAN = 0x7fff };

INLINE f32 f32_of_f16(u16 h) {
    u32 magnitude = (u32)(h & 0x7fff) << 13, sign = (u32)(h & 0x8000) << 16;
    u32 normal = magnitude + (112u << 23);
    u32 small = bits_of((f32)(s32)(h & 0x3ff) *
                        0x1p-24f); /* via an integer, so that flushing modes don't affect it */
    u32 value = magnitude < 1u << 23     ? small
                : magnitude >= 31u << 23 ? magnitude | 255u << 23
                                         : normal;
    return f32_of(value | sign);
}

enum { ROUND_RN, ROUND_RZ, ROUND_RM, ROUND_RP };
/* Rounds a magnitude that was cut into `truncated` and `discarded`; `half`: the halfway point. */
INLINE u32 round_magnitude(u32 truncated, u32 discarded, u32 half, bool negative, int mode) {
    if (mode == ROUND_RZ) return truncated;
    if (mode == ROUND_RN)
        return truncated + (discarded > half || (discarded == half && (truncated & 1)));
    return truncated + (discarded && negative == (mode == ROUND_RM));
}

/* Like f32_of_f16, but cheaper; not valid while a flushing mode is set. */
INLINE f32 decode_f16(u16 h) {
    u32 m = (u32)(h & 0x7fff) << 13, sign = (u32)(h & 0x8000) << 16;
    u32 scaled = bits_of(f32_of(m) * 0x1p112f);
    return f32_of(select_u32(m >= 31u << 23, m | 255u << 23, scaled) | sign);
}

/* Rounds to nearest; f32 arithmetic rounds subnormal results. */
INLINE u16 encode_rn_f16(f32 v) {
    u32 bits = bits_of(v), sign = bits >> 16 & 0x8000, m = bits & 0x7fffffffu;
    u32 normal = (m + 0xc8000fffu + (m >> 13 & 1)) >> 13,
        small = bits_of(f32_of(m) + 0.5f) - 0x3f000000u;
    u32 r = select_u32(m < 0x38800000u, small, normal);
    r = select_u32(m >= 0x477ff000u, 0x7c00, r) | sign;
    return (u16)select_u32(m > 255u << 23, HALF_NAN, r);
}

/* Converts from the bits of an f32. An overflow becomes infinity, or the largest number if the mode
 * requires it. */
INLINE u16 f16_of_bits(u32 v, int mode) {
    if (mode == ROUND_RN) return encode_rn_f16(f32_of(v));
    u32 sign = v >> 16 & 0x8000, m = v & 0x7fffffffu, exponent = m >> 23;
    u32 shift = exponent >= 113 ? 13 : exponent >= 102 ? 126 - exponent : 25;
    u32 fraction = (m & 0x7fffffu) | 1u << 23;
    u32 truncated = exponent >= 113 ? (m >> 13) - (112u << 10) : fraction >> shift;
    u32 discarded = fraction & ((1u << shift) - 1), half = 1u << (shift - 1);
    truncated = exponent < 102 ? 0 : truncated;
    /* Below half of the smallest subnormal: inexact, but never rounded up to it. */
    discarded = exponent < 102 ? m != 0 : discarded;
    half = exponent < 102 ? 2 : half;
    u32 r = round_magnitude(truncated, discarded, half, sign != 0, mode);
    u32 overflow_bits =
        mode == ROUND_RZ || (mode == ROUND_RM && !sign) || (mode == ROUND_RP && sign) ? 0x7bff
                                                                                      : 0x7c00;
    r = m >= 143u << 23 || r > overflow_bits ? overflow_bits : r;
    r = m == 255u << 23 ? 0x7c00 : r;
    return (u16)(m > 255u << 23 ? HALF_NAN : r | sign);
}
INLINE u16 f16_of_f32(f32 v) { return f16_of_bits(bits_of(v), ROUND_RN); }

INLINE f32 f32_of_bf16(u16 h) { return f32_of((u32)h << 16); }
INLINE u16 bf16_of_bits(u32 v, int mode) {
    u32 m = v & 0x7fffffffu, sign = v >> 16 & 0x8000;
    u32 r = round_magnitude(m >> 16, m & 0xffff, 0x8000, sign != 0, mode);
    bool saturates = mode == ROUND_RZ || (mode == ROUND_RM && !sign) || (mode == ROUND_RP && sign);
    r = m == 255u << 23 ? 0x7f80 : saturates && r > 0x7f7f ? 0x7f7f : r;
    return (u16)(m > 255u << 23 ? HALF_NAN : r | sign);
}
INLINE f32 decode_bf16(u16 h) { return f32_of_bf16(h); }
INLINE u16 encode_rn_bf16(f32 v) {
    u32 b = bits_of(v);
    return (u16)((b & 0x7fffffffu) > 255u << 23 ? HALF_NAN : (b + 0x7fff + (b >> 16 & 1)) >> 16);
}
INLINE u16 bf16_of_f32(f32 v) { return bf16_of_bits(bits_of(v), ROUND_RN); }
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

/* Converts f64 to f32, rounded to odd: the last bit says whether anything was cut off, so that a
 * later rounding to 16 bits is correct. */
INLINE f32 f32_of_f64_odd(f64 v) {
    u64 b = bits64_of(v), m = b & ~(1ull << 63);
    u32 sign = (u32)(b >> 32) & 0x80000000u;
    u32 sticky = (m & 0x1fffffff) != 0;
    u32 normal = (u32)(m >> 29) - (896u << 23);
    u64 fraction = (m & 0xfffffffffffffull) | 1ull << 52;
    u32 exponent = (u32)(m >> 52), shift = exponent > 896    ? 29
                                           : exponent >= 868 ? 926 - exponent
                                                             : 58;
    u32 small = (u32)(fraction >> shift) | ((fraction & ((1ull << shift) - 1)) != 0);
    u32 r = exponent > 896 ? normal | sticky : m ? small : 0;
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
    u32 truncated = exponent >= 121   ? (m >> 20) - (120u << 3)
                    : exponent >= 117 ? fraction >> shift
                                      : 0;
    u32 discarded = exponent >= 117 ? fraction & ((1u << shift) - 1) : 0, half = 1u << (shift - 1);
    u32 r = round_magnitude(truncated, discarded, half, false, ROUND_RN);
    r = m >= 136u << 23 || r > 0x7e ? 0x7e : r;
    return m > 255u << 23 ? 0x7f : r | sign;
}
INLINE u32 e5m2_of_f32(f32 value) {
    u32 v = bits_of(value), m = v & 0x7fffffffu, sign = v >> 24 & 0x80, exponent = m >> 23;
    u32 shift = exponent >= 113 ? 21 : exponent >= 110 ? 134 - exponent : 25;
    u32 fraction = (m & 0x7fffffu) | 1u << 23;
    u32 truncated = exponent >= 113   ? (m >> 21) - (112u << 2)
                    : exponent >= 110 ? fraction >> shift
                                      : 0;
    u32 discarded = exponent >= 110 ? fraction & ((1u << shift) - 1) : 0, half = 1u << (shift - 1);
    u32 r = round_magnitude(truncated, discarded, half, false, ROUND_RN);
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

/* fma_round_to_odd of f16s, whose products are exact in f32. */
INLINE f32 fma_round_to_odd_f16(f32 a, f32 b, f32 c) {
    f32 p = a * b, s = p + c, t = s - p;
    u32 bits = bits_of(s), residual = bits_of((p - (s - t)) + (c - t));
    bool inexact = (residual << 1 != 0) & ((bits & 255u << 23) != 255u << 23);
    return f32_of(select_u32(inexact, (bits - ((residual ^ bits) >> 31)) | 1,
                             bits)); /* truncated, then made odd */
}

/* Converts any integer to an f32 rounded to odd, so that a later rounding to 16 bits is correct. */
INLINE f32 f32_of_u64_odd(u64 v) {
    u64 high = v >> 16 | ((v & 0xffff) != 0);
    return f32_of_f64_odd(v >> 48 ? (f64)(s64)high * 65536.0 : (f64)(s64)v);
}
INLINE f32 f32_of_s64_odd(s64 v) {
    f32 m = f32_of_u64_odd(v < 0 ? 0 - (u64)v : (u64)v);
    return v < 0 ? -m : m;
}

/* Apply a function to each half of a register. */
#define EACH_HALF1(f, a) ((u32)f((u16)(a)) | (u32)f((u16)((a) >> 16)) << 16)
#define EACH_HALF2(f, a, b) \
    ((u32)f((u16)(a), (u16)(b)) | (u32)f((u16)((a) >> 16), (u16)((b) >> 16)) << 16)
#define EACH_HALF3(f, a, b, c)              \
    ((u32)f((u16)(a), (u16)(b), (u16)(c)) | \
     (u32)f((u16)((a) >> 16), (u16)((b) >> 16), (u16)((c) >> 16)) << 16)

INLINE u16 ftz_f16(u16 h) { return h & 0x7c00 ? h : h & 0x8000; }
INLINE u16 ftz_bf16(u16 h) { return h & 0x7f80 ? h : h & 0x8000; }
INLINE bool is_nan_f16(u16 h) { return (h & 0x7fff) > 0x7c00; }
INLINE bool is_nan_bf16(u16 h) { return (h & 0x7fff) > 0x7f80; }
INLINE u16 clamp01_f16(u16 h) { return is_nan_f16(h) || h >> 15 ? 0 : h > 0x3c00 ? 0x3c00 : h; }
INLINE u16 clamp01_bf16(u16 h) { return is_nan_bf16(h) || h >> 15 ? 0 : h > 0x3f80 ? 0x3f80 : h; }
INLINE u16 relu_f16(u16 h) { return is_nan_f16(h) ? HALF_NAN : h >> 15 ? 0 : h; }
INLINE u16 relu_bf16(u16 h) { return is_nan_bf16(h) ? HALF_NAN : h >> 15 ? 0 : h; }
INLINE u16 with_sign_f16(u16 v, u32 sign) {
    return is_nan_f16(v) ? HALF_NAN : (u16)((v & 0x7fff) | (sign & 0x8000));
}
INLINE u16 with_sign_bf16(u16 v, u32 sign) {
    return is_nan_bf16(v) ? HALF_NAN : (u16)((v & 0x7fff) | (sign & 0x8000));
}

/* One definition for both formats: H is f16 or bf16. */
#define DEFINE_HALF_FUNCTIONS(H)                                                                   \
    INLINE u16 add_##H(u16 a, u16 b) { return encode_rn_##H(decode_##H(a) + decode_##H(b)); }      \
    INLINE u16 sub_##H(u16 a, u16 b) { return encode_rn_##H(decode_##H(a) - decode_##H(b)); }      \
    INLINE u16 mul_##H(u16 a, u16 b) { return encode_rn_##H(decode_##H(a) * decode_##H(b)); }      \
    INLINE u16 neg_##H(u16 a) { return is_nan_##H(a) ? HALF_NAN : a ^ 0x8000; }                    \
    INLINE u16 abs_##H(u16 a) { return is_nan_##H(a) ? HALF_NAN : a & 0x7fff; }                    \
    /* as integers, halves in sign and magnitude are in order */                                   \
    INLINE s32 order_##H(u16 a) { return a & 0x8000 ? -(s32)(a & 0x7fff) - 1 : a; }                \
    INLINE u16 min_##H(u16 a, u16 b) {                                                             \
        u16 r = order_##H(a) < order_##H(b) ? a : b;                                               \
        return is_nan_##H(a) && is_nan_##H(b) ? HALF_NAN                                           \
               : is_nan_##H(a)                ? b                                                  \
               : is_nan_##H(b)                ? a                                                  \
                                              : r;                                                                \
    }                                                                                              \
    INLINE u16 max_##H(u16 a, u16 b) {                                                             \
        u16 r = order_##H(a) > order_##H(b) ? a : b;                                               \
        return is_nan_##H(a) && is_nan_##H(b) ? HALF_NAN                                           \
               : is_nan_##H(a)                ? b                                                  \
               : is_nan_##H(b)                ? a                                                  \
                                              : r;                                                                \
    }                                                                                              \
    INLINE u16 nan_min_##H(u16 a, u16 b) {                                                         \
        return is_nan_##H(a) || is_nan_##H(b) ? HALF_NAN : min_##H(a, b);                          \
    }                                                                                              \
    INLINE u16 nan_max_##H(u16 a, u16 b) {                                                         \
        return is_nan_##H(a) || is_nan_##H(b) ? HALF_NAN : max_##H(a, b);                          \
    }                                                                                              \
    INLINE u16 xors_min_##H(u16 a, u16 b) {                                                        \
        return with_sign_##H(min_##H(a & 0x7fff, b & 0x7fff), a ^ b);                              \
    }                                                                                              \
    INLINE u16 xors_max_##H(u16 a, u16 b) {                                                        \
        return with_sign_##H(max_##H(a & 0x7fff, b & 0x7fff), a ^ b);                              \
    }                                                                                              \
    INLINE u16 nan_xors_min_##H(u16 a, u16 b) {                                                    \
        return with_sign_##H(nan_min_##H(a & 0x7fff, b & 0x7fff), a ^ b);                          \
    }                                                                                              \
    INLINE u16 nan_xors_max_##H(u16 a, u16 b) {                                                    \
        return with_sign_##H(nan_max_##H(a & 0x7fff, b & 0x7fff), a ^ b);                          \
    }                                                                                              \
    /* comparisons: ordered ones are false for NaN, the ...u forms true */                         \
    INLINE bool num_##H(u16 a, u16 b) { return !(is_nan_##H(a) | is_nan_##H(b)); }                 \
    INLINE bool unordered_##H(u16 a, u16 b) { return is_nan_##H(a) | is_nan_##H(b); }              \
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
DEFINE_HALF_FUNCTIONS(f16)
DEFINE_HALF_FUNCTIONS(bf16)
INLINE u16 fma_f16(u16 a, u16 b, u16 c) {
    return encode_rn_f16(fma_round_to_odd_f16(decode_f16(a), decode_f16(b), decode_f16(c)));
}
INLINE u16 fma_bf16(u16 a, u16 b, u16 c) {
    return encode_rn_bf16(
        f32_of_f64_odd(fma_round_to_odd(f32_of_bf16(a), f32_of_bf16(b), f32_of_bf16(c))));
}
#undef DEFINE_HALF_FUNCTIONS

/* The variants of f16 functions for modifiers. */
/* clang-format off */
#define DEFINE_FTZ(op)                                                                                           \
    INLINE u16 op##_ftz_f16(u16 a, u16 b) { return ftz_f16(op##_f16(ftz_f16(a), ftz_f16(b))); }
#define DEFINE_SAT(op)                                                                                           \
    INLINE u16 op##_sat_f16(u16 a, u16 b) { return clamp01_f16(op##_f16(a, b)); }                        \
    INLINE u16 op##_ftz_sat_f16(u16 a, u16 b) { return clamp01_f16(op##_ftz_f16(a, b)); }
DEFINE_FTZ(add) DEFINE_FTZ(sub) DEFINE_FTZ(mul) DEFINE_SAT(add) DEFINE_SAT(sub) DEFINE_SAT(mul)
DEFINE_FTZ(min) DEFINE_FTZ(max) DEFINE_FTZ(nan_min) DEFINE_FTZ(nan_max) DEFINE_FTZ(xors_min) DEFINE_FTZ(xors_max)
DEFINE_FTZ(nan_xors_min) DEFINE_FTZ(nan_xors_max)
#undef DEFINE_FTZ
#undef DEFINE_SAT
    /* clang-format on */
    INLINE u16 fma_ftz_f16(u16 a, u16 b, u16 c) {
    return ftz_f16(fma_f16(ftz_f16(a), ftz_f16(b), ftz_f16(c)));
}
INLINE u16 fma_sat_f16(u16 a, u16 b, u16 c) { return clamp01_f16(fma_f16(a, b, c)); }
INLINE u16 fma_ftz_sat_f16(u16 a, u16 b, u16 c) { return clamp01_f16(fma_ftz_f16(a, b, c)); }
INLINE u16 fma_relu_f16(u16 a, u16 b, u16 c) { return relu_f16(fma_f16(a, b, c)); }
INLINE u16 fma_ftz_relu_f16(u16 a, u16 b, u16 c) { return relu_f16(fma_ftz_f16(a, b, c)); }
INLINE u16 fma_relu_bf16(u16 a, u16 b, u16 c) { return relu_bf16(fma_bf16(a, b, c)); }
INLINE u16 neg_ftz_f16(u16 a) { return neg_f16(ftz_f16(a)); }
INLINE u16 abs_ftz_f16(u16 a) { return abs_f16(ftz_f16(a)); }
/* clang-format off */
#define DEFINE_FTZ_COMPARISON(op) \
    INLINE bool op##_ftz_f16(u16 a, u16 b) { return op##_f16(ftz_f16(a), ftz_f16(b)); }
DEFINE_FTZ_COMPARISON(eq) DEFINE_FTZ_COMPARISON(ne) DEFINE_FTZ_COMPARISON(lt) DEFINE_FTZ_COMPARISON(le) DEFINE_FTZ_COMPARISON(gt) DEFINE_FTZ_COMPARISON(ge)
DEFINE_FTZ_COMPARISON(equ) DEFINE_FTZ_COMPARISON(neu) DEFINE_FTZ_COMPARISON(ltu) DEFINE_FTZ_COMPARISON(leu) DEFINE_FTZ_COMPARISON(gtu) DEFINE_FTZ_COMPARISON(geu)
DEFINE_FTZ_COMPARISON(num)
INLINE bool unordered_ftz_f16(u16 a, u16 b) { return unordered_f16(a, b); }
#undef DEFINE_FTZ_COMPARISON
/* clang-format on */
