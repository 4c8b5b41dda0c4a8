/* tensor.h — copies by tensor maps: what decode_tensor.c and lanes_tensor.c agree on.
 *
 * An op `cp.async.bulk.tensor` has in src[0] the place in shared memory, in src[1] the map's address, in src[3] the mbarrier
 * (or REF_NONE), in imm the direction as other bulk copies (async.h), in target the description below. */
#pragma once
#include "grader/sim/code/insn.h"

struct tensor_desc {
    u8 rank;
    u8 reduces; /* atom: what it does to memory, ATOM_… */
    u8 atom;
    ref coord[5];
    ref ranks; /* which blocks of the cluster get the tile, 16 bits; REF_NONE = the one that the place names */
};
