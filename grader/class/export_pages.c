/* export_pages.c — statistics of a class as text, and each student's pages; see export.h. */
#include "common/file.h"
#include "common/grow.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/class/class.h"
#include "grader/class/decision.h"
#include "grader/class/export.h"
#include "grader/class/page.h"
#include "grader/grade/provenance.h"
#include "grader/report/report.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- statistics ---- */

static void put_table(struct store *s, FILE *f, const char *title, const char *const *widths,
                      const char *sql, struct err *e) {
    struct store_rows *q = store_query(s, e, sql, "");
    fprintf(f, "%s\n", title);
    bool any = false;
    while (store_step(s, &q, e)) {
        fputs("  ", f);
        for (int i = 0; i < store_column_count(q); i++)
            fprintf(f, widths[i], store_column_text(q, i));
        fputs("\n", f);
        any = true;
    }
    fputs(any ? "\n" : "  none\n\n", f);
}

#define MEAN    EXPORT_ROUNDED("mean_score")
#define LOWEST  EXPORT_ROUNDED("min(score)")
#define MEDIAN  EXPORT_ROUNDED("avg(score) FILTER (WHERE at IN ((n + 1) / 2, (n + 2) / 2))")
#define HIGHEST EXPORT_ROUNDED("max(score)")

/* The tables of the statistics, with a format for each column. */
static const struct {
    const char *title, *formats[6], *sql;
} statistics[] = {
    {"VERDICTS: exercise, verdict, students, mean score\n",
     {"%-32s ", "%-10s ", "%8s ", "%8s "},
     "SELECT exercise, verdict, students, " MEAN " FROM verdicts WHERE exercise <> '' "
     "ORDER BY exercise, students DESC"},
    {"SCORES: exercise, students with a score, lowest, median, highest",
     {"%-32s ", "%-10s ", "%8s ", "%8s ", "%8s "},
     "SELECT exercise, count(*), " LOWEST ", " MEDIAN ", " HIGHEST " FROM "
     "(SELECT exercise, score, row_number() OVER (PARTITION BY exercise ORDER BY score) AS at, "
     "count(*) OVER (PARTITION BY exercise) AS n FROM gradebook WHERE score IS NOT NULL) s "
     "GROUP BY exercise ORDER BY exercise"},
    {"MOST FAILED GOALS AND GUARDS: students, exercise, name",
     {"%6s  ", "%-32s ", "%s ", "(%s)"},
     "SELECT students, exercise, goal, kind FROM failed_goals "
     "ORDER BY students DESC, exercise, goal LIMIT 20"},
    {"MOST FAILED CASES: students, exercise, name",
     {"%6s  ", "%-32s ", "%s ", "(%s)"},
     "SELECT students, exercise, name, verdict FROM failed_cases "
     "ORDER BY students DESC, exercise, name LIMIT 20"},
    {"OPEN REQUESTS: when, student, exercise, text",
     {"%s  ", "%-20s ", "%-32s ", "%.300s"},
     "SELECT d.made_at, d.student, d.exercise, d.value FROM decided d "
     "WHERE d.kind = 'request' AND NOT EXISTS (SELECT 1 FROM decided a "
     "WHERE a.student = d.student AND a.exercise = d.exercise AND a.kind = 'answer' AND a.n > d.n) "
     "ORDER BY d.n"},
    {"IN MODERATION: student, exercise, what is missing",
     {"%-20s ", "%-32s ", "%s"},
     "SELECT student, exercise, reason FROM gradebook WHERE state = 'in moderation' ORDER BY 1, 2"},
    {"BY DAY",
     {"%-12s ", "%8s results", "%8s IE"},
     "SELECT substr(graded_at, 1, 10), count(*), count(*) FILTER (WHERE verdict = 'IE') "
     "FROM result GROUP BY 1 ORDER BY 1"},
};

bool export_stats(struct store *s, FILE *f, struct err *e) {
    for (unsigned i = 0; i < sizeof statistics / sizeof *statistics; i++)
        put_table(s, f, statistics[i].title, statistics[i].formats, statistics[i].sql, e);
    return !e->text[0];
}

/* ---- decisions ---- */

/* Appends a line of the submission; nothing if it is shorter. */
static void put_source_line(struct store *s, const char *digest, unsigned line, struct buf *out,
                            struct err *e) {
    struct store_rows *q =
        store_query(s, e, "SELECT body FROM source WHERE digest = ?", "t", digest);
    if (store_step(s, &q, e)) {
        const char *at = store_column_bytes(q, 0), *end = at + store_column_size(q, 0), *next;
        for (; at < end && line > 1 && (next = memchr(at, '\n', (size_t)(end - at))); line--)
            at = next + 1;
        next = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
        if (line == 1 && at < end)
            buf_puts(out, "    > "), text_clean(out, at, (size_t)((next ? next : end) - at), 200),
                buf_puts(out, "\n");
    }
    store_finalize(&q);
}

/* Returns what the author of a decision does. */
static const char *verb_of(const char *kind) {
    static const char *const verbs[] = {[DECISION_score] = "decides: score",
                                        [DECISION_excused] = "decides: excused",
                                        [DECISION_deadline] = "decides: deadline",
                                        [DECISION_comment] = "comments",
                                        [DECISION_request] = "asks to grade this again",
                                        [DECISION_answer] = "answers",
                                        [DECISION_partner] = "decides: handed in by"};
    return verbs[decision_parse_kind(kind)];
}

/* Appends the instructor's decisions about a row of the gradebook, as plain text; nothing if there
 * are none. */
static void put_decisions(struct store *s, struct store_rows *row, struct buf *out, struct err *e) {
    const char *state = store_column_text(row, EXPORT_state);
    if (!strcmp(state, "moderated") || !strcmp(state, "in moderation"))
        buf_printf(out, "%s: %s\n", state, store_column_text(row, EXPORT_reason));
    if (!strcmp(state, "graded") && !store_column_is_null(row, EXPORT_solves_variant))
        buf_puts(out, "0 points: the file solves another variant than the student's\n");
    struct store_rows *q = decision_query(s, store_column_text(row, EXPORT_student),
                                          store_column_text(row, EXPORT_exercise), e);
    while (store_step(s, &q, e)) {
        const char *kind = store_column_text(q, 0), *reason = store_column_text(q, 3);
        unsigned line = (unsigned)store_column_int(q, 1);
        struct buf text = {0};
        buf_printf(&text, "%s %s: %s", store_column_text(q, 4), verb_of(kind),
                   store_column_text(q, 2));
        if (*reason) buf_printf(&text, " (%s)", reason);
        if (line) buf_printf(out, "line %u: ", line);
        text_clean(out, buf_str(&text), text.size, text.size + 1), buf_puts(out, "\n");
        if (line) put_source_line(s, store_column_text(row, EXPORT_source_sha256), line, out, e);
        buf_free(&text);
    }
}

/* ---- a student's page ---- */

/* Writes a code fence that is longer than any run of backquotes in the text. */
static void put_code_fence(FILE *f, const char *text) {
    unsigned max_run = 2, run = 0;
    for (; *text; text++) {
        run = *text == '`' ? run + 1 : 0;
        if (run > max_run) max_run = run;
    }
    for (unsigned i = 0; i <= max_run; i++) fputc('`', f);
    fputc('\n', f);
}

static void put_decisions_markdown(FILE *f, const char *decisions) {
    if (!*decisions) return;
    fputs("Decided by the instructor:\n\n", f);
    put_code_fence(f, decisions), fputs(decisions, f), put_code_fence(f, decisions);
    fputs("\n", f);
}

static void put_exercise_markdown(FILE *f, struct store_rows *q, const char *decisions) {
    const char *report = store_column_text(q, EXPORT_report),
               *id = store_column_text(q, EXPORT_exercise);
    fprintf(f, "\n## %s\n\n", *id ? id : "No file that could be graded");
    put_decisions_markdown(f, decisions);
    if (!*store_column_text(q, EXPORT_verdict)) {
        fprintf(f, "Not graded: %s.\n%s", store_column_text(q, EXPORT_state),
                store_column_is_null(q, EXPORT_score)
                    ? "There is no score. That doesn't mean 0 points.\n"
                    : "0 points.\n");
        put_code_fence(f, store_column_text(q, EXPORT_reason));
        fprintf(f, "%s\n", store_column_text(q, EXPORT_reason)),
            put_code_fence(f, store_column_text(q, EXPORT_reason));
        return;
    }
    put_code_fence(f, report), fputs(report, f), put_code_fence(f, report);
    fprintf(f, "\nSource sha256 %s, seed `%s`, device %s, nvcc %s, grader %.16s, %s, graded %s.\n",
            store_column_text(q, EXPORT_source_sha256), store_column_text(q, EXPORT_seed),
            store_column_text(q, EXPORT_device), store_column_text(q, EXPORT_nvcc),
            store_column_text(q, EXPORT_grader), store_column_text(q, EXPORT_jail),
            store_column_text(q, EXPORT_graded_at));
}

/* Writes a heading in which no part of the name is markup. */
static void put_heading(FILE *f, const char *name) {
    fputs("# ", f);
    for (; *name; name++) {
        if (strchr("\\`*_{}[]<>()#+-.!|&~", *name)) fputc('\\', f);
        fputc(*name, f);
    }
    fputc('\n', f);
}

/* ---- as HTML ---- */

struct student_total {
    char *student;
    struct buf text;
};
struct feedback_ctx {
    struct store *s;
    struct student_total *totals; /* sorted by student */
    unsigned total_count, totals_capacity;
    const char *folder;
    char *student; /* the student whose pages are open; NULL = none */
    struct file_out markdown;
    struct buf html;
    int student_count;
};

static bool write_page(const struct feedback_ctx *p, const char *name, const struct buf *text,
                       struct err *e) {
    char path[PATH_MAX];
    return path_join(path, sizeof path, p->folder, name)
               ? file_write(path, buf_str(text), text->size, e)
               : err_set(e, ERR_INPUT, "%s: path too long", p->folder);
}

static const char *css_class(struct store_rows *q) {
    const char *verdict = store_column_text(q, EXPORT_verdict);
    return !strcmp(verdict, "AC")                                              ? "good"
           : store_column_is_null(q, EXPORT_score) || !strcmp(verdict, "PART") ? "warn"
                                                                               : "bad";
}

static const struct exercise *exercise_of(const char *id) {
    for (unsigned i = 0; i < book_count(); i++)
        if (!strcmp(book_id(book_at(i)), id)) return book_at(i);
    return NULL;
}

/* Writes the page of one result, like `grader report`; `was_written` is false if the store has no
 * result that this build of the grader can read. */
static bool write_report_page(struct feedback_ctx *p, struct store_rows *q, char name[256],
                              bool *was_written, struct err *e) {
    struct result r;
    struct buf page = {0};
    char suffix[160];
    const struct exercise *ex = exercise_of(store_column_text(q, EXPORT_exercise));
    const struct gpu_device *d = grade_simulated_device(store_column_text(q, EXPORT_device));
    *was_written = false;
    if (!ex || !d ||
        !class_deserialize_result(store_column_bytes(q, EXPORT_result_blob),
                                  store_column_size(q, EXPORT_result_blob), ex,
                                  store_column_text(q, EXPORT_page_grader), &r))
        return true;
    report_html(&r, d, NULL, &page);
    snprintf(suffix, sizeof suffix, "-%.60s.html", ex->name);
    class_page_file_name(store_column_text(q, EXPORT_student), suffix, name);
    bool ok = write_page(p, name, &page, e);
    *was_written = ok;
    buf_free(&page), result_free(&r);
    return ok;
}

static void put_row_html(struct feedback_ctx *p, struct store_rows *q, const char *page,
                         const char *decisions) {
    struct buf *out = &p->html;
    const char *id = store_column_text(q, EXPORT_exercise),
               *verdict = store_column_text(q, EXPORT_verdict);
    buf_printf(out, "<h2>%s <span class=\"%s\">", *id ? id : "No file that could be graded",
               css_class(q));
    class_page_put_text(*verdict ? verdict : store_column_text(q, EXPORT_state), out);
    if (store_column_is_null(q, EXPORT_score))
        buf_puts(out, "</span> no score, which doesn't mean 0 points</h2>\n");
    else
        buf_printf(out, "</span> %.1f of %.0f</h2>\n", store_column_double(q, EXPORT_score),
                   store_column_double(q, EXPORT_max_score));
    if (*decisions) {
        buf_puts(out, "<h3>Decided by the instructor</h3>\n<pre>");
        class_page_put_text(decisions, out), buf_puts(out, "</pre>\n");
    }
    if (page)
        buf_printf(out, "<p><a href=\"%s\">Report with pictures and annotated source</a></p>\n",
                   page);
    buf_puts(out, "<pre>");
    class_page_put_text(
        *verdict ? store_column_text(q, EXPORT_report) : store_column_text(q, EXPORT_reason), out);
    buf_puts(out, "</pre>\n");
    if (!*verdict) return;
    buf_puts(out, "<p class=\"dim\">source sha256 "),
        class_page_put_text(store_column_text(q, EXPORT_source_sha256), out);
    buf_puts(out, ", seed "), class_page_put_text(store_column_text(q, EXPORT_seed), out),
        buf_puts(out, ", device ");
    class_page_put_text(store_column_text(q, EXPORT_device), out), buf_puts(out, ", nvcc "),
        class_page_put_text(store_column_text(q, EXPORT_nvcc), out);
    buf_puts(out, ", graded "), class_page_put_text(store_column_text(q, EXPORT_graded_at), out),
        buf_puts(out, "</p>\n");
}

/* ---- totals ---- */

static void put_total(struct store_rows *q, struct buf *out) {
    const char *open = store_column_text(q, 2), *dropped = store_column_text(q, 3);
    if (store_column_is_null(q, 1)) {
        if (*open) buf_printf(out, "There is no total yet: no score for %s.", open);
        return;
    }
    buf_printf(out, "Total: %.2f %%.", store_column_double(q, 1));
    if (*dropped) buf_printf(out, " It leaves out %s, your lowest.", dropped);
}

static int by_student(const void *a, const void *b) {
    const struct student_total *x = a, *y = b;
    return strcmp(x->student, y->student);
}

/* Reads all totals at once: a query for each student would compute the view as often. Without an
 * assignment there are none. */
static void read_totals(struct feedback_ctx *p, struct err *e) {
    struct store_rows *q =
        store_query(p->s, e, "SELECT student, percent, open, dropped FROM total", "");
    while (store_step(p->s, &q, e)) {
        struct student_total t = {.student = xstrdup(store_column_text(q, 0))};
        put_total(q, &t.text);
        GROW(p->totals, p->total_count + 1, p->totals_capacity, 64);
        p->totals[p->total_count++] = t;
    }
    store_finalize(&q);
    if (p->total_count) qsort(p->totals, p->total_count, sizeof *p->totals, by_student);
}

static const char *find_total(const struct feedback_ctx *p, const char *student) {
    struct student_total key = {.student = (char *)student};
    const struct student_total *t =
        p->total_count ? bsearch(&key, p->totals, p->total_count, sizeof *p->totals, by_student)
                       : NULL;
    return t ? buf_str(&t->text) : "";
}

static void free_totals(struct feedback_ctx *p) {
    for (unsigned i = 0; i < p->total_count; i++)
        free(p->totals[i].student), buf_free(&p->totals[i].text);
    free(p->totals);
}

/* ---- all students ---- */

static void put_paragraph(struct feedback_ctx *p, const char *text) {
    if (!*text) return;
    fprintf(p->markdown.f, "\n%s\n", text);
    buf_puts(&p->html, "<p>"), class_page_put_text(text, &p->html), buf_puts(&p->html, "</p>\n");
}

static bool finish_student(struct feedback_ctx *p, struct err *e) {
    char name[256];
    if (!p->student) return true;
    class_page_end(&p->html);
    class_page_file_name(p->student, ".html", name);
    bool ok = write_page(p, name, &p->html, e);
    ok = file_close(&p->markdown, ok, e) && ok;
    free(p->student), p->student = NULL;
    return ok;
}

static bool begin_student(struct feedback_ctx *p, struct store_rows *q, struct err *e) {
    char name[256], path[PATH_MAX];
    const char *student = store_column_text(q, EXPORT_student);
    class_page_file_name(student, ".md", name);
    if (!path_join(path, sizeof path, p->folder, name))
        return err_set(e, ERR_INPUT, "%s: path too long", p->folder);
    if (!file_open(path, &p->markdown, e)) return false;
    p->student = xstrdup(student), p->student_count++;
    put_heading(p->markdown.f, student);
    buf_clear(&p->html), class_page_begin(student, &p->html);
    double late_factor = store_column_double(q, EXPORT_late_factor);
    char late[80] = "";
    if (late_factor < 1)
        snprintf(late, sizeof late, "Handed in late: each mark is multiplied by %.0f %%.",
                 100 * late_factor);
    put_paragraph(p, late), put_paragraph(p, find_total(p, student));
    return true;
}

static bool put_row(struct feedback_ctx *p, struct store_rows *q, struct err *e) {
    char name[256];
    bool has_page;
    if (p->student && strcmp(p->student, store_column_text(q, EXPORT_student)) &&
        !finish_student(p, e))
        return false;
    if (!p->student && !begin_student(p, q, e)) return false;
    struct buf decisions = {0};
    put_decisions(p->s, q, &decisions, e);
    put_exercise_markdown(p->markdown.f, q, buf_str(&decisions));
    bool ok = write_report_page(p, q, name, &has_page, e);
    if (ok) put_row_html(p, q, has_page ? name : NULL, buf_str(&decisions));
    buf_free(&decisions);
    return ok;
}

int export_feedback(struct store *s, const char *folder, struct err *e) {
    struct feedback_ctx p = {.s = s, .folder = folder};
    bool ok = dir_create(folder, e);
    if (ok) read_totals(&p, e);
    ok = ok && !e->text[0];
    struct store_rows *q = ok ? export_query_gradebook(s, e) : NULL;
    while (ok && store_step(s, &q, e)) ok = put_row(&p, q, e);
    store_finalize(&q);
    ok = ok && finish_student(&p, e) && !e->text[0];
    if (p.student) file_close(&p.markdown, false, e);
    free(p.student), buf_free(&p.html), free_totals(&p);
    return ok ? p.student_count : -1;
}
