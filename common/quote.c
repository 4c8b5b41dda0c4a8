/* quote.c — see quote.h. A declaration is looked for by its words: comments and strings are left
 * out, a statement begins behind
 * `;`, `{` or `}`, and dimensions are numbers, names that the file defines by numbers, and their
 * sums and products. One that is not known, such as a template's parameter, follows from the number
 * of elements. */
#include "common/quote.h"
#include "common/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- words ---- */

struct word {
    const char *at; /* NULL: the end */
    size_t n;
    unsigned line;
};
struct words {
    const char *at, *end;
    unsigned line;
};

static void skip_to(struct words *w, const char *end) {
    for (; w->at < end; w->at++) w->line += *w->at == '\n';
}

/* Behind the closing quote, or the end of the line. */
static const char *end_of_string(const struct words *w) {
    const char *p = w->at + 1;
    while (p < w->end && *p != *w->at && *p != '\n') p += *p == '\\' && p + 1 < w->end ? 2 : 1;
    return p < w->end ? p + (*p != '\n') : w->end;
}

static const char *end_of_comment(const struct words *w) {
    if (w->end - w->at < 2 || w->at[0] != '/' || (w->at[1] != '/' && w->at[1] != '*')) return NULL;
    size_t left = (size_t)(w->end - w->at) - 2;
    const char *p =
        w->at[1] == '/' ? memchr(w->at + 2, '\n', left) : memmem(w->at + 2, left, "*/", 2);
    return !p ? w->end : w->at[1] == '/' ? p : p + 2;
}

static bool in_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

static struct word next(struct words *w) {
    for (const char *end; w->at < w->end;) {
        if (isspace((unsigned char)*w->at)) skip_to(w, w->at + 1);
        else if ((end = end_of_comment(w))) skip_to(w, end);
        else if (*w->at == '"' || *w->at == '\'') skip_to(w, end_of_string(w));
        else break;
    }
    struct word found = {w->at < w->end ? w->at : NULL, 1, w->line};
    if (!found.at) return found;
    while (in_name(*found.at) && found.at + found.n < w->end && in_name(found.at[found.n]))
        found.n++;
    w->at += found.n;
    return found;
}

static bool is(struct word w, const char *text) {
    return w.at && w.n == strlen(text) && !memcmp(w.at, text, w.n);
}
static bool same(struct word a, struct word b) {
    return a.at && b.at && a.n == b.n && !memcmp(a.at, b.at, a.n);
}
static bool ends_statement(struct word w) { return is(w, ";") || is(w, "{") || is(w, "}"); }

/* ---- numbers ---- */

struct scope {
    const char *source;
    size_t n;
    unsigned depth; /* names and brackets within each other */
    unsigned
        *names_left; /* how many more may be looked up: names of names of names would be many */
};
enum { DEEPEST = 8, MOST_NAMES = 64 };

struct sum {
    struct words w;
    struct word now;
    bool known;
};

static uint64_t sum_of(struct sum *s, const struct scope *in);

static uint64_t evaluate(const char *at, const char *end, const struct scope *in, bool *known) {
    struct sum s = {.w = {at, end, 0}, .known = true};
    s.now = next(&s.w);
    uint64_t v = sum_of(&s, in);
    *known = s.known;
    return v;
}

/* Behind `#define NAME`, or `NAME =` in a statement with `const`, `constexpr` or `enum`: its
 * number. */
static uint64_t named(struct word name, const struct scope *in, bool *known) {
    struct words w = {in->source, in->source + in->n, 1};
    struct scope deeper = {in->source, in->n, in->depth + 1, in->names_left};
    struct word before = {0};
    bool constant = false;
    *known = false;
    if (in->depth == DEEPEST || !*in->names_left) return 0;
    --*in->names_left;
    for (struct word now; (now = next(&w)).at; before = now) {
        if (ends_statement(now) && !(constant && is(now, "{"))) constant = false;
        constant |= is(now, "const") || is(now, "constexpr") || is(now, "enum");
        if (!same(now, name)) continue;
        const char *line_end = memchr(w.at, '\n', (size_t)(w.end - w.at));
        if (is(before, "define"))
            return evaluate(w.at, line_end ? line_end : w.end, &deeper, known);
        struct words ahead = w;
        if (constant && is(next(&ahead), "=")) return evaluate(ahead.at, ahead.end, &deeper, known);
    }
    return 0;
}

static uint64_t factor(struct sum *s, const struct scope *in) {
    struct word now = s->now;
    uint64_t v = 0;
    bool known = true;
    s->now = next(&s->w);
    if (is(now, "(")) {
        struct scope deeper = {in->source, in->n, in->depth + 1, in->names_left};
        v = in->depth < DEEPEST ? sum_of(s, &deeper) : 0;
        known = is(s->now, ")");
        s->now = next(&s->w);
    } else if (now.at && isdigit((unsigned char)*now.at)) {
        for (size_t i = 0; i < now.n && isdigit((unsigned char)now.at[i]) && v < 1u << 24; i++)
            v = v * 10 + (uint64_t)(now.at[i] - '0');
        known = now.n == 1 || (*now.at != '0' && now.n < 8);
    } else if (now.at && in_name(*now.at)) v = named(now, in, &known);
    else known = false;
    s->known &= known;
    return v;
}

static uint64_t product(struct sum *s, const struct scope *in) {
    uint64_t v = factor(s, in);
    while (is(s->now, "*") || is(s->now, "/")) {
        bool times = is(s->now, "*");
        s->now = next(&s->w);
        uint64_t by = factor(s, in);
        s->known &= v < 1u << 24 && by < 1u << 24 && (times || by);
        if (s->known) v = times ? v * by : v / by;
    }
    return v;
}

static uint64_t sum_of(struct sum *s, const struct scope *in) {
    uint64_t v = product(s, in);
    while (is(s->now, "+") || is(s->now, "-")) {
        bool plus = is(s->now, "+");
        s->now = next(&s->w);
        uint64_t by = product(s, in);
        s->known &= plus || by <= v;
        v = plus ? v + by : v - by;
    }
    return v;
}

/* ---- the declaration ---- */

enum { MOST_DIMS = 4 };
struct dims {
    uint64_t of[MOST_DIMS]; /* 0: not known */
    unsigned n;
};

/* The dimensions behind the name: what goes on behind one (`<`, `?` …) makes it unknown. */
static void take_dims(struct words w, const struct scope *in, struct dims *d) {
    *d = (struct dims){.n = 0};
    while (is(next(&w), "[") && d->n < MOST_DIMS) {
        struct sum s = {.w = w, .known = true};
        s.now = next(&s.w);
        uint64_t v = sum_of(&s, in);
        bool whole = s.known && is(s.now, "]");
        struct word now = s.now;
        while (now.at && !is(now, "]") && !is(now, ";")) now = next(&s.w);
        if (!is(now, "]")) return;
        d->of[d->n++] = whole ? v : 0;
        w = s.w;
    }
}

/* Of the last `__shared__` array of that name that is declared above the line; of the first, if
 * none is. */
static void find_dims(const struct scope *in, struct word name, unsigned line, struct dims *d) {
    struct words w = {in->source, in->source + in->n, 1};
    bool shared = false;
    *d = (struct dims){.n = 0};
    for (struct word now; (now = next(&w)).at;) {
        if (ends_statement(now)) shared = false;
        shared |= is(now, "__shared__");
        if (!shared || !same(now, name) || (d->n && now.line > line)) continue;
        take_dims(w, in, d);
    }
}

/* One unknown dimension follows from the number of elements; false if they do not come out. */
static bool settle(struct dims *d, uint64_t count) {
    uint64_t known = 1;
    unsigned unknown = 0;
    for (unsigned i = 0; i < d->n; i++) unknown += !d->of[i], known *= d->of[i] ? d->of[i] : 1;
    for (unsigned i = 0; unknown == 1 && i < d->n; i++)
        if (!d->of[i]) known *= d->of[i] = count / known;
    return d->n && unknown <= 1 && known == count;
}

static void write_indices(const struct dims *d, uint64_t element, struct buf *out) {
    for (unsigned i = 0; i < d->n; i++) {
        uint64_t rest = 1;
        for (unsigned k = i + 1; k < d->n; k++) rest *= d->of[k];
        buf_printf(out, "[%llu]", (unsigned long long)(element / rest));
        element %= rest;
    }
}

/* ---- reports ---- */

void quote_elements(struct buf *text, const char *source, size_t n, unsigned line) {
    struct buf out = {0};
    const char *at = buf_str(text), *found;
    unsigned names_left = MOST_NAMES;
    const struct scope in = {source, n, 0, &names_left};
    while ((found = strstr(at, "element "))) {
        unsigned long long element, count;
        char name[64];
        int end = 0;
        struct dims d;
        buf_add(&out, at, (size_t)(found - at));
        at = found;
        bool ours = sscanf(found, "element %llu of `%63[A-Za-z0-9_]` (%llu of %*u bytes)%n",
                           &element, name, &count, &end) == 3 &&
                    end;
        if (ours) find_dims(&in, (struct word){name, strlen(name), 0}, line, &d);
        if (ours && count <= 1u << 24 && element < count && settle(&d, count)) {
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

enum { WIDEST = 100 /* of a line that is quoted */ };

static void quote_line(const char *source, size_t n, unsigned line, const char *before,
                       const char *after, struct buf *out) {
    const char *at = source, *end = source + n;
    for (unsigned i = 1; i < line && at; i++)
        at = (at = memchr(at, '\n', (size_t)(end - at))) ? at + 1 : NULL;
    if (!line || !at || at >= end) return;
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    buf_printf(out, "%s%5u | ", before, line);
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    size_t length = (size_t)((stop ? stop : end) - at);
    text_clean(out, at, length < WIDEST ? length : WIDEST, 4 * WIDEST);
    buf_puts(out, after);
}

void quote_lines(const char *text, const char *source, size_t n, unsigned line, const char *before,
                 const char *after, struct buf *out) {
    unsigned told[4] = {line}, ntold = 1;
    quote_line(source, n, line, before, after, out);
    for (const char *at = text; (at = strstr(at, "in line ")) && ntold < 4; at++) {
        unsigned other = 0;
        bool again = sscanf(at, "in line %u", &other) != 1;
        for (unsigned i = 0; i < ntold; i++) again |= told[i] == other;
        if (again) continue;
        told[ntold++] = other;
        quote_line(source, n, other, before, after, out);
    }
}
