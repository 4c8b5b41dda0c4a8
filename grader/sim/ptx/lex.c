/* lex.c — splits PTX text into tokens, and has the basic steps of the parser: accept, expect, fail.
 *
 * An opcode with its modifiers and a special register with its component are one identifier token
 * (`ld.global.L2::128B.v4.f32`, `%tid.x`); no other name of PTX contains a dot. */
#include "grader/sim/ptx/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

enum { CLASS_SPACE = 1, CLASS_START = 2, CLASS_WORD = 4, CLASS_DIGIT = 8, CLASS_HEX = 16 };

static const uint8_t classes[256] = {
    [' '] = CLASS_SPACE,
    ['\t'] = CLASS_SPACE,
    ['\r'] = CLASS_SPACE,
    ['\n'] = CLASS_SPACE,
    ['\f'] = CLASS_SPACE,
    ['\v'] = CLASS_SPACE,
    ['0' ... '9'] = CLASS_WORD | CLASS_DIGIT | CLASS_HEX,
    ['A' ... 'F'] = CLASS_START | CLASS_WORD | CLASS_HEX,
    ['G' ... 'Z'] = CLASS_START | CLASS_WORD,
    ['a' ... 'f'] = CLASS_START | CLASS_WORD | CLASS_HEX,
    ['g' ... 'z'] = CLASS_START | CLASS_WORD,
    ['_'] = CLASS_START | CLASS_WORD,
    ['$'] = CLASS_START | CLASS_WORD,
    ['%'] = CLASS_START,
};

static bool has_class(char c, uint8_t class) { return classes[(uint8_t)c] & class; }

void ptx_fail(struct ptx_parser *p, uint32_t line, enum err_kind kind, const char *format, ...) {
    char text[768];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    err_set(p->err, kind, "PTX line %u: %s", line, text);
    longjmp(p->on_error, 1);
}

/* Writes up to 40 characters of the token, to keep messages to one line. */
static void describe(const struct token *t, char out[64]) {
    if (t->kind == TOKEN_END) snprintf(out, 64, "the end of the text");
    else snprintf(out, 64, "'%.*s%s'", (int)(t->n > 40 ? 40 : t->n), t->s, t->n > 40 ? "..." : "");
}

void ptx_fail_expected(struct ptx_parser *p, const char *expected) {
    char found[64];
    describe(&p->tok, found);
    ptx_fail(p, p->tok.line, ERR_INPUT, "expected %s, found %s", expected, found);
}

static void skip_comment(struct ptx_parser *p) {
    uint32_t line = p->line;
    for (p->at += 2; p->end - p->at >= 2; p->at++) {
        if (p->at[0] == '*' && p->at[1] == '/') {
            p->at += 2;
            return;
        }
        p->line += *p->at == '\n';
    }
    ptx_fail(p, line, ERR_INPUT, "this comment is never closed: expected '*/'");
}

static void skip_space(struct ptx_parser *p) {
    while (p->at < p->end) {
        if (has_class(*p->at, CLASS_SPACE)) {
            p->line += *p->at++ == '\n';
        } else if (*p->at == '/' && p->end - p->at >= 2 && p->at[1] == '/') {
            const char *newline = memchr(p->at, '\n', (size_t)(p->end - p->at));
            p->at = newline ? newline : p->end;
        } else if (*p->at == '/' && p->end - p->at >= 2 && p->at[1] == '*') {
            skip_comment(p);
        } else {
            return;
        }
    }
}

/* Reads the rest of a word: `::x` belongs to it, and in a name `.x` as well (but `.reg.b32` is two
 * directives). */
static const char *word_end(const struct ptx_parser *p, const char *s, bool dots) {
    for (; s < p->end; s++) {
        if (has_class(*s, CLASS_WORD)) continue;
        if (dots && *s == '.' && p->end - s >= 2 && has_class(s[1], CLASS_WORD)) continue;
        if (*s == ':' && p->end - s >= 3 && s[1] == ':' && has_class(s[2], CLASS_WORD)) {
            s++;
            continue;
        }
        break;
    }
    return s;
}

static void lex_string(struct ptx_parser *p) {
    const char *s = p->at + 1;
    while (s < p->end && *s != '"' && *s != '\n')
        s += *s == '\\' && p->end - s >= 2 && s[1] != '\n' ? 2 : 1;
    if (s >= p->end || *s != '"')
        ptx_fail(p, p->line, ERR_INPUT, "this string is never closed: expected '\"'");
    p->tok.kind = TOKEN_STRING;
    p->tok.s = p->at + 1;
    p->tok.n = (size_t)(s - p->tok.s);
    p->at = s + 1;
}

/* Reads 0fXXXXXXXX or 0dXXXXXXXXXXXXXXXX: the bits of the value. */
static bool lex_float_bits(struct ptx_parser *p) {
    if (p->end - p->at < 2 || p->at[0] != '0') return false;
    char c = p->at[1] | 0x20;
    if (c != 'f' && c != 'd') return false;
    int digits = c == 'f' ? 8 : 16, i = 0;
    uint64_t bits = 0;
    for (; i < digits && p->end - p->at > 2 + i && has_class(p->at[2 + i], CLASS_HEX); i++) {
        char d = p->at[2 + i];
        bits = bits << 4 | (uint64_t)(d <= '9' ? d - '0' : (d | 0x20) - 'a' + 10);
    }
    if (i < digits)
        ptx_fail(p, p->line, ERR_INPUT, "expected %d hexadecimal digits after '0%c'", digits,
                 p->at[1]);
    p->tok.kind = TOKEN_FLOAT;
    p->tok.type = c == 'f' ? PTX_F32 : PTX_F64;
    p->tok.value = bits;
    p->at += 2 + digits;
    return true;
}

/* Returns the length of a decimal number with a point or an exponent; 0 if there is none. */
static size_t decimal_length(const struct ptx_parser *p) {
    const char *s = p->at;
    bool real = false;
    while (s < p->end && has_class(*s, CLASS_DIGIT)) s++;
    if (s < p->end && *s == '.') {
        real = true;
        for (s++; s < p->end && has_class(*s, CLASS_DIGIT); s++) continue;
    }
    if (s < p->end && (*s == 'e' || *s == 'E')) {
        const char *x = s + 1;
        if (x < p->end && (*x == '+' || *x == '-')) x++;
        if (x < p->end && has_class(*x, CLASS_DIGIT)) {
            real = true;
            for (s = x; s < p->end && has_class(*s, CLASS_DIGIT); s++) continue;
        }
    }
    return real ? (size_t)(s - p->at) : 0;
}

static bool lex_decimal(struct ptx_parser *p) {
    size_t n = decimal_length(p);
    if (!n) return false;
    char digits[128];
    if (n >= sizeof digits)
        ptx_fail(p, p->line, ERR_LIMIT, "a number of %zu characters is too long", n);
    memcpy(digits, p->at, n);
    digits[n] = 0;
    double value = strtod(digits, NULL);
    p->tok.kind = TOKEN_FLOAT;
    p->tok.type = PTX_F64;
    memcpy(&p->tok.value, &value, sizeof value);
    p->at += n;
    return true;
}

static unsigned digit_of(char c) {
    if (has_class(c, CLASS_DIGIT)) return (unsigned)(c - '0');
    return has_class(c, CLASS_HEX) ? (unsigned)((c | 0x20) - 'a' + 10) : 99;
}

static void lex_integer(struct ptx_parser *p) {
    unsigned base = 10;
    const char *s = p->at;
    if (*s == '0' && p->end - s >= 2) {
        char c = s[1] | 0x20;
        base = c == 'x' ? 16 : c == 'b' ? 2 : 8;
        s += base == 8 ? 1 : 2;
    }
    const char *first = s;
    uint64_t value = 0;
    bool overflow = false;
    for (; s < p->end && digit_of(*s) < base; s++)
        overflow |= __builtin_mul_overflow(value, base, &value) |
                    __builtin_add_overflow(value, digit_of(*s), &value);
    bool empty = s == first && base != 8, is_unsigned = s < p->end && (*s == 'U' || *s == 'u');
    s += is_unsigned;
    if (empty || (s < p->end && has_class(*s, CLASS_WORD)))
        ptx_fail(p, p->line, ERR_INPUT, "'%.*s' is not a number",
                 (int)MIN(word_end(p, s, true) - p->at, 40), p->at);
    if (overflow) ptx_fail(p, p->line, ERR_INPUT, "an integer does not fit into 64 bits");
    p->tok.kind = TOKEN_INT;
    p->tok.type = is_unsigned || value >> 63 ? PTX_U64 : PTX_S64;
    p->tok.value = value;
    p->at = s;
}

static void lex_word(struct ptx_parser *p, int kind) {
    p->at = word_end(p, p->at + 1, kind == TOKEN_IDENT);
    p->tok.kind = kind;
}

void ptx_next(struct ptx_parser *p) {
    p->last_line = p->tok.line;
    skip_space(p);
    p->tok = (struct token){.line = p->line, .s = p->at};
    if (p->at >= p->end) {
        p->tok.kind = TOKEN_END;
        return;
    }
    char c = *p->at;
    bool more = p->end - p->at >= 2;
    if (c == '"') {
        lex_string(p);
        return;
    }
    if (has_class(c, CLASS_START)) lex_word(p, TOKEN_IDENT);
    else if (c == '.' && more && has_class(p->at[1], CLASS_START)) lex_word(p, TOKEN_DIRECTIVE);
    else if (has_class(c, CLASS_DIGIT) || (c == '.' && more && has_class(p->at[1], CLASS_DIGIT))) {
        if (!lex_float_bits(p) && !lex_decimal(p)) lex_integer(p);
    } else if (strchr("(){}[]<>,;:@!+-|=*/~&^", c) && c) {
        p->tok.kind = c;
        p->at++;
    } else {
        ptx_fail(p, p->line, ERR_INPUT, "the byte 0x%02x is not allowed in PTX", (uint8_t)c);
    }
    p->tok.n = (size_t)(p->at - p->tok.s);
}

bool ptx_accept(struct ptx_parser *p, int kind) {
    if (p->tok.kind != kind) return false;
    ptx_next(p);
    return true;
}

void ptx_expect(struct ptx_parser *p, int kind, const char *expected) {
    if (!ptx_accept(p, kind)) ptx_fail_expected(p, expected);
}

bool ptx_at_word(const struct ptx_parser *p, const char *spelling) {
    return (p->tok.kind == TOKEN_DIRECTIVE || p->tok.kind == TOKEN_IDENT) &&
           p->tok.n == strlen(spelling) && !memcmp(p->tok.s, spelling, p->tok.n);
}

bool ptx_accept_word(struct ptx_parser *p, const char *spelling) {
    if (!ptx_at_word(p, spelling)) return false;
    ptx_next(p);
    return true;
}

uint64_t ptx_expect_uint(struct ptx_parser *p, const char *expected, uint64_t limit) {
    if (p->tok.kind != TOKEN_INT) ptx_fail_expected(p, expected);
    uint64_t value = p->tok.value;
    if (value > limit)
        ptx_fail(p, p->tok.line, ERR_LIMIT, "%s is %llu, more than %llu", expected,
                 (unsigned long long)value, (unsigned long long)limit);
    ptx_next(p);
    return value;
}

int64_t ptx_expect_int(struct ptx_parser *p, const char *expected) {
    bool negative = false;
    while (p->tok.kind == '-' || p->tok.kind == '+') {
        negative ^= p->tok.kind == '-';
        ptx_next(p);
    }
    uint64_t value = ptx_expect_uint(p, expected, UINT64_MAX);
    return (int64_t)(negative ? 0 - value : value);
}
