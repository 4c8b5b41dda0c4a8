/* export_tests.c — the gradebook as test results: JUnit XML and TAP 14; see export.h. A 0 for a
 * missing submission is a failure, a result without a score is skipped, and IE is an error. */
#include "grader/class/export.h"

#include <stdlib.h>
#include <string.h>

static bool has_score(struct store_rows *q) { return !store_column_is_null(q, EXPORT_score); }
static bool is_accepted(struct store_rows *q) {
    return !strcmp(store_column_text(q, EXPORT_verdict), "AC");
}
static const char *verdict_or_state(struct store_rows *q) {
    return *store_column_text(q, EXPORT_verdict) ? store_column_text(q, EXPORT_verdict)
                                                 : store_column_text(q, EXPORT_state);
}

/* ---- JUnit ---- */

static void put_xml_text(FILE *f, const char *s) {
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

static void put_attribute(FILE *f, const char *name, const char *value) {
    fprintf(f, " %s=\"", name), put_xml_text(f, value), fputc('"', f);
}

static void put_property(FILE *f, const char *name, const char *value) {
    if (!*value) return;
    fputs("<property", f), put_attribute(f, "name", name), put_attribute(f, "value", value),
        fputs("/>", f);
}

static void put_outcome(FILE *f, struct store_rows *q) {
    const char *tag = !strcmp(verdict_or_state(q), "IE") ? "error"
                      : has_score(q)                     ? "failure"
                                                         : "skipped";
    if (is_accepted(q) && has_score(q)) return;
    fprintf(f, "<%s", tag), put_attribute(f, "message", store_column_text(q, EXPORT_reason));
    if (strcmp(tag, "skipped"))
        put_attribute(f, "type", verdict_or_state(q)), fputc('>', f),
            put_xml_text(f, store_column_text(q, EXPORT_report)), fprintf(f, "</%s>", tag);
    else fputs("/>", f);
}

static void put_testcase(FILE *f, struct store_rows *q) {
    static const int columns[] = {EXPORT_seed, EXPORT_device, EXPORT_source_sha256, EXPORT_grader,
                                  EXPORT_nvcc, EXPORT_jail,   EXPORT_graded_at};
    static const char *const names[] = {"seed", "device", "source_sha256", "grader",
                                        "nvcc", "jail",   "graded_at"};
    fputs("  <testcase", f), put_attribute(f, "classname", store_column_text(q, EXPORT_student));
    put_attribute(f, "name", store_column_text(q, EXPORT_exercise));
    fprintf(f, " time=\"%.3f\"><properties>", store_column_double(q, EXPORT_seconds));
    put_property(f, "verdict", verdict_or_state(q));
    if (has_score(q))
        fprintf(f, "<property name=\"score\" value=\"%.1f\"/>",
                store_column_double(q, EXPORT_score));
    for (unsigned i = 0; i < sizeof columns / sizeof *columns; i++)
        put_property(f, names[i], store_column_text(q, columns[i]));
    fputs("</properties>", f), put_outcome(f, q), fputs("</testcase>\n", f);
}

static const char totals_sql[] =
    "SELECT count(*), count(*) FILTER (WHERE coalesce(verdict, '') NOT IN ('AC', 'IE') AND score "
    "IS "
    "NOT NULL), count(*) FILTER (WHERE verdict = 'IE'),"
    " count(*) FILTER (WHERE coalesce(verdict, '') <> 'IE' AND score IS NULL) FROM gradebook";

bool export_junit(struct store *s, FILE *f, struct err *e) {
    struct store_rows *q = store_query(s, e, totals_sql, "");
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", f);
    if (store_step(s, &q, e))
        fprintf(f,
                "<testsuites><testsuite name=\"warpbook\" tests=\"%lld\" failures=\"%lld\" "
                "errors=\"%lld\" "
                "skipped=\"%lld\">\n",
                store_column_int64(q, 0), store_column_int64(q, 1), store_column_int64(q, 2),
                store_column_int64(q, 3));
    store_finalize(&q);
    q = export_query_gradebook(s, e);
    while (store_step(s, &q, e)) put_testcase(f, q);
    fputs("</testsuite></testsuites>\n", f);
    return !e->text[0];
}

/* ---- TAP ---- */

static void put_tap_text(FILE *f, const char *s) {
    for (; *s; s++) {
        if (*s == '#' || *s == '\\') fputc('\\', f);
        fputc(*s == '\n' ? ' ' : *s, f);
    }
}

/* Writes a key with a YAML scalar in double quotes. The only control characters are tabs. */
static void put_tap_key(FILE *f, const char *name, const char *value) {
    if (!*value) return;
    fprintf(f, "  %s: \"", name);
    for (; *value; value++) {
        if (*value == '"' || *value == '\\') fputc('\\', f);
        fputc((unsigned char)*value < ' ' ? ' ' : *value, f);
    }
    fputs("\"\n", f);
}

static void put_tap_row(FILE *f, struct store_rows *q, long long n) {
    bool skip = !has_score(q) && strcmp(verdict_or_state(q), "IE");
    fprintf(f, "%s %lld - ", is_accepted(q) || skip ? "ok" : "not ok", n);
    put_tap_text(f, store_column_text(q, EXPORT_student)), fputc(' ', f),
        put_tap_text(f, store_column_text(q, EXPORT_exercise));
    if (skip)
        fprintf(f, " # SKIP %s: ", verdict_or_state(q)),
            put_tap_text(f, store_column_text(q, EXPORT_reason));
    fputs("\n  ---\n", f);
    put_tap_key(f, "verdict", verdict_or_state(q));
    if (has_score(q)) fprintf(f, "  score: %.1f\n", store_column_double(q, EXPORT_score));
    put_tap_key(f, "reason", store_column_text(q, EXPORT_reason)),
        put_tap_key(f, "seed", store_column_text(q, EXPORT_seed));
    put_tap_key(f, "device", store_column_text(q, EXPORT_device)),
        put_tap_key(f, "source_sha256", store_column_text(q, EXPORT_source_sha256));
    put_tap_key(f, "grader", store_column_text(q, EXPORT_grader)),
        put_tap_key(f, "nvcc", store_column_text(q, EXPORT_nvcc));
    put_tap_key(f, "jail", store_column_text(q, EXPORT_jail)),
        put_tap_key(f, "graded_at", store_column_text(q, EXPORT_graded_at));
    fputs("  ...\n", f);
}

bool export_tap(struct store *s, FILE *f, struct err *e) {
    fprintf(f, "TAP version 14\n1..%lld\n",
            store_query_int(s, e, "SELECT count(*) FROM gradebook"));
    struct store_rows *q = export_query_gradebook(s, e);
    for (long long n = 1; store_step(s, &q, e); n++) put_tap_row(f, q, n);
    return !e->text[0];
}
