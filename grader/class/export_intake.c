/* export_intake.c — the files that intake took and left out, with reasons; see export.h. */
#include "grader/class/export.h"

#include <jansson.h>
#include <stdlib.h>

enum { STUDENT, ENTRY, FILE_NAME, EXERCISE, STATE, REASON, COLUMN_COUNT };
static const char *const column_names[COLUMN_COUNT] = {"student",  "entry", "file",
                                                       "exercise", "state", "reason"};

static sqlite3_stmt *query_intake(struct store *s, struct err *e) {
    return store_query(s, e,
                       "SELECT student, entry, file, exercise, state, why FROM intake ORDER BY "
                       "student = '', student, n",
                       "");
}

static void put_totals(struct store *s, FILE *f, struct err *e) {
    sqlite3_stmt *q = store_query(
        s, e,
        "SELECT (SELECT count(*) FROM student), (SELECT count(*) FROM student WHERE entries > 0),"
        " (SELECT count(*) FROM submission WHERE state = 'taken'),"
        " (SELECT count(DISTINCT student || '/' || entry) FROM intake WHERE state = 'unclear'),"
        " (SELECT count(*) FROM student WHERE rostered AND entries = 0 AND doubt = "
        "'')",
        "");
    if (store_step(s, &q, e))
        fprintf(f,
                "students: %lld; handed in: %lld; missing by the roster: %lld; files taken: %lld; "
                "unclear: %lld\n",
                sqlite3_column_int64(q, 0), sqlite3_column_int64(q, 1), sqlite3_column_int64(q, 4),
                sqlite3_column_int64(q, 2), sqlite3_column_int64(q, 3));
    store_finalize(&q);
}

bool export_intake_text(struct store *s, FILE *f, struct err *e) {
    fprintf(f, "%-18s %-9s %-20s %-26s %s\n", "student", "state", "exercise", "file", "reason");
    sqlite3_stmt *q = query_intake(s, e);
    while (store_step(s, &q, e)) {
        export_padded_text(
            f, *store_column_text(q, STUDENT) ? store_column_text(q, STUDENT) : "(no student)", 18,
            false);
        fprintf(f, "%-9s %-20s ", store_column_text(q, STATE),
                export_exercise_name(store_column_text(q, EXERCISE)));
        export_padded_text(
            f, store_column_text(q, *store_column_text(q, FILE_NAME) ? FILE_NAME : ENTRY), 26,
            false);
        export_reason(f, store_column_text(q, REASON), 3);
    }
    put_totals(s, f, e);
    return !e->text[0];
}

bool export_intake_csv(struct store *s, FILE *f, struct err *e) {
    for (unsigned i = 0; i < COLUMN_COUNT; i++) fprintf(f, "%s%s", i ? "," : "", column_names[i]);
    fputs("\r\n", f);
    sqlite3_stmt *q = query_intake(s, e);
    while (store_step(s, &q, e)) {
        for (int i = 0; i < COLUMN_COUNT; i++)
            fputs(i ? "," : "", f), export_csv_cell(f, store_column_text(q, i));
        fputs("\r\n", f);
    }
    return !e->text[0];
}

bool export_intake_json(struct store *s, FILE *f, struct err *e) {
    bool first = true;
    fputs("{\n\"schema\": 2,\n\"found\": [", f);
    sqlite3_stmt *q = query_intake(s, e);
    while (store_step(s, &q, e)) {
        json_t *o = json_object();
        for (int i = 0; i < COLUMN_COUNT; i++)
            json_object_set_new(o, column_names[i], json_string(store_column_text(q, i)));
        json_object_set(o, "why", json_object_get(o, "reason")); /* schema 1's name: docs/json.md */
        char *text = json_dumps(o, 0);
        fprintf(f, "%s\n%s", first ? "" : ",", text);
        first = false;
        free(text), json_decref(o);
    }
    fputs("\n]\n}\n", f);
    return !e->text[0];
}
