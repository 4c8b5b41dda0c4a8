/* exec_fused.h — how tensor cores add. matrix.h has struct dot_accumulation; exec_matrix.c and
 * exec_warpgroup.c call these functions.
 *
 * A tensor core takes some products at once, a *group*, and adds them to the sum so far. It
 * truncates each term to a number of fraction bits below the largest exponent of all (of the
 * factors, before their product is normalized), adds the terms exactly, and truncates the sum to an
 * f32, or rounds it to the nearest f16. A result of zero has no sign. NVIDIA documents none of
 * this: the group size and fraction of compute capability 9.0 were measured here, to the last bit
 * (docs/simgpu.md, Tensor cores); those of other devices are from Xie et al., "MMA-Sim", arXiv
 * 2511.10909. */
#pragma once
#include "grader/sim/code/matrix.h"
#include "grader/sim/core/lanes.h"
#include "grader/sim/insn/exec_half.h"

enum {
    FUSED_COLUMNS = 8, /* summed side by side */
    /* Exponents of zero, infinities and NaN, for which m = 0. They lie below all others, even when
     * two are added. */
    FUSED_EXPONENT_ZERO = -4000,
    FUSED_EXPONENT_PLUS_INF,
    FUSED_EXPONENT_MINUS_INF,
    FUSED_EXPONENT_NAN,
    FUSED_MAX_ELEMENTS = 32 * 64 /* of one factor */
};

/* Elements as factors: value = m · 2^(e - the type's fraction bits), m an integer. */
struct fused_factor {
    f32 mantissa[FUSED_MAX_ELEMENTS];
    s32 exponent[FUSED_MAX_ELEMENTS];
    bool has_special; /* some elements are infinite or NaN */
};

INLINE u32 fused_fraction_bits(u8 type) {
    return type == MATRIX_BF16   ? 7
           : type == MATRIX_F32  ? 23
           : type == MATRIX_E4M3 ? 3
           : type == MATRIX_E5M2 ? 2
                                 : 10;
}

/* Sets m and e of an element; returns true if it is infinite or NaN. `type` is a constant where
 * this is inlined. */
INLINE bool fused_decompose(u8 type, u32 v, f32 *m, s32 *e) {
    u32 fraction = fused_fraction_bits(type),
        exponent_bits = type == MATRIX_F16 || type == MATRIX_E5M2 ? 5
                        : type == MATRIX_E4M3                     ? 4
                                                                  : 8;
    if (type == MATRIX_TF32) v >>= 13;
    u32 max_exponent = (1u << exponent_bits) - 1, field = v >> fraction & max_exponent,
        fraction_field = v & ((1u << fraction) - 1);
    bool special = field == max_exponent && (type != MATRIX_E4M3 || fraction_field == 7);
    s32 significand = (s32)(fraction_field | (field ? 1u << fraction : 0));
    u32 sign = v >> (fraction + exponent_bits) & 1;
    bool is_zero = special || !significand;
    *m = is_zero ? 0 : (f32)(sign ? -significand : significand);
    s32 special_exponent = !special         ? FUSED_EXPONENT_ZERO
                           : fraction_field ? FUSED_EXPONENT_NAN
                           : sign           ? FUSED_EXPONENT_MINUS_INF
                                            : FUSED_EXPONENT_PLUS_INF;
    *e = is_zero ? special_exponent : (s32)(field ? field : 1) - (s32)(max_exponent >> 1);
    return special;
}

/* Decomposes n elements, given by their bits. */
void ISAFN(lane_fused_decompose)(u8 type, const u32 *v, u32 n, struct fused_factor *out);
/* Adds a · b to c, group by group. c: rows × columns, bits of f32 or f16, row by row; a: rows × k;
 * b: k × columns, columns a multiple of 8. `fraction`: fraction bits of a's and b's types together.
 * `b_row`: the row of b that multiplies each element of a, if that isn't the k-th; else NULL. */
void ISAFN(lane_fused_multiply)(const struct dot_accumulation *w, u32 rows, u32 columns, u32 k,
                                u32 fraction, const struct fused_factor *a,
                                const struct fused_factor *b, const u8 *b_row, u8 type, u32 *c);
