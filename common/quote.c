/* quote.c — see quote.h. To write an element's indices, it looks for the array's `__shared__`
 * declaration in the source. It finds declarations by tokens: it skips comments and strings, and a
 * statement begins after `;`, `{` or `}`. Dimensions are numbers, constants that the file defines,
 * and their sums and products. One unknown dimension, such as a template parameter, follows from
 * the number of elements. */
#include "common/quote.h"
#include "common/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- tokens ---- */

struct token {
    const char *at; /* NULL: the end */
    size_t n;
    unsigned line;
};
struct lexer {
    const char *at, *end;
    unsigned line;
};

static void lexer_advance(struct lexer *lexer, const char *end) {
    for (; lexer->at < end; lexer->at++) lexer->line += *lexer->at == '\n';
}

/* Returns the position after the closing quote of a string or character, or the end of the line. */
static const char *end_of_literal(const struct lexer *lexer) {
    const char *p = lexer->at + 1;
    while (p < lexer->end && *p != *lexer->at && *p != '\n')
        p += *p == '\\' && p + 1 < lexer->end ? 2 : 1;
    return p < lexer->end ? p + (*p != '\n') : lexer->end;
}

static const char *end_of_comment(const struct lexer *lexer) {
    if (lexer->end - lexer->at < 2 || lexer->at[0] != '/' ||
        (lexer->at[1] != '/' && lexer->at[1] != '*'))
        return NULL;
    size_t remaining = (size_t)(lexer->end - lexer->at) - 2;
    const char *p = lexer->at[1] == '/' ? memchr(lexer->at + 2, '\n', remaining)
                                        : memmem(lexer->at + 2, remaining, "*/", 2);
    return !p ? lexer->end : lexer->at[1] == '/' ? p : p + 2;
}

static bool is_identifier_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

static struct token next_token(struct lexer *lexer) {
    for (const char *end; lexer->at < lexer->end;) {
        if (isspace((unsigned char)*lexer->at)) lexer_advance(lexer, lexer->at + 1);
        else if ((end = end_of_comment(lexer))) lexer_advance(lexer, end);
        else if (*lexer->at == '"' || *lexer->at == '\'')
            lexer_advance(lexer, end_of_literal(lexer));
        else break;
    }
    struct token found = {lexer->at < lexer->end ? lexer->at : NULL, 1, lexer->line};
    if (!found.at) return found;
    while (is_identifier_char(*found.at) && found.at + found.n < lexer->end &&
           is_identifier_char(found.at[found.n]))
        found.n++;
    lexer->at += found.n;
    return found;
}

static bool token_is(struct token token, const char *text) {
    return token.at && token.n == strlen(text) && !memcmp(token.at, text, token.n);
}
static bool tokens_equal(struct token a, struct token b) {
    return a.at && b.at && a.n == b.n && !memcmp(a.at, b.at, a.n);
}
static bool is_statement_end(struct token token) {
    return token_is(token, ";") || token_is(token, "{") || token_is(token, "}");
}

/* ---- constant expressions ---- */

struct eval_ctx {
    const char *source;
    size_t n;
    unsigned depth;         /* of nested names and brackets */
    unsigned *lookups_left; /* bounds the work: names may be defined by names */
};
enum { MAX_DEPTH = 8, MAX_LOOKUPS = 64 };
/* Larger than any array in shared memory; products of two such numbers fit in 64 bits. */
enum { MAX_ELEMENTS = 1 << 24, MAX_ELEMENTS_DIGITS = 7 };

struct expr_parser {
    struct lexer lexer;
    struct token token;
    bool resolved;
};

static uint64_t eval_sum(struct expr_parser *parser, const struct eval_ctx *ctx);

static uint64_t eval_text(const char *at, const char *end, const struct eval_ctx *ctx,
                          bool *resolved) {
    struct expr_parser parser = {.lexer = {at, end, 0}, .resolved = true};
    parser.token = next_token(&parser.lexer);
    uint64_t v = eval_sum(&parser, ctx);
    *resolved = parser.resolved;
    return v;
}

/* Returns the value that the file gives a name: by `#define NAME value`, or by `NAME = value` in a
 * statement with `const`, `constexpr` or `enum`. */
static uint64_t eval_name(struct token name, const struct eval_ctx *ctx, bool *resolved) {
    struct lexer lexer = {ctx->source, ctx->source + ctx->n, 1};
    struct eval_ctx inner = {ctx->source, ctx->n, ctx->depth + 1, ctx->lookups_left};
    struct token previous = {0};
    bool constant = false;
    *resolved = false;
    if (ctx->depth == MAX_DEPTH || !*ctx->lookups_left) return 0;
    --*ctx->lookups_left;
    for (struct token token; (token = next_token(&lexer)).at; previous = token) {
        /* The brace of `enum {` doesn't end the statement. */
        if (is_statement_end(token) && !(constant && token_is(token, "{"))) constant = false;
        constant |=
            token_is(token, "const") || token_is(token, "constexpr") || token_is(token, "enum");
        if (!tokens_equal(token, name)) continue;
        const char *line_end = memchr(lexer.at, '\n', (size_t)(lexer.end - lexer.at));
        if (token_is(previous, "define"))
            return eval_text(lexer.at, line_end ? line_end : lexer.end, &inner, resolved);
        struct lexer lookahead = lexer;
        if (constant && token_is(next_token(&lookahead), "="))
            return eval_text(lookahead.at, lookahead.end, &inner, resolved);
    }
    return 0;
}

static uint64_t eval_factor(struct expr_parser *parser, const struct eval_ctx *ctx) {
    struct token token = parser->token;
    uint64_t v = 0;
    bool resolved = true;
    parser->token = next_token(&parser->lexer);
    if (token_is(token, "(")) {
        struct eval_ctx inner = {ctx->source, ctx->n, ctx->depth + 1, ctx->lookups_left};
        v = ctx->depth < MAX_DEPTH ? eval_sum(parser, &inner) : 0;
        resolved = token_is(parser->token, ")");
        parser->token = next_token(&parser->lexer);
    } else if (token.at && isdigit((unsigned char)*token.at)) {
        for (size_t i = 0; i < token.n && isdigit((unsigned char)token.at[i]) && v < MAX_ELEMENTS;
             i++)
            v = v * 10 + (uint64_t)(token.at[i] - '0');
        /* Decimal numbers alone, also with a suffix: not octal or hexadecimal ones. */
        resolved = token.n == 1 || (*token.at != '0' && token.n <= MAX_ELEMENTS_DIGITS);
    } else if (token.at && is_identifier_char(*token.at)) v = eval_name(token, ctx, &resolved);
    else resolved = false;
    parser->resolved &= resolved;
    return v;
}

static uint64_t eval_product(struct expr_parser *parser, const struct eval_ctx *ctx) {
    uint64_t v = eval_factor(parser, ctx);
    while (token_is(parser->token, "*") || token_is(parser->token, "/")) {
        bool times = token_is(parser->token, "*");
        parser->token = next_token(&parser->lexer);
        uint64_t right = eval_factor(parser, ctx);
        parser->resolved &= v < MAX_ELEMENTS && right < MAX_ELEMENTS && (times || right);
        if (parser->resolved) v = times ? v * right : v / right;
    }
    return v;
}

static uint64_t eval_sum(struct expr_parser *parser, const struct eval_ctx *ctx) {
    uint64_t v = eval_product(parser, ctx);
    while (token_is(parser->token, "+") || token_is(parser->token, "-")) {
        bool plus = token_is(parser->token, "+");
        parser->token = next_token(&parser->lexer);
        uint64_t right = eval_product(parser, ctx);
        parser->resolved &= plus || right <= v;
        v = plus ? v + right : v - right;
    }
    return v;
}

/* ---- the declaration ---- */

enum { MAX_DIMS = 4 };
struct dims {
    uint64_t extent[MAX_DIMS]; /* 0: not known */
    unsigned n;
};

/* Parses the dimensions after a name. An unsupported operator (`<`, `?` …) makes a dimension
 * unknown. */
static void parse_dims(struct lexer lexer, const struct eval_ctx *ctx, struct dims *d) {
    *d = (struct dims){.n = 0};
    while (token_is(next_token(&lexer), "[") && d->n < MAX_DIMS) {
        struct expr_parser parser = {.lexer = lexer, .resolved = true};
        parser.token = next_token(&parser.lexer);
        uint64_t v = eval_sum(&parser, ctx);
        bool resolved = parser.resolved && token_is(parser.token, "]");
        struct token token = parser.token;
        while (token.at && !token_is(token, "]") && !token_is(token, ";"))
            token = next_token(&parser.lexer);
        if (!token_is(token, "]")) return;
        d->extent[d->n++] = resolved ? v : 0;
        lexer = parser.lexer;
    }
}

/* Finds the dimensions of the last `__shared__` array of that name at or above the line; of the
 * first one if all are below. */
static void find_dims(const struct eval_ctx *ctx, struct token name, unsigned line,
                      struct dims *d) {
    struct lexer lexer = {ctx->source, ctx->source + ctx->n, 1};
    bool shared = false;
    *d = (struct dims){.n = 0};
    for (struct token token; (token = next_token(&lexer)).at;) {
        if (is_statement_end(token)) shared = false;
        shared |= token_is(token, "__shared__");
        if (!shared || !tokens_equal(token, name) || (d->n && token.line > line)) continue;
        parse_dims(lexer, ctx, d);
    }
}

/* Derives one unknown dimension from the number of elements. Returns false if the product of the
 * dimensions is not `count`. */
static bool resolve_dims(struct dims *d, uint64_t count) {
    uint64_t product = 1, *unknown = NULL;
    for (unsigned i = 0; i < d->n; i++) {
        if (d->extent[i]) product *= d->extent[i];
        else if (unknown) return false;
        else unknown = &d->extent[i];
    }
    if (unknown) {
        *unknown = count / product;
        product *= *unknown;
    }
    return d->n && product == count;
}

static void write_indices(const struct dims *d, uint64_t element, struct buf *out) {
    for (unsigned i = 0; i < d->n; i++) {
        uint64_t stride = 1;
        for (unsigned k = i + 1; k < d->n; k++) stride *= d->extent[k];
        buf_printf(out, "[%llu]", (unsigned long long)(element / stride));
        element %= stride;
    }
}

/* ---- element numbers ---- */

/* Parses a phrase of describe_shared_element(): "element 70 of `tile` (1056 of 4 bytes)", that is,
 * 1056 elements of 4 bytes. Returns its length, or 0. */
static size_t parse_element(const char *text, char name[64], unsigned long long *element,
                            unsigned long long *count) {
    int end = 0;
    bool is_parsed = sscanf(text, "element %llu of `%63[A-Za-z0-9_]` (%llu of %*u bytes)%n",
                            element, name, count, &end) == 3;
    return is_parsed ? (size_t)end : 0;
}

void quote_rewrite_elements(struct buf *text, const char *source, size_t n, unsigned line) {
    struct buf out = {0};
    const char *at = buf_str(text), *found;
    unsigned lookups_left = MAX_LOOKUPS;
    const struct eval_ctx ctx = {.source = source, .n = n, .lookups_left = &lookups_left};
    while ((found = strstr(at, "element "))) {
        unsigned long long element, count;
        char name[64];
        struct dims d;
        buf_add(&out, at, (size_t)(found - at));
        at = found;
        size_t length = parse_element(found, name, &element, &count);
        if (length) find_dims(&ctx, (struct token){name, strlen(name), 0}, line, &d);
        if (length && count <= MAX_ELEMENTS && element < count && resolve_dims(&d, count)) {
            buf_printf(&out, "`%s", name);
            write_indices(&d, element, &out);
            buf_puts(&out, "`");
            at += length;
        } else buf_add(&out, at++, 1);
    }
    buf_puts(&out, at);
    buf_clear(text);
    buf_add(text, out.data, out.size);
    buf_free(&out);
}

/* ---- source lines ---- */

/* MAX_QUOTE_WIDTH: bytes of a quoted line. text_clean writes a byte that is no text as up to four.
 */
enum { MAX_QUOTE_WIDTH = 100, MAX_CLEANED_BYTES = 4, MAX_QUOTED_LINES = 4 };

/* Returns the start of line number `line`, or NULL if the source has fewer. */
static const char *find_line(const char *source, const char *end, unsigned line) {
    const char *at = source;
    for (unsigned i = 1; i < line && at; i++) {
        at = memchr(at, '\n', (size_t)(end - at));
        if (at) at++;
    }
    return at;
}

static void quote_line(const char *source, size_t n, unsigned line, const char *prefix,
                       const char *suffix, struct buf *out) {
    const char *end = source + n, *at = line ? find_line(source, end, line) : NULL;
    if (!at || at >= end) return;
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    buf_printf(out, "%s%5u | ", prefix, line);
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    size_t length = (size_t)((stop ? stop : end) - at);
    text_clean(out, at, length < MAX_QUOTE_WIDTH ? length : MAX_QUOTE_WIDTH,
               MAX_CLEANED_BYTES * MAX_QUOTE_WIDTH);
    buf_puts(out, suffix);
}

void quote_lines(const char *text, const char *source, size_t n, unsigned line, const char *prefix,
                 const char *suffix, struct buf *out) {
    unsigned quoted[MAX_QUOTED_LINES] = {line}, nquoted = 1;
    quote_line(source, n, line, prefix, suffix, out);
    for (const char *at = text; (at = strstr(at, "in line ")) && nquoted < MAX_QUOTED_LINES; at++) {
        unsigned other = 0;
        bool is_skipped = sscanf(at, "in line %u", &other) != 1;
        for (unsigned i = 0; i < nquoted; i++) is_skipped |= quoted[i] == other;
        if (is_skipped) continue;
        quoted[nquoted++] = other;
        quote_line(source, n, other, prefix, suffix, out);
    }
}
