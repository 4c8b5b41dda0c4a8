/* exec_mufu.h — the approximate functions, with the same bits as an H100.
 *
 * Theory of operation. A GPU computes these functions in a unit of its own (MUFU in SASS,
 * "multifunction"), by quadratic interpolation in tables. The operand's exponent reduces it to one
 * interval: [1, 2) for reciprocals and logarithms, [1, 4) for roots, [0, 1) for 2^x and for the
 * quarter turns of a sine. The upper 6 bits (7 for a reciprocal; 7 for roots, one of them the
 * exponent's parity) select a segment, which holds the value a at its start (26 bits), the slope b
 * (16) and the curvature c (10). From x, the operand's remaining 17 bits, the unit computes
 *
 *     sum = a × 2^k + b × x + c × q(x) + bias
 *
 * where q, about x²/2^19, is the result of a squarer that adds only the partial products' bits from
 * 2^18 upward: no carry from below ever arrives. Signs belong to the function, not to the tables.
 * The bias is a constant for each function: half of the last place, corrected for what the squarer
 * loses on average. The rest differs:
 *
 *   - rcp, rsqrt, sqrt, ex2: the sum's upper 24 bits are the mantissa, rounded at a fixed place.
 *   - lg2: sum / 4 has 36 digits after the point; the operand's exponent goes before it. A negative
 *     number is complemented, not negated. Then it is normalized and truncated.
 *   - sin, cos: 37 digits after the point, normalized and truncated. In odd quarters the operand is
 *     complemented. (b has 15 bits, c 11.)
 *   - tanh: the same, with 1 to 16 segments a binade, each binade with its own place of the point.
 *     Below 2^-8 the operand is the result; from 8 on it is 1. (c has up to 15 bits.)
 *
 * Operands of ex2, sin and cos become fixed-point numbers with 23 digits, truncated. The unit
 * flushes subnormal operands and results to zero (tanh keeps both). ptxas implements what PTX
 * promises beyond that by scaling around the unit; the functions below that are named after PTX
 * instructions do the same steps in the same order.
 *
 * All arithmetic is on integers, or on floats where it is the hardware's own product. The functions
 * have no branches and no calls, so that a loop over lanes becomes vector code with the same bits
 * at every level of vector instructions. Table indices are signed because vector gathers require
 * it.
 *
 * Sources. Oberman and Siu describe such a unit ("A High-Performance Area-Efficient Multifunction
 * Interpolator", ARITH 2005). M. Kościelnicki found the sum's form and constants on a G80
 * (envytools, nvhw/sfu.c), for rcp, rsqrt, ex2, lg2, sin and cos; an H100 has the same. The tables
 * come from an H100's results alone, one solution for each segment, and all functions were compared
 * with it for all 2^32 operands: grader/tests/mufu says how, and holds the values that suite
 * insn_approx compares with.
 *
 * This file includes nothing, so that grader/tests/mufu/verify.cu can compile it for a GPU;
 * exec_values.h and exec_half.h, or replacements, must come before it. */
#pragma once
#ifndef MUFU_TABLE
#define MUFU_TABLE(name, ...) static const u32 mufu_##name[] = {__VA_ARGS__};
#endif
#ifndef PRODUCT_f32
#define PRODUCT_f32(a, b) ((a) * (b))
#endif
#include "grader/sim/insn/mufu_tables.def"

INLINE u64 select_u64(bool condition, u64 if_true, u64 if_false) {
    u64 mask = 0 - (u64)condition;
    return (if_true & mask) | (if_false & ~mask);
}

/* Returns q(x), see above: bits i and j of x count together if i + j >= 18. With x = 2^9 h + l, all
 * of h × h counts, and none of l × l. */
INLINE u32 mufu_square(u32 x) {
    u32 h = x >> 9, q = h * h >> 1;
    q += (u32)((s32)(x << 23) >> 31) & h >> 1;
    q += (u32)((s32)(x << 24) >> 31) & h >> 2;
    q += (u32)((s32)(x << 25) >> 31) & h >> 3;
    q += (u32)((s32)(x << 26) >> 31) & h >> 4;
    q += (u32)((s32)(x << 27) >> 31) & h >> 5;
    q += (u32)((s32)(x << 28) >> 31) & h >> 6;
    q += (u32)((s32)(x << 29) >> 31) & h >> 7;
    return q;
}
/* Returns (a × 2^(s-2) + b × x + cq + bias) >> s; the last three terms are signed. The sum has up
 * to 40 bits, so its parts are shifted as far as possible before they are added, to stay within
 * 32. */
INLINE u32 mufu_rounded(u32 a, s32 b, u32 x, s32 cq, s32 bias, u32 s) {
    s32 low = b * (s32)(x & 3) + cq + bias;
    s32 sum = b * (s32)(x >> 2) + (low >> 2) + (s32)((a & 3) << (s - 4));
    return (a >> 2) + (u32)(sum >> (s - 2));
}
/* Returns the whole sum, for functions that rise and bend down. */
INLINE u64 mufu_sum(u32 a, u32 shift, u32 bc, u32 x, u32 scale) {
    u32 curvature_term =
        (bc >> 16) * mufu_square(x) * scale; /* of 15, 15 and 1 bits, or of 10, 15 and 2 */
    return ((u64)a << shift) + (u64)(bc & 0xffff) * x - curvature_term;
}
/* Returns a number below 2^52, with `digits` digits after the point, as a float, truncated. Zero
 * becomes +0. */
INLINE u32 mufu_truncated(u64 v, u32 digits) {
    u64 bits =
        bits64_of(f64_of(v | 0x4330000000000000ull) - 0x1p52); /* exact: this only normalizes */
    u32 f = (u32)(bits >> 29) - ((896 + digits) << 23);
    return select_u32(v == 0, 0, f);
}
#define MUFU_SLOPE(bc)     (s32)((bc)&0xffff)
#define MUFU_CURVATURE(bc) (s32)((bc) >> 16)
#define MUFU_NAN           0x7fffffffu
#define MUFU_INF           0x7f800000u

/* MUFU.RCP. The sum's place is one bit lower than for the others, because the segments are half as
 * long. */
INLINE u32 mufu_rcp_mantissa(u32 fraction) {
    u32 i = fraction >> 16, x = fraction & 0xffff, bc = mufu_rcp_bc[(s32)i];
    s32 cq = MUFU_CURVATURE(bc) * (s32)mufu_square(x << 1);
    return mufu_rounded(mufu_rcp_a[(s32)i], -MUFU_SLOPE(bc), x, cq, 0x47e7, 15);
}
INLINE f32 mufu_rcp(f32 value) {
    u32 a = bits_of(value), sign = a & 0x80000000u, e = a >> 23 & 255, fraction = a & 0x7fffff;
    s32 v = (s32)((252 - e) << 23) + (s32)mufu_rcp_mantissa(fraction);
    u32 r = select_u32(v < 0x800000, 0, (u32)v);
    r = sign | select_u32(e == 0, MUFU_INF, select_u32(e == 255, 0, r));
    return f32_of(select_u32((e == 255) & (fraction != 0), MUFU_NAN, r));
}

/* MUFU.RSQ. Bit 23 of `fraction` is the exponent's lowest bit: 1 if the operand is in [2, 4). */
INLINE u32 mufu_rsqrt_mantissa(u32 fraction) {
    u32 i = fraction >> 17, x = fraction & 0x1ffff, bc = mufu_rsqrt_bc[(s32)i];
    s32 cq = MUFU_CURVATURE(bc) * (s32)mufu_square(x) * 4;
    u32 h = mufu_rounded(mufu_rsqrt_a[(s32)i], -MUFU_SLOPE(bc), x, cq, 0x7fff, 16);
    return select_u32(fraction == 0, 0x1000000,
                      h); /* the only operand with an exact root, past the table */
}
INLINE f32 mufu_rsqrt(f32 value) {
    u32 a = bits_of(value), sign = a & 0x80000000u, e = a >> 23 & 255, fraction = a & 0x7fffff;
    u32 r = ((189 - ((e + 1) >> 1)) << 23) + mufu_rsqrt_mantissa((a & 0xffffff) ^ 0x800000);
    r = select_u32(e == 255, 0, r);
    r = select_u32((sign != 0) | ((e == 255) & (fraction != 0)), MUFU_NAN, r);
    return f32_of(select_u32(e == 0, sign | MUFU_INF, r));
}

/* MUFU.SQRT. Halves of [1, 4) differ in the scale of slope and curvature. */
INLINE f32 mufu_sqrt(f32 value) {
    u32 a = bits_of(value), sign = a & 0x80000000u, e = a >> 23 & 255,
        fraction = (a & 0xffffff) ^ 0x800000;
    u32 i = fraction >> 17, x = fraction & 0x1ffff, bc = mufu_sqrt_bc[(s32)i], s = 17 - (i >> 6);
    s32 cq = -MUFU_CURVATURE(bc) * (s32)mufu_square(x), bias = (s32)((1u << (s - 2)) - 1);
    u32 h = mufu_rounded(mufu_sqrt_a[(s32)i], MUFU_SLOPE(bc), x, cq, bias, s);
    u32 r = (((e + 1) >> 1) << 23) + (62u << 23) + h;
    r = select_u32(e == 255, MUFU_INF, r);
    r = select_u32((sign != 0) | ((e == 255) & ((a & 0x7fffff) != 0)), MUFU_NAN, r);
    return f32_of(select_u32(e == 0, sign, r));
}

/* MUFU.EX2. The unit complements a negative operand, which is one less than negating it, unless all
 * digits after the point are zero. */
INLINE f32 mufu_ex2(f32 value) {
    u32 a = bits_of(value), e = a >> 23 & 255, fraction = a & 0x7fffff, m = fraction | 0x800000;
    u32 right_shift = e < 127 ? 127 - e : 0, left_shift = e > 127 ? e - 127 : 0;
    u32 fixed = m >> (right_shift > 24 ? 24 : right_shift) << (left_shift > 7 ? 7 : left_shift);
    u32 sign_mask = 0 - (a >> 31);
    fixed = (fixed ^ sign_mask) + (sign_mask & ((fixed & 0x7fffff) == 0));
    u32 i = fixed >> 17 & 63, x = fixed & 0x1ffff, bc = mufu_ex2_bc[(s32)i];
    s32 cq = MUFU_CURVATURE(bc) * (s32)mufu_square(x);
    u32 h = mufu_rounded(mufu_ex2_a[(s32)i], MUFU_SLOPE(bc), x, cq, 0x77e2, 15);
    s32 v = (s32)(((u32)((s32)fixed >> 23) + 126) * 0x800000 + h);
    u32 r = select_u32(v < 0x800000, 0, (u32)v);
    r = select_u32(e > 133, ~sign_mask & MUFU_INF, r); /* 128 and more, or -128 and less */
    return f32_of(select_u32((e == 255) & (fraction != 0), MUFU_NAN, r));
}

/* MUFU.LG2. Below 1 the digits count down from the next lower integer: hence the complement. */
INLINE f32 mufu_lg2(f32 value) {
    u32 a = bits_of(value), sign = a & 0x80000000u, e = a >> 23 & 255, fraction = a & 0x7fffff;
    u32 i = fraction >> 17, x = fraction & 0x1ffff, bc = mufu_lg2_bc[(s32)i];
    u64 sum = mufu_sum(mufu_lg2_a[(s32)i], 12, bc, x, 2) + 0x3345;
    u64 digits = fraction | (e ^ 127) ? sum >> 2 : 0; /* lg2 1 is 0, past the table */
    u64 v = ((u64)(e + 128) << 36) + digits;          /* 255 too much, so as to stay positive */
    u64 offset = 255ull << 36;
    u32 negative = 0 - (u32)(e < 127);
    u64 magnitude = e < 127 ? offset - 1 - v : v - offset;
    u32 r = (negative & 0x80000000u) | mufu_truncated(magnitude, 36);
    r = select_u32(e == 255, MUFU_INF, r);
    r = select_u32((sign != 0) | ((e == 255) & (fraction != 0)), MUFU_NAN, r);
    return f32_of(select_u32(e == 0, 0x80000000u | MUFU_INF, r));
}

/* MUFU.SIN and MUFU.COS; the operand counts turns, quarters is 1 for a cosine. */
INLINE f32 mufu_sine(f32 value, u32 quarters) {
    u32 a = bits_of(value), e = a >> 23 & 255, m = (a & 0x7fffff) | 0x800000;
    u32 right_shift = e < 125 ? 125 - e : 0, left_shift = e > 125 ? e - 125 : 0;
    u32 fixed = m >> (right_shift > 24 ? 24 : right_shift) << (left_shift > 25 ? 25 : left_shift);
    fixed = select_u32(e == 0, 0, fixed) + (quarters << 23);
    u32 sign = (quarters ? 0 : a & 0x80000000u) ^ (fixed << 7 & 0x80000000u);
    u32 fraction = (fixed ^ (0 - (fixed >> 23 & 1))) & 0x7fffff;
    u32 i = fraction >> 17, x = fraction & 0x1ffff, bc = mufu_sin_bc[(s32)i];
    u64 sum = mufu_sum(mufu_sin_a[(s32)i], 11, bc, x, 1);
    return f32_of(select_u32(e == 255, MUFU_NAN, sign | mufu_truncated(sum, 37)));
}

/* MUFU.TANH. A table row holds the place of the point above its value. */
INLINE f32 mufu_tanh(f32 value) {
    u32 bits = bits_of(value), magnitude = bits & 0x7fffffffu, e = magnitude >> 23;
    u32 k = select_u32(e < 119, 0, select_u32(e > 129, 10, e - 119)),
        binade = mufu_tanh_binade[(s32)k], n = binade >> 16;
    u32 offset = (magnitude & 0x7fffff) >> (6 - n), x = offset & 0x1ffff;
    u32 i = (binade & 0xffff) + (offset >> 17);
    u32 a = mufu_tanh_a[(s32)i], bc = mufu_tanh_bc[(s32)i];
    u64 sum = mufu_sum(a & 0x3ffffff, 14, bc, x, 1);
    u32 r = mufu_truncated(sum, 36 + (a >> 26));
    r = select_u32(e < 119, magnitude, select_u32(e > 129, 0x3f800000u, r));
    return f32_of(select_u32(magnitude > MUFU_INF, MUFU_NAN, r | (bits & 0x80000000u)));
}

/* ---- f32 in PTX ----
 *
 * With .ftz these are the unit's operation alone; without, ptxas scales subnormals. One expression
 * does both: in an environment that flushes, scaling a subnormal gives the zero that the unit would
 * have made of it, and a result that scaling makes subnormal becomes the zero that the unit would
 * have returned. */
/* Returns the float with bits `if_true` if a is subnormal or zero, else `if_false`. */
INLINE f32 select_if_subnormal(f32 a, u32 if_true, u32 if_false) {
    return f32_of(select_u32((bits_of(a) & 0x7fffffffu) < 0x00800000u, if_true, if_false));
}
#define MUFU_ONE     0x3f800000u
#define MUFU_QUARTER 0x3e800000u
#define MUFU_2P24    0x4b800000u
#define MUFU_2P126   0x7e800000u
INLINE f32 rcp_approx(f32 a) {
    u32 m = bits_of(a) & 0x7fffffffu;
    f32 scale =
        select_if_subnormal(a, MUFU_2P24, select_u32(m > MUFU_2P126, MUFU_QUARTER, MUFU_ONE));
    return mufu_rcp(a * scale) * scale;
}
INLINE f32 rsqrt_approx(f32 a) {
    return mufu_rsqrt(a * select_if_subnormal(a, MUFU_2P24, MUFU_ONE)) *
           select_if_subnormal(a, 0x45800000u, MUFU_ONE); /* 2^12 */
}
INLINE f32 sqrt_approx(f32 a) {
    return mufu_sqrt(a * select_if_subnormal(a, MUFU_2P24, MUFU_ONE)) *
           select_if_subnormal(a, 0x39800000u, MUFU_ONE); /* 2^-12 */
}
INLINE f32 lg2_approx(f32 a) {
    return mufu_lg2(a * select_if_subnormal(a, MUFU_2P24, MUFU_ONE)) -
           select_if_subnormal(a, 0x41c00000u, 0); /* 24 */
}
/* Below -126: the square of 2^(a/2). */
INLINE f32 ex2_approx(f32 a) {
    bool small = (bits_of(a) > 0xc2fc0000u) & (bits_of(a) <= 0xff800000u);
    f32 v = mufu_ex2(a * f32_of(select_u32(small, 0x3f000000u, MUFU_ONE)));
    return PRODUCT_f32(v, f32_of(select_u32(small, bits_of(v), MUFU_ONE)));
}
/* Returns the product with 1/2π, rounded toward zero. The unit takes a subnormal product as
 * zero. */
INLINE f32 mufu_reduce_angle(f32 value) {
    u32 a = bits_of(value), e = a >> 23 & 255;
    u64 p = (u64)((a & 0x7fffff) | 0x800000) * 0xa2f983u;
    u32 carry = (u32)(p >> 47), m = (u32)(p >> 23 >> carry) & 0x7fffff;
    u32 r = (e + carry < 4 ? 0 : (e + carry - 3) << 23 | m) | (a & 0x80000000u);
    return f32_of(select_u32(e == 255, a, r));
}
INLINE f32 sin_approx(f32 a) { return mufu_sine(mufu_reduce_angle(a), 0); }
INLINE f32 cos_approx(f32 a) { return mufu_sine(mufu_reduce_angle(a), 1); }
INLINE f32 tanh_approx(f32 a) { return mufu_tanh(a); }

/* Multiplies by the unit's reciprocal, which is 0 for a divisor above 2^126; div.full scales both
 * operands before. */
INLINE f32 div_approx(f32 a, f32 b) {
    f32 scale = select_if_subnormal(b, MUFU_2P24, MUFU_ONE);
    return canonical_nan_f32(PRODUCT_f32(mufu_rcp(b * scale), a * scale));
}
INLINE f32 div_full(f32 a, f32 b) {
    u32 m = bits_of(b) & 0x7fffffffu;
    bool large = (m > MUFU_2P126) & (m <= MUFU_INF);
    f32 scale = select_if_subnormal(b, MUFU_2P24, select_u32(large, MUFU_QUARTER, MUFU_ONE));
    return canonical_nan_f32(PRODUCT_f32(mufu_rcp(b * scale), a * scale));
}

/* ---- halves: the f32 result, truncated; an overflow of f16 becomes infinity ---- */

INLINE u16 mufu_f16(f32 v) {
    u32 a = bits_of(v), m = a & 0x7fffffffu, e = m >> 23;
    u32 shift = 126 - e; /* for subnormal results, whose unit is 2^-24 */
    u32 small = ((m & 0x7fffff) | 0x800000) >> select_u32(shift > 31, 31, shift);
    u32 r = select_u32(e < 113, small, (m >> 13) - (112u << 10));
    r = select_u32(e > 142, 0x7c00, r);
    return (u16)select_u32(m > MUFU_INF, 0x7fff, r | (a >> 16 & 0x8000));
}
INLINE u16 mufu_bf16(f32 v) { return (u16)(bits_of(v) >> 16); } /* 0x7fff for the unit's NaN, too */
INLINE u16 ex2_f16(u16 a) { return mufu_f16(mufu_ex2(decode_f16(a))); }
INLINE u16 ex2_bf16(u16 a) { return mufu_bf16(mufu_ex2(f32_of_bf16(a))); }
INLINE u16 tanh_f16(u16 a) { return mufu_f16(mufu_tanh(decode_f16(a))); }
INLINE u16 tanh_bf16(u16 a) { return mufu_bf16(mufu_tanh(f32_of_bf16(a))); }

/* ---- f64 ----
 *
 * The same tables serve the high word, whose 20 fraction bits are the upper ones of the 23.
 * Truncated. */

INLINE u32 mufu_rcp64h(u32 a) {
    u32 sign = a & 0x80000000u, e = a >> 20 & 2047, fraction = a & 0xfffff;
    s32 v = (s32)((2044 - e) << 20) + (s32)(mufu_rcp_mantissa(fraction << 3) >> 3);
    u32 r = select_u32(v < 0x100000, 0, (u32)v);
    r = sign | select_u32(e == 0, 0x7ff00000u, select_u32(e == 2047, 0, r));
    return select_u32((e == 2047) & (fraction != 0), MUFU_NAN, r);
}
INLINE u32 mufu_rsqrt64h(u32 a) {
    u32 sign = a & 0x80000000u, e = a >> 20 & 2047, fraction = a & 0xfffff;
    u32 h = mufu_rsqrt_mantissa(((a & 0x1fffff) ^ 0x100000) << 3) >> 3;
    u32 r = ((1533 - ((e + 1) >> 1)) << 20) + h;
    r = select_u32(e == 2047, 0, r);
    r = select_u32((sign != 0) | ((e == 2047) & (fraction != 0)), MUFU_NAN, r);
    return select_u32(e == 0, sign | 0x7ff00000u, r);
}
INLINE f64 rcp_approx_f64(f64 a) {
    return f64_of((u64)mufu_rcp64h((u32)(bits64_of(a) >> 32)) << 32);
}
INLINE f64 rsqrt_approx_ftz_f64(f64 a) {
    return f64_of((u64)mufu_rsqrt64h((u32)(bits64_of(a) >> 32)) << 32);
}
/* Without .ftz a step of third order follows, and subnormals are scaled. */
INLINE f64 rsqrt_approx_f64(f64 a) {
    u64 bits = bits64_of(a), m = bits << 1 >> 1;
    u64 subnormal = 0 - (u64)(m < 1ull << 52);
    f64 x = a * f64_of((1023ull << 52) + (subnormal & 54ull << 52)); /* × 2^54 */
    f64 y = rsqrt_approx_ftz_f64(x);
    f64 e = FMA_f64(x, -(y * y), 1.0);
    f64 v = FMA_f64(FMA_f64(e, 0.375, 0.5), y * e, y) *
            f64_of((1023ull << 52) + (subnormal & 27ull << 52));
    u64 r = select_u64(m == 2047ull << 52, 0, bits64_of(v));
    r = select_u64(bits >> 63, 0xfff8ull << 48, r);
    r = select_u64(m == 0, bits | 2047ull << 52, r);
    r = select_u64(m > 2047ull << 52, bits | 1ull << 51, r); /* a NaN keeps its payload */
    return f64_of(r);
}
