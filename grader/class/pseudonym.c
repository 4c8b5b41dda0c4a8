/* pseudonym.c — see pseudonym.h. The copy attaches the original store and selects from it, so that
 * a killed copy leaves no name in the file. Rows come in the order of the pseudonyms, because the
 * order of their numbers would show the order of the roster. */
#include "grader/class/pseudonym.h"
#include "common/file.h"
#include "common/hash.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

bool pseudonym_load_key(struct store *s, char key[65], struct err *e) {
    unsigned char bytes[16];
    char drawn[33];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        die("getrandom() returned no random numbers");
    for (unsigned i = 0; i < sizeof bytes; i++) sprintf(drawn + 2 * i, "%02x", bytes[i]);
    if (!store_exec(s, e, "INSERT INTO setting VALUES ('pseudonym_key', ?) ON CONFLICT DO NOTHING",
                    "t", drawn))
        return false;
    struct store_rows *q =
        store_query(s, e, "SELECT value FROM setting WHERE name = 'pseudonym_key'", "");
    if (store_step(s, &q, e)) snprintf(key, 65, "%s", store_column_text(q, 0));
    store_finalize(&q);
    return !e->text[0];
}

void pseudonym_make(const char *key, const char *id, char out[PSEUDONYM_SIZE]) {
    struct hash h;
    char digest[HASH_HEX_SIZE];
    hash_init(&h);
    hash_update_string(&h, key), hash_update_string(&h, id);
    hash_final_hex(&h, digest);
    snprintf(out, PSEUDONYM_SIZE, "S-%.10s", digest);
}

/* ---- copies ---- */

/* A file's name may be the student's; messages and JSON begin lines with it. A compiler's messages
 * quote the source. Two authors of blind scores must stay two. */
static const char *const copy_statements[] = {
    "INSERT INTO setting SELECT name, value FROM other_setting WHERE name = 'seed'",

    "INSERT INTO assignment (one, name, path, deadline, free_days, most_days, penalty, dropped,"
    " tolerance) SELECT one, name, '', deadline, free_days, most_days, penalty, dropped, tolerance"
    " FROM other_assignment",

    "INSERT INTO assigned SELECT * FROM other_assigned",

    "INSERT INTO student (id, name, rostered, entries, doubt, submitted_at, variant)"
    " SELECT p.name, '', rostered, entries, CASE doubt WHEN '' THEN '' ELSE 'withheld' END,"
    " submitted_at, variant FROM other_student o JOIN pseudonym p ON p.student = o.id ORDER BY 1",

    "INSERT INTO result (key, exercise, digest, file, seed, device, grader, nvcc, book, counted,"
    " jail, graded_at, seconds, verdict, score, max_score, speed_kind, vs_solution, reason,"
    " report, json, terms)"
    " SELECT key, exercise, '', 'submission.cu', seed, device, grader, nvcc, book, counted,"
    " jail, graded_at, seconds, verdict, score, max_score, speed_kind, vs_solution,"
    " CASE verdict WHEN 'CE' THEN 'does not compile'"
    "  ELSE replace(reason, file, 'submission.cu') END, '',"
    " replace((SELECT json FROM unlogged u WHERE u.key = o.key), file, 'submission.cu'), terms"
    " FROM other_result o WHERE key IN (SELECT key FROM other_submission UNION SELECT other_key"
    " FROM other_variant_check) ORDER BY key",

    "INSERT INTO variant_check SELECT * FROM other_variant_check",

    "INSERT INTO submission (student, exercise, state, file, why, key)"
    " SELECT p.name, exercise, state, CASE file WHEN '' THEN '' ELSE 'submission.cu' END,"
    " CASE why WHEN '' THEN '' ELSE 'withheld' END, key"
    " FROM other_submission o JOIN pseudonym p ON p.student = o.student ORDER BY 1, 2",

    "INSERT INTO decision (student, exercise, kind, line, value, reason, author, made_at, former)"
    " SELECT p.name, exercise, kind, 0,"
    " CASE WHEN kind = 'partner' THEN coalesce(v.name, '') ELSE value END,"
    " 'withheld', CASE WHEN kind = 'blind_score' THEN 'scorer ' || CAST((SELECT count(DISTINCT"
    " author) FROM other_decision b WHERE b.student = o.student AND b.exercise = o.exercise AND"
    " b.kind = o.kind AND b.author <= o.author) AS TEXT) ELSE 'withheld' END, made_at,"
    " CASE WHEN kind = 'partner' THEN coalesce(f.name, '') ELSE former END"
    " FROM other_decision o JOIN pseudonym p ON p.student = o.student"
    " LEFT JOIN pseudonym v ON v.student = o.value LEFT JOIN pseudonym f ON f.student = o.former"
    " WHERE kind IN ('score', 'excused', 'deadline', 'partner', 'moderated', 'blind_score')"
    " ORDER BY n",
};

/* Fills a temporary table with the pseudonym of each student, and of each partner who was forgotten
 * since. */
static bool list_pseudonyms(struct store *copy, const char *key, struct err *e) {
    bool ok = store_exec(copy, e, "CREATE TEMP TABLE pseudonym (student TEXT, name TEXT)", "");
    struct store_rows *q =
        ok ? store_query(
                 copy, e,
                 "SELECT id FROM other_student UNION SELECT value FROM other_decision WHERE "
                 "kind = 'partner' AND value <> '' UNION SELECT former FROM other_decision "
                 "WHERE kind = 'partner' AND former <> ''",
                 "")
           : NULL;
    while (ok && store_step(copy, &q, e)) {
        char name[PSEUDONYM_SIZE];
        pseudonym_make(key, store_column_text(q, 0), name);
        ok = store_exec(copy, e, "INSERT INTO pseudonym VALUES (?, ?)", "tt",
                        store_column_text(q, 0), name);
    }
    store_finalize(&q);
    return ok && !e->text[0];
}

/* Fills a temporary table with the JSON of each result, without the compiler's log. */
static bool list_unlogged(struct store *copy, struct err *e) {
    bool ok = store_exec(copy, e, "CREATE TEMP TABLE unlogged (key TEXT, json TEXT)", "");
    struct store_rows *q =
        ok ? store_query(copy, e, "SELECT key, json FROM other_result", "") : NULL;
    while (ok && store_step(copy, &q, e)) {
        json_t *o = json_loads(store_column_text(q, 1), 0, NULL);
        json_object_set_new(o, "log", json_string(""));
        char *text = o ? json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(12)) : xstrdup("{}");
        ok = store_exec(copy, e, "INSERT INTO unlogged VALUES (?, ?)", "tt",
                        store_column_text(q, 0), text);
        json_decref(o), free(text);
    }
    store_finalize(&q);
    return ok && !e->text[0];
}

static bool copy_tables(struct store *copy, const char *key, struct err *e) {
    bool ok = store_begin(copy, e);
    if (!ok) return false;
    ok = list_pseudonyms(copy, key, e) && list_unlogged(copy, e) &&
         store_exec(copy, e, "CREATE INDEX pseudonym_student ON pseudonym (student)", "") &&
         store_exec(copy, e, "CREATE INDEX unlogged_key ON unlogged (key)", "");
    for (unsigned i = 0; i < sizeof copy_statements / sizeof *copy_statements && ok; i++)
        ok = store_exec(copy, e, copy_statements[i], "");
    return store_commit(copy, ok, e);
}

/* Returns false if the store has students: a copy must be a new file, or an empty database. */
static bool check_empty(struct store *copy, struct err *e) {
    long long n = store_query_int(copy, e, "SELECT count(*) FROM student");
    return n == 0 || (n > 0 && err_set(e, ERR_INPUT, "%s has students already", copy->path));
}

bool pseudonym_copy_store(struct store *s, const char *path, struct err *e) {
    struct store copy;
    char key[65];
    if (file_exists(path)) return err_set(e, ERR_INPUT, "%s exists already", path);
    if (!pseudonym_load_key(s, key, e) || !store_open(&copy, path, true, e)) return false;
    bool ok = check_empty(&copy, e) && store_attach(&copy, s->location, e);
    if (ok) ok = store_detach(&copy, copy_tables(&copy, key, e), e);
    store_close(&copy);
    return ok;
}
