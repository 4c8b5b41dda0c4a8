/* warpgroup.h — wgmma: products of matrices that lie in shared memory, by the four warps of a warpgroup: what decode_warpgroup.c and
 * lanes_warpgroup.c agree on.
 *
 * Warp w of the group makes rows 16 w to 16 w + 15 of d = a × b + d. d lies in its registers, a in registers or in shared memory, b in
 * shared memory, both cut into chunks of 16 bytes that a descriptor finds. An op `wgmma` has in aux a description of its accesses, in target
 * its struct warpgroup_desc; `wgmma.group` has in imm and target what cp.async.group has (async.h). */
#pragma once
#include "grader/sim/code/matrix.h"

enum { WARPGROUP_WARPS = 4, WARPGROUP_ROWS = 16 /* of a warp */, WARPGROUP_COLUMNS = 256 /* at most */ };

struct warpgroup_desc {
    u16 n, k, count; /* count: registers of d */
    u8 type[MATRICES];
    u8 in_registers;  /* a is */
    u8 transposed[2]; /* a, b: elements that follow each other in m or n lie side by side, not those in k */
    u8 negated;       /* the product is */
    u8 saturate, combine;
    struct matrix_sum sum;
    ref a[4], *d;
    ref place[2]; /* descriptors of a and b */
    ref scale;    /* predicate: d is added to; REF_NONE = always or never: `fresh` */
    u32 flip;
    u8 fresh; /* d begins as zero */
};

/* A descriptor, 64 bits; PTX ISA, "Matrix descriptor". Bytes. */
struct warpgroup_layout {
    u32 start, lead, stride;
    u32 span; /* that a swizzle works within; 16 = none */
    u32 base; /* rows of 128 bytes that the pattern begins later */
};
static inline struct warpgroup_layout warpgroup_layout_of(u64 v) {
    static const u8 spans[] = {16, 128, 64, 32};
    return (struct warpgroup_layout){(u32)(v & 0x3fff) << 4, (u32)(v >> 16 & 0x3fff) << 4, (u32)(v >> 32 & 0x3fff) << 4,
                                     spans[v >> 62], (u32)(v >> 49 & 7)};
}

/* Offset of a chunk. Along k: chunk u of line `line` (a row of a, a column of b). Transposed: chunk u, of 8 lines from 8 u on, of element
 * `line` in k. All combinations were compared with an H100's results: tests/programs/wgmma.cu. */
static inline u32 warpgroup_chunk(const struct warpgroup_layout *l, bool transposed, u32 line, u32 u) {
    u32 per = l->span / 16, at = l->start + line % 8 * l->span;
    if (per == 1) at += transposed ? u * l->stride + line / 8 * l->lead : u * l->lead + line / 8 * l->stride;
    else at += transposed ? u % per * 16 + u / per * l->lead + line / 8 * l->stride : u * 16 + line / 8 * l->stride;
    return per == 1 ? at : at ^ (((at >> 7) - l->base) & (per - 1)) << 4;
}
