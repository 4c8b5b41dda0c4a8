/* export_tests.c — the gradebook as test results: JUnit XML and TAP 14; see export.h. A zero that
 * the roster gives is a failure; what has no score is skipped, and our own fault an error. */
#include "grader/class/export.h"

#include <stdlib.h>
#include <string.h>

static bool has_score(sqlite3_stmt *q) {
    return sqlite3_column_type(q, EXPORT_score) != SQLITE_NULL;
}
static bool passed(sqlite3_stmt *q) { return !strcmp(store_text(q, EXPORT_verdict), "AC"); }
static const char *what(sqlite3_stmt *q) {
    return *store_text(q, EXPORT_verdict) ? store_text(q, EXPORT_verdict)
                                          : store_text(q, EXPORT_state);
}

/* ---- JUnit ---- */

static void xml(FILE *f, const char *s) {
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        const char *name = c == '&'   ? "&amp;"
                           : c == '<' ? "&lt;"
                           : c == '>' ? "&gt;"
                           : c == '"' ? "&quot;"
                                      : NULL;
        if (name) fputs(name, f);
        else if (c >= ' ' || c == '\n' || c == '\t') fputc(c, f);
    }
}

static void attribute(FILE *f, const char *name, const char *value) {
    fprintf(f, " %s=\"", name), xml(f, value), fputc('"', f);
}

static void property(FILE *f, const char *name, const char *value) {
    if (!*value) return;
    fputs("<property", f), attribute(f, "name", name), attribute(f, "value", value), fputs("/>", f);
}

static void outcome(FILE *f, sqlite3_stmt *q) {
    const char *tag = !strcmp(what(q), "IE") ? "error" : has_score(q) ? "failure" : "skipped";
    if (passed(q)) return;
    fprintf(f, "<%s", tag), attribute(f, "message", store_text(q, EXPORT_reason));
    if (strcmp(tag, "skipped"))
        attribute(f, "type", what(q)), fputc('>', f), xml(f, store_text(q, EXPORT_report)),
            fprintf(f, "</%s>", tag);
    else fputs("/>", f);
}

static void junit_case(FILE *f, sqlite3_stmt *q) {
    static const int from[] = {EXPORT_seed, EXPORT_device, EXPORT_source_sha256, EXPORT_grader,
                               EXPORT_nvcc, EXPORT_jail,   EXPORT_graded_at};
    static const char *const names[] = {"seed", "device", "source_sha256", "grader",
                                        "nvcc", "jail",   "graded_at"};
    fputs("  <testcase", f), attribute(f, "classname", store_text(q, EXPORT_student));
    attribute(f, "name", store_text(q, EXPORT_exercise));
    fprintf(f, " time=\"%.3f\"><properties>", sqlite3_column_double(q, EXPORT_seconds));
    property(f, "verdict", what(q));
    if (has_score(q))
        fprintf(f, "<property name=\"score\" value=\"%.1f\"/>",
                sqlite3_column_double(q, EXPORT_score));
    for (unsigned i = 0; i < sizeof from / sizeof *from; i++)
        property(f, names[i], store_text(q, from[i]));
    fputs("</properties>", f), outcome(f, q), fputs("</testcase>\n", f);
}

static const char totals[] = "SELECT count(*), coalesce(sum(coalesce(verdict, '') NOT IN ('AC', "
                             "'IE') AND score IS NOT NULL), 0),"
                             " coalesce(sum(coalesce(verdict, '') = 'IE'), 0), "
                             "coalesce(sum(coalesce(verdict, '') <> 'IE' AND score IS NULL), "
                             "0) FROM gradebook";

bool export_junit(struct store *s, FILE *f, struct err *e) {
    sqlite3_stmt *q = store_ask(s, e, totals, "");
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", f);
    if (store_next(s, &q, e))
        fprintf(f,
                "<testsuites><testsuite name=\"warpbook\" tests=\"%lld\" failures=\"%lld\" "
                "errors=\"%lld\" "
                "skipped=\"%lld\">\n",
                sqlite3_column_int64(q, 0), sqlite3_column_int64(q, 1), sqlite3_column_int64(q, 2),
                sqlite3_column_int64(q, 3));
    store_end(&q);
    q = export_rows(s, e);
    while (store_next(s, &q, e)) junit_case(f, q);
    fputs("</testsuite></testsuites>\n", f);
    return !e->text[0];
}

/* ---- TAP ---- */

static void tap_text(FILE *f, const char *s) {
    for (; *s; s++) {
        if (*s == '#' || *s == '\\') fputc('\\', f);
        fputc(*s == '\n' ? ' ' : *s, f);
    }
}

/* A YAML scalar in double quotes; the texts are free of control characters but for tabs. */
static void tap_key(FILE *f, const char *name, const char *value) {
    if (!*value) return;
    fprintf(f, "  %s: \"", name);
    for (; *value; value++) {
        if (*value == '"' || *value == '\\') fputc('\\', f);
        fputc((unsigned char)*value < ' ' ? ' ' : *value, f);
    }
    fputs("\"\n", f);
}

static void tap_row(FILE *f, sqlite3_stmt *q, long long n) {
    bool skip = !has_score(q) && strcmp(what(q), "IE");
    fprintf(f, "%s %lld - ", passed(q) || skip ? "ok" : "not ok", n);
    tap_text(f, store_text(q, EXPORT_student)), fputc(' ', f),
        tap_text(f, store_text(q, EXPORT_exercise));
    if (skip) fprintf(f, " # SKIP %s: ", what(q)), tap_text(f, store_text(q, EXPORT_reason));
    fputs("\n  ---\n", f);
    tap_key(f, "verdict", what(q));
    if (has_score(q)) fprintf(f, "  score: %.1f\n", sqlite3_column_double(q, EXPORT_score));
    tap_key(f, "reason", store_text(q, EXPORT_reason)),
        tap_key(f, "seed", store_text(q, EXPORT_seed));
    tap_key(f, "device", store_text(q, EXPORT_device)),
        tap_key(f, "source_sha256", store_text(q, EXPORT_source_sha256));
    tap_key(f, "grader", store_text(q, EXPORT_grader)),
        tap_key(f, "nvcc", store_text(q, EXPORT_nvcc));
    tap_key(f, "jail", store_text(q, EXPORT_jail)),
        tap_key(f, "graded_at", store_text(q, EXPORT_graded_at));
    fputs("  ...\n", f);
}

bool export_tap(struct store *s, FILE *f, struct err *e) {
    fprintf(f, "TAP version 14\n1..%lld\n", store_number(s, e, "SELECT count(*) FROM gradebook"));
    sqlite3_stmt *q = export_rows(s, e);
    for (long long n = 1; store_next(s, &q, e); n++) tap_row(f, q, n);
    return !e->text[0];
}
