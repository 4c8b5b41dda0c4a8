/* tensor.h — copies by tensor maps: what decode_tensor.c and lanes_tensor.c agree on.
 *
 * An op `cp.async.bulk.tensor` has in src[0] the place in shared memory, in src[1] the map's
 * address, in src[3] the mbarrier (or REF_NONE), in imm the direction as other bulk copies
 * (async.h), in target the description below. */
#pragma once
#include "grader/sim/code/insn.h"

struct tensor_desc {
    u8 rank;
    u8 reduces; /* atom: what it does to memory, ATOM_… */
    u8 atom;
    ref coord[5];
    ref ranks; /* which blocks of the cluster get the tile, 16 bits; REF_NONE = the one that the
                  place names */
};

/* An op `tensormap` changes a map, copies one out to global memory for others (cp_fenceproxy), or
 * makes changes of one seen: in src[0] the map's address, in src[1] the new value, or of a copy
 * where it comes from; in target the struct tensormap_desc, packed; in aux and imm what a bulk copy
 * out of shared memory has. */
enum tensormap_verb { TENSORMAP_REPLACE, TENSORMAP_PUBLISH, TENSORMAP_ACQUIRE };
enum tensormap_field {
    TENSORMAP_ADDRESS,
    TENSORMAP_RANK,
    TENSORMAP_BOX,
    TENSORMAP_DIM,
    TENSORMAP_STRIDE,
    TENSORMAP_STEP,
    TENSORMAP_TYPE,
    TENSORMAP_INTERLEAVE,
    TENSORMAP_SWIZZLE,
    TENSORMAP_FILL,
    TENSORMAP_FIELDS
};
struct tensormap_desc {
    u8 verb, field, place; /* place: which dimension of the field */
    u8 shared;             /* the map is in shared memory */
};
_Static_assert(sizeof(struct tensormap_desc) == 4, "it is an op's target");
