/* moderation.c — see moderation.h. Nobody sees a blind score of somebody else before there are two,
 * and then nobody may change one: it would no longer be blind. */
#include "grader/class/moderation.h"

#include <string.h>

/* Writes the name that a query yields. Returns false if it yields none. */
static bool read_name(struct store *s, struct store_rows *q, char out[128], struct err *e) {
    bool found = store_step(s, &q, e);
    if (found) snprintf(out, 128, "%s", store_column_text(q, 0));
    store_finalize(&q);
    return found;
}

/* Returns the number of blind scores of the submission; -1 if it is not in moderation. */
static int count_blind_scores(struct store *s, const struct decision *d, struct err *e) {
    struct store_rows *q =
        store_query(s, e, "SELECT blind_scores FROM moderation WHERE student = ? AND exercise = ?",
                    "tt", d->student, d->exercise);
    int n = store_step(s, &q, e) ? store_column_int(q, 0) : -1;
    store_finalize(&q);
    return n;
}

static bool check_blind_score(struct store *s, const struct decision *d, struct err *e) {
    char author[128];
    int n = count_blind_scores(s, d, e);
    if (e->text[0]) return false;
    if (n < 0)
        return err_set(
            e, ERR_INPUT,
            "'%.100s' is not in moderation for %s; begin with --moderated yes, about the "
            "student who handed in",
            d->student, d->exercise);
    if (n >= 2)
        return err_set(e, ERR_INPUT,
                       "both blind scores are there; a third person decides with --score");
    bool has_score = read_name(
        s,
        store_query(s, e,
                    "SELECT author FROM decided WHERE student = ? AND exercise = ? AND kind = "
                    "'score'",
                    "tt", d->student, d->exercise),
        author, e);
    return !e->text[0] &&
           (!has_score ||
            err_set(e, ERR_INPUT, "%.100s decided the score already; withdraw that first", author));
}

static bool check_score(struct store *s, const struct decision *d, struct err *e) {
    char author[128];
    bool has_scored = read_name(
        s,
        store_query(s, e,
                    "SELECT k.author FROM gradebook g JOIN moderation m ON m.student = g.submitter "
                    "AND m.exercise = g.exercise JOIN decided k ON k.student = m.student AND "
                    "k.exercise = m.exercise AND k.kind = 'blind_score' WHERE g.student = ? AND "
                    "g.exercise = ? AND k.author = ?",
                    "ttt", d->student, d->exercise, d->author),
        author, e);
    return !e->text[0] &&
           (!has_scored ||
            err_set(e, ERR_INPUT, "%.100s gave one of the blind scores; a third person decides",
                    author));
}

/* A partner's submission is moderated once, for the student who handed in. */
static bool check_submitter(struct store *s, const struct decision *d, struct err *e) {
    char submitter[128];
    bool has_partner = read_name(
        s,
        store_query(s, e,
                    "SELECT value FROM decided WHERE student = ? AND exercise IN (?, '') AND kind "
                    "= 'partner'",
                    "tt", d->student, d->exercise),
        submitter, e);
    return !e->text[0] && (!has_partner || !strcmp(d->value, "-") ||
                           err_set(e, ERR_INPUT, "%.100s handed in for '%.100s'; moderate that one",
                                   submitter, d->student));
}

bool moderation_check(struct store *s, const struct decision *d, struct err *e) {
    if (d->kind == DECISION_moderated) return check_submitter(s, d, e);
    if (d->kind == DECISION_blind_score) return check_blind_score(s, d, e);
    return d->kind != DECISION_score || check_score(s, d, e);
}

void moderation_put_scores(struct store *s, const struct decision *d, struct buf *out,
                           struct err *e) {
    struct store_rows *q = store_query(s, e,
                                       "SELECT lowest, highest FROM moderation WHERE student = ? "
                                       "AND exercise = ? AND blind_scores = 2",
                                       "tt", d->student, d->exercise);
    if (store_step(s, &q, e))
        buf_printf(out, ", blind scores %.2f and %.2f", store_column_double(q, 0),
                   store_column_double(q, 1));
    store_finalize(&q);
}

struct store_rows *moderation_query(struct store *s, const char *person, const char *student,
                                    const char *exercise, struct err *e) {
    return store_query(
        s, e,
        "SELECT m.student, m.exercise, m.blind_scores, NOT EXISTS (SELECT 1 FROM decided k WHERE "
        "k.student = m.student AND k.exercise = m.exercise AND k.kind = 'blind_score' AND "
        "k.author = ?1) FROM moderation m JOIN gradebook g ON g.student = m.student AND g.exercise "
        "= m.exercise WHERE g.state = 'in moderation' AND m.student = coalesce(?2, m.student) AND "
        "m.exercise = coalesce(?3, m.exercise) ORDER BY 1, 2",
        "ttt", person, student, exercise);
}
