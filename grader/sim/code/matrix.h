/* matrix.h — matrix instructions: what decode_matrix.c says and lanes_matrix.c computes.
 *
 * A matrix lies in registers of all 32 lanes. mma.sync lays it out as the PTX manual draws it; the layouts of wmma, which
 * the manual leaves open, are here: lane l holds the elements from l × n on in the order of memory (of rows, for
 * accumulators), n being how many its registers hold, and begins anew where the registers have room for more. */
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

enum { MATRIX_A, MATRIX_B, MATRIX_C, MATRIX_D, MATRICES };
enum { MATRIX_MULTIPLY, MATRIX_XOR, MATRIX_AND }; /* how elements combine: b1 counts the bits of a xor b, or a and b */

struct matrix_operand {
    ref reg[8];
    u8 count, type, row_major;
};

struct matrix_desc {
    u16 m, n, k;
    u8 direct; /* mma.sync, laid out by the manual */
    u8 combine, saturate;
    struct matrix_operand of[MATRICES];
};

/* The address of a lane's part of a matrix in memory: unit `at` of its own, of the `each` that a lane holds, of `all` in
 * the matrix; `line` units lie side by side, and lines one stride apart. In an op's imm. */
struct matrix_address {
    u8 at, each;
    u16 all;
    u16 line;
    u8 unit; /* bytes */
    u8 bits; /* of an element, which strides count */
};
_Static_assert(sizeof(struct matrix_address) == 8, "it is an op's imm");
