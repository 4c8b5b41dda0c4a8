/* roster.c — see roster.h. Names match in any case, and, if nothing matches exactly, without
 * accents. A person's name also matches without blanks and
 * punctuation, starting at any of its words: Canvas writes "doejane" for "Jane Doe". An id such as
 * "Participant 7279", of Moodle's grading worksheet, also matches by its number. */
#include "grader/class/roster.h"
#include "grader/class/roster_fold.h"
#include "common/grow.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- names ---- */

struct roster_name {
    char *text;
    int *rows; /* ascending: the file's rows are inserted one after the other */
    unsigned n, capacity;
};

static int by_text(const void *a, const void *b) {
    return strcmp(((const struct roster_name *)a)->text, ((const struct roster_name *)b)->text);
}

static void add_name_row(struct roster_name *n, int row) {
    if (n->n && n->rows[n->n - 1] == row) return;
    GROW(n->rows, n->n + 1, n->capacity, 1);
    n->rows[n->n++] = row;
}

static void insert_name(void **tree, char *text, int row) {
    struct roster_name *n = xcalloc(1, sizeof *n), **found;
    n->text = text;
    found = *text ? tsearch(n, tree, by_text) : NULL;
    if (found) add_name_row(*found, row);
    if (!found || *found != n) free(text), free(n);
}

static const struct roster_name *look_up(void *const *tree, const char *text) {
    struct roster_name key = {.text = (char *)text}, **found = tfind(&key, tree, by_text);
    return found ? *found : NULL;
}

static int find_name(void *const *tree, const char *text) {
    const struct roster_name *n = look_up(tree, text);
    return !n ? ROSTER_NONE : n->n == 1 ? n->rows[0] : ROSTER_AMBIGUOUS;
}

static bool is_word_character(char c) {
    return (c & 0x80) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* Calls `visit` with each rotation of a name: for "doe, jane", these are "doejane" and "janedoe".
 * `visit` owns the rotation. */
static void for_each_rotation(const char *cell, void (*visit)(void *ctx, char *rotation),
                              void *ctx) {
    char *words[16], *text = roster_fold(cell), *rest = text;
    unsigned n = 0;
    for (char *w; n < 16 && (w = strsep(&rest, " ,\t"));)
        if (*w) words[n++] = w;
    for (unsigned first = 0; n > 1 && first < n; first++) {
        char *rotation = xcalloc(1, strlen(cell) + 1), *end = rotation;
        for (unsigned i = 0; i < n; i++)
            for (const char *c = words[(first + i) % n]; *c; c++)
                if (is_word_character(*c)) *end++ = *c;
        visit(ctx, rotation);
    }
    free(text);
}

/* Removes all but letters, digits and '_' from a folded name. */
static char *squeeze(char *folded) {
    char *out = folded;
    for (const char *c = folded; *c; c++)
        if (is_word_character(*c)) *out++ = *c;
    *out = 0;
    return folded;
}

/* Inserts a folded name of the next row, which this owns, with and without accents. */
static void insert_alias(void *ctx, char *folded) {
    struct roster *r = ctx;
    insert_name(&r->bases, roster_strip_accents(folded), (int)r->n);
    insert_name(&r->aliases, folded, (int)r->n);
}

static void insert_rotation(void *ctx, char *rotation) {
    struct roster *r = ctx;
    insert_name(&r->rotations, roster_strip_accents(rotation), (int)r->n);
    insert_alias(r, rotation);
}

int roster_find(const struct roster *r, const char *name) {
    char *text = roster_fold(name);
    int row = find_name(&r->ids, text);
    if (row == ROSTER_NONE) row = find_name(&r->aliases, text);
    char *base = roster_strip_accents(text);
    if (row == ROSTER_NONE) row = find_name(&r->bases, base);
    if (row == ROSTER_NONE && strchr(base, ' ')) row = find_name(&r->rotations, squeeze(base));
    free(text), free(base);
    return row;
}

/* A value that more students share, such as a section or a status, names nobody. */
static unsigned max_namesakes(const struct roster *r) { return r->n < 64 ? 8 : r->n / 8; }

static void visit_rows(const struct roster *r, void *const *tree, const char *text,
                       roster_visit_fn *visit, void *ctx) {
    const struct roster_name *n = look_up(tree, text);
    for (unsigned i = 0; n && n->n <= max_namesakes(r) && i < n->n; i++)
        visit(ctx, (unsigned)n->rows[i]);
}

void roster_visit_namesakes(const struct roster *r, const char *name, roster_visit_fn *visit,
                            void *ctx) {
    char *text = roster_fold(name), *base = roster_strip_accents(text);
    visit_rows(r, &r->bases, base, visit, ctx);
    if (strchr(base, ' ')) visit_rows(r, &r->rotations, squeeze(base), visit, ctx);
    free(text), free(base);
}

/* ---- groups ---- */

/* Returns the folded letters and digits of a group's name, as Canvas writes it. */
static char *group_key(const char *group) { return squeeze(roster_fold(group)); }

bool roster_has_group(const struct roster *r, const char *group) {
    char *key = group_key(group);
    bool found = *key && find_name(&r->groups, key) != ROSTER_NONE;
    free(key);
    return found;
}

bool roster_is_in_group(const struct roster *r, unsigned row, const char *group) {
    char *key = group_key(group);
    bool is_equal = *key && !strcmp(r->rows[row].group, key);
    free(key);
    return is_equal;
}

/* ---- the file ---- */

static void free_row(struct roster_row *row) { csv_free_row(&row->csv), free(row->group); }

static int find_column(const struct csv_row *header, const char *const *names) {
    for (; *names; names++)
        for (unsigned i = 0; i < header->n; i++)
            if (!strcasecmp(header->cells[i], *names)) return (int)i;
    return -1;
}

enum { MAX_ID_COLUMNS = 16 };

struct roster_columns {
    int ids[MAX_ID_COLUMNS], name, time, words, group; /* -1 = none; `ids` by precedence */
};

/* Returns a cell without the '#' that Brightspace puts before ids and usernames. */
static const char *cell_of(const struct roster_row *row, int column) {
    const char *cell = column >= 0 && (unsigned)column < row->csv.n ? row->csv.cells[column] : "";
    return cell + (*cell == '#');
}

/* Returns the number at the end of an id such as "Participant 7279"; NULL if there is none. */
static const char *trailing_number(const char *id) {
    const char *blank = strrchr(id, ' ');
    return blank && blank[1] && !blank[1 + strspn(blank + 1, "0123456789")] ? blank + 1 : NULL;
}

static void insert_aliases(struct roster *r, const struct roster_row *row,
                           const struct roster_columns *c) {
    const char *number = trailing_number(row->id);
    char *folded = roster_fold(row->id);
    insert_name(&r->bases, roster_strip_accents(folded), (int)r->n);
    free(folded);
    if (number) insert_alias(r, xstrdup(number));
    for (int i = 0; i < (int)row->csv.n; i++)
        if (cell_of(row, i) != row->id && i != c->time && i != c->words && i != c->group)
            insert_alias(r, roster_fold(cell_of(row, i))),
                for_each_rotation(cell_of(row, i), insert_rotation, r);
}

/* Points `row` at its id, name and time. A student without an id in the first column of ids has
 * that of the next one, or else the name. Returns false for a line that is no student: an empty
 * one, or Canvas's lines of possible points and of posting policies. */
static bool find_cells(struct roster_row *row, const struct roster_columns *c) {
    row->name = (char *)cell_of(row, c->name), row->time = (char *)cell_of(row, c->time);
    row->words = (char *)cell_of(row, c->words), row->id = row->name;
    for (int i = MAX_ID_COLUMNS; i-- > 0;)
        if (*cell_of(row, c->ids[i])) row->id = (char *)cell_of(row, c->ids[i]);
    return *row->id && strcmp(row->csv.cells[0], "Points Possible");
}

static bool add_row(struct roster *r, struct roster_row row, const struct roster_columns *c,
                    const char *path, struct err *e) {
    if (!find_cells(&row, c)) return free_row(&row), true;
    char *text = roster_fold(row.id);
    bool is_duplicate = find_name(&r->ids, text) != ROSTER_NONE;
    insert_name(&r->ids, text, (int)r->n);
    insert_aliases(r, &row, c);
    row.group = group_key(cell_of(&row, c->group));
    insert_name(&r->groups, xstrdup(row.group), (int)r->n);
    GROW(r->rows, r->n + 1, r->capacity, 64);
    r->rows[r->n++] = row;
    return !is_duplicate ||
           err_set(e, ERR_INPUT, "%s: '%.100s' is listed twice; ids must be unique", path, row.id);
}

static struct roster_columns find_columns(const struct csv_row *header) {
    static const char *const ids[] = {"id",         "student_id",    "student id",   "sid",
                                      "identifier", "sis user id",   "student",      "login",
                                      "username",   "user name",     "sis login id", "id number",
                                      "email",      "email address", "e-mail",       "orgdefinedid",
                                      NULL},
                             *const people[] = {"name", "full name", "student name", "student",
                                                NULL},
                             *const times[] = {"submitted_at", "submitted at", NULL},
                             *const words[] = {"last modified (submission)", NULL},
                             *const groups[] = {"group", "group name", "group_name", "team", NULL};
    struct roster_columns c = {.name = find_column(header, people),
                               .time = find_column(header, times),
                               .words = find_column(header, words),
                               .group = find_column(header, groups)};
    unsigned n = 0;
    for (unsigned i = 0; i < MAX_ID_COLUMNS; i++) c.ids[i] = -1;
    for (unsigned i = 0; ids[i]; i++) {
        int column = find_column(header, (const char *const[]){ids[i], NULL});
        if (column >= 0) c.ids[n++] = column;
    }
    return c;
}

static bool parse(const struct buf *text, struct roster *r, const char *path, struct err *e) {
    const char *at = buf_str(text), *end = at + text->size, separator = csv_separator(at);
    struct csv_row header = csv_parse_row(&at, end, separator);
    struct roster_columns c = find_columns(&header);
    csv_free_row(&header);
    if (c.ids[0] < 0)
        return err_set(
            e, ERR_INPUT,
            "%s: its first line must name the columns, one of them id, identifier, sid, student, "
            "login, username or email",
            path);
    bool ok = true;
    for (unsigned line = 1; ok && at < end; line++) {
        struct roster_row row = {.csv = csv_parse_row(&at, end, separator), .line = line};
        ok = add_row(r, row, &c, path, e);
    }
    return ok && (r->n || err_set(e, ERR_INPUT, "%s: it lists no student", path));
}

bool roster_read(const char *path, struct roster *r, struct err *e) {
    struct buf text = {0};
    enum csv_encoding ignored;
    *r = (struct roster){0};
    bool ok = csv_read_file(path, &text, &ignored, e) && parse(&text, r, path, e);
    buf_free(&text);
    return ok;
}

static void free_name(void *p) {
    struct roster_name *n = p;
    free(n->text), free(n->rows), free(n);
}

void roster_free(struct roster *r) {
    for (unsigned i = 0; i < r->n; i++) free_row(&r->rows[i]);
    free(r->rows);
    tdestroy(r->ids, free_name), tdestroy(r->aliases, free_name), tdestroy(r->bases, free_name),
        tdestroy(r->groups, free_name), tdestroy(r->rotations, free_name);
    *r = (struct roster){0};
}
