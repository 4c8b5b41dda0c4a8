/* generate.h — what the generator's files share: see native.h. */
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
    bool has_raw; /* raw_<id> computes it but for the canonical NaN */
    u8 source_count;
    bool takes_carry, gives_carry; /* of ROW_CARRY: src[3] is the carry, read or written */
    const char *id;                /* lane_<id> computes it */
};
/* Returns the row of an op's opcode. */
const struct native_row *native_row(const struct op *o);
/* Returns the bytes of a register of that type; 1 = a predicate. */
u32 native_type_bytes(u8 type);
/* Return those of the op's result and of its i-th source, if it is regular. */
u32 native_result_bytes(const struct op *o);
u32 native_source_bytes(const struct op *o, u32 i);

/* ---- chunk.c ---- */

enum { CHUNK_MAX_OPS = 160, CHUNK_MAX_VARS = 224 };

/* How a value depends on the lane: in any way; not at all; or as the value that one register, the
 * root, has at the start of the chunk, to which the chunk adds the same amount in all lanes. The
 * checks of a load's addresses need no more than that amount. */
enum value_class { VALUE_VARYING, VALUE_UNIFORM, VALUE_ROOT_PLUS_UNIFORM };

/* A register that the chunk uses. */
struct chunk_var {
    ref r;
    u32 loop_var;      /* index in loop.vars, if the chunk belongs to a loop */
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
    int group;         /* of a repeated load, else -1: repeat.c */
};

/* Repeated loads whose addresses are a constant apart. */
struct load_group {
    u32 first, size;      /* op of the chunk; number of loads */
    s64 min_imm, max_imm; /* what they add to the address register */
};
enum { CHUNK_MAX_GROUPS = 16 };

struct loop;
struct chunk {
    const struct sim_module *m;
    struct loop *loop;            /* NULL = registers lie in the frame */
    const unsigned char *varying; /* by frame offset / 4: a register that may vary with the lane */
    struct chunk_var vars[CHUNK_MAX_VARS];
    u32 nvars;
    struct chunk_op ops[CHUNK_MAX_OPS];
    u32 nops, nloads;
    struct load_group groups[CHUNK_MAX_GROUPS];
    u32 ngroups, nrepeated;
    u32 first;       /* op index of the first one */
    u32 number;      /* in its loop */
    u32 first_load;  /* number of its first load in its loop */
    bool calls_only; /* one op that the interpreter executes */
    bool is_store;   /* one store */
    bool is_masked;  /* some lanes may be elsewhere */
};

/* Adds the op. Returns false, and leaves the chunk as it was, if the chunk must end before it. */
bool chunk_add(struct chunk *c, const struct op *o);
/* Adds a store to an empty chunk of a loop. Returns false if only the interpreter can do it. */
bool chunk_add_store(struct chunk *c, const struct op *o);
/* Adds an op to an empty chunk that only the interpreter executes. Returns false if it isn't known
 * which registers the op reads and writes. */
bool chunk_add_call(struct chunk *c, const struct op *o);
/* Returns true if the op has a guard predicate that may exclude lanes. */
bool chunk_is_guarded(const struct sim_module *m, const struct op *o);
/* Returns true if registers of that reference lie in a function's frame or with the warp. */
bool chunk_is_register(ref r);

/* ---- write_load.c ---- */

/* Writes the check of the j-th op, a load: of its address, pattern, bounds and bytes. `load`: its
 * number among the chunk's loads. */
void chunk_write_load_check(const struct chunk *c, struct buf *out, u32 j, u32 load);
/* Writes the condition that the lanes' addresses are where the load's pattern has them. */
void chunk_write_pattern_condition(const struct chunk *c, struct buf *out, u32 j);
/* Writes the same for a store, and then what it has as effects but for the data. */
void chunk_write_store_checks(const struct chunk *c, struct buf *out);
/* Writes what the loads have as effects, and where their values are. */
void chunk_write_commit(const struct chunk *c, struct buf *out);
/* Returns true unless the load was merged into another one. */
bool chunk_is_counted_load(const struct mem_desc *d);

/* ---- repeat.c: loads of a segment whose patterns mostly repeat ---- */

/* Finds the repeated loads of a chunk of a segment. */
void repeat_find(struct chunk *c);
/* Writes the tables of the chunk's repeated loads. */
void repeat_write_tables(const struct chunk *c, struct buf *out);
/* Writes the check of a load's address and bytes, if it is the first one of its group, and where
 * the load reads. */
void repeat_write_check(const struct chunk *c, struct buf *out, u32 j);
/* Writes the check of all patterns, which follows the other checks. */
void repeat_write_pattern_check(const struct chunk *c, struct buf *out);
/* Writes the count of all repeated loads; the records of those from the j-th op on that no other
 * load parts. */
void repeat_write_count(const struct chunk *c, struct buf *out);
void repeat_write_records(const struct chunk *c, struct buf *out, u32 j);

/* ---- write.c ---- */

bool chunk_is_load(const struct chunk_op *item);
const struct mem_desc *chunk_load_desc(const struct chunk *c, const struct chunk_op *item);
u32 chunk_load_span(const struct mem_desc *d); /* bytes of a lane */
/* Returns what the i-th register of the chunk is in its loop. */
const struct loop_var *chunk_loop_var(const struct chunk *c, u32 i);
/* Writes the i-th source as a scalar of the checks. */
void chunk_write_scalar(const struct chunk *c, struct buf *out, const struct chunk_op *item, u32 i,
                        u32 bytes);

/* Writes the chunk's function, chunk_<first>. */
void chunk_write(struct chunk *c, struct buf *out);
/* Writes the chunk as a block of its loop's function. */
void chunk_write_in_loop(struct chunk *c, struct buf *out);
/* Returns the C type of a register. */
const char *native_type_name(u32 bytes);

/* ---- loop.c: which loops become functions, and what their registers hold ---- */

enum { LOOP_MAX_VARS = 320, LOOP_MAX_SEGMENTS = 48, LOOP_MAX_CHUNKS = 96, LOOP_MAX_LOADS = 256 };

/* What a register holds while its loop runs. UNIFORM: one value, a scalar. AFFINE: a scalar, the
 * first lane's value, and the offsets of the lanes that another register, the root, has when the
 * loop is entered. VECTOR: 32 values; of a predicate, the mask. */
enum loop_class { LOOP_UNKNOWN, LOOP_UNIFORM, LOOP_AFFINE, LOOP_VECTOR };

struct loop_var {
    ref r;
    u8 bytes, class;
    u32 root;         /* of AFFINE: index of the root's var */
    bool is_live_in;  /* some path reads it before the loop has written it */
    bool is_written;  /* in the loop */
    bool has_offsets; /* it is a root */
};

/* An innermost loop, all of whose segments end in branches; or a *region*, segments without a
 * loop, which the function runs at most once. */
struct loop {
    bool is_region;
    const struct sim_module *m;
    const unsigned char *varying;
    u32 header;                      /* segment */
    u32 segments[LOOP_MAX_SEGMENTS]; /* ascending; the header is the first */
    u32 nsegments;
    /* By position: some lanes may be elsewhere when the segment runs; where the lanes meet again
     * that the segment's branch parts, 0 = the function leaves the loop when they part. */
    bool is_masked[LOOP_MAX_SEGMENTS];
    u32 reconvergence[LOOP_MAX_SEGMENTS];
    struct loop_var vars[LOOP_MAX_VARS];
    u32 nvars;
    struct chunk *chunks[LOOP_MAX_CHUNKS]; /* in the order of the ops */
    u32 nchunks, nloads;
};

/* Returns the var's index, which it adds if needed; -1: the loop can't be a function. */
int loop_find_or_add_var(struct loop *l, ref r, u32 bytes);
/* Returns the position of a segment in the loop, or -1. */
int loop_position(const struct loop *l, u32 segment);
/* Makes the loop whose header is that segment. Returns NULL if there is none, or it contains what a
 * loop's function can't do. */
struct loop *loop_find(const struct sim_module *m, const struct sim_func *f,
                       const unsigned char *varying, u32 header);
void loop_free(struct loop *l);

/* ---- write_loop.c ---- */

/* Writes the loop's function, loop_<header>. */
void loop_write(const struct loop *l, struct buf *out);
/* Writes statements that make the frame hold a var, or a var hold what is in the frame. */
void loop_write_store(const struct loop *l, struct buf *out, u32 var);
void loop_write_reload(const struct loop *l, struct buf *out, u32 var);

/* ---- generate.c ---- */

enum { NATIVE_SEGMENT = 1, NATIVE_LOOP = 2 };
/* Appends C text for the segments and loops of a kernel. Returns the number of functions.
 * made[segment] says which a segment has: native_<segment>, loop_<segment>. */
u32 native_generate(const struct sim_module *m, const struct sim_func *f, struct buf *out,
                    u8 *made);
/* The text that precedes it: prelude.h, preprocessed. */
extern const char native_prelude[], native_prelude_end[];
