/* workbench_class_json.c — what the class page shows of a store, as JSON; see workbench_class.h.
 * The page is grader/serve/app/class.js. */
#include "grader/class/moderation.h"
#include "grader/cli/workbench_class.h"

#include <jansson.h>
#include <string.h>

static json_t *text_or_null(struct store_rows *q, int column) {
    const char *text = store_column_is_null(q, column) ? NULL : store_column_text(q, column);
    json_t *o = text ? json_string(text) : NULL;
    return o ? o : json_null();
}

static json_t *number_or_null(struct store_rows *q, int column) {
    return store_column_is_null(q, column) ? json_null()
                                           : json_real(store_column_double(q, column));
}

static json_t *shown_name(const struct workbench_class *c, struct store_rows *q, int column) {
    char name[WORKBENCH_SHOWN_SIZE];
    workbench_class_shown_name(c, store_column_text(q, column), name);
    return json_string(name);
}

/* The author of a request is the student, whom a pseudonym hides. */
static json_t *author_json(const struct workbench_class *c, struct store_rows *q, int column,
                           const char *student) {
    return !strcmp(store_column_text(q, column), student) ? shown_name(c, q, column)
                                                          : text_or_null(q, column);
}

/* Returns the only student that the account sees; NULL = all. */
static const char *only_student(const struct workbench_account *who) {
    return who->role == ROLE_STUDENT ? who->name : NULL;
}

/* The reason of a row that is not graded may name entries, thus students. */
static bool may_show_reason(const struct workbench_class *c, const char *state) {
    return !c->o->anonymous || !strcmp(state, "graded") || !strcmp(state, "overridden") ||
           !strcmp(state, "excused") || !strcmp(state, "moderated") ||
           !strcmp(state, "in moderation");
}

static json_t *row_json(const struct workbench_class *c, struct store_rows *q) {
    bool has_reason = may_show_reason(c, store_column_text(q, 3));
    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "student", shown_name(c, q, 0), "name",
                     c->o->anonymous ? "" : store_column_text(q, 1), "exercise", text_or_null(q, 2),
                     "state", text_or_null(q, 3), "verdict", text_or_null(q, 4), "score",
                     number_or_null(q, 5), "reason", has_reason ? text_or_null(q, 6) : json_null());
}

/* ---- the class ---- */

static json_t *rows_json(struct workbench_class *c, const char *student, struct err *e) {
    json_t *rows = json_array();
    struct store_rows *q =
        store_query(&c->s, e,
                    "SELECT student, name, exercise, state, verdict, score, reason FROM gradebook "
                    "WHERE exercise <> '' AND student = coalesce(?, student) ORDER BY student, "
                    "exercise",
                    "t", student);
    while (store_step(&c->s, &q, e)) json_array_append_new(rows, row_json(c, q));
    return rows;
}

/* Returns each student's total after lateness, dropped marks and excuses; empty without an
 * assignment. */
static json_t *totals_json(struct workbench_class *c, const char *student, struct err *e) {
    json_t *rows = json_array();
    struct store_rows *q = store_query(
        &c->s, e,
        "SELECT t.student, t.percent, t.days_late, l.kept, t.open, t.dropped, t.excused FROM total "
        "t LEFT JOIN (SELECT student, min(kept) AS kept FROM mark GROUP BY student) l ON l.student "
        "= t.student WHERE t.student = coalesce(?, t.student)",
        "t", student);
    while (store_step(&c->s, &q, e))
        json_array_append_new(
            rows, json_pack("{s:o, s:o, s:i, s:o, s:o, s:o, s:i}", "student", shown_name(c, q, 0),
                            "percent", number_or_null(q, 1), "days_late", store_column_int(q, 2),
                            "kept", number_or_null(q, 3), "open", text_or_null(q, 4), "dropped",
                            text_or_null(q, 5), "excused", store_column_int(q, 6)));
    return rows;
}

static json_t *weights_json(struct workbench_class *c, struct err *e) {
    json_t *weights = json_object();
    struct store_rows *q = store_query(&c->s, e, "SELECT exercise, weight FROM assigned", "");
    while (store_step(&c->s, &q, e))
        json_object_set_new(weights, store_column_text(q, 0), number_or_null(q, 1));
    return weights;
}

static json_t *requests_json(struct workbench_class *c, const char *student, const char *exercise,
                             struct err *e) {
    json_t *rows = json_array();
    struct store_rows *q = decision_query_requests(&c->s, student, exercise, e);
    while (store_step(&c->s, &q, e))
        json_array_append_new(rows,
                              json_pack("{s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o}", "made_at",
                                        text_or_null(q, 0), "student", shown_name(c, q, 1),
                                        "exercise", text_or_null(q, 2), "author",
                                        author_json(c, q, 3, store_column_text(q, 1)), "text",
                                        text_or_null(q, 4), "open", store_column_int(q, 5),
                                        "answer", text_or_null(q, 6), "answered_by",
                                        text_or_null(q, 7), "answered_at", text_or_null(q, 8)));
    return rows;
}

/* Returns the open submissions in moderation; none for a student. */
static json_t *moderation_json(struct workbench_class *c, const struct workbench_account *who,
                               const char *student, const char *exercise, struct err *e) {
    json_t *rows = json_array();
    if (who->role == ROLE_STUDENT) return rows;
    struct store_rows *q = moderation_query(&c->s, who->name, student, exercise, e);
    while (store_step(&c->s, &q, e))
        json_array_append_new(rows, json_pack("{s:o, s:o, s:i, s:b}", "student",
                                              shown_name(c, q, 0), "exercise", text_or_null(q, 1),
                                              "blind_scores", store_column_int(q, 2), "awaited",
                                              store_column_int(q, 3) && who->role == ROLE_DECIDE));
    return rows;
}

json_t *workbench_class_json(struct workbench_class *c, const struct workbench_account *who,
                             struct err *e) {
    const char *student = only_student(who);
    char author[WORKBENCH_SHOWN_SIZE];
    snprintf(author, sizeof author, "%s", who->name);
    if (student) workbench_class_shown_name(c, student, author);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:b, s:b, s:b}", "rows",
                     rows_json(c, student, e), "totals", totals_json(c, student, e), "weights",
                     weights_json(c, e), "requests", requests_json(c, student, NULL, e),
                     "moderation", moderation_json(c, who, NULL, NULL, e), "author", author,
                     "may_decide", who->role == ROLE_DECIDE, "is_student", student != NULL,
                     "anonymous", c->o->anonymous);
}

/* ---- one submission ---- */

/* Returns the decisions, without others' blind scores that are still hidden; for a student only
 * those that count, and all requests and answers, but nothing of the moderation. */
static json_t *history_json(struct workbench_class *c, const struct workbench_account *who,
                            const char *student, const char *exercise, struct err *e) {
    static const char *const keys[] = {"made_at", "kind", "line", "value", "former", "reason"};
    json_t *rows = json_array();
    struct store_rows *q = store_query(
        &c->s, e,
        "SELECT made_at, kind, line, value, former, reason, author, n, n IN (SELECT n FROM "
        "decided) FROM decision d WHERE (student = ?1 OR (kind = 'comment' AND student = (SELECT "
        "submitter FROM gradebook WHERE student = ?1 AND exercise = ?2))) AND exercise IN (?2, '') "
        "AND (?3 = 0 OR kind IN "
        "('request', 'answer') OR (n IN (SELECT n FROM decided) AND kind NOT IN ('moderated', "
        "'blind_score'))) AND (author = ?4 OR NOT " MODERATION_IS_HIDDEN ") ORDER BY n",
        "ttlt", student, exercise, (long long)(who->role == ROLE_STUDENT), who->name);
    while (store_step(&c->s, &q, e)) {
        json_t *row =
            json_pack("{s:I, s:b, s:o}", "n", (json_int_t)store_column_int64(q, 7), "counts",
                      store_column_int(q, 8), "author", author_json(c, q, 6, student));
        for (int i = 0; i < 6; i++) json_object_set_new(row, keys[i], text_or_null(q, i));
        json_array_append_new(rows, row);
    }
    return rows;
}

/* Returns what the score counts for in the total; null without an assignment, or if excused. */
static json_t *mark_json(struct workbench_class *c, const char *student, const char *exercise,
                         struct err *e) {
    json_t *o = NULL;
    struct store_rows *q = store_query(
        &c->s, e,
        "SELECT m.percent, m.weight, m.days_late, m.kept, m.dropped, t.percent FROM mark m LEFT "
        "JOIN total t ON t.student = m.student WHERE m.student = ? AND m.exercise = ?",
        "tt", student, exercise);
    if (store_step(&c->s, &q, e))
        o = json_pack("{s:o, s:o, s:i, s:o, s:b, s:o}", "percent", number_or_null(q, 0), "weight",
                      number_or_null(q, 1), "days_late", store_column_int(q, 2), "kept",
                      number_or_null(q, 3), "dropped", store_column_int(q, 4), "total",
                      number_or_null(q, 5));
    store_finalize(&q);
    return o ? o : json_null();
}

static json_t *partners_json(struct workbench_class *c, const char *student, struct err *e) {
    json_t *list = json_array();
    struct store_rows *q = decision_query_partners(&c->s, student, e);
    while (store_step(&c->s, &q, e)) json_array_append_new(list, shown_name(c, q, 0));
    return list;
}

static void add_details(struct workbench_class *c, const struct workbench_account *who,
                        const char *student, const char *exercise, json_t *row, struct err *e) {
    long long seen = store_query_int(&c->s, e, "SELECT coalesce(max(n), 0) FROM decision");
    json_object_set_new(row, "seen", json_integer(seen));
    json_object_set_new(row, "history", history_json(c, who, student, exercise, e));
    json_object_set_new(row, "requests", requests_json(c, student, exercise, e));
    json_object_set_new(row, "moderation", moderation_json(c, who, student, exercise, e));
    json_object_set_new(row, "mark", mark_json(c, student, exercise, e));
    json_object_set_new(row, "partners", partners_json(c, student, e));
    json_object_set_new(row, "may_decide", json_boolean(who->role == ROLE_DECIDE));
    json_object_set_new(row, "is_student", json_boolean(who->role == ROLE_STUDENT));
}

json_t *workbench_submission_json(struct workbench_class *c, const struct workbench_account *who,
                                  const char *student, const char *exercise, struct err *e) {
    struct store_rows *q = store_query(
        &c->s, e,
        "SELECT g.student, g.name, g.exercise, g.state, g.verdict, g.score, g.reason, r.report, "
        "s.body, g.submitter FROM gradebook g LEFT JOIN result r ON r.key = g.key "
        "LEFT JOIN "
        "source s ON s.digest = g.source_sha256 WHERE g.student = ? AND g.exercise = ?",
        "tt", student, exercise);
    json_t *row = NULL;
    if (store_step(&c->s, &q, e)) {
        row = row_json(c, q);
        json_object_set_new(row, "report", text_or_null(q, 7));
        json_object_set_new(row, "source", text_or_null(q, 8));
        json_object_set_new(row, "submitter", shown_name(c, q, 9));
    } else if (!e->text[0]) err_set(e, ERR_INPUT, "this student has no row of that exercise");
    store_finalize(&q);
    if (row) add_details(c, who, student, exercise, row, e);
    return row;
}
