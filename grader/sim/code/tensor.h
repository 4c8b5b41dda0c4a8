/* tensor.h — bulk copies by tensor maps: what decode_tensor.c and exec_tensor.c share.
 *
 * An op `cp.async.bulk.tensor` has in src[0] the place in shared memory, in src[1] the map's
 * address, in src[3] the mbarrier (or REF_NONE), in imm the direction as other bulk copies
 * (async.h), in target the index of its struct tensor_desc. */
#pragma once
#include "grader/sim/code/insn.h"

struct tensor_desc {
    u8 rank;
    u8 is_reduction; /* adds to memory, or another operation: `atom`, ATOM_… */
    u8 atom;
    ref coord[5];
    /* The blocks of the cluster that receive the tile, 16 bits; REF_NONE = the block that the
     * address in shared memory names. */
    ref cta_mask;
};

/* An op `tensormap` changes a map, copies one to global memory for other blocks (cp_fenceproxy), or
 * makes such changes visible. src[0] holds the map's address; src[1] the new value, or a copy's
 * source; target the struct tensormap_desc, packed; aux and imm the same as a bulk copy out of
 * shared memory. */
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
    u8 verb, field, dimension; /* dimension: the index in a field that has one for each */
    u8 in_shared;              /* the map is in shared memory */
};
_Static_assert(sizeof(struct tensormap_desc) == 4, "it is an op's target");
