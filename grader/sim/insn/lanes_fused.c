/* lanes_fused.c — sums of products as tensor cores make them: see lanes_fused.h.
 *
 * All is integers in floats: a term is an integer below 2^24, scaled by a power of two so that its
 * unit is the last bit kept, and cut by the conversion to an integer. Eight terms of at most 2^27
 * fit 32 bits; more go to a second sum. */
#include "grader/sim/insn/lanes_fused.h"

#include <math.h>
#include <string.h>

enum { TERMS = 8 }; /* whose sum fits 32 bits */

/* Eight columns at a time; compilers without such vectors make shorter ones of them. The second two
 * are for memory. */
typedef f32 floats __attribute__((vector_size(4 * FUSED_COLUMNS)));
typedef s32 ints __attribute__((vector_size(4 * FUSED_COLUMNS)));
typedef floats floats_at __attribute__((aligned(4), may_alias));
typedef ints ints_at __attribute__((aligned(4), may_alias));

INLINE ints larger(ints a, ints b) {
    ints more = a > b;
    return (a & more) | (b & ~more);
}

/* 2^x, 2^-126 for less: what that scales is cut to zero. */
INLINE floats powers(ints x) { return (floats)((larger(x, (ints){0} - 126) + 127) << 23); }

/* Eight sums so far, as factors; the largest exponent; the terms' sums. */
struct sums {
    floats m;
    ints e, top, low, high;
};

/* One group of one row, eight columns. */
struct group {
    u32 n, columns; /* products; of b */
    const f32 *am, *bm;
    const s32 *ae, *be;
    const u8 *met; /* lane_fused_multiply */
};

/* Where the row of b is that the k-th product has. */
INLINE u32 row_of_b(const struct group *g, u32 k) { return (g->met ? g->met[k] : k) * g->columns; }

INLINE void find_largest(struct sums *s, const struct group *g) {
    ints top = s->e;
    for (u32 k = 0; k < g->n; k++)
        top = larger(top, *(const ints_at *)(g->be + row_of_b(g, k)) + g->ae[k]);
    s->top = top;
}

INLINE ints terms(const struct sums *s, const struct group *g, u32 from, u32 to, s32 shift) {
    ints sum = {0}, up = shift - s->top;
    for (u32 k = from; k < to; k++) {
        floats m = *(const floats_at *)(g->bm + row_of_b(g, k)) * g->am[k];
        ints e = *(const ints_at *)(g->be + row_of_b(g, k)) + g->ae[k];
        sum += __builtin_convertvector(m * powers(e + up), ints);
    }
    return sum;
}

typedef f64 doubles __attribute__((vector_size(8 * FUSED_COLUMNS)));
typedef s64 longs __attribute__((vector_size(8 * FUSED_COLUMNS)));

/* The integers are exact, and so is what they stand for: they have at most 33 bits. */
INLINE doubles values(const struct sums *s, s32 fraction) {
    longs x = __builtin_convertvector(larger(s->top - fraction, (ints){0} - 1000) + 1023, longs);
    return (__builtin_convertvector(s->low, doubles) + __builtin_convertvector(s->high, doubles)) *
           (doubles)(x << 52);
}

static u32 cut_f32(f64 v, u32 dropped) {
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
    u32 h = f16_of_f32(odd_f32(v));
    return h & 0x7fff ? h : 0;
}

/* As cut_f32, if all are normal or zero. */
static bool cut_normal(doubles v, u32 dropped, u32 *c) {
    longs bits = (longs)v, size = bits & INT64_MAX, zero = size == 0;
    longs odd = ~zero & ((size < 897ll << 52) | (size >= 1151ll << 52));
    longs r = ((size >> 29) - (896ll << 23)) & ((s64)(~0ull << dropped) & ~zero), any = odd;
    ints out =
        __builtin_convertvector(r, ints) | (__builtin_convertvector(bits >> 63, ints) &
                                            __builtin_convertvector(~zero, ints) & INT32_MIN);
    for (u32 j = 1; j < FUSED_COLUMNS; j++) any[0] |= any[j];
    memcpy(c, &out, sizeof out);
    return !any[0];
}

static void put_results(const struct dot_accumulation *w, u8 type, const struct sums *s, u32 *c) {
    doubles v = values(s, w->fraction_bits);
    if (type == MATRIX_F32 && cut_normal(v, w->dropped_bits, c)) return;
    for (u32 j = 0; j < FUSED_COLUMNS; j++)
        c[j] = type == MATRIX_F32 ? cut_f32(v[j], w->dropped_bits) : round_f16(v[j]);
}

static void split_sums(struct sums *s, u8 type, const u32 *c) {
    f32 m[FUSED_COLUMNS];
    s32 e[FUSED_COLUMNS];
    if (type == MATRIX_F32)
        for (u32 j = 0; j < FUSED_COLUMNS; j++) fused_split(MATRIX_F32, c[j], &m[j], &e[j]);
    else
        for (u32 j = 0; j < FUSED_COLUMNS; j++) fused_split(MATRIX_F16, c[j], &m[j], &e[j]);
    s->m = *(floats_at *)m, s->e = *(ints_at *)e;
}

INLINE void add_group(const struct dot_accumulation *w, struct sums *s, const struct group *g,
                      s32 shift, u8 type, u32 *c) {
    u32 first = g->n < TERMS ? g->n : g->n / 2;
    split_sums(s, type, c);
    find_largest(s, g);
    s->low = terms(s, g, 0, first, shift);
    s->high = terms(s, g, first, g->n, shift);
    s->high += __builtin_convertvector(
        s->m * powers(s->e - s->top + (w->fraction_bits - (s32)fused_fraction(type))), ints);
    put_results(w, type, s, c);
}

/* ---- infinities and NaN: what plain arithmetic makes of them ---- */

static f64 number(f32 m, s32 e) {
    if (e > FUSED_NAN) return (f64)m * f64_of((u64)(e + 1023) << 52);
    return e == FUSED_PLUS ? INFINITY : e == FUSED_MINUS ? -INFINITY : e == FUSED_NAN ? NAN : 0;
}

/* s: the sums as they were before the group. Where no term is special, nothing changes. */
static void put_specials_right(const struct sums *s, const struct group *g, u8 type, u32 *c) {
    for (u32 j = 0; j < FUSED_COLUMNS; j++) {
        f64 sum = number(s->m[j], s->e[j]);
        for (u32 k = 0; k < g->n; k++)
            sum += number(g->am[k], g->ae[k]) *
                   number(g->bm[row_of_b(g, k) + j], g->be[row_of_b(g, k) + j]);
        if (sum - sum != 0)
            c[j] = type == MATRIX_F16 ? f16_of_f32((f32)sum) : bits_of(canonical((f32)sum));
    }
}

static bool any_special(const struct sums *s) {
    ints found = (s->e > FUSED_NONE) & (s->e <= FUSED_NAN);
    for (u32 j = 1; j < FUSED_COLUMNS; j++) found[0] |= found[j];
    return found[0];
}

void ISAFN(lane_fused_split)(u8 type, const u32 *v, u32 n, struct fused_factor *out) {
    u32 special = 0;
#define SPLIT(id)                                                                             \
    case id:                                                                                  \
        for (u32 i = 0; i < n; i++) special |= fused_split(id, v[i], &out->m[i], &out->e[i]); \
        break;
    switch ((enum matrix_type)type) {
        SPLIT(MATRIX_F16)
        SPLIT(MATRIX_BF16)
        SPLIT(MATRIX_TF32)
        SPLIT(MATRIX_E4M3)
    default: SPLIT(MATRIX_E5M2)
    }
#undef SPLIT
    out->special = special;
}

/* `met` is NULL where this is inlined for dense matrices. */
INLINE void multiply(const struct dot_accumulation *w, u32 rows, u32 columns, u32 k, s32 shift,
                     const struct fused_factor *a, const struct fused_factor *b, const u8 *met,
                     u8 type, u32 *c) {
    struct sums s;
    for (u32 row = 0; row < rows; row++)
        for (u32 column = 0; column < columns; column += FUSED_COLUMNS, c += FUSED_COLUMNS)
            for (u32 i = 0; i < k; i += w->terms_per_step) {
                u32 n = k - i < w->terms_per_step ? k - i : w->terms_per_step, in_a = row * k + i,
                    in_b = met ? column : i * columns + column;
                struct group g = {n,
                                  columns,
                                  a->m + in_a,
                                  b->m + in_b,
                                  a->e + in_a,
                                  b->e + in_b,
                                  met ? met + in_a : NULL};
                add_group(w, &s, &g, shift, type, c);
                if (a->special || b->special || any_special(&s))
                    put_specials_right(&s, &g, type, c);
            }
}

void ISAFN(lane_fused_multiply)(const struct dot_accumulation *w, u32 rows, u32 columns, u32 k,
                                u32 fraction, const struct fused_factor *a,
                                const struct fused_factor *b, const u8 *met, u8 type, u32 *c) {
    s32 shift = w->fraction_bits - (s32)fraction;
    if (met) multiply(w, rows, columns, k, shift, a, b, met, type, c);
    else multiply(w, rows, columns, k, shift, a, b, NULL, type, c);
}
