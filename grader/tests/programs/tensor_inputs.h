// tensor_inputs.h: elements of matrices for tensor_sums.cu and wgmma.cu, the same on every machine:
// a generator of our own, in integers only.
#pragma once
#include <cstddef>
#include <cstdint>

enum type { F16, BF16, TF32, E4M3, E5M2, S8, U8, B1, F32 };
static const int EXPONENT[] = {5, 8, 8, 4, 5, 0, 0, 0, 8},
                 FRACTION[] = {10, 7, 10, 3, 2, 0, 0, 0, 23};
static const int BITS[] = {16, 16, 32, 8, 8, 8, 8, 1, 32};

struct random_words {
    uint64_t state;
    uint32_t next() {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return (uint32_t)(state >> 33) ^ (uint32_t)(state >> 11) * 2654435761u;
    }
};

static inline uint32_t small_integer(int t, int v) {
    if (t == S8) return (uint8_t)v;
    if (t == U8) return (uint8_t)(v + 4);
    if (!v) return 0;
    uint32_t a = (uint32_t)(v < 0 ? -v : v);
    int e = 31 - __builtin_clz(a), f = FRACTION[t];
    uint32_t part = f >= e ? (a - (1u << e)) << (f - e) : (a - (1u << e)) >> (e - f);
    uint32_t x = (uint32_t)(v < 0) << (EXPONENT[t] + f) |
                 (uint32_t)(e + (1 << (EXPONENT[t] - 1)) - 1) << f | part;
    return t == TF32 ? x << 13 : x;
}

// A finite number of that exponent field, or the nearest that there is.
static inline uint32_t number(int t, int field, uint32_t part, uint32_t sign) {
    int f = FRACTION[t], top = (1 << EXPONENT[t]) - 1 - (t != E4M3);
    field = field < 0 ? 0 : field > top ? top : field;
    uint32_t x = sign << (EXPONENT[t] + f) | (uint32_t)field << f | (part & ((1u << f) - 1));
    if (t == E4M3 && (x & 0x7f) == 0x7f) x--;
    return t == TF32 ? x << 13 : x;
}

enum mode {
    INTEGERS,
    NEAR_ONE,
    ALL_SIZES,
    ANY_BITS,
    MANY_ZEROES,
    SUBNORMAL,
    MOSTLY_ONES,
    LARGE,
    MODES
};
static const char *const MODE[] = {"integers",    "near one",  "all sizes",   "any bits",
                                   "many zeroes", "subnormal", "mostly ones", "large"};

static inline uint32_t element(int t, int mode, random_words &r) {
    uint32_t a = r.next(), b = r.next();
    if (t == B1) return a & 1;
    if (t == S8 || t == U8) return mode == INTEGERS ? small_integer(t, (int)(a % 9) - 4) : a & 255;
    int one = (1 << (EXPONENT[t] - 1)) - 1, top = (1 << EXPONENT[t]) - 1;
    switch (mode) {
    case INTEGERS: return small_integer(t, (int)(a % 9) - 4);
    case NEAR_ONE: return number(t, one - 3 + (int)(a % 7), b, a >> 31);
    case ALL_SIZES:
        return number(t,
                      t == F32           ? one - 40 + (int)(a % 80)
                      : EXPONENT[t] == 8 ? one - 20 + (int)(a % 40)
                                         : 1 + (int)(a % (uint32_t)(top - 1)),
                      b, a >> 31);
    case ANY_BITS: return BITS[t] == 32 ? b : b & ((1u << BITS[t]) - 1);
    case MANY_ZEROES: return a % 4 ? 0 : number(t, one - 12 + (int)((a >> 8) % 24), b, a >> 31);
    case SUBNORMAL: return number(t, (int)(a % 3), b, a >> 31);
    case MOSTLY_ONES: return number(t, one + (a % 8 == 0) * 6, b & 1 ? b : 0, a >> 31);
    default:
        return number(t, t == F32 ? one - 10 + (int)(a % 45) : one + 4 + (int)(a % 12), b, a >> 31);
    }
}
static inline void fill(int t, int mode, random_words &r, uint32_t *out, size_t words) {
    for (size_t i = 0; i < words; i++) {
        out[i] = 0;
        if (BITS[t] == 1) out[i] = r.next();
        else
            for (int at = 0; at < 32; at += BITS[t]) out[i] |= element(t, mode, r) << at;
    }
}

static inline uint64_t digest(const uint32_t *p, size_t words, uint64_t h = 0xcbf29ce484222325ull) {
    for (size_t i = 0; i < words * 4; i++)
        h = (h ^ (p[i / 4] >> i % 4 * 8 & 255)) * 0x100000001b3ull;
    return h;
}
