/* merge.c — copies one store into another (class.h). It joins results by their keys, so that what
 * two machines both graded appears once. Equal keys mean equal inputs; if two results of one key
 * differ, the merge fails. */
#include "grader/class/class.h"

#include <stdio.h>

/* clang-format off: a clause a line */
static const char differing_results_sql[] = "SELECT r.exercise, r.digest, r.verdict, o.verdict"
                                            " FROM result r JOIN other_result o ON o.key = r.key"
                                            " WHERE r.verdict <> 'IE' AND o.verdict <> 'IE'"
                                            " AND (r.verdict <> o.verdict OR coalesce(r.score, -1) "
                                            "<> coalesce(o.score, -1) OR r.json <> o.json)"
                                            " LIMIT 1";
static const char conflicting_submissions_sql[] =
    "SELECT s.student, s.exercise"
    " FROM submission s JOIN other_submission o"
    " ON o.student = s.student AND o.exercise = s.exercise"
    " WHERE coalesce(s.digest, '') <> coalesce(o.digest, '')"
    " LIMIT 1";
/* One gradebook requires one seed. A store in which nothing was graded has no seed. */
static const char seed_mismatch_sql[] = "SELECT s.value, o.value"
                                        " FROM setting s JOIN other_setting o ON o.name = s.name"
                                        " WHERE s.name = 'seed' AND s.value <> o.value";
/* The order matters. Intake rows come before `student`, because only students that the store lacks
 * bring theirs. A result other than IE replaces one that is IE. */
#define COPY(table) \
    "INSERT INTO " table " SELECT * FROM other_" table " WHERE true ON CONFLICT DO NOTHING"
static const char *const copy_statements[] = {
    COPY("setting"),

    "INSERT INTO intake (student, entry, file, exercise, state, why)"
    " SELECT student, entry, file, exercise, state, why FROM other_intake"
    " WHERE student NOT IN (SELECT id FROM student)"
    " AND (student <> '' OR NOT EXISTS (SELECT 1 FROM intake))",

    "INSERT INTO entry SELECT * FROM other_entry WHERE student NOT IN (SELECT id FROM student)",
    COPY("assignment"),
    COPY("assigned"),
    COPY("student"),
    COPY("source"),
    "INSERT INTO decision (student, exercise, kind, line, value, reason, author, made_at, former)"
    " SELECT student, exercise, kind, line, value, reason, author, made_at, former"
    " FROM other_decision"
    " EXCEPT SELECT student, exercise, kind, line, value, reason, author, made_at, former"
    " FROM decision ORDER BY made_at",

    "INSERT INTO submission (student, exercise, state, digest, file, why, key)"
    " SELECT student, exercise, state, digest, file, why, key FROM other_submission WHERE true"
    " ON CONFLICT (student, exercise) DO UPDATE SET key = coalesce(submission.key, excluded.key)",

    "DELETE FROM result WHERE verdict = 'IE'"
    " AND key IN (SELECT key FROM other_result WHERE verdict <> 'IE')",
    COPY("result"),
    COPY("variant_check"),
};
/* clang-format on */

static bool has_conflict(struct store *s, const char *sql, const char *path,
                         const char *description, struct err *e) {
    struct store_rows *q = store_query(s, e, sql, "");
    bool found = q && store_step(s, &q, e);
    if (found)
        err_set(e, ERR_INPUT, "%s: %s: %.100s, %.100s", path, description, store_column_text(q, 0),
                store_column_text(q, 1));
    store_finalize(&q);
    return found || e->text[0];
}

static bool copy_tables(struct store *s, struct err *e) {
    bool ok = true;
    for (unsigned i = 0; i < sizeof copy_statements / sizeof *copy_statements && ok; i++)
        ok = store_exec(s, e, copy_statements[i], "");
    return ok;
}

bool class_merge(struct store *s, const char *from, long long *duplicates, long long *added,
                 struct err *e) {
    char shown[512];
    store_shown_name(from, shown, sizeof shown);
    if (!store_attach(s, from, e)) return false;
    bool ok = store_begin(s, e);
    if (ok) {
        *duplicates = store_query_int(
            s, e, "SELECT count(*) FROM result r JOIN other_result o ON o.key = r.key");
        *added = store_query_int(s, e, "SELECT count(*) FROM other_result") - *duplicates;
        ok = !has_conflict(s, seed_mismatch_sql, shown,
                           "it was graded with another seed; grade all shards with the same --seed",
                           e) &&
             !has_conflict(
                 s, differing_results_sql, shown,
                 "it has a different result of the same submission, with the same grader, seed and "
                 "compiler",
                 e) &&
             !has_conflict(s, conflicting_submissions_sql, shown,
                           "it has a different file of the same submission", e) &&
             copy_tables(s, e);
        ok = store_commit(s, ok, e);
    }
    return store_detach(s, ok, e);
}
