/* store.c — see store.h. The journal mode is WAL, so that readers and a writer don't wait for each
 * other. With synchronous=FULL, commits survive a power cut. The cache has 32 MiB: rows are found
 * by digests, so those of a large class touch every page. */
#include "grader/class/store.h"
#include "common/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SCHEMA_VERSION = 5, BUSY_TIMEOUT_MS = 60000 };

static const struct {
    int version;
    const char *sql;
} migrations[] = {
#define MIGRATION(version, text) {version, text},
#include "grader/class/store.def"
#undef MIGRATION
};

/* Returns true if the file can't be opened for a reason that the path has, not the machine. */
static bool is_wrong_path(struct store *s) {
    int error = s->db ? sqlite3_system_errno(s->db) : 0;
    return error != ENOSPC && error != EIO && error != EMFILE && error != ENFILE &&
           error != ENOMEM && error != EDQUOT;
}

static bool set_sqlite_error(struct store *s, struct err *e) {
    int code = s->db ? sqlite3_errcode(s->db) : SQLITE_NOMEM;
    const char *hint = code == SQLITE_FULL
                           ? "; free disk space and run again: no committed result is lost"
                       : code == SQLITE_BUSY   ? "; another program locked it for over a minute"
                       : code == SQLITE_NOTADB ? "; it is not a store of the grader"
                                               : "";
    bool is_input = code == SQLITE_NOTADB || (code == SQLITE_CANTOPEN && is_wrong_path(s));
    return err_set(e, is_input ? ERR_INPUT : ERR_SYSTEM, "%s: %s%s", s->path,
                   s->db ? sqlite3_errmsg(s->db) : "out of memory", hint);
}

/* ---- statements ---- */

static bool bind_args(sqlite3_stmt *q, const char *types, va_list ap) {
    int code = SQLITE_OK;
    for (int i = 1; types[i - 1] && code == SQLITE_OK; i++) {
        char type = types[i - 1];
        if (type == 't')
            code = sqlite3_bind_text(q, i, va_arg(ap, const char *), -1, SQLITE_TRANSIENT);
        else if (type == 'l') code = sqlite3_bind_int64(q, i, va_arg(ap, long long));
        else if (type == 'f') code = sqlite3_bind_double(q, i, va_arg(ap, double));
        else if (type == 'b') {
            const struct buf *b = va_arg(ap, const struct buf *);
            code = sqlite3_bind_blob64(q, i, buf_str(b), b->size, SQLITE_TRANSIENT);
        }
    }
    return code == SQLITE_OK;
}

static sqlite3_stmt *prepare(struct store *s, struct err *e, const char *sql, const char *types,
                             va_list ap) {
    sqlite3_stmt *q = NULL;
    bool ok = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) == SQLITE_OK && bind_args(q, types, ap);
    if (!ok) set_sqlite_error(s, e), sqlite3_finalize(q);
    return ok ? q : NULL;
}

sqlite3_stmt *store_query(struct store *s, struct err *e, const char *sql, const char *types, ...) {
    va_list ap;
    va_start(ap, types);
    sqlite3_stmt *q = prepare(s, e, sql, types, ap);
    va_end(ap);
    return q;
}

bool store_step(struct store *s, sqlite3_stmt **q, struct err *e) {
    int code = *q ? sqlite3_step(*q) : SQLITE_DONE;
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) set_sqlite_error(s, e);
    store_finalize(q);
    return false;
}

void store_finalize(sqlite3_stmt **q) {
    sqlite3_finalize(*q);
    *q = NULL;
}

bool store_exec(struct store *s, struct err *e, const char *sql, const char *types, ...) {
    va_list ap;
    va_start(ap, types);
    sqlite3_stmt *q = prepare(s, e, sql, types, ap);
    va_end(ap);
    int code = SQLITE_ROW;
    while (q && code == SQLITE_ROW) code = sqlite3_step(q);
    bool ok = q && code == SQLITE_DONE;
    if (q && !ok) set_sqlite_error(s, e);
    sqlite3_finalize(q);
    return ok;
}

const char *store_column_text(sqlite3_stmt *q, int column) {
    const char *s = (const char *)sqlite3_column_text(q, column);
    return s ? s : "";
}

long long store_query_int(struct store *s, struct err *e, const char *sql) {
    sqlite3_stmt *q = store_query(s, e, sql, "");
    long long n = store_step(s, &q, e) ? sqlite3_column_int64(q, 0) : -1;
    store_finalize(&q);
    return n;
}

/* ---- transactions ---- */

bool store_begin(struct store *s, struct err *e) { return store_exec(s, e, "BEGIN IMMEDIATE", ""); }

bool store_commit(struct store *s, bool ok, struct err *e) {
    ok = ok && store_exec(s, e, "COMMIT", "");
    if (!ok)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL); /* SQLite may have done it already. */
    return ok;
}

/* ---- opening ---- */

static bool migrate_schema(struct store *s, struct err *e) {
    bool ok = store_begin(s, e);
    if (!ok) return false;
    long long version = store_query_int(s, e, "PRAGMA user_version");
    ok = version >= 0;
    for (unsigned i = 0; ok && i < sizeof migrations / sizeof *migrations; i++)
        if (migrations[i].version > version) ok = store_exec(s, e, migrations[i].sql, "");
    char pragma[64];
    snprintf(pragma, sizeof pragma, "PRAGMA user_version = %d", SCHEMA_VERSION);
    if (ok && version < SCHEMA_VERSION) ok = store_exec(s, e, pragma, "");
    if (ok && version > SCHEMA_VERSION)
        ok = err_set(e, ERR_INPUT, "%s: made by a newer grader (schema %lld); use that one",
                     s->path, version);
    return store_commit(s, ok, e);
}

/* Returns true if this process may write neither the store nor the journal beside it. SQLite needs
 * both, even to read. */
static bool is_write_protected(const char *path) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    return file_exists(path) && (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) ||
                                 faccessat(AT_FDCWD, *folder ? folder : "/", W_OK, AT_EACCESS));
}

bool store_open(struct store *s, const char *path, bool create, struct err *e) {
    *s = (struct store){0};
    snprintf(s->path, sizeof s->path, "%s", path ? path : "the results of this run");
    if (path && !create && !file_exists(path))
        return err_set(e, ERR_INPUT, "%s: there is no such store", path);
    if (path && is_write_protected(path))
        return err_set(e, ERR_INPUT,
                       "%s: you may not write the store or its folder, and SQLite keeps a journal "
                       "there even to read; copy the store to a folder of yours",
                       path);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (sqlite3_open_v2(path ? path : "", &s->db, flags, NULL) != SQLITE_OK)
        return set_sqlite_error(s, e), store_close(s), false;
    sqlite3_busy_timeout(s->db, BUSY_TIMEOUT_MS);
    bool ok =
        (!path || store_exec(s, e, "PRAGMA journal_mode = WAL", "")) &&
        store_exec(s, e, path ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = OFF", "") &&
        store_exec(s, e, "PRAGMA cache_size = -32768", "") &&
        store_exec(s, e, "PRAGMA foreign_keys = ON", "") && migrate_schema(s, e);
    if (!ok) store_close(s);
    return ok;
}

void store_close(struct store *s) {
    sqlite3_close(s->db);
    s->db = NULL;
}

/* ---- two stores ---- */

bool store_attach(struct store *s, const char *path, struct err *e) {
    struct store other;
    if (!store_open(&other, path, false, e)) return false;
    store_close(&other);
    return store_exec(s, e, "ATTACH ? AS other", "t", path);
}

bool store_detach(struct store *s, bool ok, struct err *e) {
    struct err ignored = {0};
    return store_exec(s, ok ? e : &ignored, "DETACH other", "") && ok;
}
