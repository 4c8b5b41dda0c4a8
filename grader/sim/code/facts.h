/* facts.h — what is known of a function's registers before it runs: their low bits, and whether a
 * warp's lanes agree. */
#pragma once
#include "grader/sim/code/decode.h"

struct reg_facts {
    u8 bits;      /* how many low bits are known, at most KNOWN_BITS */
    u8 residue;   /* what they are */
    bool uniform; /* the same in all lanes that are there to read it */
};
enum { KNOWN_BITS = 6 };

/* One entry for each of the function's PTX registers; the caller frees it. `uniform` is looked for
 * only if asked. */
struct reg_facts *decode_facts_find(const struct decoder *d, bool uniform);
