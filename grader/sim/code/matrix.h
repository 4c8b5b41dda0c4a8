/* matrix.h — matrix instructions: what decode_matrix.c says and exec_matrix.c computes.
 *
 * A matrix lies in registers of all 32 lanes. mma.sync lays it out as the PTX manual draws it. The
 * layouts of wmma, which the manual leaves open, are those that the counters of an H100 show
 * (grader/tests/gpu/counters-h100.tsv, wmma_gemm), since they decide how many sectors and passes a
 * load or a store takes. Lines are those of memory (rows, for accumulators), and are cut into
 * units: 4 bytes, 8 of f64, two elements of accumulators. A block is 8 lines of 4 units, lane l
 * having unit l mod 4 of line l / 4; blocks follow each other down the lines first. Where registers
 * have room for more, they begin anew. */
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

/* How many elements a register of 4 bytes holds; 1 of those that fill it or need two. */
static inline u32 matrix_elements_of_word(u8 type) {
    u32 bits = decode_matrix_types[type].bits;
    return bits >= 32 ? 1 : 32 / bits;
}

enum { MATRIX_A, MATRIX_B, MATRIX_C, MATRIX_D, MATRIX_OPERANDS };
enum {
    MATRIX_MULTIPLY,
    MATRIX_XOR,
    MATRIX_AND
}; /* how elements combine: b1 counts the bits of a xor b, or a and b */

struct matrix_operand {
    ref reg[8];
    u8 count, type, row_major;
    /* Of mma: where in the matrix, row by row, an element lies: [register][element of its
     * word][lane]. */
    const u16 *elem_of_reg;
    /* …and the other way round: of each element of the matrix, row by row, where it lies in those
     * registers, one behind another: the first of them that holds it. */
    const u16 *reg_of_elem;
};
/* Places are the same for all instructions of a shape: a module keeps those of each that it has. */
struct matrix_layout {
    u64 key;
    u16 *elem_of_reg, *reg_of_elem;
};

/* How tensor cores add products of floats up to 32 bits: insn/exec_fused.h. */
struct dot_accumulation {
    u8 terms_per_step; /* products that are added at once */
    u8 fraction_bits;  /* bits kept below the largest exponent */
    u8 dropped_bits;   /* bits of an f32 that the sum does not have */
    u8 in_two_steps;   /* of 8-bit floats: as halves, the lower two of each register first, and c is
                       added behind them */
};

struct matrix_desc {
    u16 m, n, k;
    struct dot_accumulation accumulation;
    u8 is_mma; /* mma.sync, laid out by the manual */
    u8 combine, saturate;
    struct matrix_operand operands[MATRIX_OPERANDS];
};

/* Where units lie: blocks of 32 / wide lines and `wide` units side by side, `down` of them below
 * each other. */
struct matrix_tiling {
    u8 block_width, blocks_down,
        block_count; /* each: blocks in all, of which a lane holds a unit each */
};

/* Of so many lines of so many units; a multiple of 32 in all. Blocks are less wide or less high
 * where the matrix is. */
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

/* The address of a lane's unit of a block: in an op's imm. The op's target says that lines lie side
 * by side in memory, and units a stride apart, as accumulators in columns do. */
struct matrix_address {
    u8 block, half;              /* half: which of a unit's two elements, where they lie apart */
    u8 block_width, blocks_down; /* struct matrix_tiling */
    u8 unit_bytes;               /* bytes */
    u8 element_bits;             /* of an element, which strides count */
    u8 is_row; /* for ldmatrix: 16 bytes of line l mod 8 of block `block` + l / 8 */
    u8 pad;
};
_Static_assert(sizeof(struct matrix_address) == 8, "it is an op's imm");
