/* export_pages.c — statistics of a class as text, and pages for each student; see export.h. */
#include "common/file.h"
#include "grader/book/book.h"
#include "grader/class/class.h"
#include "grader/class/export.h"
#include "grader/class/page.h"
#include "grader/grade/provenance.h"
#include "grader/report/report.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- statistics ---- */

static void table(struct store *s, FILE *f, const char *title, const char *const *widths,
                  const char *sql, struct err *e) {
    sqlite3_stmt *q = store_ask(s, e, sql, "");
    fprintf(f, "%s\n", title);
    bool any = false;
    while (store_next(s, &q, e)) {
        fputs("  ", f);
        for (int i = 0; i < sqlite3_column_count(q); i++) fprintf(f, widths[i], store_text(q, i));
        fputs("\n", f);
        any = true;
    }
    fputs(any ? "\n" : "  none\n\n", f);
}

bool export_stats(struct store *s, FILE *f, struct err *e) {
    static const char *const w[] = {"%-32s ", "%-10s ", "%8s ", "%8s ", "%8s ", "%8s "},
                             *const g[] = {"%6s  ", "%-32s ", "%s ", "(%s)"},
                             *const t[] = {"%-12s ", "%8s results", "%8s IE"};
    fputs("VERDICTS: exercise, verdict, students, mean score\n", f);
    table(s, f, "", w,
          "SELECT exercise, verdict, students, printf('%.1f', mean_score) FROM verdicts WHERE "
          "exercise <> ''"
          " ORDER BY exercise, students DESC",
          e);
    table(s, f, "SCORES: exercise, students with one, lowest, median, highest", w,
          "SELECT exercise, count(*), printf('%.1f', min(score)), printf('%.1f', avg(score) FILTER "
          "(WHERE at IN ((n + "
          "1) / 2, (n + 2) / 2))),"
          " printf('%.1f', max(score)) FROM (SELECT exercise, score, row_number() OVER (PARTITION "
          "BY exercise ORDER BY "
          "score) AS at,"
          " count(*) OVER (PARTITION BY exercise) AS n FROM gradebook WHERE score IS NOT NULL) "
          "GROUP BY exercise ORDER "
          "BY exercise",
          e);
    table(s, f, "GOALS AND GUARDS THAT FAIL MOST: students, exercise, name", g,
          "SELECT students, exercise, goal, kind FROM failed_goals ORDER BY students DESC, "
          "exercise, goal LIMIT 20",
          e);
    table(s, f, "CASES THAT FAIL MOST: students, exercise, name", g,
          "SELECT students, exercise, name, verdict FROM failed_cases ORDER BY students DESC, "
          "exercise, name LIMIT 20",
          e);
    table(s, f, "BY DAY", t,
          "SELECT substr(graded_at, 1, 10), count(*), sum(verdict = 'IE') FROM result GROUP BY 1 "
          "ORDER BY 1",
          e);
    return !e->text[0];
}

/* ---- a page a student ---- */

/* Longer than any run of backquotes in the text. */
static void fence(FILE *f, const char *text) {
    unsigned longest = 2, run = 0;
    for (; *text; text++) {
        run = *text == '`' ? run + 1 : 0;
        if (run > longest) longest = run;
    }
    for (unsigned i = 0; i <= longest; i++) fputc('`', f);
    fputc('\n', f);
}

static void one_exercise(FILE *f, sqlite3_stmt *q) {
    const char *report = store_text(q, EXPORT_report), *id = store_text(q, EXPORT_exercise);
    fprintf(f, "\n## %s\n\n", *id ? id : "Nothing that could be graded");
    if (!*store_text(q, EXPORT_verdict)) {
        fprintf(f, "Not graded: %s.\n%s", store_text(q, EXPORT_state),
                sqlite3_column_type(q, EXPORT_score) == SQLITE_NULL
                    ? "This is not a zero: no score is given.\n"
                    : "0 points.\n");
        fence(f, store_text(q, EXPORT_reason));
        fprintf(f, "%s\n", store_text(q, EXPORT_reason)), fence(f, store_text(q, EXPORT_reason));
        return;
    }
    fence(f, report), fputs(report, f), fence(f, report);
    fprintf(f, "\nSource sha256 %s, seed `%s`, device %s, nvcc %s, grader %.16s, %s, graded %s.\n",
            store_text(q, EXPORT_source_sha256), store_text(q, EXPORT_seed),
            store_text(q, EXPORT_device), store_text(q, EXPORT_nvcc), store_text(q, EXPORT_grader),
            store_text(q, EXPORT_jail), store_text(q, EXPORT_graded_at));
}

/* Nothing of a name is markup. */
static void heading(FILE *f, const char *name) {
    fputs("# ", f);
    for (; *name; name++) {
        if (strchr("\\`*_{}[]<>()#+-.!|&~", *name)) fputc('\\', f);
        fputc(*name, f);
    }
    fputc('\n', f);
}

/* ---- as HTML ---- */

struct pages {
    struct store *s;
    const char *folder;
    char *student; /* whose pages are being written; NULL = nobody's */
    struct file_out markdown;
    struct buf html;
    int n;
};

static bool put_page(const struct pages *p, const char *name, const struct buf *text,
                     struct err *e) {
    char path[PATH_MAX];
    return path_join(path, sizeof path, p->folder, name)
               ? file_write(path, buf_str(text), text->size, e)
               : err_set(e, ERR_INPUT, "%s: path too long", p->folder);
}

static const char *look(sqlite3_stmt *q) {
    const char *verdict = store_text(q, EXPORT_verdict);
    return !strcmp(verdict, "AC") ? "good"
           : sqlite3_column_type(q, EXPORT_score) == SQLITE_NULL || !strcmp(verdict, "PART")
               ? "warn"
               : "bad";
}

static const struct exercise *exercise_of(const char *id) {
    for (unsigned i = 0; i < book_count(); i++)
        if (!strcmp(book_id(book_at(i)), id)) return book_at(i);
    return NULL;
}

/* The page of one result, as `grader report` writes it; false where there is none to be written. */
static bool report_page(struct pages *p, sqlite3_stmt *q, char name[256], bool *written,
                        struct err *e) {
    struct result r;
    struct buf page = {0};
    char ending[160];
    const struct exercise *ex = exercise_of(store_text(q, EXPORT_exercise));
    const struct gpu_device *d = grade_simulated_device(store_text(q, EXPORT_device));
    *written = false;
    if (!ex || !d ||
        !class_unpack(sqlite3_column_blob(q, EXPORT_whole),
                      (size_t)sqlite3_column_bytes(q, EXPORT_whole), ex,
                      store_text(q, EXPORT_grader), &r))
        return true;
    report_html(&r, d, NULL, &page);
    snprintf(ending, sizeof ending, "-%.60s.html", ex->name);
    class_page_name(store_text(q, EXPORT_student), ending, name);
    bool ok = put_page(p, name, &page, e);
    *written = ok;
    buf_free(&page), result_free(&r);
    return ok;
}

static void row_html(struct pages *p, sqlite3_stmt *q, const char *page) {
    struct buf *out = &p->html;
    const char *id = store_text(q, EXPORT_exercise), *verdict = store_text(q, EXPORT_verdict);
    buf_printf(out, "<h2>%s <span class=\"%s\">", *id ? id : "Nothing that could be graded",
               look(q));
    class_page_text(*verdict ? verdict : store_text(q, EXPORT_state), out);
    if (sqlite3_column_type(q, EXPORT_score) == SQLITE_NULL)
        buf_puts(out, "</span> no score, which is not a zero</h2>\n");
    else
        buf_printf(out, "</span> %.1f of %.0f</h2>\n", sqlite3_column_double(q, EXPORT_score),
                   sqlite3_column_double(q, EXPORT_max_score));
    if (page)
        buf_printf(out, "<p><a href=\"%s\">With pictures and the annotated source</a></p>\n", page);
    buf_puts(out, "<pre>");
    class_page_text(*verdict ? store_text(q, EXPORT_report) : store_text(q, EXPORT_reason), out);
    buf_puts(out, "</pre>\n");
    if (!*verdict) return;
    buf_puts(out, "<p class=\"dim\">source sha256 "),
        class_page_text(store_text(q, EXPORT_source_sha256), out);
    buf_puts(out, ", seed "), class_page_text(store_text(q, EXPORT_seed), out),
        buf_puts(out, ", device ");
    class_page_text(store_text(q, EXPORT_device), out), buf_puts(out, ", nvcc "),
        class_page_text(store_text(q, EXPORT_nvcc), out);
    buf_puts(out, ", graded "), class_page_text(store_text(q, EXPORT_graded_at), out),
        buf_puts(out, "</p>\n");
}

/* ---- all students ---- */

static bool finish_student(struct pages *p, struct err *e) {
    char name[256];
    if (!p->student) return true;
    class_page_end(&p->html);
    class_page_name(p->student, ".html", name);
    bool ok = put_page(p, name, &p->html, e);
    ok = file_close(&p->markdown, ok, e) && ok;
    free(p->student), p->student = NULL;
    return ok;
}

static bool begin_student(struct pages *p, sqlite3_stmt *q, struct err *e) {
    char name[256], path[PATH_MAX];
    const char *student = store_text(q, EXPORT_student);
    class_page_name(student, ".md", name);
    if (!path_join(path, sizeof path, p->folder, name))
        return err_set(e, ERR_INPUT, "%s: path too long", p->folder);
    if (!file_open(path, &p->markdown, e)) return false;
    p->student = xstrdup(student), p->n++;
    heading(p->markdown.f, student);
    buf_clear(&p->html), class_page_begin(student, &p->html);
    double kept = sqlite3_column_double(q, EXPORT_kept);
    if (kept < 1) {
        fprintf(p->markdown.f, "\nHanded in late: %.0f %% of each mark count.\n", 100 * kept);
        buf_printf(&p->html, "<p>Handed in late: %.0f %% of each mark count.</p>\n", 100 * kept);
    }
    return true;
}

static bool one_row(struct pages *p, sqlite3_stmt *q, struct err *e) {
    char name[256];
    bool paged;
    if (p->student && strcmp(p->student, store_text(q, EXPORT_student)) && !finish_student(p, e))
        return false;
    if (!p->student && !begin_student(p, q, e)) return false;
    one_exercise(p->markdown.f, q);
    if (!report_page(p, q, name, &paged, e)) return false;
    return row_html(p, q, paged ? name : NULL), true;
}

int export_feedback(struct store *s, const char *folder, struct err *e) {
    struct pages p = {.s = s, .folder = folder};
    bool ok = dir_create(folder, e);
    sqlite3_stmt *q = ok ? export_rows(s, e) : NULL;
    while (ok && store_next(s, &q, e)) ok = one_row(&p, q, e);
    store_end(&q);
    ok = ok && finish_student(&p, e) && !e->text[0];
    if (p.student) file_close(&p.markdown, false, e);
    free(p.student), buf_free(&p.html);
    return ok ? p.n : -1;
}
