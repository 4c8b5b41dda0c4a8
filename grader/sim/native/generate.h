/* generate.h — what generate.c, chunk.c and rows.c share: see native.h. */
#pragma once
#include "common/buf.h"
#include "grader/sim/native/native.h"

/* ---- rows.c: the instruction table as the generator needs it ---- */

enum row_kind { ROW_CALL, ROW_VALUE, ROW_COMPARE, ROW_TEST, ROW_LOGIC, ROW_SELECT, ROW_CARRY };
enum add_kind { ADD_NONE, ADD_SUM, ADD_DIFFERENCE };
/* An instruction's row in opcodes.def. */
struct native_row {
    u8 kind;      /* enum row_kind; ROW_CALL: only the interpreter's lane function executes it */
    u8 add_kind;  /* enum add_kind: of sums, which keep the base and offsets of an address apart */
    bool is_move; /* copies */
    u8 source_count;
    bool takes_carry, gives_carry; /* of ROW_CARRY: src[3] is the carry, read or written */
    const char *id;                /* lane_<id> computes it */
};
/* Returns the row of an op's opcode. */
const struct native_row *native_row(const struct op *o);
/* Returns the bytes of a register of that type; 1 = a predicate. */
u32 native_type_bytes(u8 type);

/* ---- chunk.c ---- */

enum { CHUNK_MAX_OPS = 160, CHUNK_MAX_VARS = 224 };

/* How a value depends on the lane: in any way; not at all; or as the value that one register, the
 * root, has at the start of the chunk, to which the chunk adds the same amount in all lanes. The
 * checks of a load's addresses need no more than that amount. */
enum value_class { VALUE_VARYING, VALUE_UNIFORM, VALUE_ROOT_PLUS_UNIFORM };

/* A register that the chunk uses. */
struct chunk_var {
    ref r;
    u8 bytes;          /* 1: a predicate */
    u8 class;          /* of the current value */
    bool is_live_in;   /* read before it is written in all lanes */
    bool is_written;   /* so far */
    bool needs_scalar; /* its first value is needed by the checks */
    int def;           /* index of the op that wrote the current value; -1 = none yet */
    u32 root;          /* of VALUE_ROOT_PLUS_UNIFORM: index of the root's var */
};

/* An operand of an op in the chunk. */
struct chunk_operand {
    int var, def; /* var: index, or -1 for a constant or a value behind BASE_BLOCK */
    u8 class;
    u32 root;
};

struct chunk_op {
    const struct op *o;
    const struct native_row *row;
    struct chunk_operand src[MAX_SRC_OPERANDS];
    u8 class;          /* of the result */
    bool needs_scalar; /* the checks need its value */
    u32 root;          /* of the result; of a load: of its address */
};

struct chunk {
    const struct sim_module *m;
    const unsigned char *varying; /* by frame offset / 4: a register that may vary with the lane */
    struct chunk_var vars[CHUNK_MAX_VARS];
    u32 nvars;
    struct chunk_op ops[CHUNK_MAX_OPS];
    u32 nops, nloads;
    u32 first; /* op index of the first one */
};

/* Adds the op. Returns false, and leaves the chunk as it was, if the chunk must end before it. */
bool chunk_add(struct chunk *c, const struct op *o);
/* Writes the chunk's function, chunk_<first>. */
void chunk_write(struct chunk *c, struct buf *out);

/* ---- generate.c ---- */

/* Appends C text for the segments of a kernel. Returns the number of segments that have a function,
 * native_<segment>; is_native[segment] says which. */
u32 native_generate(const struct sim_module *m, const struct sim_func *f, struct buf *out,
                    bool *is_native);
/* The text that precedes it: prelude.h, preprocessed. */
extern const char native_prelude[], native_prelude_end[];
