/* vary_book.c — the variants that a book offers, NAME.vary, and those that it has, variants.txt
 * (vary.h). */
#include "common/file.h"
#include "common/paths.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/class/assignment_draw.h"
#include "grader/cli/vary.h"
#include "grader/grade/provenance.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { MAX_FILE_BYTES = 1 << 20 };
static const char record_path[] = "chapters/variants.txt";

/* ---- what it offers ---- */

static void vary_path(const struct exercise *ex, char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "%s", book_chapter_file(ex, ".vary"));
}

/* Says which exercises have variants. */
static bool refuse_exercise(const struct exercise *ex, struct err *e) {
    struct buf names = {0};
    char path[PATH_MAX];
    for (unsigned i = 0; i < book_count(); i++) {
        vary_path(book_at(i), path);
        if (file_exists(path)) buf_printf(&names, " %s", book_at(i)->name);
    }
    err_set(e, ERR_INPUT, "%s has no variants; these exercises have some:%s", ex->name,
            buf_str(&names));
    return buf_free(&names), false;
}

bool vary_read_book(const struct exercise *ex, struct vary_list *list, struct err *e) {
    char path[PATH_MAX];
    struct buf text = {0};
    struct err line_error = {0};
    vary_path(ex, path);
    if (!file_exists(path)) return refuse_exercise(ex, e);
    bool is_read = file_read(path, MAX_FILE_BYTES, &text, e);
    bool ok = is_read && vary_parse(buf_str(&text), list, &line_error);
    if (is_read && !ok) err_set(e, ERR_INPUT, "%s.vary: %s", book_id(ex), line_error.text);
    return buf_free(&text), ok;
}

/* ---- what it has ---- */

static void put_line(const struct exercise *ex, struct vary_choice *const chosen[2],
                     struct buf *out) {
    buf_printf(out, "%s %s%s%s\n", book_id(ex), chosen[0]->name, chosen[1] ? " " : "",
               chosen[1] ? chosen[1]->name : "");
}

/* Reads the list of variants of a book; one without variants has no such file. */
static bool read_record(const char *root, struct buf *out, struct err *e) {
    char path[PATH_MAX];
    return path_join(path, sizeof path, root, record_path) &&
           (!file_exists(path) || file_read(path, MAX_FILE_BYTES, out, e));
}

static bool write_record(const char *folder, const struct buf *text, struct err *e) {
    char path[PATH_MAX], parent[PATH_MAX];
    return path_join(parent, sizeof parent, folder, "chapters") && dir_create(parent, e) &&
           path_join(path, sizeof path, folder, record_path) &&
           file_write(path, text->data, text->size, e);
}

bool vary_record(const char *folder, const struct exercise *ex, struct vary_choice *const chosen[2],
                 struct err *e) {
    struct buf text = {0};
    bool ok = read_record(folder, &text, e) && (text.size || read_record(book_root(), &text, e));
    put_line(ex, chosen, &text);
    ok = ok && write_record(folder, &text, e);
    return buf_free(&text), ok;
}

static const char copy_format[] = "copy %u of %64s";

bool vary_record_copy(const char *folder, unsigned number, struct err *e) {
    struct buf text = {0};
    buf_printf(&text, "copy %u of %s\n", number, grade_build_digest());
    bool ok = write_record(folder, &text, e);
    return buf_free(&text), ok;
}

unsigned vary_copy_number(char origin[HASH_HEX_SIZE]) {
    struct buf text = {0};
    struct err ignored = {0};
    char digest[HASH_HEX_SIZE];
    unsigned number = 0;
    read_record(book_root(), &text, &ignored);
    if (sscanf(buf_str(&text), copy_format, &number, digest) != 2) number = 0;
    else if (origin) memcpy(origin, digest, sizeof digest);
    return buf_free(&text), number;
}

static bool has_line(const char *text, const char *line) {
    const char *at = strstr(text, line);
    return at && (at == text || at[-1] == '\n');
}

/* Returns true if the record has the variant that a seed selects, `number` of those that it draws,
 * or with 0 the one for all. An installed or released book has neither a record nor what it
 * offers. */
static bool has_variant(const struct assignment *a, const struct assignment_part *part,
                        unsigned number, const char *record, struct err *e) {
    struct vary_list list = {0};
    struct vary_choice *chosen[2];
    struct buf line = {0};
    bool ok = *record && vary_read_book(part->ex, &list, e);
    if (ok && !number) vary_select(&list, part->variant, chosen);
    else if (ok) ok = vary_draw(&list, a->variants.seed, book_id(part->ex), number, chosen);
    if (ok) put_line(part->ex, chosen, &line), ok = has_line(record, buf_str(&line));
    return vary_free(&list), buf_free(&line), ok;
}

static bool check_part(const struct assignment *a, const struct assignment_part *part,
                       const char *record, struct err *e) {
    return !part->variant[0] || has_variant(a, part, 0, record, e) ||
           (!e->text[0] &&
            err_set(e, ERR_INPUT,
                    "%.300s:%u: this book doesn't have that variant of %s: grade in the copy that "
                    "`grader vary --assignment` wrote",
                    a->path, part->line, part->ex->name));
}

/* Checks one copy for students of the class. */
static bool check_copy(const struct assignment *a, unsigned number, const char *root,
                       struct err *e) {
    struct buf record = {0};
    unsigned found;
    char ignored[HASH_HEX_SIZE];
    bool ok = read_record(root, &record, e) &&
              sscanf(buf_str(&record), copy_format, &found, ignored) == 2 && found == number;
    for (unsigned i = 0; i < a->n && ok; i++)
        ok = !a->parts[i].is_varied || has_variant(a, &a->parts[i], number, buf_str(&record), e);
    if (!ok && !e->text[0])
        err_set(e, ERR_INPUT,
                "%.300s doesn't have variant %u of %.300s: write the variants with `grader vary "
                "--assignment`, into a new folder",
                root, number, a->path);
    return buf_free(&record), ok;
}

/* The book's own grader needs all copies, a copy only itself. */
static bool check_copies(const struct assignment *a, struct err *e) {
    unsigned own = vary_copy_number(NULL);
    char root[4096];
    bool ok = true;
    if (own) return check_copy(a, own, book_root(), e);
    for (unsigned k = 1; k <= a->variants.count && ok; k++)
        assignment_draw_copy(a, k, root), ok = check_copy(a, k, root, e);
    return ok;
}

bool vary_check_assignment(const struct assignment *a, struct err *e) {
    struct buf record = {0};
    bool ok = read_record(book_root(), &record, e);
    for (unsigned i = 0; i < a->n && ok; i++) ok = check_part(a, &a->parts[i], buf_str(&record), e);
    ok = ok && (!a->variants.count || check_copies(a, e));
    return buf_free(&record), ok;
}
