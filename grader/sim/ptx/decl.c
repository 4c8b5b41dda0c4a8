/* decl.c — declarations: variables at module scope and in functions, registers, formal parameters.
 */
#include "grader/sim/ptx/parse.h"

#include <string.h>

static const uint64_t MAX_BYTES = 2u << 30;
enum { MAX_RANGE = 16 << 20, MAX_ALIGN = 1 << 16 };

static const struct {
    const char *spelling;
    enum ptx_space space;
} spaces[] = {{".reg", PTX_REG},
              {".param", PTX_PARAM},
              {".shared", PTX_SHARED},
              {".local", PTX_LOCAL},
              {".global", PTX_GLOBAL},
              {".const", PTX_CONST},
              {".shared::cta", PTX_SHARED},
              {".param::func", PTX_PARAM},
              {".param::entry", PTX_PARAM}};

static enum ptx_space space_at(const struct ptx_parser *p) {
    if (p->tok.kind != TOKEN_DIRECTIVE) return PTX_NO_SPACE;
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (ptx_at_word(p, spaces[i].spelling)) return spaces[i].space;
    return PTX_NO_SPACE;
}

bool ptx_at_state_space(const struct ptx_parser *p) {
    enum ptx_space space = space_at(p);
    return space != PTX_NO_SPACE && space != PTX_REG;
}

static enum ptx_type type_at(const struct ptx_parser *p) {
    if (p->tok.kind != TOKEN_DIRECTIVE) return PTX_NO_TYPE;
    return ptx_type_of(p->tok.s + 1, p->tok.n - 1);
}

static enum ptx_type expect_type(struct ptx_parser *p) {
    enum ptx_type type = type_at(p);
    if (type == PTX_NO_TYPE) {
        if (p->tok.kind != TOKEN_DIRECTIVE) ptx_fail_expected(p, "a type");
        ptx_fail(p, p->tok.line, ERR_UNSUPPORTED, "the simulated GPU does not know the type '%.*s'",
                 (int)(p->tok.n > 40 ? 40 : p->tok.n), p->tok.s);
    }
    ptx_next(p);
    return type;
}

static unsigned expect_alignment(struct ptx_parser *p) {
    uint32_t line = p->tok.line;
    uint64_t align = ptx_expect_uint(p, "an alignment", MAX_ALIGN);
    if (!align || align & (align - 1))
        ptx_fail(p, line, ERR_INPUT, "an alignment of %llu is not a power of two",
                 (unsigned long long)align);
    return (unsigned)align;
}

/* Parses attributes such as `.attribute(.unified(1, 2))`: balanced parentheses. */
static void parse_attribute(struct ptx_parser *p, struct ptx_var *v) {
    unsigned depth = 0;
    do {
        if (ptx_at_word(p, ".managed")) v->is_managed = true;
        if (p->tok.kind == TOKEN_END) ptx_fail_expected(p, "')' after the attribute");
        if (ptx_accept(p, '(')) depth++;
        else if (p->tok.kind == ')' && depth) depth--, ptx_next(p);
        else if (depth) ptx_next(p);
        else ptx_fail_expected(p, "'(' after .attribute");
    } while (depth);
}

/* Parses what may stand between the state space and the name, in any order; `lanes` is the number
 * of a vector type. */
static void parse_qualifiers(struct ptx_parser *p, struct ptx_var *v, unsigned *lanes) {
    *lanes = 1;
    while (p->tok.kind == TOKEN_DIRECTIVE) {
        if (ptx_accept_word(p, ".align")) v->align = expect_alignment(p);
        else if (ptx_accept_word(p, ".attribute")) parse_attribute(p, v);
        else if (ptx_accept_word(p, ".ptr")) v->ptr = true;
        else if (v->ptr && ptx_at_state_space(p)) ptx_next(p);
        else if (ptx_accept_word(p, ".v2")) *lanes = 2;
        else if (ptx_accept_word(p, ".v4")) *lanes = 4;
        else v->type = expect_type(p);
    }
    if (v->type == PTX_NO_TYPE) ptx_fail_expected(p, "a type");
}

static uint64_t checked_mul(struct ptx_parser *p, uint64_t a, uint64_t b) {
    uint64_t product;
    if (__builtin_mul_overflow(a, b, &product) || product > MAX_BYTES)
        ptx_fail(p, p->last_line, ERR_LIMIT, "a variable of more than 2 GiB is not supported");
    return product;
}

/* Parses `[4][3]`, or `[]` for a size that the initializer or the launch sets (a first dimension of
 * 0). */
static void parse_dimensions(struct ptx_parser *p, struct shape *shape) {
    while (ptx_accept(p, '[')) {
        if (shape->ndims == MAX_DIMS)
            ptx_fail(p, p->last_line, ERR_LIMIT, "more than %d dimensions are not supported",
                     MAX_DIMS);
        uint64_t dim = 0;
        if (p->tok.kind != ']') dim = ptx_expect_uint(p, "an array size", MAX_BYTES);
        else if (shape->ndims) ptx_fail_expected(p, "the size of this dimension");
        shape->dims[shape->ndims++] = dim;
        ptx_expect(p, ']', "']' after the array size");
    }
}

static void parse_shape(struct ptx_parser *p, struct ptx_var *v, struct shape *shape,
                        unsigned lanes) {
    *shape = (struct shape){.ndims = 0};
    parse_dimensions(p, shape);
    if (lanes > 1) shape->dims[shape->ndims++] = lanes;
    unsigned element = ptx_type_bytes(v->type);
    v->bytes = element;
    for (unsigned i = 0; i < shape->ndims; i++) v->bytes = checked_mul(p, v->bytes, shape->dims[i]);
    if (!v->align) v->align = element * lanes;
}

/* Returns the variable; a second declaration of an extern variable means the first one. */
static struct ptx_var *module_variable(struct ptx_parser *p, struct identifier *name,
                                       struct ptx_var v) {
    if (name->func) ptx_fail(p, p->last_line, ERR_INPUT, "'%.200s' is already a function", name->s);
    struct ptx_var *old = name->var;
    if (old && !old->is_extern && !v.is_extern)
        ptx_fail(p, p->last_line, ERR_INPUT, "the variable '%.200s' is declared twice", name->s);
    if (old && old->space != v.space)
        ptx_fail(p, p->last_line, ERR_INPUT,
                 "the variable '%.200s' is declared in two state spaces", name->s);
    if (!old) {
        old = ptx_alloc(p, p->arena, sizeof(struct ptx_var));
        *vec_push(p, &p->vars, struct ptx_var *) = old;
        name->var = old;
        *old = v;
    } else if (!v.is_extern) {
        *old = v;
    }
    return old;
}

/* Adds a variable of a function. One in global or constant space belongs to the module and lives as
 * long; only its block knows its name. */
static struct ptx_var *local_variable(struct ptx_parser *p, struct identifier *name,
                                      struct ptx_var v) {
    struct ptx_var *var = ptx_alloc(p, p->arena, sizeof(struct ptx_var));
    *var = v;
    bool is_static = v.space == PTX_GLOBAL || v.space == PTX_CONST;
    *vec_push(p, is_static ? &p->vars : &p->locals, struct ptx_var *) = var;
    ptx_bind(p, name, BIND_VAR, p->depth)->var = var;
    return var;
}

static void parse_declarator(struct ptx_parser *p, struct ptx_var v, unsigned lanes) {
    struct identifier *name = ptx_expect_name(p, "a variable's name");
    struct shape shape;
    v.name = name->s;
    parse_shape(p, &v, &shape, lanes);
    struct ptx_var *var = p->depth ? local_variable(p, name, v) : module_variable(p, name, v);
    if (ptx_accept(p, '=')) {
        if (v.is_extern || (v.space != PTX_GLOBAL && v.space != PTX_CONST))
            ptx_fail(p, p->last_line, ERR_INPUT, "'%.200s' cannot have an initial value", name->s);
        ptx_parse_initializer(p, var, &shape);
    } else if (!v.bytes && !v.is_extern) {
        ptx_fail(p, p->last_line, ERR_INPUT, "expected the size of '%.200s'", name->s);
    }
}

void ptx_parse_variables(struct ptx_parser *p, struct linkage linkage) {
    struct ptx_var v = {.space = space_at(p),
                        .is_extern = linkage.is_extern,
                        .is_visible = linkage.is_visible,
                        .is_weak = linkage.is_weak,
                        .is_common = linkage.is_common};
    unsigned lanes;
    ptx_next(p);
    if (p->tok.kind == '[')
        ptx_fail(p, p->tok.line, ERR_UNSUPPORTED,
                 "numbered banks of constant memory are not supported");
    parse_qualifiers(p, &v, &lanes);
    do parse_declarator(p, v, lanes);
    while (ptx_accept(p, ','));
    ptx_expect(p, ';', "';' after the variable");
}

static void parse_register(struct ptx_parser *p, enum ptx_type type) {
    struct identifier *name = ptx_expect_name(p, "a register's name");
    if (!ptx_accept(p, '<')) {
        if (name->local && name->local->depth == p->depth && name->local->kind == BIND_REG)
            ptx_fail(p, p->last_line, ERR_INPUT,
                     "the register '%.200s' is declared twice in one block", name->s);
        ptx_add_reg(p, name, type, p->depth);
        return;
    }
    char last = name->s[name->n - 1];
    if (last >= '0' && last <= '9')
        ptx_fail(p, p->last_line, ERR_UNSUPPORTED,
                 "a register range whose name ends in a digit ('%.200s<') is not supported",
                 name->s);
    ptx_bind_range(p, name, (uint32_t)ptx_expect_uint(p, "the number of registers", MAX_RANGE),
                   type);
    ptx_expect(p, '>', "'>' after the number of registers");
}

void ptx_parse_registers(struct ptx_parser *p) {
    ptx_next(p);
    if (ptx_accept_word(p, ".align")) expect_alignment(p);
    if (ptx_at_word(p, ".v2") || ptx_at_word(p, ".v4"))
        ptx_fail(p, p->tok.line, ERR_UNSUPPORTED,
                 "vector registers are not supported; use scalar ones");
    enum ptx_type type = expect_type(p);
    do parse_register(p, type);
    while (ptx_accept(p, ','));
    ptx_expect(p, ';', "';' after the registers");
}

static void parse_formal(struct ptx_parser *p) {
    struct ptx_var v = {.space = space_at(p)};
    if (v.space != PTX_PARAM && v.space != PTX_REG)
        ptx_fail_expected(p, "a parameter, starting with .param or .reg");
    ptx_next(p);
    unsigned lanes;
    struct shape shape;
    parse_qualifiers(p, &v, &lanes);
    v.name = ptx_expect_name(p, "the parameter's name")->s;
    parse_shape(p, &v, &shape, lanes);
    *vec_push(p, &p->parameters, struct ptx_var) = v;
}

struct ptx_var *ptx_parse_parameters(struct ptx_parser *p, unsigned *n) {
    ptx_expect(p, '(', "'(' before the parameters");
    p->parameters.n = 0;
    while (p->tok.kind != ')') {
        parse_formal(p);
        if (!ptx_accept(p, ',')) break;
    }
    ptx_expect(p, ')', "')' after the parameters");
    *n = (unsigned)p->parameters.n;
    return vec_to_arena(p, &p->parameters, struct ptx_var);
}
