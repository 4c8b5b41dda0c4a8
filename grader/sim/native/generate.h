/* generate.h — what generate.c, chunk.c and rows.c share: see native.h. */
#pragma once
#include "common/buf.h"
#include "grader/sim/native/native.h"

/* ---- rows.c: the instruction table as the generator needs it ---- */

enum row_kind { ROW_CALL, ROW_VALUE, ROW_COMPARE, ROW_TEST, ROW_LOGIC, ROW_SELECT, ROW_CARRY };
struct native_row {
    u8 kind;    /* ROW_CALL: only the interpreter's lane function executes it */
    u8 is_add;  /* adds: base and offsets of an address stay apart; 2: subtracts */
    u8 is_move; /* copies */
    u8 source_count;
    u8 takes_carry, gives_carry; /* of ROW_CARRY */
    const char *id;              /* lane_<id> computes it */
};
const struct native_row *native_row(const struct op *o);
/* Returns the bytes of a register of that type; 1 = a predicate. */
u32 native_type_bytes(u8 type);

/* ---- chunk.c ---- */

enum { CHUNK_MAX_OPS = 160, CHUNK_MAX_VARS = 224 };

/* How a value depends on the lane. VARYING: any way; UNIFORM: not at all; OFFSET: it is the same
 * for all lanes plus the offsets of one register, the root, at the chunk's begin. */
enum value_class { VALUE_VARYING, VALUE_UNIFORM, VALUE_OFFSET };

/* A register that the chunk uses. */
struct chunk_var {
    ref r;
    u8 bytes;                                   /* 1: a predicate */
    u8 class;                                   /* of the current value */
    bool is_read_first, is_written, is_defined; /* is_defined: written so far */
    bool needs_scalar;                          /* its first value is needed by the checks */
    int def;  /* op in the chunk that wrote the current value; -1 = none yet */
    u32 root; /* of an OFFSET value: index of the var */
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
    u8 class;
    bool needs_scalar; /* the checks need its value */
    u32 root;
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

/* Adds the op if it fits; false: the chunk ends before it. */
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
