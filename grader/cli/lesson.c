/* lesson.c — compares a lesson's text with its programs' sources and counts (lesson.h).
 * lesson_run.c runs the programs and calls these functions. */
#include "grader/cli/lesson.h"
#include "common/err.h"
#include "grader/cli/quiz.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINE = 400, MAX_CELLS = 12 };

/* ---- lines ---- */

static const char *line_end(const char *line) { return line + strcspn(line, "\n"); }
static const char *next_line(const char *line) {
    const char *end = line_end(line);
    return *end ? end + 1 : end;
}
static bool is_blank(const char *line) {
    return line[strspn(line, " ")] == '\n' || !line[strspn(line, " ")];
}
static bool is_indented(const char *line) { return !strncmp(line, "    ", 4) && !is_blank(line); }

static unsigned line_number_of(const char *page, const char *line) {
    unsigned n = 1;
    for (const char *p = page; p < line; p++) n += *p == '\n';
    return n;
}

/* Copies a line of code without its comment and the blanks around it. */
static void strip_comment(const char *line, char out[MAX_LINE]) {
    const char *end = line_end(line), *comment = line;
    while (comment < end && strncmp(comment, "//", 2) != 0) comment++;
    end = comment;
    while (line < end && isspace((unsigned char)*line)) line++;
    while (end > line && isspace((unsigned char)end[-1])) end--;
    snprintf(out, MAX_LINE, "%.*s", (int)(end - line), line);
}

bool lesson_parse_marker(const char *line, const char *marker, char *file, size_t size) {
    const char *from = line + strlen(marker), *to;
    if (strncmp(line, marker, strlen(marker)) != 0) return false;
    to = strstr(from, "-->");
    if (!to || to > line_end(line) || (size_t)(to - from) >= size) return false;
    snprintf(file, size, "%.*s", (int)(to - from), from);
    return true;
}

/* ---- code ---- */

/* Returns the first line of the next indented block from `at` on, outside of fences; NULL = none.
 * `*block_end` becomes the line after the block. */
static const char *next_block(const char *at, const char **block_end) {
    bool in_fence = false, after_blank = true;
    for (; *at; at = next_line(at)) {
        if (!strncmp(at, "```", 3)) in_fence = !in_fence;
        if (!in_fence && after_blank && is_indented(at)) break;
        after_blank = is_blank(at) || !strncmp(at, "<!--", 4);
    }
    if (!*at) return NULL;
    const char *end = at;
    for (const char *line = at; *line && (is_blank(line) || is_indented(line));
         line = next_line(line))
        if (!is_blank(line)) end = next_line(line);
    *block_end = end;
    return at;
}

/* Copies the file that the marker above a block names; false if there is no marker. */
static bool find_block_marker(const char *page, const char *block, char file[MAX_LINE]) {
    const char *line = block;
    do {
        if (line == page) return false;
        for (line--; line > page && line[-1] != '\n';) line--;
    } while (is_blank(line));
    return lesson_parse_marker(line, "<!--code ", file, MAX_LINE);
}

/* Returns true if only blanks and comments separate two blocks, so that the site shows them as one.
 */
static bool is_adjacent_block(const char *block_end, const char *block) {
    for (; block_end < block; block_end = next_line(block_end))
        if (!is_blank(block_end) && strncmp(block_end, "<!--", 4) != 0) return false;
    return true;
}

void lesson_check_markers(const char *page, struct buf *problems) {
    char file[MAX_LINE];
    const char *block_end = NULL, *previous_end = NULL;
    for (const char *block = page; (block = next_block(block, &block_end));
         block = previous_end = block_end) {
        unsigned n = line_number_of(page, block);
        if (memchr(block, ';', (size_t)(block_end - block)) &&
            !find_block_marker(page, block, file))
            buf_printf(problems, "line %u: code without `<!--code lesson/NAME.cu-->` above it\n",
                       n);
        if (previous_end && is_adjacent_block(previous_end, block))
            buf_printf(problems, "line %u: no text between this code and the code before it\n", n);
    }
}

/* Returns true if the block's lines follow in the source from `at` on. `...` matches any number of
 * lines. */
static bool matches_source(const char *block, const char *block_end, const char *at) {
    char expected[MAX_LINE], actual[MAX_LINE];
    for (; block < block_end; block = next_line(block)) {
        strip_comment(block, expected);
        if (!*expected) continue;
        if (!strcmp(expected, "...")) {
            for (const char *rest = next_line(block); *at; at = next_line(at))
                if (matches_source(rest, block_end, at)) return true;
            return false;
        }
        for (strip_comment(at, actual); *at && !*actual; strip_comment(at, actual))
            at = next_line(at);
        if (strcmp(expected, actual) != 0) return false;
        at = next_line(at);
    }
    return true;
}

void lesson_check_code(const char *page, const char *file, const char *source,
                       struct buf *problems) {
    char marker_file[MAX_LINE];
    const char *block_end;
    for (const char *block = page; (block = next_block(block, &block_end)); block = block_end) {
        if (!find_block_marker(page, block, marker_file) || strcmp(marker_file, file) != 0)
            continue;
        const char *at = source;
        while (*at && !matches_source(block, block_end, at)) at = next_line(at);
        if (!*at)
            buf_printf(problems, "line %u: these lines are not in %s\n",
                       line_number_of(page, block), file);
    }
}

/* ---- counts ---- */

static unsigned split_cells(const char *line, char out[MAX_CELLS][MAX_LINE]) {
    const char *end = line_end(line), *at = memchr(line, '|', (size_t)(end - line));
    unsigned n = 0;
    for (const char *stop;
         at && n < MAX_CELLS && (stop = memchr(at + 1, '|', (size_t)(end - at - 1))); at = stop) {
        const char *from = at + 1, *to = stop;
        while (from < to && *from == ' ') from++;
        while (to > from && to[-1] == ' ') to--;
        snprintf(out[n++], MAX_LINE, "%.*s", (int)(to - from), from);
    }
    return n;
}

/* What stands between the first two backquotes. */
static bool parse_backquoted(const char *cell, char *out, size_t size) {
    const char *from = strchr(cell, '`'), *to = from ? strchr(from + 1, '`') : NULL;
    if (to) snprintf(out, size, "%.*s", (int)(to - from - 1), from + 1);
    return to != NULL;
}

/* Parses a number that may have spaces: "16 384" is 16384. */
static bool parse_number(const char *cell, double *out) {
    char digits[64], *end;
    unsigned n = 0;
    for (; *cell && n < sizeof digits - 1; cell++)
        if (*cell != ' ') digits[n++] = *cell;
    digits[n] = 0;
    *out = strtod(digits, &end);
    return n && !*end;
}

static void check_cell(const char *header, const char *kernel, const char *cell, const char *json,
                       struct buf *problems) {
    struct quiz_question q = {0};
    struct err e = {0};
    char counter_text[MAX_LINE];
    double stated, counted;
    if (!parse_backquoted(header, counter_text, sizeof counter_text)) return;
    snprintf(q.kernel, sizeof q.kernel, "%s", kernel);
    if (sscanf(counter_text, "%95[a-z0-9_] / %95[a-z0-9_]", q.counter, q.denominator) < 1)
        buf_printf(problems, "`%s` is not a counter\n", counter_text);
    else if (!quiz_read_counter(json, &q, &counted, &e)) buf_printf(problems, "%s\n", e.text);
    else if (!parse_number(cell, &stated))
        buf_printf(problems, "%s of %s: `%s` is not a number\n", counter_text, kernel, cell);
    else if (!(fabs(stated - counted) <= 0.005 * fabs(counted)))
        buf_printf(problems, "%s of %s is stated as %.6g; the simulated GPU counts %.6g\n",
                   counter_text, kernel, stated, counted);
}

static void check_table(const char *table, const char *json, struct buf *problems) {
    char header[MAX_CELLS][MAX_LINE], row[MAX_CELLS][MAX_LINE], kernel[QUIZ_MAX_NAME];
    unsigned columns = split_cells(table, header), rows = 0;
    for (const char *line = next_line(next_line(table)); *line == '|';
         line = next_line(line), rows++) {
        unsigned n = split_cells(line, row);
        if (!n || !parse_backquoted(row[0], kernel, sizeof kernel))
            buf_puts(problems, "a row names no `kernel`\n");
        else
            for (unsigned i = 1; i < columns && i < n; i++)
                check_cell(header[i], kernel, row[i], json, problems);
    }
    if (*table != '|' || columns < 2 || !rows) buf_puts(problems, "no table below `<!--counted`\n");
}

void lesson_check_counts(const char *page, const char *file, const char *json,
                         struct buf *problems) {
    static const char marker[] = "<!--counted ";
    char marker_file[MAX_LINE];
    for (const char *at = page; (at = strstr(at, marker)); at++)
        if (lesson_parse_marker(at, marker, marker_file, sizeof marker_file) &&
            !strcmp(marker_file, file))
            check_table(next_line(at), json, problems);
}
