/* roster.c — see roster.h. Names are compared without case; a person's name also without blanks and
 * commas, beginning at any of its words: Canvas writes "doejane" for "Jane Doe". */
#include "grader/class/roster.h"
#include "common/file.h"
#include "common/grow.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { ROSTER_BYTES = 64 << 20 };

/* ---- names ---- */

struct name {
    char *text;
    int row;
};

static int compare(const void *a, const void *b) {
    return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

static char *lower(const char *s) {
    char *copy = xstrdup(s);
    for (char *p = copy; *p; p++)
        if (*p >= 'A' && *p <= 'Z') *p = (char)(*p + 32);
    return copy;
}

static void put(void **tree, char *text, int row) {
    struct name *n = xcalloc(1, sizeof *n), **found;
    *n = (struct name){text, row};
    found = *text ? tsearch(n, tree, compare) : NULL;
    if (found && *found != n && (*found)->row != row) (*found)->row = ROSTER_SEVERAL;
    if (!found || *found != n) free(text), free(n);
}

static int get(void *const *tree, const char *text) {
    struct name key = {(char *)text, 0}, **found = tfind(&key, tree, compare);
    return found ? (*found)->row : ROSTER_NONE;
}

/* "doe, jane": "doejane" and "janedoe". */
static void put_rotations(void **tree, const char *cell, int row) {
    char *words[16], *text = lower(cell), *rest = text;
    unsigned n = 0;
    for (char *w; n < 16 && (w = strsep(&rest, " ,\t"));)
        if (*w) words[n++] = w;
    for (unsigned first = 0; n > 1 && first < n; first++) {
        char *whole = xcalloc(1, strlen(cell) + 1);
        for (unsigned i = 0; i < n; i++) strcat(whole, words[(first + i) % n]);
        put(tree, whole, row);
    }
    free(text);
}

int roster_find(const struct roster *r, const char *name) {
    char *text = lower(name);
    int row = get(&r->ids, text);
    if (row == ROSTER_NONE) row = get(&r->others, text);
    free(text);
    return row;
}

/* ---- the file ---- */

/* A cell; `*at` is left behind its separator. `*last`: it was the row's last. */
static char *cell(const char **at, const char *end, char separator, bool *last) {
    struct buf out = {0};
    const char *s = *at;
    bool quoted = s < end && *s == '"';
    for (s += quoted; s < end; s++) {
        if (quoted && *s == '"' && s + 1 < end && s[1] == '"') s++;
        else if (quoted && *s == '"') {
            quoted = false;
            continue;
        } else if (!quoted && (*s == separator || *s == '\n')) break;
        if (*s && (quoted || *s != '\r')) buf_add(&out, s, 1);
    }
    *last = s >= end || *s == '\n';
    *at = s < end ? s + 1 : end;
    char *text = xstrdup(buf_str(&out)), *first = text + strspn(text, " ");
    memmove(text, first, strlen(first) + 1);
    for (size_t n = strlen(text); n && text[n - 1] == ' ';) text[--n] = 0;
    buf_free(&out);
    return text;
}

static struct roster_row row_of(const char **at, const char *end, char separator) {
    struct roster_row row = {0};
    unsigned room = 0;
    for (bool last = false; !last;) {
        GROW(row.cells, row.n + 1, room, 8);
        row.cells[row.n++] = cell(at, end, separator, &last);
    }
    return row;
}

static void free_row(struct roster_row *row) {
    for (unsigned i = 0; i < row->n; i++) free(row->cells[i]);
    free(row->cells);
}

static int column(const struct roster_row *head, const char *const *names) {
    for (; *names; names++)
        for (unsigned i = 0; i < head->n; i++)
            if (!strcasecmp(head->cells[i], *names)) return (int)i;
    return -1;
}

struct columns {
    int id, name, time; /* -1 = none */
};

static bool add(struct roster *r, struct roster_row row, struct columns c, const char *path,
                struct err *e) {
    int id = c.id, name = c.name;
    if ((unsigned)id >= row.n || !*row.cells[id])
        return free_row(&row), true; /* an empty line, or the points possible */
    row.id = row.cells[id], row.name = name >= 0 && (unsigned)name < row.n ? row.cells[name] : "";
    row.time = c.time >= 0 && (unsigned)c.time < row.n ? row.cells[c.time] : "";
    int mine = (int)r->n;
    char *text = lower(row.id);
    bool twice = get(&r->ids, text) != ROSTER_NONE;
    put(&r->ids, text, mine);
    for (unsigned i = 0; i < row.n; i++)
        if (i != (unsigned)id && (int)i != c.time)
            put(&r->others, lower(row.cells[i]), mine),
                put_rotations(&r->others, row.cells[i], mine);
    GROW(r->rows, r->n + 1, r->room, 64);
    r->rows[r->n++] = row;
    return !twice ||
           err_set(e, ERR_INPUT, "%s: '%.100s' is there twice; ids must be unique", path, row.id);
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
    struct roster_row head = row_of(&at, end, separator);
    struct columns c = {column(&head, ids), column(&head, people), column(&head, times)};
    free_row(&head);
    if (c.id < 0)
        return err_set(
            e, ERR_INPUT,
            "%s: its first line must name the columns, one of them id, identifier, sid, student, "
            "login, username or email",
            path);
    bool ok = true;
    while (ok && at < end) ok = add(r, row_of(&at, end, separator), c, path, e);
    return ok && (r->n || err_set(e, ERR_INPUT, "%s: there is nobody in it", path));
}

bool roster_read(const char *path, struct roster *r, struct err *e) {
    struct buf text = {0};
    *r = (struct roster){0};
    bool ok = file_read(path, ROSTER_BYTES, &text, e) && parse(&text, r, path, e);
    buf_free(&text);
    return ok;
}

static void free_name(void *p) {
    struct name *n = p;
    free(n->text), free(n);
}

void roster_free(struct roster *r) {
    for (unsigned i = 0; i < r->n; i++) free_row(&r->rows[i]);
    free(r->rows);
    tdestroy(r->ids, free_name), tdestroy(r->others, free_name);
    *r = (struct roster){0};
}
