/* parse.h — what the files of the PTX parser share. Only they include it.
 *
 * It is a recursive-descent parser with one token of lookahead. Errors longjmp to ptx_parse: all
 * memory is in the caller's arena or in the parser's scratch arena, so nothing
 * leaks.
 *
 * Names are interned once. A `struct identifier` holds the name's meaning at module scope, and a
 * stack of its meanings in the open scopes ({ … }) of the current function, so a lookup follows one
 * pointer. */
#pragma once
#include "grader/sim/ptx/ptx.h"

#include <setjmp.h>

/* The kinds of tokens; a punctuation character's kind is its character code. */
enum { TOKEN_END = 256, TOKEN_IDENT, TOKEN_DIRECTIVE, TOKEN_INT, TOKEN_FLOAT, TOKEN_STRING };
enum { MAX_NESTED_SCOPES = 128, MAX_DIMS = 16 };

struct token {
    int kind;
    uint32_t line;
    const char *s; /* the spelling; a string's is without its quotes */
    size_t n;
    enum ptx_type type; /* of a number: S64, U64, F32, F64 */
    uint64_t value;
};

enum binding_kind {
    BIND_REG,        /* index: of the register */
    BIND_VAR,        /* var */
    BIND_LABEL,      /* index: of the instruction that follows the label */
    BIND_TARGET_LIST /* index: of the .branchtargets or .calltargets */
};

/* The meaning of a name in one scope. */
struct binding {
    enum binding_kind kind;
    unsigned depth;
    struct binding *outer; /* the same name in an outer scope */
    struct binding *next;  /* of the same scope */
    struct identifier *name;
    union {
        uint32_t index;
        struct ptx_var *var;
    };
};

/* `.reg .b32 %r<100>` in one scope, attached to the identifier "%r". */
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
    struct identifier
        *prefix;             /* "%r" of "%r12"; NULL without decimal digits, or with a zero first */
    uint32_t number;         /* 12 of "%r12" */
    struct binding *local;   /* the innermost in the open scopes */
    struct reg_range *range; /* the innermost with this name as its prefix */
    struct ptx_var *var;     /* at module scope */
    struct ptx_func *func;
    uint64_t debug_offset; /* 1 + offset of this label in .debug_str; 0 if it is no such label */
};

/* A use of a name that may be a label defined later. It is resolved when the scope that defines the
 * label closes: `target` gets the instruction's index, and `operand`, unless it is NULL as in
 * .branchtargets, becomes a label. */
struct fixup {
    struct fixup *next;
    struct identifier *name;
    uint32_t line;
    uint32_t *target;
    struct ptx_operand *operand;
};

/* PTX calls { … } a block. Here it is a scope: a block is one of threads. */
struct scope {
    struct binding *bindings;
    struct reg_range *ranges;
    struct fixup *fixups;
    uint32_t line; /* of the '{' */
};

/* A growing array in the scratch arena. */
struct vec {
    void *data;
    size_t n, capacity;
};

struct ptx_parser {
    struct arena *arena, scratch;
    struct err *err;
    jmp_buf on_error;
    const char *at, *end;
    uint32_t line;
    struct token tok;
    uint32_t last_line;     /* of the token before `tok` */
    size_t allocated_bytes; /* up to MAX_PARSER_BYTES */

    struct ptx_module *module;
    struct symbol_table *symbols;
    struct vec vars;  /* of struct ptx_var *, at module scope */
    struct vec funcs; /* of struct ptx_func * */
    struct vec aliases;
    struct vec
        initializer_symbols;    /* symbols in initial values, checked at the end (initializer.c) */
    uint64_t initialized_bytes; /* of all variables, up to a limit */

    /* debug_info.c: .file and .loc */
    struct vec files;             /* of const char *, by number */
    struct vec locations;         /* of struct ptx_loc */
    struct vec pending_locations; /* of struct loc_pending, for each location */
    struct loc_slot *location_table;
    size_t location_capacity, location_count;   /* of the hash table location_table */
    uint32_t current_location, function_number; /* of the instructions that follow */
    struct vec debug_bytes;                     /* of .debug_str */

    /* the function being parsed */
    struct ptx_func *f;
    struct vec regs, insns, tables; /* of struct ptx_reg, ptx_insn, ptx_table */
    struct vec locals;              /* of struct ptx_var * */
    struct vec operands;            /* of struct ptx_operand: the open lists, the innermost last */
    struct vec initial_values;      /* of struct ptx_reloc, of the variable being parsed */
    struct vec parameters;          /* of struct ptx_var, of the list being parsed */
    struct vec name_list;           /* of struct identifier *, of the list being parsed */
    struct scope scopes[MAX_NESTED_SCOPES];
    unsigned depth; /* number of open scopes; 0 at module scope */
    bool in_call;   /* the operands being parsed are a call's */
};

/* lex.c */
/* Moves to the next token. */
void ptx_next(struct ptx_parser *p);
_Noreturn void ptx_fail(struct ptx_parser *p, uint32_t line, enum err_kind kind, const char *format,
                        ...) __attribute__((format(printf, 4, 5)));
/* Fails with "expected EXPECTED, found TOKEN". */
_Noreturn void ptx_fail_expected(struct ptx_parser *p, const char *expected);
/* Takes a token of that kind if it is there; fails if it is not. */
bool ptx_accept(struct ptx_parser *p, int kind);
void ptx_expect(struct ptx_parser *p, int kind, const char *expected);
/* Returns true if the token is an identifier or a directive with this spelling. */
bool ptx_at_word(const struct ptx_parser *p, const char *spelling);
bool ptx_accept_word(struct ptx_parser *p, const char *spelling);
/* Take an integer from 0 to `limit`; an integer with any number of signs. */
uint64_t ptx_expect_uint(struct ptx_parser *p, const char *expected, uint64_t limit);
int64_t ptx_expect_int(struct ptx_parser *p, const char *expected);

/* symbol_table.c */
struct symbol_table *ptx_symbol_table_new(struct arena *a);
/* Returns the identifier of this spelling; makes it at its first use. */
struct identifier *ptx_intern(struct ptx_parser *p, const char *s, size_t n);
struct identifier *ptx_expect_name(struct ptx_parser *p, const char *expected);
/* Binds a name in the scope at that depth; fails if it is bound there already. */
struct binding *ptx_bind(struct ptx_parser *p, struct identifier *name, enum binding_kind kind,
                         unsigned depth);
void ptx_bind_range(struct ptx_parser *p, struct identifier *name, uint32_t count,
                    enum ptx_type type);
struct binding *ptx_add_reg(struct ptx_parser *p, struct identifier *name, enum ptx_type type,
                            unsigned depth);
/* Returns the name's binding in the open scopes, or NULL. Binds a register of a range at its first
 * use. */
struct binding *ptx_find_local(struct ptx_parser *p, struct identifier *name);
void ptx_open_scope(struct ptx_parser *p);
void ptx_close_scope(struct ptx_parser *p);
void ptx_add_fixup(struct ptx_parser *p, struct identifier *name, uint32_t line, uint32_t *target,
                   struct ptx_operand *operand);

/* parser_alloc.c */
/* Returns zeroed memory of the arena: the caller's, or p->scratch. */
void *ptx_alloc(struct ptx_parser *p, struct arena *a, size_t bytes);
/* Returns a new zeroed item. */
void *ptx_vec_push(struct ptx_parser *p, struct vec *v, size_t item_bytes);
/* Moves the items to the caller's arena, and empties the vector. */
void *ptx_vec_to_arena(struct ptx_parser *p, struct vec *v, size_t item_bytes);
#define vec_push(p, v, type)     ((type *)ptx_vec_push((p), (v), sizeof(type)))
#define vec_to_arena(p, v, type) ((type *)ptx_vec_to_arena((p), (v), sizeof(type)))

/* decl.c: declarations */
struct linkage {
    bool is_extern, is_visible, is_weak, is_common;
};
/* Returns true at .global, .const, .shared, .local or .param. */
bool ptx_at_state_space(const struct ptx_parser *p);
/* Parse a declaration, at module scope or in a function. */
void ptx_parse_variables(struct ptx_parser *p, struct linkage linkage);
void ptx_parse_registers(struct ptx_parser *p);
/* Parses formal parameters, from '(' to ')'. */
struct ptx_var *ptx_parse_parameters(struct ptx_parser *p, unsigned *n);

/* initializer.c */
struct shape {
    uint64_t dims[MAX_DIMS + 1]; /* outermost first; a vector type such as .v4 adds the innermost */
    unsigned ndims;
};
/* Parses an initial value after its '='. */
void ptx_parse_initializer(struct ptx_parser *p, struct ptx_var *v, struct shape *shape);
/* Fails if a symbol in an initial value is not declared anywhere. Call it at the end of the text.
 */
void ptx_check_initializer_symbols(struct ptx_parser *p);

/* expr.c */
struct constant {
    uint64_t value;
    bool is_unsigned;
};
/* Parses a constant expression whose sign has been read. */
struct constant ptx_parse_constant(struct ptx_parser *p, bool negative);
/* Parses a product: a term of an address, whose sum the caller takes. */
struct constant ptx_parse_product(struct ptx_parser *p);

/* operand.c: parses an instruction's operands. In a call, parentheses hold a list, elsewhere a
 * constant. */
struct ptx_operand *ptx_parse_operands(struct ptx_parser *p, bool is_call, unsigned *n);

/* func.c */
void ptx_parse_function(struct ptx_parser *p, struct linkage linkage, bool is_entry);
void ptx_parse_alias(struct ptx_parser *p);
/* Gives each alias its function. Call it at the end of the text. */
void ptx_resolve_aliases(struct ptx_parser *p);

/* debug_info.c */
void ptx_parse_file_directive(struct ptx_parser *p);
void ptx_parse_loc_directive(struct ptx_parser *p);
void ptx_parse_section_directive(struct ptx_parser *p);
void ptx_skip_pragma(struct ptx_parser *p);
/* Skips balanced parentheses, from '(' on. */
void ptx_skip_parentheses(struct ptx_parser *p);
/* Prepare the tables of locations; resolve labels and callers at the end of the text. */
void ptx_debug_info_init(struct ptx_parser *p);
void ptx_debug_info_finish(struct ptx_parser *p);
