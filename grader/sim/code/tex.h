/* tex.h — a decoded texture fetch or surface access: what decode_tex.c and exec_tex.c share. */
#pragma once
#include "grader/sim/code/code.h"

enum tex_verb { TEX_FETCH, TEX_GATHER, SURF_LOAD, SURF_STORE };
enum tex_clamp { SURF_TRAP, SURF_CLAMP, SURF_ZERO };

struct tex_desc {
    u8 verb, shape; /* SIM_TEX_… */
    bool layered;
    bool has_integer_coords; /* coordinates are integers, in texels */
    u8 component;            /* the one that a gather fetches */
    u8 clamp;                /* SURF_…: what a surface access out of bounds does */
    u8 type;                 /* enum ptx_type of a result, or of a surface's elements */
    u8 ncoords, ndst;        /* ncoords: the layer not included */
    ref handle, layer, coord[3], lod, dst[4]; /* REF_NONE = absent */
    ref grad[6];  /* gradients in x and y of each coordinate; REF_NONE = absent */
    u8 reg_bytes; /* of a surface's elements */
};
