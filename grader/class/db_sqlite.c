/* db_sqlite.c — a store in a file; see db.h. The journal mode is WAL, so that readers and a writer
 * don't wait for each other. With synchronous=FULL, commits survive a power cut. The cache has
 * 32 MiB: rows are found by digests, so those of a large class touch every page. */
#include "common/file.h"
#include "grader/class/db.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUSY_TIMEOUT_MS = 60000 };

struct sqlite_db {
    struct db base;
    sqlite3 *handle;
};
struct sqlite_rows {
    struct store_rows base;
    sqlite3_stmt *statement;
};

static sqlite3 *handle_of(struct db *db) { return ((struct sqlite_db *)db)->handle; }
static sqlite3_stmt *statement_of(struct store_rows *rows) {
    return ((struct sqlite_rows *)rows)->statement;
}

/* Returns true if the file can't be opened for a reason that the path has, not the machine. */
static bool is_wrong_path(sqlite3 *handle) {
    int error = handle ? sqlite3_system_errno(handle) : 0;
    return error != ENOSPC && error != EIO && error != EMFILE && error != ENFILE &&
           error != ENOMEM && error != EDQUOT;
}

static bool set_sqlite_error(struct db *db, struct err *e) {
    sqlite3 *handle = handle_of(db);
    int code = handle ? sqlite3_errcode(handle) : SQLITE_NOMEM;
    const char *hint = code == SQLITE_FULL
                           ? "; free disk space and run again: no committed result is lost"
                       : code == SQLITE_BUSY   ? "; another program locked it for over a minute"
                       : code == SQLITE_NOTADB ? "; it is not a store of the grader"
                                               : "";
    bool is_input = code == SQLITE_NOTADB || (code == SQLITE_CANTOPEN && is_wrong_path(handle));
    return db_set_error(db, is_input ? ERR_INPUT : ERR_SYSTEM,
                        handle ? sqlite3_errmsg(handle) : "out of memory", hint, e);
}

/* ---- statements ---- */

static int bind_arg(sqlite3_stmt *q, int i, const struct db_value *v) {
    switch (v->type) {
    case 't': return sqlite3_bind_text(q, i, v->text, -1, SQLITE_TRANSIENT);
    case 'l': return sqlite3_bind_int64(q, i, v->integer);
    case 'n': return sqlite3_bind_null(q, i);
    case 'f': return sqlite3_bind_double(q, i, v->real); /* NAN becomes NULL. */
    default: return sqlite3_bind_blob64(q, i, v->bytes, v->size, SQLITE_TRANSIENT);
    }
}

static struct store_rows *query_rows(struct db *db, const char *sql, const struct db_value *args,
                                     unsigned n, struct err *e) {
    sqlite3_stmt *q = NULL;
    bool ok = sqlite3_prepare_v2(handle_of(db), sql, -1, &q, NULL) == SQLITE_OK;
    for (unsigned i = 0; i < n && ok; i++) ok = bind_arg(q, (int)i + 1, &args[i]) == SQLITE_OK;
    if (!ok) {
        set_sqlite_error(db, e), sqlite3_finalize(q);
        return NULL;
    }
    struct sqlite_rows *rows = xcalloc(1, sizeof *rows);
    *rows = (struct sqlite_rows){{db}, q};
    return &rows->base;
}

static bool step_rows(struct store_rows *rows, struct err *e) {
    int code = sqlite3_step(statement_of(rows));
    if (code != SQLITE_ROW && code != SQLITE_DONE) set_sqlite_error(rows->db, e);
    return code == SQLITE_ROW;
}

static void finalize_rows(struct store_rows *rows) {
    sqlite3_finalize(statement_of(rows));
    free(rows);
}

static long long count_changed_rows(struct db *db) { return sqlite3_changes64(handle_of(db)); }

/* ---- columns ---- */

static int count_columns(struct store_rows *rows) {
    return sqlite3_column_count(statement_of(rows));
}

static const char *name_of_column(struct store_rows *rows, int column) {
    return sqlite3_column_name(statement_of(rows), column);
}
static bool is_column_null(struct store_rows *rows, int column) {
    return sqlite3_column_type(statement_of(rows), column) == SQLITE_NULL;
}
static bool is_column_number(struct store_rows *rows, int column) {
    int type = sqlite3_column_type(statement_of(rows), column);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}
static bool is_column_bytes(struct store_rows *rows, int column) {
    return sqlite3_column_type(statement_of(rows), column) == SQLITE_BLOB;
}
static double double_of_column(struct store_rows *rows, int column) {
    return sqlite3_column_double(statement_of(rows), column);
}
static const char *text_of_column(struct store_rows *rows, int column) {
    return (const char *)sqlite3_column_text(statement_of(rows), column);
}
static const void *bytes_of_column(struct store_rows *rows, int column, size_t *size) {
    const void *bytes = sqlite3_column_blob(statement_of(rows), column);
    *size = (size_t)sqlite3_column_bytes(statement_of(rows), column);
    return bytes;
}

/* ---- transactions ---- */

static bool begin(struct db *db, enum db_transaction kind, struct err *e) {
    (void)kind; /* A file has one writer. */
    return db_exec(db, "BEGIN IMMEDIATE", e);
}

static bool commit(struct db *db, struct err *e) { return db_exec(db, "COMMIT", e); }

static void roll_back(struct db *db) {
    sqlite3_exec(handle_of(db), "ROLLBACK", NULL, NULL,
                 NULL); /* SQLite may have done it already. */
}

static bool prepare_erase(struct db *db, struct err *e) {
    return db_exec(db, "PRAGMA secure_delete = ON", e);
}

static bool erase(struct db *db, struct err *e) {
    return db_exec(db, "VACUUM", e) && db_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", e);
}

/* ---- tables ---- */

#define TEXT                 "TEXT"
#define INTEGER              "INTEGER"
#define REAL                 "REAL"
#define BYTES                "BLOB"
#define ROW_NUMBER           "INTEGER PRIMARY KEY"
#define EPOCH(time)          "CAST(strftime('%s', " time ") AS INTEGER)"
#define JOINED(text)         "group_concat(" text ", ' ')"
#define JSON_ROWS(json, key) "json_each(" json ", '$." key "') t"
#define JSON_TEXT(key)       "json_extract(t.value, '$." key "')"
#include "grader/class/db_schema.h"

static long long schema_version(struct db *db, struct err *e) {
    struct store_rows *rows = query_rows(db, "PRAGMA user_version", NULL, 0, e);
    long long n = rows && step_rows(rows, e) ? sqlite3_column_int64(statement_of(rows), 0) : -1;
    if (rows) finalize_rows(rows);
    return n;
}

static bool set_schema_version(struct db *db, long long version, struct err *e) {
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA user_version = %lld", version);
    return db_exec(db, sql, e);
}

/* ---- opening ---- */

static void close_db(struct db *db) {
    if (!db) return;
    sqlite3_close(handle_of(db));
    free(db);
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

static bool check_path(const char *path, bool create, struct err *e) {
    if (!create && !file_exists(path))
        return err_set(e, ERR_INPUT, "%s: there is no such store", path);
    return !is_write_protected(path) ||
           err_set(e, ERR_INPUT,
                   "%s: you may not write the store or its folder, and SQLite keeps a journal "
                   "there even to read; copy the store to a folder of yours",
                   path);
}

static bool configure(struct db *db, bool is_temporary, struct err *e) {
    sqlite3_busy_timeout(handle_of(db), BUSY_TIMEOUT_MS);
    return (is_temporary || db_exec(db, "PRAGMA journal_mode = WAL", e)) &&
           db_exec(db, is_temporary ? "PRAGMA synchronous = OFF" : "PRAGMA synchronous = FULL",
                   e) &&
           db_exec(db, "PRAGMA cache_size = -32768", e) &&
           db_exec(db, "PRAGMA foreign_keys = ON", e);
}

static struct db *open_db(const char *path, bool create, struct err *e) {
    if (path && !check_path(path, create, e)) return NULL;
    struct sqlite_db *db = xcalloc(1, sizeof *db);
    db->base.driver = &db_sqlite;
    snprintf(db->base.name, sizeof db->base.name, "%s", path ? path : "the results of this run");
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    bool ok = sqlite3_open_v2(path ? path : "", &db->handle, flags, NULL) == SQLITE_OK ||
              set_sqlite_error(&db->base, e);
    if (ok && configure(&db->base, !path, e)) return &db->base;
    close_db(&db->base);
    return NULL;
}

/* ---- two stores ---- */

static const char *const attached[] = {
#define ATTACHED(name) #name,
#include "grader/class/store_attached.def"
#undef ATTACHED
};

static bool attach(struct db *db, const char *path, struct err *e) {
    struct store_rows *rows =
        query_rows(db, "ATTACH ? AS other", &(struct db_value){.type = 't', .text = path}, 1, e);
    struct err step_error = {0};
    bool ok = rows && !step_rows(rows, &step_error) && !step_error.text[0];
    if (rows) finalize_rows(rows);
    if (step_error.text[0]) *e = step_error;
    for (unsigned i = 0; i < sizeof attached / sizeof *attached && ok; i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "CREATE TEMP VIEW other_%s AS SELECT * FROM other.%s",
                 attached[i], attached[i]);
        ok = db_exec(db, sql, e);
    }
    return ok;
}

static bool detach(struct db *db, struct err *e) {
    bool ok = true;
    for (unsigned i = 0; i < sizeof attached / sizeof *attached && ok; i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "DROP VIEW other_%s", attached[i]);
        ok = db_exec(db, sql, e);
    }
    return ok && db_exec(db, "DETACH other", e);
}

const struct db_driver db_sqlite = {
    .now = "CAST(strftime('%s', 'now') AS INTEGER)",
    .skip_locked = "",
    .open = open_db,
    .close = close_db,
    .schema_version = schema_version,
    .set_schema_version = set_schema_version,
    .migrations = migrations,
    .views = views,
    .migration_count = MIGRATION_COUNT,
    .view_count = VIEW_COUNT,
    .query = query_rows,
    .step = step_rows,
    .finalize = finalize_rows,
    .changed_rows = count_changed_rows,
    .column_count = count_columns,
    .column_name = name_of_column,
    .column_is_null = is_column_null,
    .column_is_number = is_column_number,
    .column_is_bytes = is_column_bytes,
    .column_double = double_of_column,
    .column_text = text_of_column,
    .column_bytes = bytes_of_column,
    .begin = begin,
    .commit = commit,
    .roll_back = roll_back,
    .prepare_erase = prepare_erase,
    .erase = erase,
    .attach = attach,
    .detach = detach,
};
