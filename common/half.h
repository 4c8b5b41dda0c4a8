/* half.h — IEEE 754 binary16, CUDA's `__half`, as bits: a sign, five bits of exponent with a bias
 * of 15, ten of fraction. GCC before 12 and clang before 15 have no such type on x86-64, so the
 * conversions use integers. */
#pragma once
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    uint16_t bits;
} ex_half;

/* Unit roundoff: the largest relative error of rounding to a normal half. */
#define EX_ROUNDOFF_F16 0x1p-11
/* From here on, rounding gives infinity: half a unit above the largest half, 65504. */
#define EX_HALF_OVERFLOW 65520.0

static inline double ex_power_of_two(int n) {
    uint64_t bits = (uint64_t)(n + 1023) << 52;
    double v;
    return memcpy(&v, &bits, sizeof v), v;
}

/* Returns the nearest half, ties to even, like cvt.rn.f16. A NaN becomes 0x7fff, as on the GPU. It
 * measures the number in units of its last place, 2^(e - 10); adding and subtracting 2^52 rounds
 * that to an integer, 0 to 2048. A normal number is encoded as (e + 15) * 1024 + (units - 1024), a
 * subnormal one as its units with e = -14: one formula, which also carries into the exponent if
 * rounding reaches 2048. */
static inline ex_half ex_half_from_double(double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    double size = fabs(v);
    if (isnan(v)) return (ex_half){0x7fff};
    if (size >= EX_HALF_OVERFLOW) return (ex_half){(uint16_t)(sign | 0x7c00)};
    int e = (int)(bits >> 52 & 0x7ff) - 1023;
    if (e < -14) e = -14;
    double units = size * ex_power_of_two(10 - e) + 0x1p52 - 0x1p52;
    return (ex_half){(uint16_t)(sign | ((unsigned)(e + 14) * 1024 + (unsigned)units))};
}

static inline double ex_half_to_double(ex_half h) {
    int exponent = h.bits >> 10 & 31;
    double fraction = h.bits & 1023, sign = h.bits & 0x8000 ? -1 : 1;
    if (exponent == 31) return fraction > 0 ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0) return sign * fraction * 0x1p-24;
    return sign * (fraction + 1024) * ex_power_of_two(exponent - 25);
}
