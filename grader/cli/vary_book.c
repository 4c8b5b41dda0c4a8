/* vary_book.c — the variants that a book offers, NAME.vary, and those that it has, variants.txt
 * (vary.h). */
#include "common/file.h"
#include "common/paths.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/cli/vary.h"

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

/* Reads the list of the book's variants; a book without variants has no such file. */
static bool read_record(struct buf *out, struct err *e) {
    char path[PATH_MAX];
    return path_join(path, sizeof path, book_root(), record_path) &&
           (!file_exists(path) || file_read(path, MAX_FILE_BYTES, out, e));
}

bool vary_record(const char *folder, const struct exercise *ex, struct vary_choice *const chosen[2],
                 struct err *e) {
    char path[PATH_MAX];
    struct buf text = {0};
    bool ok =
        path_join(path, sizeof path, folder, record_path) &&
        (file_exists(path) ? file_read(path, MAX_FILE_BYTES, &text, e) : read_record(&text, e));
    put_line(ex, chosen, &text);
    ok = ok && file_write(path, text.data, text.size, e);
    return buf_free(&text), ok;
}

static bool has_line(const char *text, const char *line) {
    const char *at = strstr(text, line);
    return at && (at == text || at[-1] == '\n');
}

/* Returns true if the record has the variant that the assignment's seed selects. An installed or
 * released book has neither a record nor what it offers. */
static bool has_variant(const struct assignment_part *part, const char *record, struct err *e) {
    struct vary_list list = {0};
    struct vary_choice *chosen[2];
    struct buf line = {0};
    bool ok = *record && vary_read_book(part->ex, &list, e);
    if (ok) {
        vary_select(&list, part->variant, chosen), put_line(part->ex, chosen, &line);
        ok = has_line(record, buf_str(&line));
    }
    return vary_free(&list), buf_free(&line), ok;
}

static bool check_part(const struct assignment *a, const struct assignment_part *part,
                       const char *record, struct err *e) {
    return !part->variant[0] || has_variant(part, record, e) ||
           (!e->text[0] &&
            err_set(e, ERR_INPUT,
                    "%.300s:%u: this book doesn't have that variant of %s: grade in the copy that "
                    "`grader vary --assignment` wrote",
                    a->path, part->line, part->ex->name));
}

bool vary_check_assignment(const struct assignment *a, struct err *e) {
    struct buf record = {0};
    bool ok = read_record(&record, e);
    for (unsigned i = 0; i < a->n && ok; i++) ok = check_part(a, &a->parts[i], buf_str(&record), e);
    return buf_free(&record), ok;
}
