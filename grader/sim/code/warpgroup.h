/* warpgroup.h — wgmma, products of matrices by the four warps of a warpgroup: what
 * decode_warpgroup.c and exec_warpgroup.c share.
 *
 * Warp w of the group computes rows 16 w to 16 w + 15 of d = a × b + d. d is in registers, a in
 * registers or in shared memory, b in shared memory. In shared memory both are cut into chunks of
 * 16 bytes, which a descriptor locates. A sparse product stores half of a's elements; metadata in
 * registers says which elements of b each one multiplies. An op `wgmma` has in aux the description
 * of its accesses, in target its struct warpgroup_desc; `wgmma.group` has in imm and target the
 * same as cp.async.group (async.h). */
#pragma once
#include "grader/sim/code/matrix.h"

enum {
    WARPGROUP_WARPS = 4,
    WARPGROUP_ROWS_PER_WARP = 16,
    WARPGROUP_MAX_N = 256,
    WARPGROUP_MAX_K = 256, /* reached by b1 */
    /* A group's metadata: the places of two elements among four, or of one of 32 bits among two. */
    WARPGROUP_METADATA_BITS = 4,
};

struct warpgroup_desc {
    u16 n, k, count; /* count: registers of d */
    u8 type[MATRIX_OPERANDS];
    u8 sparse, selector;
    ref metadata;
    u8 a_in_registers;
    /* Of a and b: neighbours in m or n, rather than in k, are adjacent in memory. */
    u8 transposed[2];
    u8 is_negated; /* the product has its sign inverted */
    u8 saturate, combine;
    struct dot_accumulation accumulation;
    ref a[4], *d;
    ref smem_desc[2]; /* descriptors of a and b */
    ref scale;        /* predicate: add d to the product; REF_NONE: starts_from_zero decides */
    u32 scale_xor;
    u8 starts_from_zero; /* the old d is ignored */
};

/* Returns how many elements of a row of a are stored. */
static inline u32 warpgroup_stored_k(const struct warpgroup_desc *w) {
    return w->sparse ? w->k / 2u : w->k;
}

/* Returns the first bit of the metadata for an element of a row, and in *lane the lane that holds
 * it, as the PTX manual draws it. Checked against an H100's products by a unit matrix. `bits`: size
 * of an element. */
static inline u32 warpgroup_metadata_bit(const struct warpgroup_desc *w, u32 bits, u32 row,
                                         u32 element, u32 *lane) {
    u32 group = element / (bits == 32 ? 1 : 2);
    bool bytes = bits == 8;
    *lane = row % 8 * 4 + (bytes ? group / 8 * 2 + row / 8 : w->selector * 2u + group / 4);
    return (bytes ? group % 8 : row / 8 * 4 + group % 4) * WARPGROUP_METADATA_BITS;
}

/* A matrix descriptor, unpacked (PTX ISA, "Matrix descriptor"). In bytes. */
struct warpgroup_layout {
    u32 start_offset, leading_offset, stride_offset;
    u32 swizzle_span; /* the range that a swizzle permutes; 16 = no swizzle */
    u32 base_offset;  /* rows of 128 bytes by which the pattern is shifted */
};
static inline struct warpgroup_layout warpgroup_layout_of(u64 v) {
    static const u8 spans[] = {16, 128, 64, 32};
    return (struct warpgroup_layout){(u32)(v & 0x3fff) << 4, (u32)(v >> 16 & 0x3fff) << 4,
                                     (u32)(v >> 32 & 0x3fff) << 4, spans[v >> 62],
                                     (u32)(v >> 49 & 7)};
}

/* Returns the offset of a chunk. Along k: chunk u of line `line` (a row of a, a column of b).
 * Transposed: the chunk of 8 lines, from line 8 u on, of element `line` in k. All combinations were
 * checked against an H100: grader/tests/programs/wgmma.cu. */
static inline u32 warpgroup_chunk_offset(const struct warpgroup_layout *l, bool transposed,
                                         u32 line, u32 u) {
    u32 per = l->swizzle_span / 16, at = l->start_offset + line % 8 * l->swizzle_span;
    if (per == 1)
        at += transposed ? u * l->stride_offset + line / 8 * l->leading_offset
                         : u * l->leading_offset + line / 8 * l->stride_offset;
    else at += u % per * 16 + u / per * l->leading_offset + line / 8 * l->stride_offset;
    return per == 1 ? at : at ^ (((at >> 7) - l->base_offset) & (per - 1)) << 4;
}
