/* export_intake.c — prints what intake did with each file, and why: taken, left out or unclear; see
 * export.h. */
#include "grader/class/export.h"

#include <jansson.h>
#include <stdlib.h>

enum {
    STUDENT_WIDTH = 18,
    STATE_WIDTH = 9,
    EXERCISE_WIDTH = 20,
    FILE_WIDTH = 26,
    REASON_WIDTH = 3
};
/* The columns, in the order of query_intake. */
enum { STUDENT, ENTRY, FILE_NAME, EXERCISE, STATE, REASON, COLUMN_COUNT };
static const char *const column_names[COLUMN_COUNT] = {"student",  "entry", "file",
                                                       "exercise", "state", "reason"};

/* Files without a student come last. */
static struct store_rows *query_intake(struct store *s, struct err *e) {
    return store_query(s, e,
                       "SELECT student, entry, file, exercise, state, why FROM intake ORDER BY "
                       "student = '', student, n",
                       "");
}

/* "unclear" counts submissions, of which one may be an archive with several files. A student on the
 * roster whose submission is unclear (`doubt`) is not missing. */
static void put_totals(struct store *s, FILE *f, struct err *e) {
    enum { STUDENTS, SUBMITTED, MISSING, TAKEN, UNCLEAR };
    struct store_rows *q = store_query(
        s, e,
        "SELECT (SELECT count(*) FROM student), (SELECT count(*) FROM student WHERE entries > 0),"
        " (SELECT count(*) FROM student WHERE rostered = 1 AND entries = 0 AND doubt = ''),"
        " (SELECT count(*) FROM submission WHERE state = 'taken'),"
        " (SELECT count(DISTINCT student || '/' || entry) FROM intake WHERE state = 'unclear')",
        "");
    if (store_step(s, &q, e))
        fprintf(f,
                "students: %lld; handed in: %lld; on the roster, nothing handed in: %lld; "
                "files taken: %lld; unclear: %lld\n",
                store_column_int64(q, STUDENTS), store_column_int64(q, SUBMITTED),
                store_column_int64(q, MISSING), store_column_int64(q, TAKEN),
                store_column_int64(q, UNCLEAR));
    store_finalize(&q);
}

bool export_intake_text(struct store *s, FILE *f, struct err *e) {
    fprintf(f, "%-*s %-*s %-*s %-*s %s\n", STUDENT_WIDTH, "student", STATE_WIDTH, "state",
            EXERCISE_WIDTH, "exercise", FILE_WIDTH, "file", "reason");
    struct store_rows *q = query_intake(s, e);
    while (store_step(s, &q, e)) {
        const char *student = store_column_text(q, STUDENT),
                   *file = store_column_text(q, FILE_NAME);
        if (!*file) file = store_column_text(q, ENTRY); /* it was not opened */
        export_padded_text(f, *student ? student : "(no student)", STUDENT_WIDTH, EXPORT_KEEP_LONG);
        fprintf(f, "%-*s %-*s ", STATE_WIDTH, store_column_text(q, STATE), EXERCISE_WIDTH,
                export_exercise_name(store_column_text(q, EXERCISE)));
        export_padded_text(f, file, FILE_WIDTH, EXPORT_KEEP_LONG);
        export_reason(f, store_column_text(q, REASON), REASON_WIDTH);
    }
    put_totals(s, f, e);
    return !e->text[0];
}

bool export_intake_csv(struct store *s, FILE *f, struct err *e) {
    for (unsigned i = 0; i < COLUMN_COUNT; i++) fprintf(f, "%s%s", i ? "," : "", column_names[i]);
    fputs("\r\n", f);
    struct store_rows *q = query_intake(s, e);
    while (store_step(s, &q, e)) {
        for (int i = 0; i < COLUMN_COUNT; i++) {
            if (i) fputc(',', f);
            export_csv_cell(f, store_column_text(q, i));
        }
        fputs("\r\n", f);
    }
    return !e->text[0];
}

bool export_intake_json(struct store *s, FILE *f, struct err *e) {
    bool first = true;
    fputs("{\n\"schema\": 2,\n\"found\": [", f);
    struct store_rows *q = query_intake(s, e);
    while (store_step(s, &q, e)) {
        json_t *o = json_object();
        for (int i = 0; i < COLUMN_COUNT; i++)
            json_object_set_new(o, column_names[i], json_string(store_column_text(q, i)));
        json_object_set(o, "why", json_object_get(o, "reason")); /* the key's name in schema 1 */
        char *text = json_dumps(o, 0);
        fprintf(f, "%s\n%s", first ? "" : ",", text);
        first = false;
        free(text);
        json_decref(o);
    }
    fputs("\n]\n}\n", f);
    return !e->text[0];
}
