/* reg_analysis.h — what is known of a function's registers before it runs: their low bits, and
 * whether they are uniform. access_merging.c calls it. */
#pragma once
#include "grader/sim/code/decode.h"

struct reg_analysis {
    u8 known_bits;     /* how many low bits are known, 0 to MAX_KNOWN_BITS */
    u8 known_low_bits; /* their values */
    bool is_uniform;   /* the same value in all active lanes */
};
enum { MAX_KNOWN_BITS = 6 };

/* Returns an entry for each PTX register of the function, which the caller frees. is_uniform is
 * computed only with `with_uniformity`. */
struct reg_analysis *decode_analyze_registers(const struct decoder *d, bool with_uniformity);
