/* tex.h — a texture fetch or surface access, decoded: what decode_tex.c and exec_tex.c agree on.
 */
#pragma once
#include "grader/sim/code/code.h"

enum tex_verb { TEX_FETCH, TEX_GATHER, SURF_LOAD, SURF_STORE };
enum tex_clamp { SURF_TRAP, SURF_CLAMP, SURF_ZERO };

struct tex_desc {
    u8 verb, shape; /* SIM_TEX_… */
    bool layered;
    bool has_integer_coords; /* coordinates are texels */
    u8 component;            /* of a gather */
    u8 clamp;                /* of a surface access */
    u8 type;                 /* enum ptx_type of a result, or of a surface's elements */
    u8 ncoords, ndst;        /* ncoords: without the layer */
    ref handle, layer, coord[3], lod, dst[4]; /* REF_NONE where there is none */
    ref grad[6];  /* x and y of each coordinate's change; REF_NONE: no gradients */
    u8 reg_bytes; /* of a surface's elements */
};
