/* export_feedback_zip.c — each student's feedback in the layout in which Moodle and Canvas take
 * feedback back; see export.h.
 *
 * Moodle reads the participant's number and the plugin from the name of a folder, "Jane
 * Doe_123_assignsubmission_file_", so each student's pages go into the folder of the submission.
 * Canvas reads the two numbers of "doejane_123_456_transpose.cu" and shows the file under the name
 * of the submitted one. So a source comes back with the report as comments above it and the
 * instructor's at their lines, and an archive as a zip file of the pages. */
#include "common/file.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/class/decision.h"
#include "grader/class/export.h"
#include "grader/class/page.h"
#include "grader/class/zip_file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PAGE_BYTES = 64 << 20 };

struct feedback_zip {
    struct store *s;
    struct zip_file zip;
    char folder[PATH_TEMPORARY_BYTES]; /* with the pages of all students */
    char last_student[512];
    int student_count;
    struct err *e;
};

/* ---- pages ---- */

static bool add_page(struct feedback_zip *z, struct zip_file *zip, const char *prefix,
                     const char *student, const char *suffix) {
    char name[256], path[PATH_MAX];
    struct buf text = {0}, target = {0};
    class_page_file_name(student, suffix, name);
    if (!path_join(path, sizeof path, z->folder, name) || !file_exists(path)) return true;
    buf_printf(&target, "%s%s", prefix, name);
    bool ok = file_read(path, MAX_PAGE_BYTES, &text, z->e) &&
              zip_add(zip, buf_str(&target), buf_str(&text), text.size, false);
    buf_free(&text), buf_free(&target);
    return ok;
}

/* Adds a student's page, and those of the exercises, which it links to. */
static bool add_pages(struct feedback_zip *z, struct zip_file *zip, const char *prefix,
                      const char *student) {
    bool ok = add_page(z, zip, prefix, student, ".html");
    for (unsigned i = 0; i < book_count() && ok; i++) {
        char suffix[160];
        snprintf(suffix, sizeof suffix, "-%.60s.html", book_at(i)->name);
        ok = add_page(z, zip, prefix, student, suffix);
    }
    return ok;
}

/* ---- Moodle ---- */

static bool add_moodle_entry(struct feedback_zip *z, const char *student, const char *name) {
    static const char infix[] = "_assignsubmission_";
    const char *at = strstr(name, infix);
    struct buf prefix = {0};
    if (!at || !strcmp(z->last_student, student)) return true;
    buf_printf(&prefix, "%.*s%sfile_/", (int)(at - name), name, infix);
    bool ok = add_pages(z, &z->zip, buf_str(&prefix), student);
    buf_free(&prefix);
    return ok;
}

/* ---- Canvas ---- */

/* Appends a text as comments, so that the file stays a source. */
static void put_comment(const char *text, struct buf *out) {
    while (*text) {
        size_t n = strcspn(text, "\n");
        buf_printf(out, "// %.*s\n", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

/* Appends "author KIND: value", cleaned, as comments. */
static void put_decision(const char *author, const char *kind, const char *value, struct buf *out) {
    struct buf text = {0}, clean = {0};
    buf_printf(&text, "%s, %s: %s", author, kind, value);
    text_clean(&clean, buf_str(&text), text.size, text.size + 1);
    put_comment(buf_str(&clean), out);
    buf_free(&text), buf_free(&clean);
}

/* Appends what was decided about the exercise as a whole. */
static void put_decisions(struct feedback_zip *z, const char *student, const char *exercise,
                          struct buf *out) {
    struct store_rows *q = decision_query(z->s, student, exercise, z->e);
    while (store_step(z->s, &q, z->e))
        if (!store_column_int(q, 1))
            put_decision(store_column_text(q, 4), store_column_text(q, 0), store_column_text(q, 2),
                         out);
}

/* Appends the file of `row`, each comment on a line behind that line. */
static void put_commented_source(struct feedback_zip *z, const char *student,
                                 struct store_rows *row, struct buf *out) {
    const char *at = store_column_bytes(row, 5), *end = at + store_column_size(row, 5);
    struct store_rows *q =
        store_query(z->s, z->e,
                    "SELECT line, author, value FROM decided WHERE student = ? AND exercise = ? "
                    "AND kind = 'comment' AND line > 0 ORDER BY line",
                    "tt", student, store_column_text(row, 0));
    bool has_comment = store_step(z->s, &q, z->e);
    for (int line = 1; at < end; line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t n = newline ? (size_t)(newline + 1 - at) : (size_t)(end - at);
        buf_add(out, at, n), at += n;
        if (!newline && has_comment) buf_puts(out, "\n");
        for (; has_comment && store_column_int(q, 0) <= line;
             has_comment = store_step(z->s, &q, z->e))
            put_decision(store_column_text(q, 1), "comment", store_column_text(q, 2), out);
    }
    store_finalize(&q);
}

/* Appends the report on the file as comments, and the file. */
static bool put_marked_source(struct feedback_zip *z, const char *student, const char *file,
                              struct buf *out) {
    struct store_rows *q = store_query(z->s, z->e,
                                       "SELECT g.exercise, coalesce(g.verdict, g.state), g.score, "
                                       "g.reason, coalesce(r.report, ''), "
                                       "c.body, g.max_score FROM gradebook g JOIN source c ON "
                                       "c.digest = g.source_sha256 LEFT JOIN result r ON "
                                       "r.key = g.key WHERE g.student = ? AND g.file = ?",
                                       "tt", student, file);
    bool found = store_step(z->s, &q, z->e);
    if (found) {
        struct buf head = {0};
        buf_printf(&head, "%s: %s, ", store_column_text(q, 0), store_column_text(q, 1));
        if (store_column_is_null(q, 2)) buf_puts(&head, "no score");
        else
            buf_printf(&head, "%.1f of %.0f", store_column_double(q, 2), store_column_double(q, 6));
        buf_printf(&head, "\n%s\n%s", store_column_text(q, 3), store_column_text(q, 4));
        put_comment(buf_str(&head), out);
        put_decisions(z, student, store_column_text(q, 0), out), buf_puts(out, "\n");
        put_commented_source(z, student, q, out);
        buf_free(&head);
    }
    store_finalize(&q);
    return found;
}

static bool add_canvas_archive(struct feedback_zip *z, const char *student, const char *name) {
    char *bytes = NULL;
    size_t size = 0;
    struct zip_file inner;
    FILE *f = open_memstream(&bytes, &size);
    if (!f) return err_set(z->e, ERR_SYSTEM, "out of memory");
    bool ok = zip_end(&inner, zip_begin(&inner, f, z->e) && add_pages(z, &inner, "", student));
    ok = fclose(f) == 0 && ok && zip_add(&z->zip, name, bytes, size, false);
    free(bytes);
    return ok;
}

static bool add_canvas_entry(struct feedback_zip *z, const char *student, const char *name,
                             const char *file, enum plan_kind kind) {
    struct buf text = {0};
    bool ok = true;
    if (kind == PLAN_KIND_ARCHIVE && text_ends_with_ignore_case(name, ".zip"))
        ok = add_canvas_archive(z, student, name);
    else if (put_marked_source(z, student, file, &text))
        ok = zip_add(&z->zip, name, buf_str(&text), text.size, false);
    buf_free(&text);
    return ok;
}

/* ---- all ---- */

/* A group's entry is left out: its members' pages are for each member alone. */
static bool add_entries(struct feedback_zip *z, enum plan_layout layout) {
    struct store_rows *q =
        store_query(z->s, z->e,
                    "SELECT student, name, file, kind FROM entry WHERE layout = ?1 AND "
                    "name NOT IN (SELECT name FROM entry WHERE layout = ?1 GROUP BY name "
                    "HAVING count(DISTINCT student) > 1) ORDER BY student, name",
                    "t", plan_layout_name(layout));
    bool ok = q;
    while (ok && store_step(z->s, &q, z->e)) {
        const char *student = store_column_text(q, 0), *name = store_column_text(q, 1);
        unsigned before = z->zip.file_count;
        ok = layout == PLAN_LAYOUT_moodle
                 ? add_moodle_entry(z, student, name)
                 : add_canvas_entry(z, student, name, store_column_text(q, 2),
                                    (enum plan_kind)store_column_int(q, 3));
        if (z->zip.file_count == before || !strcmp(z->last_student, student)) continue;
        snprintf(z->last_student, sizeof z->last_student, "%s", student), z->student_count++;
    }
    store_finalize(&q);
    return ok && !z->e->text[0];
}

int export_feedback_zip(struct store *s, enum plan_layout layout, const char *path, struct err *e) {
    struct feedback_zip z = {.s = s, .e = e};
    struct file_out out;
    path_temporary(z.folder, "feedback");
    if (!mkdtemp(z.folder))
        return err_set(e, ERR_SYSTEM, "%s: cannot create a folder for the pages: %s", z.folder,
                       strerror(errno)),
               -1;
    bool ok = export_feedback(s, z.folder, e) >= 0 && file_open(path, &out, e);
    if (ok) {
        ok = zip_end(&z.zip, zip_begin(&z.zip, out.f, e) && add_entries(&z, layout));
        ok = file_close(&out, ok, e) && ok;
    }
    dir_remove(z.folder, &(struct err){0});
    return ok ? z.student_count : -1;
}
