/* roster.c — see roster.h. Names match in any case. A person's name also matches without blanks and
 * commas, starting at any of its words: Canvas writes "doejane" for "Jane Doe". */
#include "grader/class/roster.h"
#include "common/file.h"
#include "common/grow.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_ROSTER_BYTES = 64 << 20 };

/* ---- names ---- */

struct roster_name {
    char *text;
    int row;
};

static int by_text(const void *a, const void *b) {
    return strcmp(((const struct roster_name *)a)->text, ((const struct roster_name *)b)->text);
}

static char *to_lower_copy(const char *s) {
    char *copy = xstrdup(s);
    for (char *p = copy; *p; p++)
        if (*p >= 'A' && *p <= 'Z') *p = (char)(*p + 32);
    return copy;
}

static void insert_name(void **tree, char *text, int row) {
    struct roster_name *n = xcalloc(1, sizeof *n), **found;
    *n = (struct roster_name){text, row};
    found = *text ? tsearch(n, tree, by_text) : NULL;
    if (found && *found != n && (*found)->row != row) (*found)->row = ROSTER_AMBIGUOUS;
    if (!found || *found != n) free(text), free(n);
}

static int find_name(void *const *tree, const char *text) {
    struct roster_name key = {(char *)text, 0}, **found = tfind(&key, tree, by_text);
    return found ? (*found)->row : ROSTER_NONE;
}

/* Inserts a name's rotations: for "doe, jane", these are "doejane" and "janedoe". */
static void insert_rotations(void **tree, const char *cell, int row) {
    char *words[16], *text = to_lower_copy(cell), *rest = text;
    unsigned n = 0;
    for (char *w; n < 16 && (w = strsep(&rest, " ,\t"));)
        if (*w) words[n++] = w;
    for (unsigned first = 0; n > 1 && first < n; first++) {
        char *rotation = xcalloc(1, strlen(cell) + 1);
        for (unsigned i = 0; i < n; i++) strcat(rotation, words[(first + i) % n]);
        insert_name(tree, rotation, row);
    }
    free(text);
}

int roster_find(const struct roster *r, const char *name) {
    char *text = to_lower_copy(name);
    int row = find_name(&r->ids, text);
    if (row == ROSTER_NONE) row = find_name(&r->aliases, text);
    free(text);
    return row;
}

/* ---- the file ---- */

/* Returns the next cell, which the caller frees; moves `*at` behind its separator. */
static char *parse_cell(const char **at, const char *end, char separator, bool *is_last) {
    struct buf out = {0};
    const char *s = *at;
    bool is_quoted = s < end && *s == '"';
    for (s += is_quoted; s < end; s++) {
        if (is_quoted && *s == '"' && s + 1 < end && s[1] == '"') s++;
        else if (is_quoted && *s == '"') {
            is_quoted = false;
            continue;
        } else if (!is_quoted && (*s == separator || *s == '\n')) break;
        if (*s && (is_quoted || *s != '\r')) buf_add(&out, s, 1);
    }
    *is_last = s >= end || *s == '\n';
    *at = s < end ? s + 1 : end;
    char *text = xstrdup(buf_str(&out)), *start = text + strspn(text, " ");
    memmove(text, start, strlen(start) + 1);
    for (size_t n = strlen(text); n && text[n - 1] == ' ';) text[--n] = 0;
    buf_free(&out);
    return text;
}

static struct roster_row parse_row(const char **at, const char *end, char separator) {
    struct roster_row row = {0};
    unsigned capacity = 0;
    for (bool last = false; !last;) {
        GROW(row.cells, row.n + 1, capacity, 8);
        row.cells[row.n++] = parse_cell(at, end, separator, &last);
    }
    return row;
}

static void free_row(struct roster_row *row) {
    for (unsigned i = 0; i < row->n; i++) free(row->cells[i]);
    free(row->cells);
}

static int find_column(const struct roster_row *header, const char *const *names) {
    for (; *names; names++)
        for (unsigned i = 0; i < header->n; i++)
            if (!strcasecmp(header->cells[i], *names)) return (int)i;
    return -1;
}

struct roster_columns {
    int id, name, time; /* -1 = none */
};

static bool add_row(struct roster *r, struct roster_row row, struct roster_columns c,
                    const char *path, struct err *e) {
    int id = c.id, name = c.name;
    if ((unsigned)id >= row.n || !*row.cells[id])
        return free_row(&row), true; /* an empty line, or Canvas's line of possible points */
    row.id = row.cells[id], row.name = name >= 0 && (unsigned)name < row.n ? row.cells[name] : "";
    row.time = c.time >= 0 && (unsigned)c.time < row.n ? row.cells[c.time] : "";
    int row_index = (int)r->n;
    char *text = to_lower_copy(row.id);
    bool is_duplicate = find_name(&r->ids, text) != ROSTER_NONE;
    insert_name(&r->ids, text, row_index);
    for (unsigned i = 0; i < row.n; i++)
        if (i != (unsigned)id && (int)i != c.time)
            insert_name(&r->aliases, to_lower_copy(row.cells[i]), row_index),
                insert_rotations(&r->aliases, row.cells[i], row_index);
    GROW(r->rows, r->n + 1, r->capacity, 64);
    r->rows[r->n++] = row;
    return !is_duplicate ||
           err_set(e, ERR_INPUT, "%s: '%.100s' is listed twice; ids must be unique", path, row.id);
}

static char separator_of(const char *text) {
    size_t line = strcspn(text, "\n");
    return memchr(text, '\t', line)                              ? '\t'
           : !memchr(text, ',', line) && memchr(text, ';', line) ? ';'
                                                                 : ',';
}

static bool parse(const struct buf *text, struct roster *r, const char *path, struct err *e) {
    static const char *const ids[] = {"id",         "student_id",    "student id",   "sid",
                                      "identifier", "sis user id",   "student",      "login",
                                      "username",   "user name",     "sis login id", "id number",
                                      "email",      "email address", "e-mail",       NULL},
                             *const people[] = {"name", "full name", "student name", "student",
                                                NULL},
                             *const times[] = {"submitted_at", "submitted at", NULL};
    const char *at = buf_str(text), *end = at + text->size, separator = separator_of(at);
    if (!strncmp(at, "\xef\xbb\xbf", 3)) at += 3;
    struct roster_row header = parse_row(&at, end, separator);
    struct roster_columns c = {find_column(&header, ids), find_column(&header, people),
                               find_column(&header, times)};
    free_row(&header);
    if (c.id < 0)
        return err_set(
            e, ERR_INPUT,
            "%s: its first line must name the columns, one of them id, identifier, sid, student, "
            "login, username or email",
            path);
    bool ok = true;
    while (ok && at < end) ok = add_row(r, parse_row(&at, end, separator), c, path, e);
    return ok && (r->n || err_set(e, ERR_INPUT, "%s: it lists no student", path));
}

bool roster_read(const char *path, struct roster *r, struct err *e) {
    struct buf text = {0};
    *r = (struct roster){0};
    bool ok = file_read(path, MAX_ROSTER_BYTES, &text, e) && parse(&text, r, path, e);
    buf_free(&text);
    return ok;
}

static void free_name(void *p) {
    struct roster_name *n = p;
    free(n->text), free(n);
}

void roster_free(struct roster *r) {
    for (unsigned i = 0; i < r->n; i++) free_row(&r->rows[i]);
    free(r->rows);
    tdestroy(r->ids, free_name), tdestroy(r->aliases, free_name);
    *r = (struct roster){0};
}
