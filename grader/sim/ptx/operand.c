/* operand.c — operands: registers, immediates, addresses, vectors, call lists, labels. */
#include "grader/sim/ptx/parse.h"

#include <string.h>

enum { MAX_NESTING = 4 };

static struct ptx_operand parse_operand(struct ptx_parser *p, unsigned nesting);

static struct ptx_operand init_operand(enum ptx_operand_kind kind) {
    return (struct ptx_operand){.kind = kind, .reg = -1, .second_reg = -1};
}

/* Parses items of { } or ( ), collected on top of p->operands and then moved to the arena. */
static struct ptx_operand parse_items(struct ptx_parser *p, int close, unsigned nesting) {
    struct ptx_operand list = init_operand(close == '}' ? PTX_OP_VECTOR : PTX_OP_LIST);
    size_t base = p->operands.n;
    if (nesting >= MAX_NESTING)
        ptx_fail(p, p->tok.line, ERR_LIMIT, "operands are nested more than %d deep", MAX_NESTING);
    ptx_next(p);
    while (p->tok.kind != close) {
        struct ptx_operand item = parse_operand(p, nesting + 1);
        *vec_push(p, &p->operands, struct ptx_operand) = item;
        if (!ptx_accept(p, ',')) break;
    }
    ptx_expect(p, close,
               close == '}' ? "'}' after the vector's items" : "')' after the list's items");
    list.nitems = (unsigned)(p->operands.n - base);
    list.items = ptx_alloc(p, p->arena, list.nitems * sizeof list);
    if (list.nitems)
        memcpy(list.items, (struct ptx_operand *)p->operands.data + base,
               list.nitems * sizeof list);
    p->operands.n = base;
    return list;
}

static struct ptx_operand parse_immediate(struct ptx_parser *p) {
    struct ptx_operand imm = init_operand(PTX_OP_IMM);
    bool negative = false;
    for (; p->tok.kind == '-' || p->tok.kind == '+'; ptx_next(p)) negative ^= p->tok.kind == '-';
    if (p->tok.kind == TOKEN_FLOAT) {
        imm.type = p->tok.type;
        imm.value = p->tok.value;
        if (negative) imm.value ^= imm.type == PTX_F32 ? 1ull << 31 : 1ull << 63;
        ptx_next(p);
    } else {
        struct constant c = ptx_parse_constant(p, negative);
        imm.type = c.is_unsigned ? PTX_U64 : PTX_S64;
        imm.value = c.value;
    }
    return imm;
}

static int64_t parse_offset(struct ptx_parser *p) {
    int64_t offset = 0;
    while (p->tok.kind == '+' || p->tok.kind == '-') {
        bool negative = p->tok.kind == '-';
        ptx_next(p);
        int64_t term = (int64_t)ptx_parse_product(p).value;
        if (negative ? __builtin_sub_overflow(offset, term, &offset)
                     : __builtin_add_overflow(offset, term, &offset))
            ptx_fail(p, p->last_line, ERR_INPUT, "this offset does not fit into 64 bits");
    }
    return offset;
}

static struct ptx_operand reg_operand(struct ptx_parser *p, uint32_t index) {
    struct ptx_operand op = init_operand(PTX_OP_REG);
    op.reg = (int)index;
    op.type = ((struct ptx_reg *)p->regs.data)[index].type;
    return op;
}

static struct ptx_operand var_operand(struct ptx_parser *p, const struct ptx_var *var) {
    struct ptx_operand op = init_operand(PTX_OP_VAR);
    op.var = var;
    op.name = var->name;
    op.offset = parse_offset(p);
    return op;
}

static struct ptx_operand label_operand(struct identifier *name) {
    struct ptx_operand op = init_operand(PTX_OP_LABEL);
    op.name = name->s;
    return op;
}

/* Handles a name that no open block declares. */
static struct ptx_operand module_operand(struct ptx_parser *p, struct identifier *name,
                                         unsigned nesting) {
    if (name->var) return var_operand(p, name->var);
    struct ptx_operand op = init_operand(name->func ? PTX_OP_FUNC : PTX_OP_SREG);
    op.name = name->s;
    if (name->func) return op;
    if (name->prefix && name->prefix->range)
        ptx_fail(p, p->last_line, ERR_INPUT,
                 "the register '%.200s' is outside the declared range '%.200s<%u>'", name->s,
                 name->prefix->s, name->prefix->range->count);
    if (name->s[0] == '%') return op;
    if (nesting) ptx_fail(p, p->last_line, ERR_INPUT, "'%.200s' is not declared", name->s);
    return label_operand(name);
}

/* Handles a name that may be a label. A label of an outer block stays open: this block may define
 * the same name further down. */
static struct ptx_operand parse_named(struct ptx_parser *p, unsigned nesting) {
    struct identifier *name = ptx_expect_name(p, "an operand");
    struct binding *b = ptx_find_local(p, name);
    if (!b) return module_operand(p, name, nesting);
    if (b->kind == BIND_REG) return reg_operand(p, b->index);
    if (b->kind == BIND_VAR) return var_operand(p, b->var);
    if (nesting)
        ptx_fail(p, p->last_line, ERR_INPUT, "a label is not allowed here ('%.200s')", name->s);
    return label_operand(name);
}

static struct ptx_operand parse_word(struct ptx_parser *p, unsigned nesting) {
    if (ptx_accept_word(p, "_")) return init_operand(PTX_OP_SINK);
    return ptx_at_word(p, "WARP_SZ") ? parse_immediate(p) : parse_named(p, nesting);
}

/* Parses [reg], [var], [reg+off], [var-off], [imm]. */
static struct ptx_operand parse_address(struct ptx_parser *p) {
    struct ptx_operand address = init_operand(PTX_OP_ADDRESS);
    ptx_next(p);
    if (p->tok.kind == TOKEN_IDENT) {
        struct ptx_operand base = parse_named(p, 1);
        if (base.kind != PTX_OP_REG && base.kind != PTX_OP_VAR)
            ptx_fail(p, p->last_line, ERR_INPUT,
                     "'%.200s' is neither a register nor a variable, so it cannot be an address",
                     base.name);
        address.reg = base.reg;
        address.var = base.var;
        address.type = base.type;
        address.offset = base.offset;
        address.name = base.name;
    } else {
        address.offset = ptx_expect_int(p, "an address");
    }
    if (__builtin_add_overflow(address.offset, parse_offset(p), &address.offset))
        ptx_fail(p, p->last_line, ERR_INPUT, "this offset does not fit into 64 bits");
    if (ptx_accept(p, ',')) {
        struct ptx_operand at = parse_operand(p, 1);
        if (at.kind != PTX_OP_VECTOR)
            ptx_fail(p, p->last_line, ERR_UNSUPPORTED,
                     "samplers and descriptors of their own are not supported in an address");
        address.items = at.items;
        address.nitems = at.nitems;
    }
    ptx_expect(p, ']', "']' after the address");
    return address;
}

static struct ptx_operand parse_negated(struct ptx_parser *p) {
    ptx_next(p);
    struct ptx_operand op = parse_named(p, 1);
    if (op.kind != PTX_OP_REG)
        ptx_fail(p, p->last_line, ERR_INPUT, "expected a predicate register after '!'");
    op.negated = true;
    return op;
}

/* Parses the register after the bar of `%p|%q`. */
static int parse_second_reg(struct ptx_parser *p) {
    if (ptx_accept_word(p, "_")) return -2;
    struct ptx_operand second = parse_named(p, 1);
    if (second.kind != PTX_OP_REG)
        ptx_fail(p, p->last_line, ERR_INPUT, "expected a register after '|'");
    return second.reg;
}

static struct ptx_operand parse_operand(struct ptx_parser *p, unsigned nesting) {
    struct ptx_operand op;
    switch (p->tok.kind) {
    case '{': return parse_items(p, '}', nesting);
    case '(': return p->in_call ? parse_items(p, ')', nesting) : parse_immediate(p);
    case '[': return parse_address(p);
    case '!': return parse_negated(p);
    case '-':
    case '+':
    case '~':
    case TOKEN_INT:
    case TOKEN_FLOAT: return parse_immediate(p);
    case TOKEN_IDENT: op = parse_word(p, nesting); break;
    default: ptx_fail_expected(p, "an operand");
    }
    if (p->tok.kind == '|') {
        if (op.kind != PTX_OP_REG && op.kind != PTX_OP_SINK)
            ptx_fail_expected(p, "',' or ';' after the operand");
        ptx_next(p);
        op.second_reg = parse_second_reg(p);
    }
    return op;
}

struct ptx_operand *ptx_parse_operands(struct ptx_parser *p, bool is_call, unsigned *n) {
    p->in_call = is_call;
    p->operands.n = 0;
    uint32_t line = p->tok.line;
    if (p->tok.kind != ';') {
        do {
            struct ptx_operand op = parse_operand(p, 0);
            *vec_push(p, &p->operands, struct ptx_operand) = op;
        } while (ptx_accept(p, ','));
    }
    ptx_expect(p, ';', "',' or ';' after the operand");
    *n = (unsigned)p->operands.n;
    struct ptx_operand *ops = vec_to_arena(p, &p->operands, struct ptx_operand);
    for (unsigned i = 0; i < *n; i++)
        if (ops[i].kind == PTX_OP_LABEL)
            ptx_add_fixup(p, ptx_intern(p, ops[i].name, strlen(ops[i].name)), line, &ops[i].target,
                          &ops[i]);
    return ops;
}
