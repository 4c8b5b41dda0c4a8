/* lanes_approx.h — the approximate functions, branch-free and without calls, so that 32 lanes become vector code.
 *
 * They use products and sums alone, no fused ones, so that every level of vector instructions gives the same bits.
 * Bounds that the PTX manual states, and the largest error of all 2^32 operands here (test_insn_approx.c,
 * which make check runs on a sample), relative unless it says absolute:
 *
 *   ex2.approx.f32    2^-22                                      2^-23.2
 *   lg2.approx.f32    2^-22; absolute 2^-22.6 between 0.5 and 2   2^-23.3; 2^-23.1
 *   sin.approx.f32    absolute 2^-20.5 up to 2π, 2^-14.7 to 100π  2^-23.6
 *   cos.approx.f32    likewise                                   2^-23.6
 *   rsqrt.approx.f32  2^-22.9                                    2^-23.4
 *   rcp, sqrt         2^-23                                      2^-24 (correctly rounded)
 *   tanh.approx.f32   2^-11                                      2^-16.2
 *
 * Of halves: computed in f32 and rounded. Sines of operands above 2^30, of which the hardware keeps no digit, are 0, the
 * cosines 1. */
#pragma once
#include "grader/sim/insn/lanes_half.h"

INLINE f32 power_of_two(s32 n) { return f32_of((u32)(n + 127) << 23); }

/* 2^n × 2^r with |r| ≤ 1/2; 2^r by its minimax polynomial. n is applied in two steps, for results below 2^-126. */
INLINE f32 ex2(f32 x) {
    f32 clamped = x > 129.0f ? 129.0f : x < -151.0f ? -151.0f : x;
    f32 rounded = __builtin_rintf(clamped), r = clamped - rounded;
    f32 p = 1.535336188e-4f;
    p = p * r + 1.339887440e-3f;
    p = p * r + 9.618437357e-3f;
    p = p * r + 5.550332471e-2f;
    p = p * r + 2.402264791e-1f;
    p = p * r + 6.931472028e-1f;
    p = p * r + 1.0f;
    s32 n = (s32)(x == x ? rounded : 0.0f), half = n >> 1;
    f32 v = p * power_of_two(half) * power_of_two(n - half);
    return x == x ? v : f32_of(0x7fffffffu);
}

/* x = 2^e × m with m in [√½, √2); log2 m = 2 / ln 2 × artanh((m - 1) / (m + 1)). */
INLINE f32 lg2(f32 x) {
    f32 scaled = x < 0x1p-126f ? x * 0x1p24f : x;
    s32 bits = (s32)(bits_of(scaled) - 0x3f3504f3u), e = bits >> 23;
    f32 m = f32_of((u32)(bits & 0x7fffff) + 0x3f3504f3u);
    f32 f = m - 1.0f, s = f / (m + 1.0f), z = s * s;
    f32 p = 0.3283f;
    p = p * z + 0.41219857f;
    p = p * z + 0.57707801f;
    p = p * z + 0.96179669f;
    f32 tail = p * z * s;
    f32 exponent = (f32)(e - (x < 0x1p-126f ? 24 : 0));
    f32 v = exponent + (s * 2.88539008f + tail);
    v = x == 0.0f ? -__builtin_inff() : v;
    v = x == __builtin_inff() ? x : v;
    return x >= 0.0f ? v : f32_of(0x7fffffffu);
}

/* sin(x + quarters × π/2). The operand is reduced in f64, so that 2^30 still leaves an error of 2^-22. */
INLINE f32 sine(f32 x, s32 quarters) {
    f32 magnitude = f32_of(bits_of(x) & 0x7fffffffu);
    f64 wide = (f64)(magnitude <= 0x1p30f ? x : 0.0f);
    f64 turns = __builtin_rint(wide * 0.63661977236758134308);
    f32 r = (f32)((wide - turns * 1.57079632679489655800) - turns * 6.12323399573676603587e-17);
    s32 n = (s32)turns + quarters;
    f32 z = r * r;
    f32 s = ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z - 1.6666654611e-1f) * z * r + r;
    f32 c = ((2.443315711809948e-5f * z - 1.388731625493765e-3f) * z + 4.166664568298827e-2f) * z * z - 0.5f * z + 1.0f;
    u32 v = bits_of(n & 1 ? c : s) ^ (u32)(n & 2) << 30;
    return magnitude < __builtin_inff() ? f32_of(v) : f32_of(0x7fffffffu);
}
INLINE f32 sin_f32(f32 x) {
    f32 v = sine(x, 0);
    return x == 0.0f ? f32_of(bits_of(x) & 0x80000000u) : v; /* an operand that counts as zero keeps its sign */
}
INLINE f32 cos_f32(f32 x) { return sine(x, 1); }

INLINE f32 tanh_f32(f32 x) {
    f32 m = f32_of(bits_of(x) & 0x7fffffffu), z = m * m;
    f32 t = ex2((m > 20.0f ? 20.0f : m) * 2.88539008f);
    f32 large = (t - 1.0f) / (t + 1.0f), small = m * (1.0f + z * (-0.33333333f + z * 0.13333333f));
    f32 v = m < 0.25f ? small : large;
    return x == x ? f32_of(bits_of(v) | (bits_of(x) & 0x80000000u)) : f32_of(0x7fffffffu);
}

/* As the manual has it: for |b| above 2^126 the reciprocal is 0. */
INLINE f32 div_approx(f32 a, f32 b) {
    f32 m = f32_of(bits_of(b) & 0x7fffffffu);
    f32 zero = a * f32_of(bits_of(b) & 0x80000000u), v = a / b;
    return canonical((m > 0x1p126f) & (m < __builtin_inff()) ? zero : v);
}

INLINE u16 ex2_f16(u16 a) { return f16_of_f32(ex2(value_f16(a))); }
INLINE u16 ex2_bf16(u16 a) { return flushed_bf16(bf16_of_f32(ex2(f32_of_bf16(flushed_bf16(a))))); }
INLINE u16 ex2_ftz_f16(u16 a) { return flushed_f16(ex2_f16(flushed_f16(a))); }
INLINE u16 tanh_f16(u16 a) { return f16_of_f32(tanh_f32(value_f16(a))); }
INLINE u16 tanh_bf16(u16 a) { return bf16_of_f32(tanh_f32(f32_of_bf16(a))); }
