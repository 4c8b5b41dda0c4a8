/* expr.c — constant expressions of integers, which inline assembly contains once the compiler has
 * inserted its constants: `[%rd1+4*16]`, `(1 << 5) - 1`. Arithmetic is on 64 bits and wraps; a
 * value is unsigned if an operand is. */
#include "grader/sim/ptx/parse.h"

enum { MAX_PARENTHESES = 32, MIN_PRECEDENCE = 1, MUL_PRECEDENCE = 6 };

/* Returns the binary operator at the token and its precedence, 0 for none. `<<` and `>>` are two
 * tokens. */
static int precedence(const struct ptx_parser *p) {
    switch (p->tok.kind) {
    case '|': return 1;
    case '^': return 2;
    case '&': return 3;
    case '<':
    case '>': return p->at < p->end && *p->at == p->tok.kind ? 4 : 0;
    case '+':
    case '-': return 5;
    case '*':
    case '/': return MUL_PRECEDENCE;
    default: return 0;
    }
}

static uint64_t divide(struct ptx_parser *p, struct constant a, struct constant b,
                       bool is_unsigned) {
    if (!b.value) ptx_fail(p, p->last_line, ERR_INPUT, "a constant is divided by zero");
    if (is_unsigned) return a.value / b.value;
    if (b.value == UINT64_MAX)
        return 0 - a.value; /* dividing the smallest integer by -1 would trap */
    return (uint64_t)((int64_t)a.value / (int64_t)b.value);
}

static struct constant apply(struct ptx_parser *p, int op, struct constant a, struct constant b) {
    struct constant r = {.is_unsigned = a.is_unsigned || b.is_unsigned};
    switch (op) {
    case '|': r.value = a.value | b.value; break;
    case '^': r.value = a.value ^ b.value; break;
    case '&': r.value = a.value & b.value; break;
    case '+': r.value = a.value + b.value; break;
    case '-': r.value = a.value - b.value; break;
    case '*': r.value = a.value * b.value; break;
    case '/': r.value = divide(p, a, b, r.is_unsigned); break;
    case '<': r.value = b.value < 64 ? a.value << b.value : 0; break;
    default:
        if (b.value > 63) b.value = 63;
        r.value = a.is_unsigned ? a.value >> b.value : (uint64_t)((int64_t)a.value >> b.value);
    }
    return r;
}

static struct constant parse_binary(struct ptx_parser *p, int level, unsigned depth);

static struct constant parse_primary(struct ptx_parser *p, unsigned depth) {
    if (depth > MAX_PARENTHESES)
        ptx_fail(p, p->tok.line, ERR_LIMIT, "a constant is nested more than %d deep",
                 MAX_PARENTHESES);
    struct constant c;
    if (ptx_accept(p, '-')) {
        c = parse_primary(p, depth + 1);
        c.value = 0 - c.value;
    } else if (ptx_accept(p, '+')) {
        c = parse_primary(p, depth + 1);
    } else if (ptx_accept(p, '~')) {
        c = parse_primary(p, depth + 1);
        c.value = ~c.value;
    } else if (ptx_accept(p, '(')) {
        c = parse_binary(p, MIN_PRECEDENCE, depth + 1);
        ptx_expect(p, ')', "')' in the constant");
    } else if (ptx_accept_word(p, "WARP_SZ")) {
        c = (struct constant){.value = 32};
    } else {
        c.is_unsigned = p->tok.type == PTX_U64;
        c.value = ptx_expect_uint(p, "an integer", UINT64_MAX);
    }
    return c;
}

/* Parses a level of precedence from its first number on. */
static struct constant parse_binary_rest(struct ptx_parser *p, struct constant left, int level,
                                         unsigned depth) {
    for (int binding_power; (binding_power = precedence(p)) && binding_power >= level;) {
        int op = p->tok.kind;
        ptx_next(p);
        if (op == '<' || op == '>') ptx_next(p);
        left = apply(p, op, left, parse_binary(p, binding_power + 1, depth + 1));
    }
    return left;
}

static struct constant parse_binary(struct ptx_parser *p, int level, unsigned depth) {
    return parse_binary_rest(p, parse_primary(p, depth), level, depth);
}

struct constant ptx_parse_constant(struct ptx_parser *p, bool negative) {
    struct constant first = parse_primary(p, 0);
    if (negative) first.value = 0 - first.value;
    return parse_binary_rest(p, first, MIN_PRECEDENCE, 0);
}

/* Parses up to the next sum: the offset in `[%rd1+4*2-1]` is two of these. */
struct constant ptx_parse_product(struct ptx_parser *p) {
    return parse_binary(p, MUL_PRECEDENCE, 0);
}
