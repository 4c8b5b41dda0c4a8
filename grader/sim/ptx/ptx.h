/* ptx.h — parses PTX text into a module: functions, variables, instructions with resolved operands.
 *
 *   struct arena a = {0};
 *   struct ptx_module *m = ptx_parse(&a, text, length, &err);
 *
 * The parser knows the grammar, not the instructions: an opcode stays a string with its modifiers,
 * and the decoder (grader/sim/code) looks it up. Everything is allocated in the caller's arena;
 * names point into it. Input is hostile: any bytes give a module or an error that names the PTX
 * line, never a crash, and memory is linear in the text. */
#pragma once
#include "common/arena.h"
#include "common/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ptx_space { PTX_NO_SPACE, PTX_REG, PTX_GLOBAL, PTX_SHARED, PTX_LOCAL, PTX_CONST, PTX_PARAM };

/* X(enumerator, spelling, bytes in a register or in memory) */
/* clang-format off */
#define PTX_TYPES(X)                                                                    \
    X(PTX_PRED, "pred", 1)                                                              \
    X(PTX_B8, "b8", 1) X(PTX_U8, "u8", 1) X(PTX_S8, "s8", 1)                            \
    X(PTX_B16, "b16", 2) X(PTX_U16, "u16", 2) X(PTX_S16, "s16", 2) X(PTX_F16, "f16", 2) \
    X(PTX_BF16, "bf16", 2)                                                              \
    X(PTX_B32, "b32", 4) X(PTX_U32, "u32", 4) X(PTX_S32, "s32", 4) X(PTX_F32, "f32", 4) \
    X(PTX_F16X2, "f16x2", 4) X(PTX_BF16X2, "bf16x2", 4) X(PTX_TF32, "tf32", 4)          \
    X(PTX_B64, "b64", 8) X(PTX_U64, "u64", 8) X(PTX_S64, "s64", 8) X(PTX_F64, "f64", 8) \
    X(PTX_B128, "b128", 16)
/* clang-format on */

enum ptx_type {
    PTX_NO_TYPE,
#define X(id, name, bytes) id,
    PTX_TYPES(X)
#undef X
};

const char *ptx_type_name(enum ptx_type t);
unsigned ptx_type_bytes(enum ptx_type t);
/* Returns the type spelt `s` (without its dot), or PTX_NO_TYPE. */
enum ptx_type ptx_type_of(const char *s, size_t n);

/* An address in a variable's initial value: `size` bytes (4 or 8) at `offset` become the address of
 * `symbol` + `addend`; `generic` if the initializer says generic(symbol). */
struct ptx_reloc {
    size_t offset;
    unsigned size;
    const char *symbol;
    int64_t addend;
    bool generic;
};

struct ptx_var {
    const char *name;
    enum ptx_space space;
    enum ptx_type type;
    unsigned align; /* bytes; the type's own where the text gives none */
    uint64_t bytes; /* including arrays and vectors; 0 for `extern .shared x[]` */
    bool is_extern, is_visible, is_weak;
    const uint8_t *init; /* `bytes` bytes, or NULL for zero */
    struct ptx_reloc *relocs;
    unsigned nrelocs;
    bool ptr; /* a kernel parameter marked .ptr */
    bool is_managed, is_common;
    /* link.c: the definition of a declaration, in another module */
    const struct ptx_var *definition;
};

struct ptx_reg {
    const char *name; /* with its '%' */
    enum ptx_type type;
};

enum ptx_operand_kind {
    PTX_OP_REG,  /* reg */
    PTX_OP_IMM,  /* value: integers sign-extended to 64 bits; floats as bits of `type` */
    PTX_OP_SREG, /* name: a special register, with its '%', such as "%tid.x" */
    PTX_OP_VAR,  /* var (+ offset): a variable's address taken as a value */
    PTX_OP_FUNC, /* func_name: a function's name, as in call or mov */
    /* [ base + offset{, {items}} ]: base is reg >= 0, or var, or neither (absolute); items:
     * coordinates */
    PTX_OP_ADDRESS,
    PTX_OP_LABEL,  /* target: index of the instruction after the label (may be ninsns) */
    PTX_OP_VECTOR, /* { a, b, ... }: items */
    PTX_OP_LIST,   /* ( a, b, ... ) of a call: items */
    PTX_OP_SINK,   /* _ (with `second` where the text says `_|%p`) */
    /* target: index into the function's tables (brx.idx, the prototype of an indirect call) */
    PTX_OP_TABLE,
};

struct ptx_operand {
    enum ptx_operand_kind kind;
    enum ptx_type type; /* an immediate's: PTX_S64, PTX_U64, PTX_F32, PTX_F64; a register's own */
    bool negated;       /* !%p */
    int reg;            /* index into the function's regs; -1 = none */
    int second_reg;     /* q of `p|q` (setp, shfl, match...); -1 = none; -2 for `|_` */
    uint64_t value;     /* immediate */
    int64_t offset;     /* address or var offset */
    const struct ptx_var *var;
    const char *name; /* special register or function */
    uint32_t target;  /* label */
    struct ptx_operand *items;
    unsigned nitems;
};

/* An instruction's source location. Index 0 of a module's table means unknown. */
struct ptx_loc {
    uint32_t file; /* index into module->files, by the number in `.file N "..."` */
    uint32_t line, column;
    uint32_t inlined_at;  /* index of the caller's loc, below the loc's own; 0 = not inlined */
    const char *function; /* mangled name of the inlined function, NULL if unknown */
};

struct ptx_insn {
    const char *opcode; /* whole, such as "ld.global.nc.v4.f32" */
    int guard;          /* register of @p, -1 = none */
    bool guard_negated;
    uint32_t loc;      /* index into module->locs */
    uint32_t ptx_line; /* line of the PTX text, from 1 */
    struct ptx_operand *operands;
    unsigned noperands;
};

/* `.callprototype` or `.branchtargets` label of a function, needed by indirect calls and brx.idx.
 */
struct ptx_table {
    const char *name;
    uint32_t *targets; /* branch targets as instruction indices; NULL for prototypes */
    unsigned ntargets;
    struct ptx_var *rets, *params; /* of a prototype */
    unsigned nrets, nparams;
    const char **functions; /* of .calltargets */
    unsigned nfunctions;
};

struct ptx_func {
    const char *name;
    bool is_entry, is_extern, is_visible, is_weak, noreturn;
    /* Formal parameters and results, in order; space PTX_PARAM (or PTX_REG for .reg formals). */
    struct ptx_var *params, *rets;
    unsigned nparams, nrets;
    /* The registers that the body uses, in order of first use, and .reg formals. A declared
     * register without a use (most of `%r<100>` after optimization) is not in the list. */
    struct ptx_reg *regs;
    unsigned nregs;
    /* Variables declared inside: shared, local, and the .param variables of call sequences. Names
     * are unique per scope only; operands point to the right one. */
    struct ptx_var **vars;
    unsigned nvars;
    struct ptx_insn *insns;
    unsigned ninsns;
    struct ptx_table *tables;
    unsigned ntables;
    unsigned maxntid[3], reqntid[3], minnctapersm, maxnreg; /* 0 where not given */
    unsigned reqnctapercluster[3], maxclusterrank;          /* 0 where not given */
    bool explicit_cluster;
    bool has_body;
    uint32_t ptx_line;
};

struct ptx_module {
    unsigned version_major, version_minor;
    const char *target; /* such as "sm_90", "sm_90a" */
    struct ptx_var **vars;
    unsigned nvars;
    struct ptx_func **funcs;
    unsigned nfuncs;
    const char **files; /* by number; entries may be NULL */
    unsigned nfiles;
    struct ptx_loc *locs; /* [0] is the unknown place */
    unsigned nlocs;
    struct symbol_table *index; /* of the lookups below */
};

/* The limit of a text's bytes. */
enum { PTX_MAX_TEXT = 64 << 20 };

/* Parses `n` bytes of text (a trailing zero byte is not needed). */
struct ptx_module *ptx_parse(struct arena *a, const char *text, size_t n, struct err *e);

/* Links several modules to one, which takes over their contents; link.c has the rules. Returns NULL
 * with an error. */
struct ptx_module *ptx_link(struct arena *a, struct ptx_module **modules, unsigned n,
                            struct err *e);

/* Returns the variable or function of that name at module scope, or NULL. */
const struct ptx_var *ptx_module_var(const struct ptx_module *m, const char *name);
const struct ptx_func *ptx_module_func(const struct ptx_module *m, const char *name);

/* Finds the PTX in a fat binary, which nvcc embeds in the program, and decompresses it (LZ4 of
 * older toolkits, zstd of newer ones) into the arena. `*n` gets the text's length without trailing
 * zero bytes. Of several PTX entries, it takes the highest architecture not above `max_sm` (such as
 * 90), or the lowest if all are above. A fat binary without PTX has an error of its own. */
const char *ptx_from_fatbin(struct arena *a, const void *image, size_t size, unsigned max_sm,
                            size_t *n, struct err *e);
/* Returns the bytes of the fat binary at the start of an image, where several may follow each
 * other; 0 = none. */
size_t ptx_fatbin_bytes(const void *image, size_t size);
/* Returns the machine code for exactly that architecture (such as 90), an ELF file; NULL if there
 * is none. */
const char *ptx_cubin_from_fatbin(struct arena *a, const void *image, size_t size, unsigned sm,
                                  size_t *n);
