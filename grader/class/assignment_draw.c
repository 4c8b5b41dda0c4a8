/* assignment_draw.c — see assignment_draw.h. */
#include "grader/class/assignment_draw.h"
#include "common/file.h"
#include "common/grow.h"
#include "common/hash.h"
#include "common/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- the numbers ---- */

unsigned assignment_draw_number(const struct assignment *a, const char *id, const char *group) {
    char digest[HASH_HEX_SIZE];
    unsigned long long word = 0;
    struct hash h;
    hash_init(&h);
    hash_update_string(&h, "variant 1"), hash_update_string(&h, a->variants.seed);
    hash_update_string(&h, *group ? "group" : "student");
    hash_update_string(&h, *group ? group : id);
    hash_final_hex(&h, digest);
    sscanf(digest, "%16llx", &word);
    return (unsigned)(word % a->variants.count) + 1;
}

void assignment_draw_copy(const struct assignment *a, unsigned number, char out[4096]) {
    snprintf(out, 4096, "%s/%u", a->variants.folder, number);
}

/* ---- the file ---- */

static void draw_path(const struct assignment *a, char out[4096]) {
    snprintf(out, 4096, "%s/variants.csv", a->variants.folder);
}

bool assignment_draw_write(const struct assignment *a, const struct roster *r, struct err *e) {
    struct buf text = {0};
    char path[4096];
    buf_puts(&text, "student,name,variant\n");
    for (unsigned i = 0; i < r->n; i++) {
        const struct roster_row *row = &r->rows[i];
        csv_put_quoted(row->id, &text), buf_puts(&text, ",");
        csv_put_quoted(row->name, &text);
        buf_printf(&text, ",%u\n", assignment_draw_number(a, row->id, row->group));
    }
    draw_path(a, path);
    bool ok = file_write(path, text.data, text.size, e);
    return buf_free(&text), ok;
}

struct draw_entry {
    char *student;
    unsigned number;
};
struct draw_table {
    struct draw_entry *entries;
    unsigned n, capacity;
};

static const char *cell_of(const struct csv_row *row, int column) {
    return column >= 0 && (unsigned)column < row->n ? row->cells[column] : "";
}

static int column_of(const struct csv_row *header, const char *name) {
    for (unsigned i = 0; i < header->n; i++)
        if (!strcasecmp(header->cells[i], name)) return (int)i;
    return -1;
}

static bool parse_table(const struct assignment *a, const char *path, const struct buf *text,
                        struct draw_table *t, struct err *e) {
    const char *at = buf_str(text), *end = at + text->size;
    char separator = csv_separator(at);
    struct csv_row header = csv_parse_row(&at, end, separator);
    int student = column_of(&header, "student"), variant = column_of(&header, "variant");
    csv_free_row(&header);
    if (student < 0 || variant < 0)
        return err_set(e, ERR_INPUT, "%s: expected the columns student and variant", path);
    for (unsigned line = 2; at < end && !e->text[0]; line++) {
        struct csv_row row = csv_parse_row(&at, end, separator);
        unsigned long number = strtoul(cell_of(&row, variant), NULL, 10);
        if (*cell_of(&row, student) && (number < 1 || number > a->variants.count))
            err_set(e, ERR_INPUT, "%s: row %u: the variant must be 1 to %u", path, line,
                    a->variants.count);
        GROW(t->entries, t->n + 1, t->capacity, 64);
        t->entries[t->n++] = (struct draw_entry){xstrdup(cell_of(&row, student)), (unsigned)number};
        csv_free_row(&row);
    }
    return !e->text[0];
}

static void free_table(struct draw_table *t) {
    for (unsigned i = 0; i < t->n; i++) free(t->entries[i].student);
    free(t->entries);
}

static int by_student(const void *a, const void *b) {
    return strcmp(((const struct draw_entry *)a)->student, ((const struct draw_entry *)b)->student);
}

/* Reads FOLDER/variants.csv, sorted by student. */
static bool read_table(const struct assignment *a, struct draw_table *t, struct err *e) {
    struct buf text = {0};
    enum csv_encoding encoding;
    char path[4096];
    draw_path(a, path);
    if (!file_exists(path))
        return err_set(e, ERR_INPUT,
                       "%s does not exist: write the variants with `grader vary --assignment "
                       "%.300s`",
                       path, a->path);
    bool ok = csv_read_file(path, &text, &encoding, e) && parse_table(a, path, &text, t, e);
    if (t->n) qsort(t->entries, t->n, sizeof *t->entries, by_student);
    return buf_free(&text), ok;
}

/* ---- the store ---- */

static bool save_number(const struct assignment *a, const struct draw_table *t, struct store *s,
                        const char *student, struct err *e) {
    struct draw_entry key = {.student = (char *)student};
    const struct draw_entry *found =
        t->n ? bsearch(&key, t->entries, t->n, sizeof key, by_student) : NULL;
    unsigned number = found ? found->number : assignment_draw_number(a, student, "");
    return store_exec(s, e, "UPDATE student SET variant = ?1 WHERE id = ?2 AND variant <> ?1", "lt",
                      (long long)number, student);
}

/* Lists the students first: a query's rows may not change below it. */
static bool list_students(struct store *s, struct draw_table *students, struct err *e) {
    struct store_rows *q = store_query(s, e, "SELECT id FROM student", "");
    while (store_step(s, &q, e)) {
        GROW(students->entries, students->n + 1, students->capacity, 64);
        students->entries[students->n++].student = xstrdup(store_column_text(q, 0));
    }
    return !e->text[0];
}

bool assignment_draw_save(const struct assignment *a, struct store *s, struct err *e) {
    struct draw_table t = {0}, students = {0};
    bool ok = read_table(a, &t, e) && list_students(s, &students, e) && store_begin(s, e);
    if (ok) {
        for (unsigned i = 0; i < students.n && ok; i++)
            ok = save_number(a, &t, s, students.entries[i].student, e);
        ok = store_commit(s, ok, e);
    }
    return free_table(&t), free_table(&students), ok;
}

/* Each failing submission needs a result of the other variants and of the book's exercise. */
long long assignment_draw_count_unchecked(const struct assignment *a, struct store *s,
                                          struct err *e) {
    struct store_rows *q = store_query(
        s, e,
        "SELECT count(DISTINCT r.key) * CAST(? AS BIGINT) - (SELECT count(*) FROM variant_check c "
        "JOIN result o ON o.key = c.other_key WHERE c.key IN (SELECT key FROM submission)) FROM "
        "submission s JOIN result r ON r.key = s.key JOIN assigned a ON a.exercise = s.exercise "
        "WHERE a.varied = 1 AND s.state = 'taken' AND r.verdict IN " ASSIGNMENT_DRAW_FAILURES,
        "l", (long long)a->variants.count);
    long long n = store_step(s, &q, e) ? store_column_int64(q, 0) : -1;
    store_finalize(&q);
    return n;
}
