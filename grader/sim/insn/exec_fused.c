/* exec_fused.c — sums of products, computed like tensor cores: see exec_fused.h.
 *
 * The arithmetic is on integers in floats: a term is an integer below 2^24, scaled by a power of
 * two so that its unit is the last bit kept, and truncated by the conversion to an integer. The sum
 * of eight terms of at most 2^27 fits 32 bits; further terms go to a second sum. */
#include "grader/sim/insn/exec_fused.h"

#include <math.h>
#include <string.h>

enum { MAX_TERMS = 8 }; /* their sum fits 32 bits */

/* Eight columns at a time; a compiler may split such vectors. The unaligned types are for
 * memory. */
typedef f32 f32x8 __attribute__((vector_size(4 * FUSED_COLUMNS)));
typedef s32 s32x8 __attribute__((vector_size(4 * FUSED_COLUMNS)));
typedef f32x8 f32x8_unaligned __attribute__((aligned(4), may_alias));
typedef s32x8 s32x8_unaligned __attribute__((aligned(4), may_alias));

INLINE s32x8 max_s32x8(s32x8 a, s32x8 b) {
    s32x8 greater = a > b;
    return (a & greater) | (b & ~greater);
}

/* Returns 2^x, but at least 2^-126; anything scaled by that is truncated to zero. */
INLINE f32x8 exp2_s32x8(s32x8 x) { return (f32x8)((max_s32x8(x, (s32x8){0} - 126) + 127) << 23); }

/* Eight sums so far, as factors; the largest exponent; the sums of the terms. */
struct accumulators {
    f32x8 mantissa;
    s32x8 exponent, max_exponent, low_sum, high_sum;
};

/* One group of products, for one row and eight columns. */
struct product_group {
    u32 n, columns; /* products in the group; columns of b */
    const f32 *a_mantissa, *b_mantissa;
    const s32 *a_exponent, *b_exponent;
    const u8 *b_row; /* see lane_fused_multiply */
};

/* Returns the index of the row of b that the k-th product uses. */
INLINE u32 row_of_b(const struct product_group *g, u32 k) {
    return (g->b_row ? g->b_row[k] : k) * g->columns;
}

INLINE void find_max_exponent(struct accumulators *s, const struct product_group *g) {
    s32x8 max_exponent = s->exponent;
    for (u32 k = 0; k < g->n; k++)
        max_exponent =
            max_s32x8(max_exponent, *(const s32x8_unaligned *)(g->b_exponent + row_of_b(g, k)) +
                                        g->a_exponent[k]);
    s->max_exponent = max_exponent;
}

INLINE s32x8 sum_terms(const struct accumulators *s, const struct product_group *g, u32 from,
                       u32 to, s32 shift) {
    s32x8 sum = {0}, up = shift - s->max_exponent;
    for (u32 k = from; k < to; k++) {
        f32x8 m = *(const f32x8_unaligned *)(g->b_mantissa + row_of_b(g, k)) * g->a_mantissa[k];
        s32x8 e = *(const s32x8_unaligned *)(g->b_exponent + row_of_b(g, k)) + g->a_exponent[k];
        sum += __builtin_convertvector(m * exp2_s32x8(e + up), s32x8);
    }
    return sum;
}

typedef f64 f64x8 __attribute__((vector_size(8 * FUSED_COLUMNS)));
typedef s64 s64x8 __attribute__((vector_size(8 * FUSED_COLUMNS)));

/* Both the integers and their sum are exact: they have at most 33 bits. */
INLINE f64x8 sums_to_f64(const struct accumulators *s, s32 fraction) {
    s64x8 x = __builtin_convertvector(
        max_s32x8(s->max_exponent - fraction, (s32x8){0} - 1000) + 1023, s64x8);
    return (__builtin_convertvector(s->low_sum, f64x8) +
            __builtin_convertvector(s->high_sum, f64x8)) *
           (f64x8)(x << 52);
}

static u32 truncate_f32(f64 v, u32 dropped) {
    u64 bits = bits64_of(v);
    u32 sign = (u32)(bits >> 63) << 31;
    f64 size = fabs(v);
    u32 r = size >= 0x1p128   ? 255u << 23
            : size < 0x1p-126 ? (u32)(size * 0x1p149)
                              : (u32)((bits << 1 >> 30) - (896u << 23));
    r &= ~0u << dropped;
    return r ? r | sign : 0;
}

static u32 round_f16(f64 v) {
    u32 h = f16_of_f32(f32_of_f64_odd(v));
    return h & 0x7fff ? h : 0;
}

/* Truncates eight values like truncate_f32; returns false if some are neither normal nor zero. */
static bool truncate_normal_f32(f64x8 v, u32 dropped, u32 *c) {
    s64x8 bits = (s64x8)v, size = bits & INT64_MAX, zero = size == 0;
    s64x8 abnormal = ~zero & ((size < 897ll << 52) | (size >= 1151ll << 52));
    s64x8 r = ((size >> 29) - (896ll << 23)) & ((s64)(~0ull << dropped) & ~zero), any = abnormal;
    s32x8 out =
        __builtin_convertvector(r, s32x8) | (__builtin_convertvector(bits >> 63, s32x8) &
                                             __builtin_convertvector(~zero, s32x8) & INT32_MIN);
    for (u32 j = 1; j < FUSED_COLUMNS; j++) any[0] |= any[j];
    memcpy(c, &out, sizeof out);
    return !any[0];
}

static void store_results(const struct dot_accumulation *w, u8 type, const struct accumulators *s,
                          u32 *c) {
    f64x8 v = sums_to_f64(s, w->fraction_bits);
    if (type == MATRIX_F32 && truncate_normal_f32(v, w->dropped_bits, c)) return;
    for (u32 j = 0; j < FUSED_COLUMNS; j++)
        c[j] = type == MATRIX_F32 ? truncate_f32(v[j], w->dropped_bits) : round_f16(v[j]);
}

static void decompose_sums(struct accumulators *s, u8 type, const u32 *c) {
    f32 m[FUSED_COLUMNS];
    s32 e[FUSED_COLUMNS];
    if (type == MATRIX_F32)
        for (u32 j = 0; j < FUSED_COLUMNS; j++) fused_decompose(MATRIX_F32, c[j], &m[j], &e[j]);
    else
        for (u32 j = 0; j < FUSED_COLUMNS; j++) fused_decompose(MATRIX_F16, c[j], &m[j], &e[j]);
    s->mantissa = *(f32x8_unaligned *)m, s->exponent = *(s32x8_unaligned *)e;
}

INLINE void add_group(const struct dot_accumulation *w, struct accumulators *s,
                      const struct product_group *g, s32 shift, u8 type, u32 *c) {
    u32 first = g->n < MAX_TERMS ? g->n : g->n / 2;
    decompose_sums(s, type, c);
    find_max_exponent(s, g);
    s->low_sum = sum_terms(s, g, 0, first, shift);
    s->high_sum = sum_terms(s, g, first, g->n, shift);
    s->high_sum += __builtin_convertvector(
        s->mantissa * exp2_s32x8(s->exponent - s->max_exponent +
                                 (w->fraction_bits - (s32)fused_fraction_bits(type))),
        s32x8);
    store_results(w, type, s, c);
}

/* ---- infinities and NaN: plain arithmetic decides ---- */

static f64 factor_value(f32 m, s32 e) {
    if (e > FUSED_EXPONENT_NAN) return (f64)m * f64_of((u64)(e + 1023) << 52);
    return e == FUSED_EXPONENT_PLUS_INF    ? INFINITY
           : e == FUSED_EXPONENT_MINUS_INF ? -INFINITY
           : e == FUSED_EXPONENT_NAN       ? NAN
                                           : 0;
}

/* Replaces results that have an infinite or NaN term. `s`: the sums before the group. */
static void fix_special_results(const struct accumulators *s, const struct product_group *g,
                                u8 type, u32 *c) {
    for (u32 j = 0; j < FUSED_COLUMNS; j++) {
        f64 sum = factor_value(s->mantissa[j], s->exponent[j]);
        for (u32 k = 0; k < g->n; k++)
            sum +=
                factor_value(g->a_mantissa[k], g->a_exponent[k]) *
                factor_value(g->b_mantissa[row_of_b(g, k) + j], g->b_exponent[row_of_b(g, k) + j]);
        if (sum - sum != 0)
            c[j] = type == MATRIX_F16 ? f16_of_f32((f32)sum) : bits_of(canonical_nan_f32((f32)sum));
    }
}

static bool has_special(const struct accumulators *s) {
    s32x8 found = (s->exponent > FUSED_EXPONENT_ZERO) & (s->exponent <= FUSED_EXPONENT_NAN);
    for (u32 j = 1; j < FUSED_COLUMNS; j++) found[0] |= found[j];
    return found[0];
}

void ISAFN(lane_fused_decompose)(u8 type, const u32 *v, u32 n, struct fused_factor *out) {
    u32 special = 0;
#define SPLIT(id)                                                                       \
    case id:                                                                            \
        for (u32 i = 0; i < n; i++)                                                     \
            special |= fused_decompose(id, v[i], &out->mantissa[i], &out->exponent[i]); \
        break;
    switch ((enum matrix_type)type) {
        SPLIT(MATRIX_F16)
        SPLIT(MATRIX_BF16)
        SPLIT(MATRIX_TF32)
        SPLIT(MATRIX_E4M3)
    default: SPLIT(MATRIX_E5M2)
    }
#undef SPLIT
    out->has_special = special;
}

/* b_row is NULL where this is inlined for dense matrices. */
INLINE void multiply_groups(const struct dot_accumulation *w, u32 rows, u32 columns, u32 k,
                            s32 shift, const struct fused_factor *a, const struct fused_factor *b,
                            const u8 *b_row, u8 type, u32 *c) {
    struct accumulators s;
    for (u32 row = 0; row < rows; row++)
        for (u32 column = 0; column < columns; column += FUSED_COLUMNS, c += FUSED_COLUMNS)
            for (u32 i = 0; i < k; i += w->terms_per_step) {
                u32 n = k - i < w->terms_per_step ? k - i : w->terms_per_step,
                    a_offset = row * k + i, b_offset = b_row ? column : i * columns + column;
                struct product_group g = {n,
                                          columns,
                                          a->mantissa + a_offset,
                                          b->mantissa + b_offset,
                                          a->exponent + a_offset,
                                          b->exponent + b_offset,
                                          b_row ? b_row + a_offset : NULL};
                add_group(w, &s, &g, shift, type, c);
                if (a->has_special || b->has_special || has_special(&s))
                    fix_special_results(&s, &g, type, c);
            }
}

void ISAFN(lane_fused_multiply)(const struct dot_accumulation *w, u32 rows, u32 columns, u32 k,
                                u32 fraction, const struct fused_factor *a,
                                const struct fused_factor *b, const u8 *b_row, u8 type, u32 *c) {
    s32 shift = w->fraction_bits - (s32)fraction;
    if (b_row) multiply_groups(w, rows, columns, k, shift, a, b, b_row, type, c);
    else multiply_groups(w, rows, columns, k, shift, a, b, NULL, type, c);
}
