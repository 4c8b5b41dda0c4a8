/* tune_space.c — parameters that a source file declares: reading them, their conditions, their
 * combinations. */
#include "grader/cli/tune.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- conditions: integers, names, ( ) ! * / % + - < <= > >= == != && || ---- */

struct parser {
    const char *at;
    const struct tune_space *space;
    const long *values;
    unsigned depth;
    char why[200];
};

static long any(struct parser *p, unsigned level);

static void skip(struct parser *p) {
    while (isspace((unsigned char)*p->at)) p->at++;
}

static long refuse(struct parser *p, const char *why) {
    if (!p->why[0]) snprintf(p->why, sizeof p->why, "%s at '%.40s'", why, p->at);
    p->at = "";
    return 0;
}

static long name(struct parser *p) {
    size_t n = 0;
    while (isalnum((unsigned char)p->at[n]) || p->at[n] == '_') n++;
    for (unsigned i = 0; i < p->space->n; i++) {
        const char *known = p->space->parameter[i].name;
        if (strlen(known) == n && !strncmp(known, p->at, n)) return p->at += n, p->values[i];
    }
    return refuse(p, "no parameter of that name");
}

static long factor(struct parser *p) {
    skip(p);
    if (++p->depth > 50) return refuse(p, "too deep");
    long v;
    if (*p->at == '(') {
        p->at++, v = any(p, 0), skip(p);
        if (*p->at != ')') return refuse(p, "a ) is missing");
        p->at++;
    } else if (*p->at == '!' && p->at[1] != '=') p->at++, v = !factor(p);
    else if (*p->at == '-') p->at++, v = -factor(p);
    else if (isdigit((unsigned char)*p->at)) v = strtol(p->at, (char **)&p->at, 10);
    else if (isalpha((unsigned char)*p->at) || *p->at == '_') v = name(p);
    else return refuse(p, "a number or a name is missing");
    p->depth--;
    return v;
}

static const struct {
    const char *text;
    unsigned level;
} operators[] = {{"||", 0}, {"&&", 1}, {"==", 2}, {"!=", 2}, {"<=", 3}, {">=", 3}, {"<", 3},
                 {">", 3},  {"+", 4},  {"-", 4},  {"*", 5},  {"/", 5},  {"%", 5}};
enum { LEVELS = 6, OPERATORS = sizeof operators / sizeof *operators };

static long apply(struct parser *p, unsigned op, long a, long b) {
    switch (op) {
    case 0: return a || b;
    case 1: return a && b;
    case 2: return a == b;
    case 3: return a != b;
    case 4: return a <= b;
    case 5: return a >= b;
    case 6: return a < b;
    case 7: return a > b;
    case 8: return (long)((unsigned long)a + (unsigned long)b);
    case 9: return (long)((unsigned long)a - (unsigned long)b);
    case 10: return (long)((unsigned long)a * (unsigned long)b);
    default: return b == 0 || b == -1 ? refuse(p, "division by 0 or -1") : op == 11 ? a / b : a % b;
    }
}

static long any(struct parser *p, unsigned level) {
    if (level == LEVELS) return factor(p);
    long v = any(p, level + 1);
    for (;;) {
        unsigned i = 0;
        skip(p);
        while (i < OPERATORS && (operators[i].level != level ||
                                 strncmp(p->at, operators[i].text, strlen(operators[i].text))))
            i++;
        if (i == OPERATORS) return v;
        p->at += strlen(operators[i].text);
        v = apply(p, i, v, any(p, level + 1));
    }
}

bool tune_condition(const char *text, const struct tune_space *s, const long *values, bool *holds,
                    struct err *e) {
    struct parser p = {.at = text, .space = s, .values = values};
    long v = any(&p, 0);
    skip(&p);
    if (*p.at) refuse(&p, "what follows is no operator");
    *holds = v != 0;
    return !p.why[0] || err_set(e, ERR_INPUT, "the condition `if %.120s`: %s", text, p.why);
}

/* ---- where a constant stands ---- */

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Blanks, then an integer that ends there: where it begins; NULL: none. */
static const char *integer_at(const char *p, size_t *length) {
    while (*p == ' ' || *p == '\t') p++;
    const char *end = p + (*p == '-');
    while (isdigit((unsigned char)*end)) end++;
    *length = (size_t)(end - p);
    while (*end == ' ' || *end == '\t') end++;
    bool closed = strchr(",;\r\n/", *end) != NULL; /* also the text's end */
    return *length && isdigit((unsigned char)p[*length - 1]) && closed ? p : NULL;
}

/* On a line that is no comment: `NAME = 32,` or `NAME = 32;` behind constexpr or const, or `#define
 * NAME 32`. */
static const char *constant_in_line(const char *line, const char *end, const char *name,
                                    size_t *length) {
    size_t n = strlen(name);
    const char *comment = memmem(line, (size_t)(end - line), "//", 2);
    if (comment) end = comment;
    bool define = false, fixed = memmem(line, (size_t)(end - line), "const", 5) != NULL;
    const char *p = line;
    while (p < end && isspace((unsigned char)*p)) p++;
    define = end - p > 8 && !strncmp(p, "#define ", 8);
    for (; p + n < end; p++) {
        if (strncmp(p, name, n) || is_word(p[n]) || (p > line && is_word(p[-1]))) continue;
        const char *after = p + n;
        if (define) return integer_at(after, length);
        while (*after == ' ') after++;
        if (fixed && *after == '=' && after[1] != '=') return integer_at(after + 1, length);
    }
    return NULL;
}

static const char *find_constant(const char *text, const char *name, size_t *length) {
    for (const char *line = text; *line;) {
        const char *end = line + strcspn(line, "\n"),
                   *found = constant_in_line(line, end, name, length);
        if (found) return found;
        line = end + (*end == '\n');
    }
    return NULL;
}

/* ---- declarations ---- */

static bool read_values(const char *p, const char *end, struct tune_parameter *t, struct err *e) {
    while (p < end) {
        while (p < end && isspace((unsigned char)*p)) p++;
        if (p == end) break;
        if (!strncmp(p, "if ", 3)) {
            snprintf(t->condition, sizeof t->condition, "%.*s", (int)(end - p - 3), p + 3);
            break;
        }
        char *rest;
        long v = strtol(p, &rest, 10);
        if (rest == p || (rest < end && !isspace((unsigned char)*rest)))
            return err_set(e, ERR_INPUT, "// tune: %s: values are whole numbers, not '%.*s'",
                           t->name, (int)(end - p < 20 ? end - p : 20), p);
        if (t->nvalues == TUNE_VALUES)
            return err_set(e, ERR_INPUT, "// tune: %s: more than %d values", t->name, TUNE_VALUES);
        t->value[t->nvalues++] = v, p = rest;
    }
    return t->nvalues ||
           err_set(e, ERR_INPUT, "// tune: %s: no values; write them behind the name", t->name);
}

static bool read_declaration(const char *p, const char *end, const char *text, struct tune_space *s,
                             struct err *e) {
    size_t n = 0, length;
    while (p < end && (*p == ' ' || *p == '\t')) p++;
    while (p + n < end && is_word(p[n])) n++;
    if (!n || n >= TUNE_NAME || isdigit((unsigned char)*p))
        return err_set(
            e, ERR_INPUT,
            "// tune: takes the name of a constant and its values, such as: // tune: TILE 16 32");
    if (s->n == TUNE_PARAMETERS)
        return err_set(e, ERR_INPUT, "more than %d lines // tune:", TUNE_PARAMETERS);
    struct tune_parameter *t = &s->parameter[s->n];
    *t = (struct tune_parameter){0};
    memcpy(t->name, p, n);
    for (unsigned i = 0; i < s->n; i++)
        if (!strcmp(s->parameter[i].name, t->name))
            return err_set(e, ERR_INPUT, "// tune: %s stands there twice", t->name);
    s->n++;
    const char *now = find_constant(text, t->name, &length);
    if (!now)
        return err_set(
            e, ERR_INPUT,
            "// tune: %s: the file has no constant of that name with a whole number, such as "
            "`constexpr int %s = 32;` or `#define %s 32`",
            t->name, t->name, t->name);
    t->now = strtol(now, NULL, 10);
    return read_values(p + n, end, t, e);
}

static bool allowed(const struct tune_space *s, const long *values, bool *holds, struct err *e) {
    *holds = true;
    for (unsigned i = 0; i < s->n && *holds; i++)
        if (s->parameter[i].condition[0] &&
            !tune_condition(s->parameter[i].condition, s, values, holds, e))
            return false;
    return true;
}

/* In the order of an odometer, the last parameter fastest. */
static bool combine(struct tune_space *s, struct err *e) {
    unsigned digit[TUNE_PARAMETERS] = {0}, room = 0;
    s->current = ~0u;
    for (bool more = true; more;) {
        long v[TUNE_PARAMETERS] = {0};
        bool holds, now = true;
        for (unsigned i = 0; i < s->n; i++)
            v[i] = s->parameter[i].value[digit[i]], now &= v[i] == s->parameter[i].now;
        if (!allowed(s, v, &holds, e)) return false;
        if (holds && s->ncombinations == TUNE_COMBINATIONS)
            return err_set(e, ERR_INPUT,
                           "more than %d combinations: name fewer values, or a condition",
                           TUNE_COMBINATIONS);
        if (holds && s->ncombinations == room)
            s->combination =
                xrealloc(s->combination, (room = room ? 2 * room : 32) * sizeof *s->combination);
        if (holds && now) s->current = s->ncombinations;
        if (holds) memcpy(s->combination[s->ncombinations++], v, sizeof v);
        unsigned i = s->n;
        while (i && ++digit[i - 1] == s->parameter[i - 1].nvalues) digit[--i] = 0;
        more = i > 0;
    }
    if (s->current == ~0u) s->current = s->ncombinations;
    return s->ncombinations ||
           err_set(e, ERR_INPUT, "no combination meets the conditions of the lines // tune:");
}

bool tune_space_read(const struct buf *source, struct tune_space *s, struct err *e) {
    static const char mark[] = "// tune:";
    *s = (struct tune_space){0};
    bool ok = true;
    for (const char *p = buf_str(source); ok && (p = strstr(p, mark)); p += strcspn(p, "\n")) {
        p += sizeof mark - 1;
        size_t n = strcspn(p, "\r\n");
        ok = read_declaration(p, p + n, buf_str(source), s, e);
    }
    if (ok && !s->n)
        ok = err_set(e, ERR_INPUT,
                     "the file declares no parameter: add lines such as  // tune: TILE 16 32 64");
    ok = ok && combine(s, e);
    if (!ok) tune_space_free(s);
    return ok;
}

void tune_space_free(struct tune_space *s) {
    free(s->combination);
    *s = (struct tune_space){0};
}

void tune_label(const struct tune_space *s, unsigned c, char out[TUNE_LABEL]) {
    size_t n = 0;
    out[0] = 0;
    for (unsigned i = 0; i < s->n && n < TUNE_LABEL; i++)
        n += (size_t)snprintf(out + n, TUNE_LABEL - n, "%s%s=%ld", i ? " " : "",
                              s->parameter[i].name, s->combination[c][i]);
}

void tune_rewrite(const struct buf *source, const struct tune_space *s, unsigned c,
                  struct buf *out) {
    struct buf from = {0};
    buf_add(&from, buf_str(source), source->size);
    for (unsigned i = 0; i < s->n; i++) {
        struct buf to = {0};
        size_t length, before;
        const char *text = buf_str(&from), *at = find_constant(text, s->parameter[i].name, &length);
        if (!at) continue;
        before = (size_t)(at - text);
        buf_add(&to, text, before);
        buf_printf(&to, "%ld", s->combination[c][i]);
        buf_add(&to, at + length, from.size - before - length);
        buf_free(&from);
        from = to;
    }
    buf_add(out, buf_str(&from), from.size);
    buf_free(&from);
}
