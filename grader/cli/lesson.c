/* lesson.c — see lesson.h: the lesson's text against sources and counts. lesson_run.c runs the
 * programs. */
#include "grader/cli/lesson.h"
#include "common/err.h"
#include "grader/cli/quiz.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 400, CELLS = 12 };

/* ---- lines ---- */

static const char *end_of(const char *line) { return line + strcspn(line, "\n"); }
static const char *next_line(const char *line) {
    const char *end = end_of(line);
    return *end ? end + 1 : end;
}
static bool blank(const char *line) {
    return line[strspn(line, " ")] == '\n' || !line[strspn(line, " ")];
}
static bool indented(const char *line) { return !strncmp(line, "    ", 4) && !blank(line); }

static unsigned number_of(const char *page, const char *line) {
    unsigned n = 1;
    for (const char *p = page; p < line; p++) n += *p == '\n';
    return n;
}

/* A line of code without its comment and the blanks around it. */
static void bare(const char *line, char out[LINE]) {
    const char *end = end_of(line), *comment = line;
    while (comment < end && strncmp(comment, "//", 2) != 0) comment++;
    end = comment;
    while (line < end && isspace((unsigned char)*line)) line++;
    while (end > line && isspace((unsigned char)end[-1])) end--;
    snprintf(out, LINE, "%.*s", (int)(end - line), line);
}

bool lesson_mark(const char *line, const char *mark, char *file, size_t size) {
    const char *from = line + strlen(mark), *to;
    if (strncmp(line, mark, strlen(mark)) != 0) return false;
    to = strstr(from, "-->");
    if (!to || to > end_of(line) || (size_t)(to - from) >= size) return false;
    snprintf(file, size, "%.*s", (int)(to - from), from);
    return true;
}

/* ---- code ---- */

/* The next indented block behind `at`, outside of fences: its first line; `stop`: the line behind
 * it. NULL: none. */
static const char *next_block(const char *at, const char **stop) {
    bool fenced = false, after_blank = true;
    for (; *at; at = next_line(at)) {
        if (!strncmp(at, "```", 3)) fenced = !fenced;
        if (!fenced && after_blank && indented(at)) break;
        after_blank = blank(at) || !strncmp(at, "<!--", 4);
    }
    if (!*at) return NULL;
    const char *end = at;
    for (const char *line = at; *line && (blank(line) || indented(line)); line = next_line(line))
        if (!blank(line)) end = next_line(line);
    *stop = end;
    return at;
}

/* The file of the mark above a block: true if there is one. */
static bool marked(const char *page, const char *block, char file[LINE]) {
    const char *line = block;
    do {
        if (line == page) return false;
        for (line--; line > page && line[-1] != '\n';) line--;
    } while (blank(line));
    return lesson_mark(line, "<!--code ", file, LINE);
}

/* Without its comments, as the site shows a page, are these one block? */
static bool joined(const char *stop, const char *block) {
    for (; stop < block; stop = next_line(stop))
        if (!blank(stop) && strncmp(stop, "<!--", 4) != 0) return false;
    return true;
}

void lesson_check_marks(const char *page, struct buf *problems) {
    char file[LINE];
    const char *stop = NULL, *before = NULL;
    for (const char *block = page; (block = next_block(block, &stop)); block = before = stop) {
        unsigned n = number_of(page, block);
        if (memchr(block, ';', (size_t)(stop - block)) && !marked(page, block, file))
            buf_printf(problems, "line %u: code, and no `<!--code lesson/NAME.cu-->` above it\n",
                       n);
        if (before && joined(before, block))
            buf_printf(problems, "line %u: no word between this code and the code before it\n", n);
    }
}

/* Do the block's lines stand in the source from `at` on? `...` matches any number of lines. */
static bool stands(const char *block, const char *stop, const char *at) {
    char want[LINE], have[LINE];
    for (; block < stop; block = next_line(block)) {
        bare(block, want);
        if (!*want) continue;
        if (!strcmp(want, "...")) {
            for (const char *rest = next_line(block); *at; at = next_line(at))
                if (stands(rest, stop, at)) return true;
            return false;
        }
        for (bare(at, have); *at && !*have; bare(at, have)) at = next_line(at);
        if (strcmp(want, have) != 0) return false;
        at = next_line(at);
    }
    return true;
}

void lesson_check_code(const char *page, const char *file, const char *source,
                       struct buf *problems) {
    char named[LINE];
    const char *stop;
    for (const char *block = page; (block = next_block(block, &stop)); block = stop) {
        if (!marked(page, block, named) || strcmp(named, file) != 0) continue;
        const char *at = source;
        while (*at && !stands(block, stop, at)) at = next_line(at);
        if (!*at)
            buf_printf(problems, "line %u: these lines do not stand in %s\n",
                       number_of(page, block), file);
    }
}

/* ---- counts ---- */

static unsigned cells(const char *line, char out[CELLS][LINE]) {
    const char *end = end_of(line), *at = memchr(line, '|', (size_t)(end - line));
    unsigned n = 0;
    for (const char *stop; at && n < CELLS && (stop = memchr(at + 1, '|', (size_t)(end - at - 1)));
         at = stop) {
        const char *from = at + 1, *to = stop;
        while (from < to && *from == ' ') from++;
        while (to > from && to[-1] == ' ') to--;
        snprintf(out[n++], LINE, "%.*s", (int)(to - from), from);
    }
    return n;
}

/* What stands between the first two backquotes. */
static bool quoted(const char *cell, char *out, size_t size) {
    const char *from = strchr(cell, '`'), *to = from ? strchr(from + 1, '`') : NULL;
    if (to) snprintf(out, size, "%.*s", (int)(to - from - 1), from + 1);
    return to != NULL;
}

/* "16 384" is 16384. */
static bool number(const char *cell, double *out) {
    char digits[64], *end;
    unsigned n = 0;
    for (; *cell && n < sizeof digits - 1; cell++)
        if (*cell != ' ') digits[n++] = *cell;
    digits[n] = 0;
    *out = strtod(digits, &end);
    return n && !*end;
}

static void check_cell(const char *head, const char *kernel, const char *cell, const char *json,
                       struct buf *problems) {
    struct quiz_question q = {0};
    struct err e = {0};
    char what[LINE];
    double said, counted;
    if (!quoted(head, what, sizeof what)) return;
    snprintf(q.kernel, sizeof q.kernel, "%s", kernel);
    if (sscanf(what, "%95[a-z0-9_] / %95[a-z0-9_]", q.counter, q.over) < 1)
        buf_printf(problems, "`%s` is no counter\n", what);
    else if (!quiz_figure(json, &q, &counted, &e)) buf_printf(problems, "%s\n", e.text);
    else if (!number(cell, &said))
        buf_printf(problems, "%s of %s: `%s` is no number\n", what, kernel, cell);
    else if (!(fabs(said - counted) <= 0.005 * fabs(counted)))
        buf_printf(problems, "%s of %s is said to be %.6g, counted are %.6g\n", what, kernel, said,
                   counted);
}

static void check_table(const char *table, const char *json, struct buf *problems) {
    char head[CELLS][LINE], row[CELLS][LINE], kernel[QUIZ_NAME];
    unsigned columns = cells(table, head), rows = 0;
    for (const char *line = next_line(next_line(table)); *line == '|';
         line = next_line(line), rows++) {
        unsigned n = cells(line, row);
        if (!n || !quoted(row[0], kernel, sizeof kernel))
            buf_puts(problems, "a row names no `kernel`\n");
        else
            for (unsigned i = 1; i < columns && i < n; i++)
                check_cell(head[i], kernel, row[i], json, problems);
    }
    if (*table != '|' || columns < 2 || !rows) buf_puts(problems, "no table below `<!--counted`\n");
}

void lesson_check_counts(const char *page, const char *file, const char *json,
                         struct buf *problems) {
    static const char mark[] = "<!--counted ";
    char named[LINE];
    for (const char *at = page; (at = strstr(at, mark)); at++)
        if (lesson_mark(at, mark, named, sizeof named) && !strcmp(named, file))
            check_table(next_line(at), json, problems);
}
