/* tune_space.c — reads the parameters that a source file declares, evaluates their conditions and
 * enumerates their combinations (tune.h). */
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
    char error_text[200];
};

static long parse_level(struct parser *p, unsigned level);

static void skip_space(struct parser *p) {
    while (isspace((unsigned char)*p->at)) p->at++;
}

static long parse_error(struct parser *p, const char *message) {
    if (!p->error_text[0])
        snprintf(p->error_text, sizeof p->error_text, "%s at '%.40s'", message, p->at);
    p->at = "";
    return 0;
}

static long parse_name(struct parser *p) {
    size_t n = 0;
    while (isalnum((unsigned char)p->at[n]) || p->at[n] == '_') n++;
    for (unsigned i = 0; i < p->space->n; i++) {
        const char *parameter = p->space->parameters[i].name;
        if (strlen(parameter) == n && !strncmp(parameter, p->at, n))
            return p->at += n, p->values[i];
    }
    return parse_error(p, "unknown parameter");
}

static long parse_factor(struct parser *p) {
    skip_space(p);
    if (++p->depth > 50) return parse_error(p, "nested too deeply");
    long v;
    if (*p->at == '(') {
        p->at++, v = parse_level(p, 0), skip_space(p);
        if (*p->at != ')') return parse_error(p, "missing )");
        p->at++;
    } else if (*p->at == '!' && p->at[1] != '=') p->at++, v = !parse_factor(p);
    else if (*p->at == '-') p->at++, v = -parse_factor(p);
    else if (isdigit((unsigned char)*p->at)) v = strtol(p->at, (char **)&p->at, 10);
    else if (isalpha((unsigned char)*p->at) || *p->at == '_') v = parse_name(p);
    else return parse_error(p, "missing number or name");
    p->depth--;
    return v;
}

static const struct {
    const char *text;
    unsigned level;
} operators[] = {{"||", 0}, {"&&", 1}, {"==", 2}, {"!=", 2}, {"<=", 3}, {">=", 3}, {"<", 3},
                 {">", 3},  {"+", 4},  {"-", 4},  {"*", 5},  {"/", 5},  {"%", 5}};
enum { LEVEL_COUNT = 6, OPERATOR_COUNT = sizeof operators / sizeof *operators };

static long apply_operator(struct parser *p, unsigned op, long a, long b) {
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
    default:
        return b == 0 || b == -1 ? parse_error(p, "division by 0 or -1") : op == 11 ? a / b : a % b;
    }
}

static long parse_level(struct parser *p, unsigned level) {
    if (level == LEVEL_COUNT) return parse_factor(p);
    long v = parse_level(p, level + 1);
    for (;;) {
        unsigned i = 0;
        skip_space(p);
        while (i < OPERATOR_COUNT && (operators[i].level != level ||
                                      strncmp(p->at, operators[i].text, strlen(operators[i].text))))
            i++;
        if (i == OPERATOR_COUNT) return v;
        p->at += strlen(operators[i].text);
        v = apply_operator(p, i, v, parse_level(p, level + 1));
    }
}

bool tune_eval_condition(const char *text, const struct tune_space *s, const long *values,
                         bool *is_true, struct err *e) {
    struct parser p = {.at = text, .space = s, .values = values};
    long v = parse_level(&p, 0);
    skip_space(&p);
    if (*p.at) parse_error(&p, "missing operator");
    *is_true = v != 0;
    return !p.error_text[0] ||
           err_set(e, ERR_INPUT, "the condition `if %.120s`: %s", text, p.error_text);
}

/* ---- finding a constant ---- */

static bool is_word_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Returns where the integer after the blanks at `p` begins; NULL if there is none, or if the
 * initializer goes on after it. */
static const char *match_integer(const char *p, size_t *length) {
    while (*p == ' ' || *p == '\t') p++;
    const char *end = p + (*p == '-');
    while (isdigit((unsigned char)*end)) end++;
    *length = (size_t)(end - p);
    while (*end == ' ' || *end == '\t') end++;
    bool is_terminated = strchr(",;\r\n/", *end) != NULL; /* also the text's end */
    return *length && isdigit((unsigned char)p[*length - 1]) && is_terminated ? p : NULL;
}

/* Returns where the value of a constant begins on a line, outside of comments: `NAME = 32,` or
 * `NAME = 32;` after constexpr or const, or `#define NAME 32`. NULL: it isn't on this line. */
static const char *find_constant_in_line(const char *line, const char *end, const char *name,
                                         size_t *length) {
    size_t n = strlen(name);
    const char *comment = memmem(line, (size_t)(end - line), "//", 2);
    if (comment) end = comment;
    bool is_define = false, is_const = memmem(line, (size_t)(end - line), "const", 5) != NULL;
    const char *p = line;
    while (p < end && isspace((unsigned char)*p)) p++;
    is_define = end - p > 8 && !strncmp(p, "#define ", 8);
    for (; p + n < end; p++) {
        if (strncmp(p, name, n) || is_word_char(p[n]) || (p > line && is_word_char(p[-1])))
            continue;
        const char *after = p + n;
        if (is_define) return match_integer(after, length);
        while (*after == ' ') after++;
        if (is_const && *after == '=' && after[1] != '=') return match_integer(after + 1, length);
    }
    return NULL;
}

static const char *find_constant(const char *text, const char *name, size_t *length) {
    for (const char *line = text; *line;) {
        const char *end = line + strcspn(line, "\n"),
                   *found = find_constant_in_line(line, end, name, length);
        if (found) return found;
        line = end + (*end == '\n');
    }
    return NULL;
}

/* ---- declarations ---- */

static bool parse_values(const char *p, const char *end, struct tune_parameter *t, struct err *e) {
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
            return err_set(e, ERR_INPUT, "// tune: %s: values must be whole numbers, not '%.*s'",
                           t->name, (int)(end - p < 20 ? end - p : 20), p);
        if (t->nvalues == TUNE_MAX_VALUES)
            return err_set(e, ERR_INPUT, "// tune: %s: more than %d values", t->name,
                           TUNE_MAX_VALUES);
        t->values[t->nvalues++] = v, p = rest;
    }
    return t->nvalues ||
           err_set(e, ERR_INPUT, "// tune: %s: no values; write them after the name", t->name);
}

static bool parse_declaration(const char *p, const char *end, const char *text,
                              struct tune_space *s, struct err *e) {
    size_t n = 0, length;
    while (p < end && (*p == ' ' || *p == '\t')) p++;
    while (p + n < end && is_word_char(p[n])) n++;
    if (!n || n >= TUNE_MAX_NAME || isdigit((unsigned char)*p))
        return err_set(
            e, ERR_INPUT,
            "// tune: needs the name of a constant and its values, as in: // tune: TILE 16 32");
    if (s->n == TUNE_MAX_PARAMETERS)
        return err_set(e, ERR_INPUT, "more than %d lines // tune:", TUNE_MAX_PARAMETERS);
    struct tune_parameter *t = &s->parameters[s->n];
    *t = (struct tune_parameter){0};
    memcpy(t->name, p, n);
    for (unsigned i = 0; i < s->n; i++)
        if (!strcmp(s->parameters[i].name, t->name))
            return err_set(e, ERR_INPUT, "// tune: %s is declared twice", t->name);
    s->n++;
    const char *constant = find_constant(text, t->name, &length);
    if (!constant)
        return err_set(e, ERR_INPUT,
                       "// tune: %s: the file has no whole-number constant of that name, such as "
                       "`constexpr int %s = 32;` or `#define %s 32`",
                       t->name, t->name, t->name);
    t->current = strtol(constant, NULL, 10);
    return parse_values(p + n, end, t, e);
}

static bool meets_conditions(const struct tune_space *s, const long *values, bool *is_true,
                             struct err *e) {
    *is_true = true;
    for (unsigned i = 0; i < s->n && *is_true; i++)
        if (s->parameters[i].condition[0] &&
            !tune_eval_condition(s->parameters[i].condition, s, values, is_true, e))
            return false;
    return true;
}

/* Lists the combinations in odometer order: the last parameter changes fastest. */
static bool enumerate_combinations(struct tune_space *s, struct err *e) {
    unsigned value_index[TUNE_MAX_PARAMETERS] = {0}, capacity = 0;
    s->current = ~0u;
    for (bool more = true; more;) {
        long v[TUNE_MAX_PARAMETERS] = {0};
        bool is_true, is_current = true;
        for (unsigned i = 0; i < s->n; i++)
            v[i] = s->parameters[i].values[value_index[i]],
            is_current &= v[i] == s->parameters[i].current;
        if (!meets_conditions(s, v, &is_true, e)) return false;
        if (is_true && s->ncombinations == TUNE_MAX_COMBINATIONS)
            return err_set(e, ERR_INPUT,
                           "more than %d combinations: list fewer values, or add a condition",
                           TUNE_MAX_COMBINATIONS);
        if (is_true && s->ncombinations == capacity)
            s->combinations = xrealloc(s->combinations, (capacity = capacity ? 2 * capacity : 32) *
                                                            sizeof *s->combinations);
        if (is_true && is_current) s->current = s->ncombinations;
        if (is_true) memcpy(s->combinations[s->ncombinations++], v, sizeof v);
        unsigned i = s->n;
        while (i && ++value_index[i - 1] == s->parameters[i - 1].nvalues) value_index[--i] = 0;
        more = i > 0;
    }
    if (s->current == ~0u) s->current = s->ncombinations;
    return s->ncombinations ||
           err_set(e, ERR_INPUT, "no combination satisfies the conditions of the // tune: lines");
}

bool tune_space_read(const struct buf *source, struct tune_space *s, struct err *e) {
    static const char marker[] = "// tune:";
    *s = (struct tune_space){0};
    bool ok = true;
    for (const char *p = buf_str(source); ok && (p = strstr(p, marker)); p += strcspn(p, "\n")) {
        p += sizeof marker - 1;
        size_t n = strcspn(p, "\r\n");
        ok = parse_declaration(p, p + n, buf_str(source), s, e);
    }
    if (ok && !s->n)
        ok = err_set(e, ERR_INPUT,
                     "the file declares no parameter; add a line such as  // tune: TILE 16 32 64");
    ok = ok && enumerate_combinations(s, e);
    if (!ok) tune_space_free(s);
    return ok;
}

void tune_space_free(struct tune_space *s) {
    free(s->combinations);
    *s = (struct tune_space){0};
}

void tune_label(const struct tune_space *s, unsigned c, char out[TUNE_MAX_LABEL]) {
    size_t n = 0;
    out[0] = 0;
    for (unsigned i = 0; i < s->n && n < TUNE_MAX_LABEL; i++)
        n += (size_t)snprintf(out + n, TUNE_MAX_LABEL - n, "%s%s=%ld", i ? " " : "",
                              s->parameters[i].name, s->combinations[c][i]);
}

void tune_rewrite(const struct buf *source, const struct tune_space *s, unsigned c,
                  struct buf *out) {
    struct buf from = {0};
    buf_add(&from, buf_str(source), source->size);
    for (unsigned i = 0; i < s->n; i++) {
        struct buf to = {0};
        size_t length, before;
        const char *text = buf_str(&from),
                   *at = find_constant(text, s->parameters[i].name, &length);
        if (!at) continue;
        before = (size_t)(at - text);
        buf_add(&to, text, before);
        buf_printf(&to, "%ld", s->combinations[c][i]);
        buf_add(&to, at + length, from.size - before - length);
        buf_free(&from);
        from = to;
    }
    buf_add(out, buf_str(&from), from.size);
    buf_free(&from);
}
