/* initializer.c — initial values: nested braces, numbers, addresses of other symbols.
 *
 * nvcc writes a structure that holds an address as an array of bytes, with the address cut into
 * eight parts: 0xFF(sym), 0xFF00(sym), ... Eight of them in a row become one relocation again. */
#include "grader/sim/ptx/parse.h"

#include <string.h>

static const uint64_t MAX_VAR_INIT_BYTES = 64u << 20, MAX_TOTAL_INIT_BYTES = 256u << 20;

struct initializer {
    struct ptx_var *v;
    struct shape *shape;
    uint64_t strides[MAX_DIMS + 2]; /* elements in a sub-array of each level */
    uint64_t next_element;          /* index of the next element */
    uint64_t element_count;         /* 0 = as many as the text has */
    unsigned element_bytes;
};

/* A parsed address; its symbol is checked when all names of the module are known. */
struct reloc_check {
    struct identifier *symbol;
    uint32_t line;
};

struct address_piece {
    struct ptx_reloc reloc;
    unsigned shift; /* bytes of the address that the mask skips */
    bool masked;
};

static double as_double(const struct token *t) {
    double d;
    float f;
    if (t->type == PTX_F32) return memcpy(&f, &t->value, 4), f;
    if (t->type == PTX_F64) return memcpy(&d, &t->value, 8), d;
    return t->type == PTX_S64 ? (double)(int64_t)t->value : (double)t->value;
}

static uint64_t float_bits(double d, unsigned size) {
    uint64_t bits = 0;
    float f = (float)d;
    if (size == 4) memcpy(&bits, &f, 4);
    else memcpy(&bits, &d, 8);
    return bits;
}

/* Returns the bits to store for a number: converted if the element's type is a float, else
 * unchanged. */
static uint64_t number_bits(struct ptx_parser *p, enum ptx_type type, const struct token *t,
                            bool negative) {
    unsigned size = ptx_type_bytes(type);
    bool is_float = t->kind == TOKEN_FLOAT;
    if (type == PTX_F32 || type == PTX_F64) {
        if (t->type == type && !negative) return t->value; /* a NaN keeps its bits */
        return float_bits(negative ? -as_double(t) : as_double(t), size);
    }
    if (is_float && ptx_type_bytes(t->type) != size)
        ptx_fail(p, t->line, ERR_INPUT, "expected an integer for an element of type .%s",
                 ptx_type_name(type));
    if (is_float) return negative ? float_bits(-as_double(t), size) : t->value;
    return negative ? 0 - t->value : t->value;
}

/* Stores an element. It may be 16 bytes wide (.b128): the value fills the low eight. */
static void store_element(struct initializer *t, uint64_t bits) {
    uint8_t *out = (uint8_t *)t->v->init + t->next_element * t->element_bytes;
    memcpy(out, &bits, t->element_bytes < 8 ? t->element_bytes : 8);
}

static struct address_piece parse_symbol(struct ptx_parser *p) {
    struct address_piece piece = {.reloc = {.generic = false}};
    if (ptx_accept_word(p, "generic")) {
        ptx_expect(p, '(', "'(' after generic");
        piece.reloc.generic = true;
    }
    struct reloc_check *check = vec_push(p, &p->initializer_symbols, struct reloc_check);
    uint32_t line = p->tok.line;
    struct identifier *name = ptx_expect_name(p, "a symbol's name");
    *check = (struct reloc_check){name, line};
    piece.reloc.symbol = name->s;
    if (p->tok.kind == '+' || p->tok.kind == '-')
        piece.reloc.addend = ptx_expect_int(p, "an offset");
    if (piece.reloc.generic) {
        ptx_expect(p, ')', "')' after the symbol");
        if (p->tok.kind == '+' || p->tok.kind == '-')
            piece.reloc.addend += ptx_expect_int(p, "an offset");
    }
    return piece;
}

/* Parses `(sym)` after the mask, a run of 0xFF bytes as wide as the element. */
static struct address_piece parse_masked(struct ptx_parser *p, struct initializer *t,
                                         uint64_t mask) {
    uint32_t line = p->last_line;
    uint64_t ones = t->element_bytes >= 8 ? ~0ull : (1ull << 8 * t->element_bytes) - 1;
    unsigned shift = 0;
    while (shift < 8 && mask >> 8 * shift != ones && (mask >> 8 * shift & 0xff) == 0) shift++;
    if (shift == 8 || mask >> 8 * shift != ones)
        ptx_fail(p, line, ERR_INPUT,
                 "the mask 0x%llX does not select %u whole bytes of the address",
                 (unsigned long long)mask, t->element_bytes);
    ptx_expect(p, '(', "'(' after the mask");
    struct address_piece piece = parse_symbol(p);
    ptx_expect(p, ')', "')' after the masked symbol");
    piece.masked = true;
    piece.shift = shift;
    return piece;
}

static bool extends_reloc(const struct ptx_reloc *r, const struct address_piece *piece,
                          size_t offset) {
    return piece->shift && r->offset + r->size == offset && r->size == piece->shift &&
           !strcmp(r->symbol, piece->reloc.symbol) && r->addend == piece->reloc.addend &&
           r->generic == piece->reloc.generic;
}

static void add_reloc(struct ptx_parser *p, struct initializer *t, struct address_piece piece) {
    size_t offset = t->next_element * t->element_bytes;
    struct ptx_reloc *last =
        p->initial_values.n ? (struct ptx_reloc *)p->initial_values.data + p->initial_values.n - 1
                            : NULL;
    if (piece.masked && last && extends_reloc(last, &piece, offset)) {
        last->size += t->element_bytes;
        return;
    }
    if (piece.shift)
        ptx_fail(p, p->last_line, ERR_INPUT,
                 "a part of the address of '%.200s' does not follow the part before it",
                 piece.reloc.symbol);
    piece.reloc.offset = offset;
    piece.reloc.size = t->element_bytes;
    *vec_push(p, &p->initial_values, struct ptx_reloc) = piece.reloc;
}

/* Grows an array that is declared without a size by one element. */
static void grow_initializer(struct ptx_parser *p, struct initializer *t) {
    uint64_t required_bytes = (t->next_element + 1) * t->element_bytes;
    if (required_bytes > MAX_VAR_INIT_BYTES)
        ptx_fail(p, p->last_line, ERR_LIMIT,
                 "an initialized variable of more than 64 MiB is not supported");
    if (required_bytes <= t->v->bytes) return;
    uint64_t capacity =
        grow_capacity(t->v->bytes, required_bytes, 8 * t->element_bytes, 1, SIZE_MAX);
    uint8_t *grown = ptx_alloc(p, p->arena, capacity);
    if (t->v->init) memcpy(grown, t->v->init, t->v->bytes);
    t->v->init = grown;
    t->v->bytes = capacity;
}

static void parse_element(struct ptx_parser *p, struct initializer *t) {
    if (!t->element_count) grow_initializer(p, t);
    bool negative = false;
    for (; p->tok.kind == '-' || p->tok.kind == '+'; ptx_next(p)) negative ^= p->tok.kind == '-';
    struct token number = p->tok;
    if (number.kind == TOKEN_INT || number.kind == TOKEN_FLOAT) {
        ptx_next(p);
        if (number.kind == TOKEN_INT && p->tok.kind == '(')
            add_reloc(p, t, parse_masked(p, t, number.value));
        else store_element(t, number_bits(p, t->v->type, &number, negative));
    } else if (number.kind == TOKEN_IDENT && !negative) {
        add_reloc(p, t, parse_symbol(p));
    } else {
        ptx_fail_expected(p, "an initial value");
    }
    t->next_element++;
}

/* Parses a braced list, which fills the sub-array of its level; missing elements stay zero. */
static void parse_list(struct ptx_parser *p, struct initializer *t, unsigned level) {
    uint64_t stride = t->strides[level], start = t->next_element,
             limit = stride ? start + stride : UINT64_MAX;
    while (p->tok.kind != '}') {
        if (t->next_element >= limit)
            ptx_fail(p, p->tok.line, ERR_INPUT, "too many initial values for '%.200s'", t->v->name);
        if (p->tok.kind != '{') {
            parse_element(p, t);
        } else if (level + 1 > t->shape->ndims || !t->strides[level + 1] ||
                   (t->next_element - start) % t->strides[level + 1]) {
            ptx_fail_expected(p, "a value, not an inner list");
        } else {
            ptx_next(p);
            uint64_t inner = t->next_element;
            parse_list(p, t, level + 1);
            t->next_element = inner + t->strides[level + 1];
        }
        if (!ptx_accept(p, ',')) break;
    }
    ptx_expect(p, '}', "',' or '}' in the initial values");
}

/* strides[i] is the number of elements of one sub-array at level i; the last level is a single
 * element. */
static void begin_initializer(struct ptx_parser *p, struct initializer *t) {
    unsigned n = t->shape->ndims;
    t->strides[n] = 1;
    for (unsigned i = n; i--;) t->strides[i] = t->strides[i + 1] * t->shape->dims[i];
    t->element_count = t->strides[0];
    if (!t->element_count && n > 1)
        ptx_fail(p, p->last_line, ERR_UNSUPPORTED,
                 "an initialized array of several dimensions needs its first size");
    if (t->v->bytes > MAX_VAR_INIT_BYTES)
        ptx_fail(p, p->last_line, ERR_LIMIT,
                 "an initialized variable of more than 64 MiB is not supported");
    p->initialized_bytes += t->v->bytes;
    if (p->initialized_bytes > MAX_TOTAL_INIT_BYTES)
        ptx_fail(p, p->last_line, ERR_LIMIT,
                 "more than 256 MiB of initialized variables are not supported");
    if (t->element_count) t->v->init = ptx_alloc(p, p->arena, t->v->bytes);
}

static void end_initializer(struct ptx_parser *p, struct initializer *t) {
    if (!t->element_count) {
        if (!t->next_element)
            ptx_fail(p, p->last_line, ERR_INPUT, "expected initial values for '%.200s'",
                     t->v->name);
        t->v->bytes = t->next_element * t->element_bytes;
        p->initialized_bytes += t->v->bytes;
    }
    for (size_t i = 0; i < p->initial_values.n; i++) {
        const struct ptx_reloc *r = (struct ptx_reloc *)p->initial_values.data + i;
        if (r->size != 4 && r->size != 8)
            ptx_fail(p, p->last_line, ERR_INPUT, "%u bytes cannot hold the address of '%.200s'",
                     r->size, r->symbol);
    }
    t->v->nrelocs = (unsigned)p->initial_values.n;
    t->v->relocs = vec_to_arena(p, &p->initial_values, struct ptx_reloc);
}

void ptx_parse_initializer(struct ptx_parser *p, struct ptx_var *v, struct shape *shape) {
    struct initializer t = {.v = v, .shape = shape, .element_bytes = ptx_type_bytes(v->type)};
    p->initial_values.n = 0;
    begin_initializer(p, &t);
    if (ptx_accept(p, '{')) parse_list(p, &t, 0);
    else if (shape->ndims) ptx_fail_expected(p, "'{' before the initial values");
    else parse_element(p, &t);
    end_initializer(p, &t);
}

void ptx_check_initializer_symbols(struct ptx_parser *p) {
    const struct reloc_check *check = p->initializer_symbols.data;
    for (size_t i = 0; i < p->initializer_symbols.n; i++)
        if (!check[i].symbol->var && !check[i].symbol->func)
            ptx_fail(p, check[i].line, ERR_INPUT,
                     "the initial value names '%.200s', which is not declared", check[i].symbol->s);
}
