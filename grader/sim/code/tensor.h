/* tensor.h — copies by tensor maps: what decode_tensor.c and exec_tensor.c agree on.
 *
 * An op `cp.async.bulk.tensor` has in src[0] the place in shared memory, in src[1] the map's
 * address, in src[3] the mbarrier (or REF_NONE), in imm the direction as other bulk copies
 * (async.h), in target the description below. */
#pragma once
#include "grader/sim/code/insn.h"

struct tensor_desc {
    u8 rank;
    u8 is_reduction; /* atom: what it does to memory, ATOM_… */
    u8 atom;
    ref coord[5];
    ref cta_mask; /* which blocks of the cluster get the tile, 16 bits; REF_NONE = the one that the
                  place names */
};

/* An op `tensormap` changes a map, copies one out to global memory for others (cp_fenceproxy), or
 * makes changes of one seen: in src[0] the map's address, in src[1] the new value, or of a copy
 * where it comes from; in target the struct tensormap_desc, packed; in aux and imm what a bulk copy
 * out of shared memory has. */
enum tensormap_verb { TENSORMAP_REPLACE, TENSORMAP_CP_FENCEPROXY, TENSORMAP_ACQUIRE };
enum tensormap_field {
    TENSORMAP_GLOBAL_ADDRESS,
    TENSORMAP_RANK,
    TENSORMAP_BOX_DIM,
    TENSORMAP_GLOBAL_DIM,
    TENSORMAP_GLOBAL_STRIDE,
    TENSORMAP_ELEMENT_STRIDE,
    TENSORMAP_ELEMTYPE,
    TENSORMAP_INTERLEAVE,
    TENSORMAP_SWIZZLE,
    TENSORMAP_FILL,
    TENSORMAP_FIELD_COUNT
};
struct tensormap_desc {
    u8 verb, field, dimension; /* place: which dimension of the field */
    u8 in_shared;              /* the map is in shared memory */
};
_Static_assert(sizeof(struct tensormap_desc) == 4, "it is an op's target");
