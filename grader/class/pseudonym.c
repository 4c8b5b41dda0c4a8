/* pseudonym.c — see pseudonym.h. The copy attaches the original store and selects from it, so that
 * a killed copy leaves no name in the file. Rows come in the order of the pseudonyms, because the
 * order of their numbers would show the order of the roster. */
#include "grader/class/pseudonym.h"
#include "common/file.h"
#include "common/hash.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

bool pseudonym_load_key(struct store *s, char key[65], struct err *e) {
    unsigned char bytes[16];
    char drawn[33];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        die("getrandom() returned no random numbers");
    for (unsigned i = 0; i < sizeof bytes; i++) sprintf(drawn + 2 * i, "%02x", bytes[i]);
    if (!store_exec(s, e, "INSERT OR IGNORE INTO setting VALUES ('pseudonym_key', ?)", "t", drawn))
        return false;
    sqlite3_stmt *q =
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
 * quote the source. */
static const char *const copy_statements[] = {
    "INSERT INTO setting SELECT name, value FROM other.setting WHERE name = 'seed'",

    "INSERT INTO assignment (one, name, path, deadline, free_days, most_days, penalty, dropped)"
    " SELECT one, name, '', deadline, free_days, most_days, penalty, dropped"
    " FROM other.assignment",

    "INSERT INTO assigned SELECT * FROM other.assigned",

    "INSERT INTO student (id, name, rostered, entries, doubt, submitted_at)"
    " SELECT pseudonym(id), '', rostered, entries,"
    " CASE doubt WHEN '' THEN '' ELSE 'withheld' END, submitted_at FROM other.student ORDER BY 1",

    "INSERT INTO result (key, exercise, digest, file, seed, device, grader, nvcc, book, counted,"
    " jail, graded_at, seconds, verdict, score, max_score, speed_kind, vs_solution, reason,"
    " report, json, terms)"
    " SELECT key, exercise, '', 'submission.cu', seed, device, grader, nvcc, book, counted,"
    " jail, graded_at, seconds, verdict, score, max_score, speed_kind, vs_solution,"
    " CASE verdict WHEN 'CE' THEN 'does not compile'"
    "  ELSE replace(reason, file, 'submission.cu') END, '',"
    " replace(json_set(json, '$.log', ''), file, 'submission.cu'), terms"
    " FROM other.result WHERE key IN (SELECT key FROM other.submission) ORDER BY key",

    "INSERT INTO submission (student, exercise, state, file, why, key)"
    " SELECT pseudonym(student), exercise, state,"
    " CASE file WHEN '' THEN '' ELSE 'submission.cu' END,"
    " CASE why WHEN '' THEN '' ELSE 'withheld' END, key FROM other.submission ORDER BY 1, 2",

    "INSERT INTO decision (student, exercise, kind, line, value, reason, author, made_at, former)"
    " SELECT pseudonym(student), exercise, kind, 0,"
    " CASE WHEN kind = 'partner' AND value <> '' THEN pseudonym(value) ELSE value END,"
    " 'withheld', 'withheld', made_at,"
    " CASE WHEN kind = 'partner' AND former <> '' THEN pseudonym(former) ELSE former END"
    " FROM other.decision WHERE kind IN ('score', 'excused', 'deadline', 'partner') ORDER BY n",
};

static void make_in_sql(sqlite3_context *c, int n, sqlite3_value **values) {
    char name[PSEUDONYM_SIZE];
    const char *id = (const char *)sqlite3_value_text(values[0]);
    (void)n;
    pseudonym_make(sqlite3_user_data(c), id ? id : "", name);
    sqlite3_result_text(c, name, -1, SQLITE_TRANSIENT);
}

static bool copy_tables(struct store *copy, struct err *e) {
    bool ok = store_begin(copy, e);
    if (!ok) return false;
    for (unsigned i = 0; i < sizeof copy_statements / sizeof *copy_statements && ok; i++)
        ok = store_exec(copy, e, copy_statements[i], "");
    return store_commit(copy, ok, e);
}

bool pseudonym_copy_store(struct store *s, const char *path, struct err *e) {
    struct store copy;
    char key[65];
    if (file_exists(path)) return err_set(e, ERR_INPUT, "%s exists already", path);
    if (!pseudonym_load_key(s, key, e) || !store_open(&copy, path, true, e)) return false;
    bool ok = sqlite3_create_function(copy.db, "pseudonym", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                      key, make_in_sql, NULL, NULL) == SQLITE_OK ||
              err_set(e, ERR_SYSTEM, "%s: out of memory", path);
    ok = ok && store_attach(&copy, s->path, e);
    if (ok) ok = store_detach(&copy, copy_tables(&copy, e), e);
    store_close(&copy);
    return ok;
}
