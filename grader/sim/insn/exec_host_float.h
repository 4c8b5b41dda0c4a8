/* exec_host_float.h — floating-point arithmetic with the same bits on every processor. Where IEEE
 * 754 leaves a choice we follow x86-64, on which results were compared with GPUs; there, all of
 * this is the processor's own operation. aarch64 differs in two ways:
 *
 * NaN. The result of an invalid operation has no sign there, and of two NaN operands a signaling
 * one takes precedence. Here it has the sign, and the result is the first NaN operand, made quiet.
 * Only f64 shows it: an f32 result becomes the canonical NaN anyway.
 *
 * Flushing. aarch64 flushes a result below the smallest normal number before rounding, x86-64 after
 * it: 2^-126 less a 2^26th of itself rounds up to 2^-126, and stays. This takes a result with more
 * digits than a float has: a product, a fused sum or a conversion from f64. Sums of floats are
 * exact there, and no quotient or root is that close to a power of two. */
#pragma once

/* Returns a × b + c rounded to odd; a × b is exact in f64. */
INLINE f64 fma_round_to_odd(f32 a, f32 b, f32 c) {
    f64 p = (f64)a * (f64)b, s = p + (f64)c, t = s - p;
    u64 bits = bits64_of(s), residual = bits64_of((p - (s - t)) + ((f64)c - t));
    u64 inexact = 0 - (u64)((residual << 1 != 0) & ((bits & 2047ull << 52) != 2047ull << 52));
    return f64_of((bits & ~inexact) | (((bits - ((residual ^ bits) >> 63)) | 1) & inexact));
}

#ifdef __x86_64__
#define ADD_f64(a, b)     ((a) + (b))
#define SUB_f64(a, b)     ((a) - (b))
#define MUL_f64(a, b)     ((a) * (b))
#define DIV_f64(a, b)     ((a) / (b))
#define SQRT_f64          __builtin_sqrt
#define FMA_f64           __builtin_fma
#define MUL_f32(a, b)     ((a) * (b))
#define FMA_f32           __builtin_fmaf
#define NARROW_f32(a)     ((f32)(a))
#define PRODUCT_f32(a, b) ((a) * (b))
#else
INLINE f64 first_nan(f64 first, f64 rest) {
    return first == first ? rest : f64_of(bits64_of(first) | 1ull << 51);
}
INLINE f64 with_x86_nan(f64 v, f64 a, f64 b, f64 c) {
    f64 nan = first_nan(a, first_nan(b, first_nan(c, f64_of(0xfff8ull << 48))));
    return v == v ? v : nan;
}
#define ADD_f64(a, b)    with_x86_nan((a) + (b), a, b, 0)
#define SUB_f64(a, b)    with_x86_nan((a) - (b), a, b, 0)
#define MUL_f64(a, b)    with_x86_nan((a) * (b), a, b, 0)
#define DIV_f64(a, b)    with_x86_nan((a) / (b), a, b, 0)
#define SQRT_f64(a)      with_x86_nan(__builtin_sqrt(a), a, 0, 0)
#define FMA_f64(a, b, c) with_x86_nan(__builtin_fma(a, b, c), a, b, c)

/* Returns the magnitude above which an exact result below 2^-126 rounds to it, with 24 digits and
 * an unlimited exponent. To nearest, halfway between 2^-126 - 2^-150 and 2^-126 goes up; so this is
 * the f64 just before it. */
INLINE f64 flush_threshold(u32 env, f64 exact) {
    const f64 never = 0x1p-126;
    switch (env & 3) {
    case ENV_RN: return f64_of(bits64_of(0x1p-126 - 0x1p-151) - 1);
    case ENV_RP: return exact > 0 ? 0x1p-126 - 0x1p-150 : never;
    case ENV_RM: return exact < 0 ? 0x1p-126 - 0x1p-150 : never;
    default: return never;
    }
}
INLINE f32 flush_after_rounding(f32 v, f64 exact, u32 env) {
    f32 min_normal = __builtin_copysignf(0x1p-126f, (f32)exact);
    return (v == 0.0f) & (__builtin_fabs(exact) > flush_threshold(env, exact)) ? min_normal : v;
}
/* For lane functions, where `env` is the op's. A sum rounded to odd, or in the environment's
 * direction, stays on its side of that threshold. */
INLINE f64 sum_keeping_side(f64 a, f64 b, f64 c, u32 env) {
    return (env & 3) == ENV_RN ? fma_round_to_odd((f32)a, (f32)b, (f32)c) : __builtin_fma(a, b, c);
}
#define MUL_f32(a, b) \
    (env & ENV_FTZ ? flush_after_rounding((a) * (b), (f64)(a) * (f64)(b), env) : (a) * (b))
#define FMA_f32(a, b, c)                                                                      \
    (env & ENV_FTZ                                                                            \
         ? flush_after_rounding(__builtin_fmaf(a, b, c), sum_keeping_side(a, b, c, env), env) \
         : __builtin_fmaf(a, b, c))
#define NARROW_f32(a)     (env & ENV_FTZ ? flush_after_rounding((f32)(a), a, env) : (f32)(a))
/* For rounding to nearest, in any environment; without flushing, only much smaller values become
 * zero. */
#define PRODUCT_f32(a, b) flush_after_rounding((a) * (b), (f64)(a) * (f64)(b), ENV_RN)
#endif
#define ADD_f32(a, b) ((a) + (b))
#define SUB_f32(a, b) ((a) - (b))
#define DIV_f32(a, b) ((a) / (b))
#define SQRT_f32      __builtin_sqrtf
