/* exec_host_float.h — arithmetic of floats, the same to the last bit on every processor. Where IEEE
 * 754 leaves a choice, x86-64's is the rule, since results were compared with GPUs on it; on x86-64
 * all of this is the processor's own operation. aarch64 differs twice:
 *
 * NaN. What an invalid operation makes has no sign there, and of two NaN operands a signalling one
 * goes first. Here it has the sign, and the first NaN operand, made quiet, is the result. Only f64
 * shows it: an f32 result becomes the canonical NaN anyway.
 *
 * Flushing. aarch64 makes a zero of what is below the least normal number before it is rounded,
 * x86-64 of what is after: 2^-126 less a 2^26th of itself becomes 2^-126 by rounding, and stays. It
 * takes a result with more digits than a float has, so a product, a fused sum or a conversion from
 * f64; sums of floats are exact there, and no quotient or root comes as close to a power of two. */
#pragma once

/* a × b + c, where a × b is exact in f64, rounded to odd. */
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

/* The magnitude above which an exact result below 2^-126 is rounded to it, to 24 digits as if there
 * were no least exponent. To nearest, halfway between 2^-126 - 2^-150 and 2^-126 goes up: above the
 * f64 before that, then. */
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
    f32 least = __builtin_copysignf(0x1p-126f, (f32)exact);
    return (v == 0.0f) & (__builtin_fabs(exact) > flush_threshold(env, exact)) ? least : v;
}
/* In lane functions of rows, where `env` is the op's. Rounded to odd, or in the environment's
 * direction, a sum stays on its side of those bounds. */
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
/* To nearest, in any environment: without flushing, only what is far smaller becomes zero. */
#define PRODUCT_f32(a, b) flush_after_rounding((a) * (b), (f64)(a) * (f64)(b), ENV_RN)
#endif
#define ADD_f32(a, b) ((a) + (b))
#define SUB_f32(a, b) ((a) - (b))
#define DIV_f32(a, b) ((a) / (b))
#define SQRT_f32      __builtin_sqrtf
