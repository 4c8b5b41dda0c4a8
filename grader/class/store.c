/* store.c — see store.h. Journal: WAL, so that readers and one writer do not wait for each other;
 * synchronous=FULL, so that what was committed outlives a power cut. */
#include "grader/class/store.h"
#include "common/file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEMA = 2, WAIT_MS = 60000 };

static const struct {
    int version;
    const char *sql;
} schema[] = {
#define TABLE(version, text) {version, text},
#include "grader/class/store.def"
#undef TABLE
};

static bool failed(struct store *s, struct err *e) {
    int code = s->db ? sqlite3_errcode(s->db) : SQLITE_NOMEM;
    const char *more = code == SQLITE_FULL
                           ? "; make room and run again: all that was committed is there"
                       : code == SQLITE_BUSY   ? "; another program holds it for more than a minute"
                       : code == SQLITE_NOTADB ? "; it is no store of the grader"
                                               : "";
    return err_set(e, code == SQLITE_NOTADB || code == SQLITE_CANTOPEN ? ERR_INPUT : ERR_SYSTEM,
                   "%s: %s%s", s->path, s->db ? sqlite3_errmsg(s->db) : "out of memory", more);
}

/* ---- statements ---- */

static bool bind(sqlite3_stmt *q, const char *letters, va_list ap) {
    int code = SQLITE_OK;
    for (int i = 1; letters[i - 1] && code == SQLITE_OK; i++) {
        char letter = letters[i - 1];
        if (letter == 't')
            code = sqlite3_bind_text(q, i, va_arg(ap, const char *), -1, SQLITE_TRANSIENT);
        else if (letter == 'l') code = sqlite3_bind_int64(q, i, va_arg(ap, long long));
        else if (letter == 'f') code = sqlite3_bind_double(q, i, va_arg(ap, double));
        else if (letter == 'b') {
            const struct buf *b = va_arg(ap, const struct buf *);
            code = sqlite3_bind_blob64(q, i, buf_str(b), b->size, SQLITE_TRANSIENT);
        }
    }
    return code == SQLITE_OK;
}

static sqlite3_stmt *ask(struct store *s, struct err *e, const char *sql, const char *letters,
                         va_list ap) {
    sqlite3_stmt *q = NULL;
    bool ok = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) == SQLITE_OK && bind(q, letters, ap);
    if (!ok) failed(s, e), sqlite3_finalize(q);
    return ok ? q : NULL;
}

sqlite3_stmt *store_ask(struct store *s, struct err *e, const char *sql, const char *letters, ...) {
    va_list ap;
    va_start(ap, letters);
    sqlite3_stmt *q = ask(s, e, sql, letters, ap);
    va_end(ap);
    return q;
}

bool store_next(struct store *s, sqlite3_stmt **q, struct err *e) {
    int code = *q ? sqlite3_step(*q) : SQLITE_DONE;
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) failed(s, e);
    store_end(q);
    return false;
}

void store_end(sqlite3_stmt **q) {
    sqlite3_finalize(*q);
    *q = NULL;
}

bool store_do(struct store *s, struct err *e, const char *sql, const char *letters, ...) {
    va_list ap;
    va_start(ap, letters);
    sqlite3_stmt *q = ask(s, e, sql, letters, ap);
    va_end(ap);
    int code = SQLITE_ROW;
    while (q && code == SQLITE_ROW) code = sqlite3_step(q);
    bool ok = q && code == SQLITE_DONE;
    if (q && !ok) failed(s, e);
    sqlite3_finalize(q);
    return ok;
}

const char *store_text(sqlite3_stmt *q, int column) {
    const char *s = (const char *)sqlite3_column_text(q, column);
    return s ? s : "";
}

long long store_number(struct store *s, struct err *e, const char *sql) {
    sqlite3_stmt *q = store_ask(s, e, sql, "");
    long long n = store_next(s, &q, e) ? sqlite3_column_int64(q, 0) : -1;
    store_end(&q);
    return n;
}

/* ---- transactions ---- */

bool store_begin(struct store *s, struct err *e) { return store_do(s, e, "BEGIN IMMEDIATE", ""); }

bool store_commit(struct store *s, bool ok, struct err *e) {
    ok = ok && store_do(s, e, "COMMIT", "");
    if (!ok)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL); /* where SQLite has not done so itself */
    return ok;
}

/* ---- opening ---- */

static bool make_tables(struct store *s, struct err *e) {
    bool ok = store_begin(s, e);
    if (!ok) return false;
    long long version = store_number(s, e, "PRAGMA user_version");
    ok = version >= 0;
    for (unsigned i = 0; ok && i < sizeof schema / sizeof *schema; i++)
        if (schema[i].version > version) ok = store_do(s, e, schema[i].sql, "");
    char set[64];
    snprintf(set, sizeof set, "PRAGMA user_version = %d", SCHEMA);
    if (ok && version < SCHEMA) ok = store_do(s, e, set, "");
    if (ok && version > SCHEMA)
        ok = err_set(e, ERR_INPUT, "%s: made by a newer grader (schema %lld); use that one",
                     s->path, version);
    return store_commit(s, ok, e);
}

bool store_open(struct store *s, const char *path, bool create, struct err *e) {
    *s = (struct store){0};
    snprintf(s->path, sizeof s->path, "%s", path ? path : "the results of this run");
    if (path && !create && !file_exists(path))
        return err_set(e, ERR_INPUT, "%s: there is no such store", path);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (sqlite3_open_v2(path ? path : "", &s->db, flags, NULL) != SQLITE_OK)
        return failed(s, e), store_close(s), false;
    sqlite3_busy_timeout(s->db, WAIT_MS);
    bool ok = (!path || store_do(s, e, "PRAGMA journal_mode = WAL", "")) &&
              store_do(s, e, path ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = OFF", "") &&
              store_do(s, e, "PRAGMA foreign_keys = ON", "") && make_tables(s, e);
    if (!ok) store_close(s);
    return ok;
}

void store_close(struct store *s) {
    sqlite3_close(s->db);
    s->db = NULL;
}
