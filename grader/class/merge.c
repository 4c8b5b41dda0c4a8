/* merge.c — the content of one store into another (class.h): results by their keys, so that what
 * two machines both graded is there once. Equal keys mean equal inputs of every kind: results that
 * differ then are a fault, which is found here. */
#include "grader/class/class.h"

#include <stdio.h>

static const char differing[] = "SELECT r.exercise, r.digest, r.verdict, o.verdict FROM result r "
                                "JOIN other.result o ON o.key = r.key WHERE "
                                "r.verdict <> 'IE'"
                                " AND o.verdict <> 'IE' AND (r.verdict <> o.verdict OR r.score IS "
                                "NOT o.score OR r.json <> o.json) LIMIT 1";
static const char conflicting[] =
    "SELECT s.student, s.exercise FROM submission s JOIN other.submission o ON o.student "
    "= s.student AND o.exercise = s.exercise"
    " WHERE s.digest IS NOT o.digest LIMIT 1";
/* Marks on different inputs are no gradebook. A store that nothing was graded in has no seed. */
static const char other_seed[] = "SELECT s.value, o.value FROM setting s JOIN other.setting o ON "
                                 "o.name = s.name WHERE s.name = 'seed' AND "
                                 "s.value <> o.value";

static bool refuse(struct store *s, const char *sql, const char *path, const char *what,
                   struct err *e) {
    sqlite3_stmt *q = store_ask(s, e, sql, "");
    bool found = q && store_next(s, &q, e);
    if (found)
        err_set(e, ERR_INPUT, "%s: %s: %.100s, %.100s", path, what, store_text(q, 0),
                store_text(q, 1));
    store_end(&q);
    return found || e->text[0];
}

static bool copy(struct store *s, struct err *e) {
    static const char *const steps[] = {
        "INSERT OR IGNORE INTO setting SELECT * FROM other.setting",
        "INSERT INTO intake (student, entry, file, exercise, state, why) SELECT "
        "student, entry, file, exercise, state, why FROM"
        " other.intake WHERE student NOT IN (SELECT id FROM student) AND (student <> "
        "'' OR NOT EXISTS (SELECT 1 FROM intake))",
        "INSERT OR IGNORE INTO assignment SELECT * FROM other.assignment",
        "INSERT OR IGNORE INTO assigned SELECT * FROM other.assigned",
        "INSERT OR IGNORE INTO student SELECT * FROM other.student",
        "INSERT OR IGNORE INTO source SELECT * FROM other.source",
        "INSERT INTO submission (student, exercise, state, digest, file, why, key) "
        "SELECT student, exercise, state, digest, file, why,"
        " key FROM other.submission WHERE true ON CONFLICT (student, exercise) DO "
        "UPDATE SET key = coalesce(key, excluded.key)",
        "INSERT OR IGNORE INTO result SELECT * FROM other.result WHERE verdict <> 'IE'",
        "INSERT OR REPLACE INTO result SELECT * FROM other.result WHERE verdict <> "
        "'IE' AND key IN (SELECT key FROM result WHERE"
        " verdict = 'IE')",
        "INSERT OR IGNORE INTO result SELECT * FROM other.result"};
    bool ok = true;
    for (unsigned i = 0; i < sizeof steps / sizeof *steps && ok; i++)
        ok = store_do(s, e, steps[i], "");
    return ok;
}

bool class_merge(struct store *s, const char *from, long long *twice, long long *added,
                 struct err *e) {
    struct store
        other; /* opened once by itself: a file that is no store is refused before it is attached */
    if (!store_open(&other, from, false, e)) return false;
    store_close(&other);
    if (!store_do(s, e, "ATTACH ? AS other", "t", from)) return false;
    bool ok = store_begin(s, e);
    if (ok) {
        *twice = store_number(s, e,
                              "SELECT count(*) FROM result r JOIN other.result o ON o.key = r.key");
        *added = store_number(s, e, "SELECT count(*) FROM other.result") - *twice;
        ok = !refuse(s, other_seed, from,
                     "it was graded with another seed; give all parts the same --seed", e) &&
             !refuse(s, differing, from,
                     "the same submission has another result there, with the same grader, seed and "
                     "compiler",
                     e) &&
             !refuse(s, conflicting, from, "another file was handed in there", e) && copy(s, e);
        ok = store_commit(s, ok, e);
    }
    struct err ignored = {0};
    return store_do(s, ok ? e : &ignored, "DETACH other", "") && ok;
}
