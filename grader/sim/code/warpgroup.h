/* warpgroup.h — wgmma: products of matrices that lie in shared memory, by the four warps of a
 * warpgroup: what decode_warpgroup.c and exec_warpgroup.c agree on.
 *
 * Warp w of the group makes rows 16 w to 16 w + 15 of d = a × b + d. d lies in its registers, a in
 * registers or in shared memory, b in shared memory, both cut into chunks of 16 bytes that a
 * descriptor finds. A sparse product has half of a's elements: metadata in registers say which of
 * b's they meet. An op `wgmma` has in aux a description of its accesses, in target its struct
 * warpgroup_desc; `wgmma.group` has in imm and target what cp.async.group has (async.h). */
#pragma once
#include "grader/sim/code/matrix.h"

enum {
    WARPGROUP_WARPS = 4,
    WARPGROUP_ROWS_PER_WARP = 16, /* of a warp */
    WARPGROUP_MAX_N = 256,        /* at most */
    WARPGROUP_MAX_K = 256,        /* k of b1 */
    WARPGROUP_METADATA_BITS =
        4, /* of metadata: the places of two elements among four, or of one of 32 bits among two */
};

struct warpgroup_desc {
    u16 n, k, count; /* count: registers of d */
    u8 type[MATRIX_OPERANDS];
    u8 sparse, selector;
    ref metadata;
    u8 a_in_registers; /* a is */
    u8 transposed[2]; /* a, b: elements that follow each other in m or n lie side by side, not those
                         in k */
    u8 is_negated;    /* the product is */
    u8 saturate, combine;
    struct dot_accumulation accumulation;
    ref a[4], *d;
    ref smem_desc[2]; /* descriptors of a and b */
    ref scale;        /* predicate: d is added to; REF_NONE = always or never: `fresh` */
    u32 scale_xor;
    u8 starts_from_zero; /* d begins as zero */
};

/* Elements of a row of a that there are. */
static inline u32 warpgroup_stored_k(const struct warpgroup_desc *w) {
    return w->sparse ? w->k / 2u : w->k;
}

/* Where the metadata of a row's element is: in which lane, from which bit on. As the PTX manual
 * draws it; compared with what an H100 makes of a product by the unit matrix. `bits`: of an
 * element. */
static inline u32 warpgroup_metadata_bit(const struct warpgroup_desc *w, u32 bits, u32 row,
                                         u32 element, u32 *lane) {
    u32 group = element / (bits == 32 ? 1 : 2);
    bool bytes = bits == 8;
    *lane = row % 8 * 4 + (bytes ? group / 8 * 2 + row / 8 : w->selector * 2u + group / 4);
    return (bytes ? group % 8 : row / 8 * 4 + group % 4) * WARPGROUP_METADATA_BITS;
}

/* A descriptor, 64 bits; PTX ISA, "Matrix descriptor". Bytes. */
struct warpgroup_layout {
    u32 start_offset, leading_offset, stride_offset;
    u32 swizzle_span; /* that a swizzle works within; 16 = none */
    u32 base_offset;  /* rows of 128 bytes that the pattern begins later */
};
static inline struct warpgroup_layout warpgroup_layout_of(u64 v) {
    static const u8 spans[] = {16, 128, 64, 32};
    return (struct warpgroup_layout){(u32)(v & 0x3fff) << 4, (u32)(v >> 16 & 0x3fff) << 4,
                                     (u32)(v >> 32 & 0x3fff) << 4, spans[v >> 62],
                                     (u32)(v >> 49 & 7)};
}

/* Offset of a chunk. Along k: chunk u of line `line` (a row of a, a column of b). Transposed: chunk
 * u, of 8 lines from 8 u on, of element `line` in k. All combinations were compared with an H100's
 * results: tests/programs/wgmma.cu. */
static inline u32 warpgroup_chunk_offset(const struct warpgroup_layout *l, bool transposed,
                                         u32 line, u32 u) {
    u32 per = l->swizzle_span / 16, at = l->start_offset + line % 8 * l->swizzle_span;
    if (per == 1)
        at += transposed ? u * l->stride_offset + line / 8 * l->leading_offset
                         : u * l->leading_offset + line / 8 * l->stride_offset;
    else at += u % per * 16 + u / per * l->leading_offset + line / 8 * l->stride_offset;
    return per == 1 ? at : at ^ (((at >> 7) - l->base_offset) & (per - 1)) << 4;
}
