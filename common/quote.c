/* quote.c — see quote.h. It finds declarations by tokens: it skips comments and strings, and a
 * statement begins after `;`, `{` or `}`. Dimensions are numbers, names that the file defines by
 * numbers, and their sums and products. One unknown dimension, such as a template parameter,
 * follows from the number of elements. */
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

static void lexer_advance(struct lexer *w, const char *end) {
    for (; w->at < end; w->at++) w->line += *w->at == '\n';
}

/* Returns the position after the closing quote, or the end of the line. */
static const char *end_of_string(const struct lexer *w) {
    const char *p = w->at + 1;
    while (p < w->end && *p != *w->at && *p != '\n') p += *p == '\\' && p + 1 < w->end ? 2 : 1;
    return p < w->end ? p + (*p != '\n') : w->end;
}

static const char *end_of_comment(const struct lexer *w) {
    if (w->end - w->at < 2 || w->at[0] != '/' || (w->at[1] != '/' && w->at[1] != '*')) return NULL;
    size_t remaining = (size_t)(w->end - w->at) - 2;
    const char *p = w->at[1] == '/' ? memchr(w->at + 2, '\n', remaining)
                                    : memmem(w->at + 2, remaining, "*/", 2);
    return !p ? w->end : w->at[1] == '/' ? p : p + 2;
}

static bool is_identifier_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

static struct token next_token(struct lexer *w) {
    for (const char *end; w->at < w->end;) {
        if (isspace((unsigned char)*w->at)) lexer_advance(w, w->at + 1);
        else if ((end = end_of_comment(w))) lexer_advance(w, end);
        else if (*w->at == '"' || *w->at == '\'') lexer_advance(w, end_of_string(w));
        else break;
    }
    struct token found = {w->at < w->end ? w->at : NULL, 1, w->line};
    if (!found.at) return found;
    while (is_identifier_char(*found.at) && found.at + found.n < w->end &&
           is_identifier_char(found.at[found.n]))
        found.n++;
    w->at += found.n;
    return found;
}

static bool token_is(struct token w, const char *text) {
    return w.at && w.n == strlen(text) && !memcmp(w.at, text, w.n);
}
static bool tokens_equal(struct token a, struct token b) {
    return a.at && b.at && a.n == b.n && !memcmp(a.at, b.at, a.n);
}
static bool is_statement_end(struct token w) {
    return token_is(w, ";") || token_is(w, "{") || token_is(w, "}");
}

/* ---- numbers ---- */

struct eval_ctx {
    const char *source;
    size_t n;
    unsigned depth;         /* of nested names and brackets */
    unsigned *lookups_left; /* bounds the work: names may be defined by names */
};
enum { MAX_DEPTH = 8, MAX_LOOKUPS = 64 };

struct expr_parser {
    struct lexer lexer;
    struct token token;
    bool resolved;
};

static uint64_t eval_sum(struct expr_parser *s, const struct eval_ctx *in);

static uint64_t eval_text(const char *at, const char *end, const struct eval_ctx *in,
                          bool *resolved) {
    struct expr_parser s = {.lexer = {at, end, 0}, .resolved = true};
    s.token = next_token(&s.lexer);
    uint64_t v = eval_sum(&s, in);
    *resolved = s.resolved;
    return v;
}

/* Returns the value of a name: that after `#define NAME`, or after `NAME =` in a statement with
 * `const`, `constexpr` or `enum`. */
static uint64_t eval_name(struct token name, const struct eval_ctx *in, bool *resolved) {
    struct lexer w = {in->source, in->source + in->n, 1};
    struct eval_ctx inner = {in->source, in->n, in->depth + 1, in->lookups_left};
    struct token previous = {0};
    bool constant = false;
    *resolved = false;
    if (in->depth == MAX_DEPTH || !*in->lookups_left) return 0;
    --*in->lookups_left;
    for (struct token token; (token = next_token(&w)).at; previous = token) {
        if (is_statement_end(token) && !(constant && token_is(token, "{"))) constant = false;
        constant |=
            token_is(token, "const") || token_is(token, "constexpr") || token_is(token, "enum");
        if (!tokens_equal(token, name)) continue;
        const char *line_end = memchr(w.at, '\n', (size_t)(w.end - w.at));
        if (token_is(previous, "define"))
            return eval_text(w.at, line_end ? line_end : w.end, &inner, resolved);
        struct lexer lookahead = w;
        if (constant && token_is(next_token(&lookahead), "="))
            return eval_text(lookahead.at, lookahead.end, &inner, resolved);
    }
    return 0;
}

static uint64_t eval_factor(struct expr_parser *s, const struct eval_ctx *in) {
    struct token token = s->token;
    uint64_t v = 0;
    bool resolved = true;
    s->token = next_token(&s->lexer);
    if (token_is(token, "(")) {
        struct eval_ctx inner = {in->source, in->n, in->depth + 1, in->lookups_left};
        v = in->depth < MAX_DEPTH ? eval_sum(s, &inner) : 0;
        resolved = token_is(s->token, ")");
        s->token = next_token(&s->lexer);
    } else if (token.at && isdigit((unsigned char)*token.at)) {
        for (size_t i = 0; i < token.n && isdigit((unsigned char)token.at[i]) && v < 1u << 24; i++)
            v = v * 10 + (uint64_t)(token.at[i] - '0');
        resolved = token.n == 1 || (*token.at != '0' && token.n < 8);
    } else if (token.at && is_identifier_char(*token.at)) v = eval_name(token, in, &resolved);
    else resolved = false;
    s->resolved &= resolved;
    return v;
}

static uint64_t eval_product(struct expr_parser *s, const struct eval_ctx *in) {
    uint64_t v = eval_factor(s, in);
    while (token_is(s->token, "*") || token_is(s->token, "/")) {
        bool times = token_is(s->token, "*");
        s->token = next_token(&s->lexer);
        uint64_t by = eval_factor(s, in);
        s->resolved &= v < 1u << 24 && by < 1u << 24 && (times || by);
        if (s->resolved) v = times ? v * by : v / by;
    }
    return v;
}

static uint64_t eval_sum(struct expr_parser *s, const struct eval_ctx *in) {
    uint64_t v = eval_product(s, in);
    while (token_is(s->token, "+") || token_is(s->token, "-")) {
        bool plus = token_is(s->token, "+");
        s->token = next_token(&s->lexer);
        uint64_t by = eval_product(s, in);
        s->resolved &= plus || by <= v;
        v = plus ? v + by : v - by;
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
static void parse_dims(struct lexer w, const struct eval_ctx *in, struct dims *d) {
    *d = (struct dims){.n = 0};
    while (token_is(next_token(&w), "[") && d->n < MAX_DIMS) {
        struct expr_parser s = {.lexer = w, .resolved = true};
        s.token = next_token(&s.lexer);
        uint64_t v = eval_sum(&s, in);
        bool resolved = s.resolved && token_is(s.token, "]");
        struct token token = s.token;
        while (token.at && !token_is(token, "]") && !token_is(token, ";"))
            token = next_token(&s.lexer);
        if (!token_is(token, "]")) return;
        d->extent[d->n++] = resolved ? v : 0;
        w = s.lexer;
    }
}

/* Finds the dimensions of the last `__shared__` array of that name above the line; of the first one
 * if all are below. */
static void find_dims(const struct eval_ctx *in, struct token name, unsigned line, struct dims *d) {
    struct lexer w = {in->source, in->source + in->n, 1};
    bool shared = false;
    *d = (struct dims){.n = 0};
    for (struct token token; (token = next_token(&w)).at;) {
        if (is_statement_end(token)) shared = false;
        shared |= token_is(token, "__shared__");
        if (!shared || !tokens_equal(token, name) || (d->n && token.line > line)) continue;
        parse_dims(w, in, d);
    }
}

/* Derives one unknown dimension from the number of elements; returns false if they do not match. */
static bool resolve_dims(struct dims *d, uint64_t count) {
    uint64_t product = 1;
    unsigned unknown = 0;
    for (unsigned i = 0; i < d->n; i++)
        unknown += !d->extent[i], product *= d->extent[i] ? d->extent[i] : 1;
    for (unsigned i = 0; unknown == 1 && i < d->n; i++)
        if (!d->extent[i]) product *= d->extent[i] = count / product;
    return d->n && unknown <= 1 && product == count;
}

static void write_indices(const struct dims *d, uint64_t element, struct buf *out) {
    for (unsigned i = 0; i < d->n; i++) {
        uint64_t stride = 1;
        for (unsigned k = i + 1; k < d->n; k++) stride *= d->extent[k];
        buf_printf(out, "[%llu]", (unsigned long long)(element / stride));
        element %= stride;
    }
}

/* ---- reports ---- */

void quote_elements(struct buf *text, const char *source, size_t n, unsigned line) {
    struct buf out = {0};
    const char *at = buf_str(text), *found;
    unsigned lookups_left = MAX_LOOKUPS;
    const struct eval_ctx in = {source, n, 0, &lookups_left};
    while ((found = strstr(at, "element "))) {
        unsigned long long element, count;
        char name[64];
        int end = 0;
        struct dims d;
        buf_add(&out, at, (size_t)(found - at));
        at = found;
        bool matched = sscanf(found, "element %llu of `%63[A-Za-z0-9_]` (%llu of %*u bytes)%n",
                              &element, name, &count, &end) == 3 &&
                       end;
        if (matched) find_dims(&in, (struct token){name, strlen(name), 0}, line, &d);
        if (matched && count <= 1u << 24 && element < count && resolve_dims(&d, count)) {
            buf_printf(&out, "`%s", name);
            write_indices(&d, element, &out);
            buf_puts(&out, "`");
            at += end;
        } else buf_add(&out, at++, 1);
    }
    buf_puts(&out, at);
    buf_clear(text);
    buf_add(text, out.data, out.size);
    buf_free(&out);
}

enum { MAX_QUOTE_WIDTH = 100 }; /* bytes of a quoted line */

static void quote_line(const char *source, size_t n, unsigned line, const char *prefix,
                       const char *suffix, struct buf *out) {
    const char *at = source, *end = source + n;
    for (unsigned i = 1; i < line && at; i++)
        at = (at = memchr(at, '\n', (size_t)(end - at))) ? at + 1 : NULL;
    if (!line || !at || at >= end) return;
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    buf_printf(out, "%s%5u | ", prefix, line);
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    size_t length = (size_t)((stop ? stop : end) - at);
    text_clean(out, at, length < MAX_QUOTE_WIDTH ? length : MAX_QUOTE_WIDTH, 4 * MAX_QUOTE_WIDTH);
    buf_puts(out, suffix);
}

void quote_lines(const char *text, const char *source, size_t n, unsigned line, const char *prefix,
                 const char *suffix, struct buf *out) {
    unsigned quoted[4] = {line}, nquoted = 1;
    quote_line(source, n, line, prefix, suffix, out);
    for (const char *at = text; (at = strstr(at, "in line ")) && nquoted < 4; at++) {
        unsigned other = 0;
        bool already_quoted = sscanf(at, "in line %u", &other) != 1;
        for (unsigned i = 0; i < nquoted; i++) already_quoted |= quoted[i] == other;
        if (already_quoted) continue;
        quoted[nquoted++] = other;
        quote_line(source, n, other, prefix, suffix, out);
    }
}
