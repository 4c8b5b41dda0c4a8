/* reg_analysis.h — what is known of a function's registers before it runs: their low bits, and whether a
 * warp's lanes agree. */
#pragma once
#include "grader/sim/code/decode.h"

struct reg_analysis {
    u8 known_bits;     /* how many low bits are known, at most MAX_KNOWN_BITS */
    u8 known_low_bits; /* what they are */
    bool is_uniform;   /* the same in all lanes that are there to read it */
};
enum { MAX_KNOWN_BITS = 6 };

/* One entry for each of the function's PTX registers; the caller frees it. `uniform` is looked for
 * only if asked. */
struct reg_analysis *decode_analyze_registers(const struct decoder *d, bool with_uniformity);
