/* parse.h — what the files of the PTX parser share. Only they include it.
 *
 * The parser is a recursive descent with one token of lookahead. An error leaves by longjmp to
 * ptx_parse: all memory is in the caller's arena or in the parser's scratch arena, so nothing
 * leaks.
 *
 * Names are interned once. A `struct identifier` holds the name's meaning at module scope, and a
 * stack of its meanings in the open blocks of the current function, so a lookup follows one
 * pointer. */
#pragma once
#include "grader/sim/ptx/ptx.h"

#include <setjmp.h>

enum { TOKEN_END = 256, TOKEN_IDENT, TOKEN_DIRECTIVE, TOKEN_INT, TOKEN_FLOAT, TOKEN_STRING };
enum { MAX_BLOCKS = 128, MAX_DIMS = 16 };

/* A character of punctuation is its own kind. */
struct token {
    int kind;
    uint32_t line;
    const char *s; /* the spelling; of a string without its quotes */
    size_t n;
    enum ptx_type type; /* of a number: S64, U64, F32, F64 */
    uint64_t value;
};

enum binding_kind { BIND_REG, BIND_VAR, BIND_LABEL, BIND_TABLE };

/* The meaning of a name in one block. */
struct binding {
    enum binding_kind kind;
    unsigned depth;
    struct binding *outer; /* the same name in an outer block */
    struct binding *next;  /* of the same block */
    struct identifier *name;
    union {
        uint32_t index; /* register; instruction after a label; table */
        struct ptx_var *var;
    };
};

/* `.reg .b32 %r<100>` in one block, hung on the name "%r". */
struct reg_range {
    struct reg_range *outer, *next;
    struct identifier *name;
    unsigned depth;
    uint32_t count;
    enum ptx_type type;
};

struct identifier {
    struct identifier *hash_next;
    uint64_t hash;
    const char *s;
    size_t n;
    struct identifier *prefix; /* "%r" of "%r12"; NULL if it does not end in a plain number */
    uint32_t number;
    struct binding *local;
    struct reg_range *range;
    struct ptx_var *var; /* at module scope */
    struct ptx_func *func;
    uint64_t debug_offset; /* 1 + offset of this label in .debug_str, 0 where it is none */
};

/* A name where a label is allowed, to be resolved when its block (or an outer one) closes. */
struct fixup {
    struct fixup *next;
    struct identifier *name;
    uint32_t line;
    uint32_t *target;
    struct ptx_operand *operand; /* NULL in .branchtargets */
};

struct block {
    struct binding *bindings;
    struct reg_range *ranges;
    struct fixup *fixups;
    uint32_t line;
};

/* A growing array in the scratch arena. */
struct vec {
    void *data;
    size_t n, capacity;
};

struct listing_parser {
    struct arena *arena, scratch;
    struct err *err;
    jmp_buf escape;
    const char *at, *end;
    uint32_t line;
    struct token tok;
    uint32_t last_line;     /* of the token before `tok` */
    size_t allocated_bytes; /* bytes allocated so far */

    struct ptx_module *module;
    struct symbol_index *names;
    struct vec vars, funcs, files, locs, loc_pending, reloc_checks, aliases;
    uint64_t initialized_bytes;

    /* debug_info.c */
    struct loc_slot *loc_table;
    size_t loc_capacity, loc_count;
    uint32_t loc, function_number;
    struct vec debug_bytes;

    /* the function being parsed */
    struct ptx_func *f;
    struct vec regs, locals, insns, tables, operands, values, pending, names_list;
    struct block blocks[MAX_BLOCKS];
    unsigned depth; /* of the open block; 0 at module scope */
    bool in_call;   /* the instruction whose operands are parsed is a call */
};

/* lex.c */
void ptx_next(struct listing_parser *p);
_Noreturn void ptx_fail(struct listing_parser *p, uint32_t line, enum err_kind kind,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Fails with "expected EXPECTED, found TOKEN". */
_Noreturn void ptx_fail_expected(struct listing_parser *p, const char *expected);
bool ptx_accept(struct listing_parser *p, int kind);
void ptx_expect(struct listing_parser *p, int kind, const char *expected);
/* Returns true if the token is the identifier or directive. */
bool ptx_at_word(const struct listing_parser *p, const char *spelling);
bool ptx_accept_word(struct listing_parser *p, const char *spelling);
/* Takes an integer of 0..limit; one with signs. */
uint64_t ptx_expect_uint(struct listing_parser *p, const char *expected, uint64_t limit);
int64_t ptx_accept_int(struct listing_parser *p, const char *expected);

/* symbol_table.c */
struct symbol_index *ptx_index_new(struct arena *a);
struct identifier *ptx_intern(struct listing_parser *p, const char *s, size_t n);
struct identifier *ptx_expect_name(struct listing_parser *p, const char *expected);
struct binding *ptx_bind(struct listing_parser *p, struct identifier *name, enum binding_kind kind,
                         unsigned depth);
void ptx_bind_range(struct listing_parser *p, struct identifier *name, uint32_t count,
                    enum ptx_type type);
struct binding *ptx_add_reg(struct listing_parser *p, struct identifier *name, enum ptx_type type,
                            unsigned depth);
/* Returns the name's binding in the open blocks, or NULL. Binds a register of a range at its first
 * use. */
struct binding *ptx_find_local(struct listing_parser *p, struct identifier *name);
void ptx_open_block(struct listing_parser *p);
void ptx_close_block(struct listing_parser *p);
void ptx_add_fixup(struct listing_parser *p, struct identifier *name, uint32_t line,
                   uint32_t *target, struct ptx_operand *operand);

/* parser_alloc.c: returns zeroed memory of the caller's arena or of the scratch arena. vec_push
 * returns a new zeroed item; vec_to_arena moves the items to the caller's arena. */
void *ptx_alloc(struct listing_parser *p, struct arena *a, size_t bytes);
void *ptx_vec_push(struct listing_parser *p, struct vec *v, size_t item_bytes);
void *ptx_vec_to_arena(struct listing_parser *p, struct vec *v, size_t item_bytes);
#define vec_push(p, v, type)     ((type *)ptx_vec_push((p), (v), sizeof(type)))
#define vec_to_arena(p, v, type) ((type *)ptx_vec_to_arena((p), (v), sizeof(type)))

/* decl.c: declarations */
struct linkage {
    bool is_extern, is_visible, is_weak, is_common;
};
bool ptx_at_space(const struct listing_parser *p); /* at .global, .const, .shared, .local, .param */
/* At module scope or in a function. */
void ptx_parse_variables(struct listing_parser *p, struct linkage linkage);
void ptx_parse_registers(struct listing_parser *p);
struct ptx_var *ptx_parse_formals(struct listing_parser *p, unsigned *n); /* from '(' to ')' */

/* initializer.c: from after the '=' */
struct shape {
    uint64_t dims[MAX_DIMS + 1]; /* outermost first; a vector type is a last dimension of its own */
    unsigned ndims;
};
void ptx_parse_initializer(struct listing_parser *p, struct ptx_var *v, struct shape *shape);
void ptx_check_relocs(struct listing_parser *p);

/* expr.c */
struct constant {
    uint64_t value;
    bool is_unsigned;
};
/* Parses a constant from its first number on. */
struct constant ptx_parse_constant(struct listing_parser *p, bool negative);
struct constant ptx_parse_product(struct listing_parser *p);

/* operand.c; in a call, parentheses hold a list, elsewhere a constant */
struct ptx_operand *ptx_parse_operands(struct listing_parser *p, bool call, unsigned *n);

/* func.c */
void ptx_parse_function(struct listing_parser *p, struct linkage linkage, bool is_entry);
void ptx_parse_alias(struct listing_parser *p);
void ptx_resolve_aliases(struct listing_parser *p);

/* debug_info.c */
void ptx_parse_file(struct listing_parser *p);
void ptx_parse_loc(struct listing_parser *p);
void ptx_parse_section(struct listing_parser *p);
void ptx_skip_pragma(struct listing_parser *p);
void ptx_skip_parentheses(struct listing_parser *p);
void ptx_begin_debug(struct listing_parser *p);
void ptx_end_debug(struct listing_parser *p);
