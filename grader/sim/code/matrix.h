/* matrix.h — matrix instructions: what decode_matrix.c decodes and exec_matrix.c computes.
 *
 * A matrix lies in registers of all 32 lanes. mma.sync lays it out as the PTX manual draws it. The
 * manual leaves the layouts of wmma open; ours are those that the counters of an H100 show
 * (grader/tests/gpu/counters-h100.tsv, wmma_gemm), since the layout decides how many sectors and
 * wavefronts a load or store takes. A *line* is a line of memory (a row, for accumulators), and is
 * cut into *units*: 4 bytes, 8 of f64, two elements of accumulators. A *block* is 8 lines of 4
 * units; lane l holds unit l mod 4 of line l / 4. Blocks follow each other down the lines first. If
 * the registers can hold more than the matrix, the blocks repeat. */
#pragma once
#include "grader/sim/code/insn.h"

/* X(id, name, bits, floating point) */
/* clang-format off */
#define MATRIX_TYPES(X)                                                                                          \
    X(F16, "f16", 16, 1) X(BF16, "bf16", 16, 1) X(TF32, "tf32", 32, 1) X(F32, "f32", 32, 1) X(F64, "f64", 64, 1) \
    X(E4M3, "e4m3", 8, 1) X(E5M2, "e5m2", 8, 1) X(S8, "s8", 8, 0) X(U8, "u8", 8, 0) X(S4, "s4", 4, 0)            \
    X(U4, "u4", 4, 0) X(B1, "b1", 1, 0) X(S32, "s32", 32, 0)
/* clang-format on */
enum matrix_type {
#define X(id, name, bits, is_float) MATRIX_##id,
    MATRIX_TYPES(X)
#undef X
        MATRIX_TYPE_COUNT
};
extern const struct matrix_type_info {
    const char *name;
    u8 bits, is_float;
} decode_matrix_types[];

/* Returns how many elements a register of 4 bytes holds; 1 for elements that need all of it, or two
 * registers. */
static inline u32 matrix_elements_of_word(u8 type) {
    u32 bits = decode_matrix_types[type].bits;
    return bits >= 32 ? 1 : 32 / bits;
}

enum { MATRIX_A, MATRIX_B, MATRIX_C, MATRIX_D, MATRIX_OPERANDS };
/* How two elements combine; for b1, the bits of a xor b, or of a and b, are counted. */
enum { MATRIX_MULTIPLY, MATRIX_XOR, MATRIX_AND };

struct matrix_operand {
    ref reg[8];
    u8 count, type, row_major;
    /* For mma: an element's index in the matrix, row by row: [register][element of its
     * word][lane]. */
    const u16 *elem_of_reg;
    /* The inverse: for each element of the matrix, row by row, the first place that holds it when
     * the registers lie one behind another. */
    const u16 *reg_of_elem;
};
/* All instructions of one shape share a layout; the module owns one for each shape it uses. */
struct matrix_layout {
    u64 key;
    u16 *elem_of_reg, *reg_of_elem;
};

/* How tensor cores add up products of types up to f32: insn/exec_fused.h. */
struct dot_accumulation {
    u8 terms_per_step; /* products added at once */
    u8 fraction_bits;  /* bits kept below the largest exponent */
    u8 dropped_bits;   /* low bits of an f32 that the sum lacks */
    /* For 8-bit floats: they are multiplied as halves, the lower two of each register first, and c
     * is added at the end. */
    u8 in_two_steps;
};

struct matrix_desc {
    u16 m, n, k;
    struct dot_accumulation accumulation;
    u8 is_mma; /* mma.sync, with the layout of the manual */
    u8 combine, saturate;
    struct matrix_operand operands[MATRIX_OPERANDS];
};

/* Where units lie: blocks of 32 / block_width lines and block_width units, blocks_down of them
 * below each other. */
struct matrix_tiling {
    /* block_count: in all; a lane holds one unit of each block. */
    u8 block_width, blocks_down, block_count;
};

/* Returns the tiling of a matrix of `lines` lines of `units` units, whose product is a multiple of
 * 32. A matrix that is narrower or lower than a block makes the blocks so, too. */
static inline struct matrix_tiling matrix_tiling_of(unsigned lines, unsigned units) {
    unsigned width = units < 4 ? units : 4;
    if (32 / width > lines) width = 32 / lines;
    return (struct matrix_tiling){(u8)width, (u8)(lines * width / 32), (u8)(lines * units / 32)};
}
static inline unsigned matrix_line(struct matrix_tiling g, unsigned lane, unsigned block) {
    return lane / g.block_width + 32 / g.block_width * (block % g.blocks_down);
}
static inline unsigned matrix_unit(struct matrix_tiling g, unsigned lane, unsigned block) {
    return lane % g.block_width + g.block_width * (block / g.blocks_down);
}

/* Which unit of a block a lane addresses; packed into an op's imm. If the op's target is set, lines
 * lie side by side in memory, and units a stride apart, as accumulators in columns do. */
struct matrix_address {
    u8 block, half;              /* half: which element of a unit, where the two lie apart */
    u8 block_width, blocks_down; /* struct matrix_tiling */
    u8 unit_bytes;
    u8 element_bits; /* strides count elements */
    u8 is_row;       /* ldmatrix: the 16 bytes of line l mod 8 of block `block` + l / 8 */
    u8 alignment;    /* that the manual requires of the base: the size of a lane's fragment */
};
_Static_assert(sizeof(struct matrix_address) == 8, "it must fit an op's imm");
