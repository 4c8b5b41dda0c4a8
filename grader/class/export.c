/* export.c — the gradebook as a table, CSV and JSON; see export.h. It writes each row as soon as
 * it is read, so memory does not grow with the class if its store is a file. */
#include "common/text.h"
#include "grader/class/class.h"
#include "grader/class/decision.h"
#include "grader/class/export.h"
#include "grader/grade/provenance.h"
#include "grader/report/report.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_WIDTH = 80 };

#define X(name) #name ", "
static const char gradebook_sql[] = "SELECT " EXPORT_COLUMNS(
    X) "(SELECT json FROM result r WHERE r.key = g.key),"
       " (SELECT report FROM result r WHERE r.key = g.key), (SELECT "
       "submitted_at FROM student t WHERE t.id = g.student),"
       " (SELECT whole FROM result r WHERE r.key = g.key), "
       "coalesce((SELECT kept FROM late l WHERE l.student = "
       "g.submitter), 1.0), coalesce((SELECT value FROM setting WHERE "
       "name = '" CLASS_COPY_SETTING "' || g.grader), g.grader), "
       "g.variant, g.solves_variant FROM gradebook g ORDER BY student, exercise";
#undef X

struct store_rows *export_query_gradebook(struct store *s, struct err *e) {
    return store_query(s, e, gradebook_sql, "");
}

static bool is_null(struct store_rows *q, int column) { return store_column_is_null(q, column); }

/* ---- tables ---- */

/* Returns true for a cell that a spreadsheet treats as a formula, because of its first character.
 * Some take the fullwidth forms of = + - @ for the ASCII ones. */
static bool begins_formula(const char *s) {
    static const char *const fullwidth[] = {"\uff1d", "\uff0b", "\uff0d", "\uff20"};
    s += strspn(s, " ");
    bool found = *s && strchr("=+-@|%\t\r\n", *s);
    for (unsigned i = 0; i < sizeof fullwidth / sizeof *fullwidth; i++)
        found |= text_starts_with(s, fullwidth[i]);
    return found;
}

void export_csv_cell(FILE *f, const char *s) {
    fputc('"', f);
    if (begins_formula(s)) fputc('\'', f);
    for (; *s; s++) *s == '"' ? fputs("\"\"", f) : fputc(*s, f);
    fputc('"', f);
}

static void put_number(FILE *f, struct store_rows *q, int column, const char *format) {
    if (!is_null(q, column)) fprintf(f, format, store_column_double(q, column));
}

/* Returns the verdict, or "-" if there is no result. */
static const char *verdict_or_dash(struct store_rows *q) {
    return is_null(q, EXPORT_verdict) ? "-" : store_column_text(q, EXPORT_verdict);
}

/* In UTF-8, the top two bits of a continuation byte are 10. */
void export_padded_text(FILE *f, const char *s, unsigned width, enum export_long_text long_text) {
    unsigned n = 0;
    for (; *s; s++) {
        n += ((unsigned char)*s & 0xc0) != 0x80;
        if (long_text == EXPORT_CUT_LONG && n > width) break;
        fputc(*s, f);
    }
    fprintf(f, "%*s", n < width ? (int)(width - n) + 1 : 1, "");
}

const char *export_exercise_name(const char *exercise) {
    const char *slash = strchr(exercise, '/');
    return slash ? slash + 1 : exercise;
}

void export_reason(FILE *f, const char *reason, unsigned max_bytes) {
    struct report_style style = {.width = LINE_WIDTH};
    struct buf out = {0};
    if (strlen(reason) > max_bytes) {
        fputc('\n', f);
        report_wrap(reason, 4, &style, &out);
    } else buf_printf(&out, "%s\n", reason);
    fputs(buf_str(&out), f);
    buf_free(&out);
}

bool export_text(struct store *s, FILE *f, struct err *e) {
    fprintf(f, "%-24s %-20s %-8s %6s  %s\n", "student", "exercise", "verdict", "score", "reason");
    struct store_rows *q = export_query_gradebook(s, e);
    while (store_step(s, &q, e)) {
        char score[32] = "-";
        if (!is_null(q, EXPORT_score))
            snprintf(score, sizeof score, "%.1f", store_column_double(q, EXPORT_score));
        bool is_graded = !is_null(q, EXPORT_verdict);
        char reason[256];
        export_padded_text(f, store_column_text(q, EXPORT_student), 24, EXPORT_CUT_LONG);
        fprintf(f, "%-20s %-8s %6s  ", export_exercise_name(store_column_text(q, EXPORT_exercise)),
                verdict_or_dash(q), score);
        snprintf(reason, sizeof reason, "%s%s%.160s",
                 is_graded ? "" : store_column_text(q, EXPORT_state),
                 is_graded || !*store_column_text(q, EXPORT_reason) ? "" : ": ",
                 store_column_text(q, EXPORT_reason));
        export_reason(f, reason, 17);
    }
    q = store_query(
        s, e,
        "SELECT DISTINCT jail, seed, device, nvcc, substr(grader, 1, 16) FROM gradebook "
        "WHERE grader IS NOT NULL",
        "");
    while (store_step(s, &q, e))
        fprintf(f, "jail: %s; seed: %s; device: %s; nvcc: %s; grader: %s\n",
                store_column_text(q, 0), store_column_text(q, 1), store_column_text(q, 2),
                store_column_text(q, 3), store_column_text(q, 4));
    return !e->text[0];
}

bool export_csv(struct store *s, FILE *f, struct err *e) {
    static const int trailing_columns[] = {EXPORT_state,         EXPORT_seed,   EXPORT_device,
                                           EXPORT_source_sha256, EXPORT_grader, EXPORT_nvcc,
                                           EXPORT_graded_at,     EXPORT_file};
    fputs("student,exercise,verdict,score,max_score,speed_kind,vs_solution,reason,jail,state,seed,"
          "device,source_sha256,"
          "grader,"
          "nvcc,graded_at,file,variant,solves_variant\r\n",
          f);
    struct store_rows *q = export_query_gradebook(s, e);
    while (store_step(s, &q, e)) {
        export_csv_cell(f, store_column_text(q, EXPORT_student));
        fprintf(f, ",\"%s\",%s,", store_column_text(q, EXPORT_exercise), verdict_or_dash(q));
        put_number(f, q, EXPORT_score, "%.1f"), fputc(',', f),
            put_number(f, q, EXPORT_max_score, "%.1f");
        fprintf(f, ",%s,", store_column_text(q, EXPORT_speed_kind)),
            put_number(f, q, EXPORT_vs_solution, "%.4f"), fputc(',', f);
        export_csv_cell(f, store_column_text(q, EXPORT_reason)), fputc(',', f),
            export_csv_cell(f, store_column_text(q, EXPORT_jail));
        for (unsigned i = 0; i < sizeof trailing_columns / sizeof *trailing_columns; i++)
            fputc(',', f), export_csv_cell(f, store_column_text(q, trailing_columns[i]));
        fprintf(f, ",%s,%s", store_column_text(q, EXPORT_variant),
                store_column_text(q, EXPORT_solves_variant));
        fputs("\r\n", f);
    }
    return !e->text[0];
}

bool export_nbgrader(struct store *s, FILE *f, struct err *e) {
    fputs("assignment,duedate,timestamp,student_id,last_name,first_name,email,raw_score,late_"
          "submission_penalty,score,"
          "max_score\r\n",
          f);
    char deadline[32] = "";
    struct store_rows *q = store_query(s, e, "SELECT deadline FROM assignment", "");
    if (store_step(s, &q, e)) snprintf(deadline, sizeof deadline, "%s", store_column_text(q, 0));
    store_finalize(&q);
    q = export_query_gradebook(s, e);
    while (store_step(s, &q, e)) {
        export_csv_cell(f, store_column_text(q, EXPORT_exercise)), fprintf(f, ",%s,", deadline);
        fprintf(f, "%s,", store_column_text(q, EXPORT_submitted_at)),
            export_csv_cell(f, store_column_text(q, EXPORT_student));
        fputs(",", f), export_csv_cell(f, store_column_text(q, EXPORT_name)), fputs(",,,", f);
        double score = store_column_double(q, EXPORT_score),
               late_factor = store_column_double(q, EXPORT_late_factor);
        put_number(f, q, EXPORT_score, "%.1f"), fputc(',', f);
        if (!is_null(q, EXPORT_score))
            fprintf(f, "%.1f,%.1f", score * (1 - late_factor), score * late_factor);
        else fputc(',', f);
        fputc(',', f);
        put_number(f, q, EXPORT_max_score, "%.1f"), fputs("\r\n", f);
    }
    return !e->text[0];
}

/* ---- an assignment's marks ---- */

bool export_totals(struct store *s, FILE *f, struct err *e) {
    if (store_query_int(s, e, "SELECT count(*) FROM assignment") == 0)
        return err_set(e, ERR_INPUT, "%s was graded without an assignment, so it has no totals",
                       s->path);
    fputs("student,name,submitted_at,days_late,total_percent,open,dropped\r\n", f);
    struct store_rows *q =
        store_query(s, e,
                    "SELECT student, name, submitted_at, days_late, percent, open, "
                    "dropped FROM total ORDER BY 1",
                    "");
    while (store_step(s, &q, e)) {
        export_csv_cell(f, store_column_text(q, 0)), fputc(',', f),
            export_csv_cell(f, store_column_text(q, 1));
        fprintf(f, ",%s,%lld,", store_column_text(q, 2), store_column_int64(q, 3));
        put_number(f, q, 4, "%.2f"), fputc(',', f), export_csv_cell(f, store_column_text(q, 5)),
            fputc(',', f), export_csv_cell(f, store_column_text(q, 6));
        fputs("\r\n", f);
    }
    return !e->text[0];
}

/* ---- JSON ---- */

static json_t *text_or_null(struct store_rows *q, int column) {
    json_t *j = is_null(q, column) ? json_null() : json_string(store_column_text(q, column));
    return j ? j : json_string("(not valid UTF-8)");
}

static json_t *score_or_null(struct store_rows *q) {
    return is_null(q, EXPORT_score) ? json_null() : json_real(store_column_double(q, EXPORT_score));
}

/* Adds the drawn variant, and the other one that the file solves. */
static void add_variant(json_t *o, struct store_rows *q) {
    if (is_null(q, EXPORT_variant)) return;
    json_object_set_new(o, "variant", json_integer(store_column_int(q, EXPORT_variant)));
    if (!is_null(q, EXPORT_solves_variant))
        json_object_set_new(o, "solves_variant",
                            json_integer(store_column_int(q, EXPORT_solves_variant)));
}

/* Returns the result as the grader computed it; an instructor's score or excuse replaces the score.
 */
static json_t *graded_json(struct store_rows *q) {
    static const struct {
        const char *key;
        int column;
    } keys[] = {{"file", EXPORT_file},          {"source_sha256", EXPORT_source_sha256},
                {"seed", EXPORT_seed},          {"device", EXPORT_device},
                {"jail", EXPORT_jail},          {"grader", EXPORT_grader},
                {"nvcc", EXPORT_nvcc},          {"book", EXPORT_book},
                {"graded_at", EXPORT_graded_at}};
    json_t *o = json_loads(store_column_text(q, EXPORT_json), JSON_DECODE_ANY, NULL),
           *provenance = json_object();
    if (!o) o = json_object();
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++)
        json_object_set_new(provenance, keys[i].key, text_or_null(q, keys[i].column));
    json_object_set_new(o, "provenance", provenance);
    add_variant(o, q);
    if (!strcmp(store_column_text(q, EXPORT_state), "graded")) {
        if (!is_null(q, EXPORT_solves_variant)) json_object_set_new(o, "score", score_or_null(q));
        return o;
    }
    json_object_set(o, "machine_score", json_object_get(o, "score"));
    json_object_set_new(o, "state", text_or_null(q, EXPORT_state));
    json_object_set_new(o, "score", score_or_null(q));
    json_object_set_new(o, "decision", text_or_null(q, EXPORT_reason));
    return o;
}

static json_t *ungraded_json(struct store_rows *q) {
    json_t *o = json_object();
    json_object_set_new(o, "id", text_or_null(q, EXPORT_exercise));
    json_object_set_new(o, "state", text_or_null(q, EXPORT_state));
    json_object_set_new(o, "score", score_or_null(q));
    json_object_set_new(o, "reason", text_or_null(q, EXPORT_reason));
    json_object_set(o, "why", json_object_get(o, "reason")); /* schema 1's name: docs/json.md */
    return o;
}

static json_t *device_json(const char *name) {
    json_t *o = json_object();
    json_object_set_new(o, "name", json_string(name));
    json_object_set_new(o, "backend", json_string(grade_backend(name)));
    return o;
}

static json_t *begin_student(struct store_rows *q) {
    json_t *o = json_object();
    json_object_set_new(o, "student", text_or_null(q, EXPORT_student));
    json_object_set_new(o, "exercises", json_array()),
        json_object_set_new(o, "ungraded", json_array());
    return o;
}

/* Returns the requests to grade an exercise again, oldest first; NULL if there are none. */
static json_t *requests_json(struct store *s, struct store_rows *row, struct err *e) {
    static const struct {
        const char *key;
        int column;
    } keys[] = {{"made_at", 0}, {"author", 3},      {"text", 4},
                {"answer", 6},  {"answered_by", 7}, {"answered_at", 8}};
    json_t *list = json_array();
    struct store_rows *q = decision_query_requests(s, store_column_text(row, EXPORT_student),
                                                   store_column_text(row, EXPORT_exercise), e);
    while (store_step(s, &q, e)) {
        json_t *o = json_object();
        for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++)
            json_object_set_new(o, keys[i].key, text_or_null(q, keys[i].column));
        json_object_set_new(o, "open", json_boolean(store_column_int(q, 5)));
        json_array_append_new(list, o);
    }
    if (json_array_size(list)) return list;
    json_decref(list);
    return NULL;
}

static void append_exercise(json_t *student, const char *list, json_t *o, json_t *requests) {
    if (requests) json_object_set_new(o, "requests", requests);
    json_array_append_new(json_object_get(student, list), o);
}

static void add_row_json(json_t *student, struct store_rows *q, json_t *requests) {
    if (is_null(q, EXPORT_verdict)) {
        append_exercise(student, "ungraded", ungraded_json(q), requests);
        if (!strcmp(store_column_text(q, EXPORT_state), "unclear"))
            json_object_set_new(student, "refused", text_or_null(q, EXPORT_reason));
        return;
    }
    json_object_set_new(student, "device", device_json(store_column_text(q, EXPORT_device)));
    json_object_set_new(student, "jail", text_or_null(q, EXPORT_jail));
    append_exercise(student, "exercises", graded_json(q), requests);
}

static void end_student(FILE *f, json_t *o, bool first) {
    char *text = json_dumps(o, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    fprintf(f, "%s\n%s", first ? "" : ",", text);
    free(text);
    json_decref(o);
}

bool export_json(struct store *s, FILE *f, struct err *e) {
    struct store_rows *q = store_query(s, e, "SELECT value FROM setting WHERE name = 'seed'", "");
    json_t *seed = json_string(store_step(s, &q, e) ? store_column_text(q, 0) : ""),
           *student = NULL;
    store_finalize(&q);
    char *text = json_dumps(seed, JSON_ENCODE_ANY);
    fprintf(f, "{\n\"schema\": 2,\n\"seed\": %s,\n\"submissions\": [", text);
    free(text), json_decref(seed);
    bool first = true;
    /* Most classes have none, and a server takes a millisecond for each row's query. */
    bool has_requests =
        store_query_int(s, e, "SELECT count(*) FROM decision WHERE kind = 'request'") > 0;
    q = export_query_gradebook(s, e);
    while (store_step(s, &q, e)) {
        if (student && strcmp(json_string_value(json_object_get(student, "student")),
                              store_column_text(q, EXPORT_student)))
            end_student(f, student, first), first = false, student = NULL;
        if (!student) student = begin_student(q);
        add_row_json(student, q, has_requests ? requests_json(s, q, e) : NULL);
    }
    if (student) end_student(f, student, first);
    fputs("\n]\n}\n", f);
    return !e->text[0];
}
