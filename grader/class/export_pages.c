/* export_pages.c — statistics of a class, and a page for each student; see export.h. */
#include "common/file.h"
#include "grader/class/export.h"
#include "grader/class/page.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- statistics ---- */

static void table(struct store *s, FILE *f, const char *title, const char *const *widths, const char *sql,
                  struct err *e) {
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
          "SELECT exercise, verdict, students, printf('%.1f', mean_score) FROM verdicts WHERE exercise <> ''"
          " ORDER BY exercise, students DESC",
          e);
    table(s, f, "SCORES: exercise, students with one, lowest, median, highest", w,
          "SELECT exercise, count(*), printf('%.1f', min(score)), printf('%.1f', avg(score) FILTER (WHERE at IN ((n + "
          "1) / 2, (n + 2) / 2))),"
          " printf('%.1f', max(score)) FROM (SELECT exercise, score, row_number() OVER (PARTITION BY exercise ORDER BY "
          "score) AS at,"
          " count(*) OVER (PARTITION BY exercise) AS n FROM gradebook WHERE score IS NOT NULL) GROUP BY exercise ORDER "
          "BY exercise",
          e);
    table(s, f, "GOALS AND GUARDS THAT FAIL MOST: students, exercise, name", g,
          "SELECT students, exercise, goal, kind FROM failed_goals ORDER BY students DESC, exercise, goal LIMIT 20", e);
    table(s, f, "CASES THAT FAIL MOST: students, exercise, name", g,
          "SELECT students, exercise, name, verdict FROM failed_cases ORDER BY students DESC, exercise, name LIMIT 20",
          e);
    table(s, f, "BY DAY", t,
          "SELECT substr(graded_at, 1, 10), count(*), sum(verdict = 'IE') FROM result GROUP BY 1 ORDER BY 1", e);
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
                sqlite3_column_type(q, EXPORT_score) == SQLITE_NULL ? "This is not a zero: no score is given.\n"
                                                                    : "0 points.\n");
        fence(f, store_text(q, EXPORT_reason));
        fprintf(f, "%s\n", store_text(q, EXPORT_reason)), fence(f, store_text(q, EXPORT_reason));
        return;
    }
    fence(f, report), fputs(report, f), fence(f, report);
    fprintf(f, "\nSource sha256 %s, seed `%s`, device %s, nvcc %s, grader %.16s, %s, graded %s.\n",
            store_text(q, EXPORT_source_sha256), store_text(q, EXPORT_seed), store_text(q, EXPORT_device),
            store_text(q, EXPORT_nvcc), store_text(q, EXPORT_grader), store_text(q, EXPORT_jail),
            store_text(q, EXPORT_graded_at));
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

static bool next_page(struct file_out *o, const char *folder, const char *student, struct err *e) {
    char name[256], path[PATH_MAX];
    class_page_name(student, ".md", name);
    if (o->f && !file_close(o, true, e)) return false;
    o->f = NULL;
    if (!path_join(path, sizeof path, folder, name)) return err_set(e, ERR_INPUT, "%s: path too long", folder);
    if (!file_open(path, o, e)) return o->f = NULL, false;
    heading(o->f, student);
    return true;
}

int export_feedback(struct store *s, const char *folder, struct err *e) {
    struct file_out o = {0};
    char *student = NULL;
    int pages = 0;
    bool ok = dir_make(folder, e);
    sqlite3_stmt *q = ok ? export_rows(s, e) : NULL;
    while (ok && store_next(s, &q, e)) {
        if (!student || strcmp(student, store_text(q, EXPORT_student))) {
            free(student), student = xstrdup(store_text(q, EXPORT_student));
            ok = next_page(&o, folder, student, e), pages++;
        }
        if (ok) one_exercise(o.f, q);
    }
    if (o.f) ok = file_close(&o, ok, e) && ok;
    store_end(&q), free(student);
    return ok && !e->text[0] ? pages : -1;
}
