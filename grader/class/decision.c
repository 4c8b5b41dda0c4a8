/* decision.c — see decision.h. */
#include "grader/class/decision.h"
#include "common/text.h"
#include "grader/class/assignment.h"
#include "grader/class/export.h"
#include "grader/class/moderation.h"
#include "grader/grade/provenance.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT_BYTES = 4000 };

static const char *const kind_names[] = {
#define X(name, text) #name,
    DECISION_KINDS(X)
#undef X
};

enum decision_kind decision_parse_kind(const char *name) {
    for (unsigned i = 0; i < sizeof kind_names / sizeof *kind_names; i++)
        if (!strcmp(name, kind_names[i])) return (enum decision_kind)i;
    return DECISION_comment; /* of a newer grader: a text */
}

static bool has_row(struct store *s, const char *sql, const char *student, const char *exercise,
                    struct err *e) {
    struct store_rows *q = store_query(s, e, sql, "tt", student, exercise);
    bool found = store_step(s, &q, e);
    store_finalize(&q);
    return found;
}

/* Refuses an unknown student, with the ids of the students whose name or number it is. Returns
 * false. */
static bool refuse_student(struct store *s, const char *student, struct err *e) {
    struct buf ids = {0};
    if (e->text[0]) return false;
    struct store_rows *q = store_query(
        s, e,
        "SELECT id FROM student WHERE lower(name) = lower(?1) OR id LIKE '% ' || ?1 ORDER BY id",
        "t", student);
    while (store_step(s, &q, e))
        buf_printf(&ids, "%s'%s'", ids.size ? ", " : "", store_column_text(q, 0));
    if (!e->text[0])
        err_set(e, ERR_INPUT, "%s has no student '%.100s'; %s%.200s", s->path, student,
                ids.size ? "use the id: " : "`grader export` lists the ids",
                ids.size ? buf_str(&ids) : "");
    return buf_free(&ids), false;
}

static bool is_of_request(const struct decision *d) {
    return d->kind == DECISION_request || d->kind == DECISION_answer;
}

static bool check_subject(struct store *s, const struct decision *d, struct err *e) {
    if (!has_row(s, "SELECT 1 FROM student WHERE id = ?1 AND ?2 IS NOT NULL", d->student, "", e))
        return refuse_student(s, d->student, e);
    if (d->kind == DECISION_deadline && *d->exercise)
        return err_set(e, ERR_INPUT, "a deadline is for all exercises of a student; name none");
    bool is_score = d->kind == DECISION_score || d->kind == DECISION_blind_score;
    if ((is_score || is_of_request(d)) && !*d->exercise)
        return err_set(e, ERR_INPUT, "%s is for one exercise; name it behind the student",
                       is_score                     ? "a score"
                       : d->kind == DECISION_answer ? "an answer"
                                                    : "a request");
    return !*d->exercise ||
           has_row(s, "SELECT 1 FROM submission WHERE student = ? AND exercise = ?", d->student,
                   d->exercise, e) ||
           (!e->text[0] && err_set(e, ERR_INPUT, "%s has no row of '%.100s' for %s", s->path,
                                   d->student, d->exercise));
}

static bool parse_score(const char *value, char out[MAX_TEXT_BYTES], struct err *e) {
    char *end;
    double score = strtod(value, &end);
    snprintf(out, MAX_TEXT_BYTES, "%.2f", score);
    return (end > value && !*end && score >= 0 && score <= 100) ||
           err_set(e, ERR_INPUT, "a score is 0 to 100, or - to withdraw it, not '%.40s'", value);
}

/* Without this, `--excused no` would excuse. */
static bool parse_yes(const char *value, char out[MAX_TEXT_BYTES], struct err *e) {
    snprintf(out, MAX_TEXT_BYTES, "yes");
    return !strcmp(value, "yes") ||
           err_set(e, ERR_INPUT, "the value is yes, or - to withdraw it, not '%.40s'", value);
}

static bool parse_deadline(const char *value, char out[MAX_TEXT_BYTES], struct err *e) {
    long long seconds;
    if (!assignment_parse_time(value, &seconds))
        return err_set(
            e, ERR_INPUT,
            "--deadline takes a time like 2026-10-03T23:59:00+02:00, or - to withdraw, not "
            "'%.60s'",
            value);
    assignment_format_time(seconds, out);
    return true;
}

/* Writes the value in its stored form; "" withdraws. */
static bool parse_value(const struct decision *d, char out[MAX_TEXT_BYTES], struct err *e) {
    out[0] = 0;
    if (!strcmp(d->value, "-")) return true;
    if (strlen(d->value) >= MAX_TEXT_BYTES)
        return err_set(e, ERR_INPUT, "a text has at most %d bytes", MAX_TEXT_BYTES - 1);
    if (d->kind == DECISION_score || d->kind == DECISION_blind_score)
        return parse_score(d->value, out, e);
    if (d->kind == DECISION_deadline) return parse_deadline(d->value, out, e);
    if (d->kind == DECISION_excused || d->kind == DECISION_moderated)
        return parse_yes(d->value, out, e);
    snprintf(out, MAX_TEXT_BYTES, "%s", d->value);
    return true;
}

static unsigned count_lines(const char *text, size_t size) {
    unsigned n = size && text[size - 1] != '\n';
    for (size_t i = 0; i < size; i++) n += text[i] == '\n';
    return n;
}

/* Returns false if the comment is to a line that the submission lacks: it would be on no page. */
static bool check_line(struct store *s, const struct decision *d, struct err *e) {
    unsigned n = 0;
    if (!d->line || !strcmp(d->value, "-")) return true;
    if (!*d->exercise)
        return err_set(e, ERR_INPUT,
                       "a comment to a line is for one exercise; name it behind the "
                       "student");
    struct store_rows *q = store_query(
        s, e,
        "SELECT body FROM source WHERE digest = (SELECT s.digest FROM gradebook g JOIN submission "
        "s "
        "ON s.student = g.submitter AND s.exercise = g.exercise WHERE g.student = ? AND "
        "g.exercise = ?)",
        "tt", d->student, d->exercise);
    if (store_step(s, &q, e)) n = count_lines(store_column_bytes(q, 0), store_column_size(q, 0));
    store_finalize(&q);
    return !e->text[0] &&
           (d->line <= n || err_set(e, ERR_INPUT, "the submission of '%.100s' to %s has %u line%s",
                                    d->student, d->exercise, n, n == 1 ? "" : "s"));
}

/* Appends what counted before the decision. */
static void put_former(struct store *s, const struct decision *d, struct buf *out, struct err *e) {
    struct store_rows *q = store_query(
        s, e,
        "SELECT value FROM decided WHERE student = ? AND exercise = ? AND kind = ? AND line = ? "
        "AND (kind <> 'blind_score' OR author = ?)",
        "tttlt", d->student, d->exercise, kind_names[d->kind], (long long)d->line, d->author);
    if (store_step(s, &q, e)) buf_puts(out, store_column_text(q, 0));
    store_finalize(&q);
    if (out->size || d->kind != DECISION_score) return;
    q = store_query(
        s, e,
        "SELECT coalesce(verdict || ', ', ''), state, score FROM gradebook WHERE student = ? AND "
        "exercise = ?",
        "tt", d->student, d->exercise);
    if (store_step(s, &q, e)) {
        buf_puts(out, store_column_text(q, 0));
        if (store_column_is_null(q, 2)) buf_printf(out, "%s, no score", store_column_text(q, 1));
        else buf_printf(out, "%.2f", store_column_double(q, 2));
    }
    store_finalize(&q);
    moderation_put_scores(s, d, out, e);
}

/* Returns false if the author has not seen the latest decision that this one would replace. Runs in
 * the transaction that adds it, so nobody decides in between. */
static bool check_seen(struct store *s, const struct decision *d, struct err *e) {
    if (!d->last_seen) return true;
    struct store_rows *q = store_query(
        s, e,
        "SELECT author, value FROM decision WHERE student = ? AND exercise = ? AND kind = ? AND "
        "line = ? AND n > ? AND (kind <> 'blind_score' OR author = ?) ORDER BY n DESC",
        "tttllt", d->student, d->exercise, kind_names[d->kind], (long long)d->line, *d->last_seen,
        d->author);
    if (store_step(s, &q, e))
        err_set(e, ERR_INPUT, "%.100s decided this meanwhile (%s: %.200s); look, and decide again",
                store_column_text(q, 0), kind_names[d->kind], store_column_text(q, 1));
    store_finalize(&q);
    return !e->text[0];
}

/* Returns false if `d` names a partner who is no other student, or would make a chain: somebody
 * whose own partner's submission counts, or a partner for somebody who is one. */
static bool check_partner(struct store *s, const struct decision *d, struct err *e) {
    if (d->kind != DECISION_partner || !strcmp(d->value, "-")) return true;
    if (!strcmp(d->value, d->student) ||
        !has_row(s, "SELECT 1 FROM student WHERE id = ?1 AND ?2 IS NOT NULL", d->value, "", e))
        return !e->text[0] &&
               err_set(e, ERR_INPUT, "%s has no other student '%.100s'", s->path, d->value);
    bool is_chain = has_row(s,
                            "SELECT 1 FROM decided WHERE kind = 'partner' AND (student = ?1 OR "
                            "value = ?2)",
                            d->value, d->student, e);
    return !e->text[0] &&
           (!is_chain || err_set(e, ERR_INPUT,
                                 "'%.100s' has a partner, or '%.100s' is one; name the student who "
                                 "handed in",
                                 d->value, d->student));
}

/* Returns false if `d` answers, and there is no request; a later answer replaces an earlier one. */
static bool check_request(struct store *s, const struct decision *d, struct err *e) {
    return d->kind != DECISION_answer ||
           has_row(s,
                   "SELECT 1 FROM decided WHERE student = ? AND exercise = ? AND kind = 'request'",
                   d->student, d->exercise, e) ||
           (!e->text[0] && err_set(e, ERR_INPUT, "%s has no request of '%.100s' about %s", s->path,
                                   d->student, d->exercise));
}

static bool insert_decision(struct store *s, const struct decision *d, const char *value,
                            struct err *e) {
    char date[32];
    struct buf former = {0};
    grade_utc_date(date);
    put_former(s, d, &former, e);
    bool ok =
        !e->text[0] &&
        store_exec(s, e,
                   "INSERT INTO decision (student, exercise, kind, line, value, reason, author, "
                   "made_at, former) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                   "tttlttttt", d->student, d->exercise, kind_names[d->kind], (long long)d->line,
                   value, d->reason, d->author, date, buf_str(&former));
    buf_free(&former);
    return ok;
}

static bool check(struct store *s, const struct decision *d, struct err *e) {
    char value[MAX_TEXT_BYTES];
    if (!*d->reason && d->kind != DECISION_comment && !is_of_request(d))
        return err_set(e, ERR_INPUT, "give the reason with --reason; the student's page shows it");
    if (!*d->author) return err_set(e, ERR_INPUT, "say who decides with --author");
    return check_subject(s, d, e) && check_line(s, d, e) && parse_value(d, value, e);
}

/* Runs in a transaction. */
static bool add(struct store *s, const struct decision *d, struct err *e) {
    char value[MAX_TEXT_BYTES];
    return parse_value(d, value, e) && check_seen(s, d, e) && check_request(s, d, e) &&
           check_partner(s, d, e) && moderation_check(s, d, e) && insert_decision(s, d, value, e);
}

bool decision_add_all(struct store *s, const struct decision *list, unsigned n, struct err *e) {
    bool ok = true;
    for (unsigned i = 0; ok && i < n; i++) ok = check(s, &list[i], e);
    if (!ok || !store_begin(s, e)) return false;
    for (unsigned i = 0; ok && i < n; i++) ok = add(s, &list[i], e);
    return store_commit(s, ok, e);
}

bool decision_add(struct store *s, const struct decision *d, struct err *e) {
    return decision_add_all(s, d, 1, e);
}

struct store_rows *decision_query_partners(struct store *s, const char *student, struct err *e) {
    return store_query(s, e,
                       "SELECT DISTINCT o.student FROM entry e JOIN entry o ON o.name = e.name AND "
                       "o.layout = e.layout WHERE e.student = ? AND o.student <> e.student ORDER "
                       "BY o.student",
                       "t", student);
}

/* ---- the history ---- */

static struct store_rows *query_history(struct store *s, struct err *e) {
    return store_query(
        s, e,
        "SELECT made_at, author, student, exercise, kind, CASE line WHEN 0 THEN '' ELSE "
        "CAST(line AS TEXT) END, CASE WHEN value = '' THEN '-' WHEN is_hidden THEN 'hidden' ELSE "
        "value END, CASE WHEN is_hidden THEN '' ELSE former END, CASE WHEN is_hidden THEN '' ELSE "
        "reason END FROM (SELECT d.*, " MODERATION_IS_HIDDEN " AS is_hidden FROM decision d) h "
        "ORDER BY n",
        "");
}

bool decision_export_csv(struct store *s, FILE *f, struct err *e) {
    fputs("made_at,author,student,exercise,kind,line,value,former,reason\r\n", f);
    struct store_rows *q = query_history(s, e);
    while (store_step(s, &q, e)) {
        for (int i = 0; i < store_column_count(q); i++) {
            struct buf cell = {0};
            text_clean_name(&cell, store_column_text(q, i));
            fputs(i ? "," : "", f), export_csv_cell(f, buf_str(&cell));
            buf_free(&cell);
        }
        fputs("\r\n", f);
    }
    return !e->text[0];
}

static void put_part(struct buf *line, const char *label, const char *text) {
    if (*text) buf_printf(line, "%s%s", label, text);
}

static void put_history_line(struct store_rows *q, struct buf *line) {
    buf_printf(line, "%s %s: %s", store_column_text(q, 0), store_column_text(q, 1),
               store_column_text(q, 2));
    put_part(line, " ", export_exercise_name(store_column_text(q, 3)));
    buf_printf(line, " %s", store_column_text(q, 4));
    put_part(line, " to line ", store_column_text(q, 5));
    buf_printf(line, " = %s", store_column_text(q, 6));
    put_part(line, "; before: ", store_column_text(q, 7));
    put_part(line, "; reason: ", store_column_text(q, 8));
}

bool decision_export_text(struct store *s, FILE *f, struct err *e) {
    struct store_rows *q = query_history(s, e);
    while (store_step(s, &q, e)) {
        struct buf line = {0};
        put_history_line(q, &line);
        struct buf clean = {0};
        text_clean_name(&clean, buf_str(&line));
        fprintf(f, "%s\n", buf_str(&clean));
        buf_free(&line), buf_free(&clean);
    }
    return !e->text[0];
}

struct store_rows *decision_query(struct store *s, const char *student, const char *exercise,
                                  struct err *e) {
    return store_query(
        s, e,
        "SELECT kind, line, value, reason, author FROM decided d WHERE kind NOT IN ('moderated', "
        "'blind_score') AND exercise IN (?2, '') AND "
        "(student = ?1 OR (kind = 'comment' AND student = (SELECT submitter FROM gradebook WHERE "
        "student = ?1 AND exercise = ?2))) ORDER BY kind = 'answer', kind, line",
        "tt", student, exercise);
}

/* ---- requests ---- */

struct store_rows *decision_query_requests(struct store *s, const char *student,
                                           const char *exercise, struct err *e) {
    return store_query(
        s, e,
        "SELECT q.made_at, q.student, q.exercise, q.author, q.value, q.next IS NULL AND "
        "coalesce(a.value, '') = '' AS is_open, nullif(a.value, ''), a.author, a.made_at FROM "
        "(SELECT r.*, (SELECT min(n) FROM decision o WHERE o.student = r.student AND o.exercise = "
        "r.exercise AND o.kind = 'request' AND o.n > r.n) AS next FROM decision r WHERE r.kind = "
        "'request' AND r.value <> '') q LEFT JOIN decision a ON a.n = (SELECT max(n) FROM decision "
        "o WHERE o.student = q.student AND o.exercise = q.exercise AND o.kind = 'answer' AND o.n > "
        "q.n AND (q.next IS NULL OR o.n < q.next)) WHERE q.student = coalesce(?1, q.student) AND "
        "q.exercise = coalesce(?2, q.exercise) ORDER BY q.n",
        "tt", student, exercise);
}

/* ---- forgetting ---- */

bool decision_forget(struct store *s, const char *student, long long *result_count, struct err *e) {
    static const char *const statements[] = {
        "CREATE TEMP TABLE gone AS SELECT digest FROM submission WHERE student = ?1 AND digest IS "
        "NOT "
        "NULL EXCEPT SELECT digest FROM submission WHERE student <> ?1",
        "DELETE FROM submission WHERE student = ?1",
        "DELETE FROM decision WHERE student = ?1 OR (kind = 'partner' AND ?1 IN (value, former))",
        "DELETE FROM entry WHERE student = ?1",
        "DELETE FROM intake WHERE student = ?1 OR (student = '' AND (replace(entry, ?1, '') <> "
        "entry OR "
        "replace(entry, (SELECT nullif(name, '') FROM student WHERE id = ?1), '') <> entry))",
        "DELETE FROM student WHERE id = ?1",
        "DELETE FROM result WHERE digest IN (SELECT digest FROM gone) AND ?1 <> ''"};
    if (!has_row(s, "SELECT 1 FROM student WHERE id = ?1 AND ?2 IS NOT NULL", student, "", e))
        return refuse_student(s, student, e);
    bool ok = store_prepare_erase(s, e) && store_begin(s, e);
    if (!ok) return false;
    for (unsigned i = 0; i < sizeof statements / sizeof *statements && ok; i++)
        ok = store_exec(s, e, statements[i], "t", student);
    *result_count = ok ? store_changed_rows(s) : -1;
    ok = ok &&
         store_exec(s, e, "DELETE FROM source WHERE digest IN (SELECT digest FROM gone)", "") &&
         store_exec(s, e, "DELETE FROM variant_check WHERE key NOT IN (SELECT key FROM result)",
                    "") &&
         store_exec(s, e, "DROP TABLE gone", "");
    return store_commit(s, ok, e) && store_erase(s, e);
}
