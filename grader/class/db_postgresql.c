/* db_postgresql.c — a store in a PostgreSQL database; see db.h.
 *
 * libpq is loaded when the first such store is opened, so that the grader also starts on machines
 * without it. Its header is needed only to compile this file; `make setup` finds it.
 *
 * - The results of a query are fetched at once: while rows are read, the connection must be free
 * for other statements.
 * - An exclusive transaction holds an advisory lock, which all of them take. A shared one doesn't.
 * - Texts must be UTF-8; other bytes in them are replaced. Sources are bytes and stay as they are.
 * - PGPASSWORD is removed from the environment, which compilers and other children inherit. */
#include "common/buf.h"
#include "common/text.h"
#include "grader/class/db.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>

/* The functions of libpq that this file calls. */
/* clang-format off */
#define FUNCTIONS(X) \
    X(PQconnectdbParams) X(PQstatus) X(PQfinish) X(PQerrorMessage) X(PQsetNoticeReceiver) \
    X(PQparameterStatus) X(PQconnectionNeedsPassword) X(PQconnectionUsedPassword) \
    X(PQconninfoParse) X(PQconninfoFree) X(PQexecParams) X(PQclear) X(PQresultStatus) \
    X(PQresultErrorField) X(PQntuples) X(PQnfields) X(PQfname) \
    X(PQftype) X(PQgetisnull) X(PQgetvalue) X(PQgetlength) X(PQcmdTuples) X(PQunescapeBytea) \
    X(PQfreemem) X(PQtransactionStatus) X(PQreset)
/* clang-format on */
static struct {
#define X(name) __typeof__(name) *name;
    FUNCTIONS(X)
#undef X
} pq;

/* Types by their numbers in the server's table pg_type. */
enum { OID_BOOL = 16, OID_BYTEA = 17, OID_INT8 = 20, OID_INT2 = 21, OID_INT4 = 23, OID_TEXT = 25 };
enum { OID_FLOAT4 = 700, OID_FLOAT8 = 701, OID_NUMERIC = 1700 };
enum { MAX_ARGS = 32 };

struct server_db {
    struct db base;
    PGconn *connection;
    long long changed_rows;
    bool is_in_transaction;
};
struct server_rows {
    struct store_rows base;
    PGresult *result;
    int row; /* -1 before the first step */
    unsigned char *
        *bytes; /* of each column of the current row, decoded on demand; NULL = not yet */
    size_t *sizes;
};

static struct server_db *server_of(struct db *db) { return (struct server_db *)db; }
static struct server_rows *rows_of(struct store_rows *rows) { return (struct server_rows *)rows; }

/* ---- errors ---- */

/* Returns what to do about an error with this SQLSTATE; "" if that is unknown. */
static const char *hint_of(const char *state) {
    static const struct {
        const char *state, *hint;
    } hints[] = {
        {"53100", "; free disk space on the server and run again: no committed result is lost"},
        {"55P03", "; another program locked it for over a minute"},
        {"42501", "; grant this user the rights to create and write tables in the schema"},
        {"25006", "; connect to the primary server, not to a standby"},
        {"57P01", "; the server was stopped; run again: no committed result is lost"},
        {"53300", "; run fewer graders, or raise max_connections"},
    };
    for (unsigned i = 0; i < sizeof hints / sizeof *hints; i++)
        if (!strcmp(state, hints[i].state)) return hints[i].hint;
    return "";
}

static bool set_result_error(struct server_db *db, const PGresult *result, struct err *e) {
    const char *state = pq.PQresultErrorField(result, PG_DIAG_SQLSTATE),
               *text = pq.PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (pq.PQstatus(db->connection) == CONNECTION_BAD || !state) /* libpq's own have no state. */
        return db_set_error(&db->base, ERR_SYSTEM, "the connection to the server was lost",
                            "; run again when it is back: no committed result is lost", e);
    return db_set_error(&db->base, ERR_SYSTEM, text ? text : "unknown error", hint_of(state), e);
}

/* ---- statements ---- */

/* Writes `sql` with the placeholders $1, $2 … for ? or ?1, ?2 …; texts in quotes stay as they are.
 */
static void number_placeholders(const char *sql, struct buf *out) {
    unsigned n = 0;
    bool is_quoted = false;
    for (; *sql; sql++) {
        is_quoted ^= *sql == '\'';
        if (*sql != '?' || is_quoted) buf_add(out, sql, 1);
        else if (sql[1] >= '1' && sql[1] <= '9') buf_puts(out, "$");
        else buf_printf(out, "$%u", ++n);
    }
}

/* The arguments of a statement as libpq takes them. */
struct parameters {
    Oid types[MAX_ARGS];
    const char *values[MAX_ARGS];
    int lengths[MAX_ARGS], formats[MAX_ARGS];
    struct buf texts[MAX_ARGS];
};

static void set_text(struct parameters *p, unsigned i, Oid type) {
    p->types[i] = type, p->values[i] = buf_str(&p->texts[i]);
}

static void set_parameter(struct parameters *p, unsigned i, const struct db_value *v) {
    if (v->type == 't') {
        p->types[i] = OID_TEXT;
        if (v->text) text_put_utf8(&p->texts[i], v->text), set_text(p, i, OID_TEXT);
    } else if (v->type == 'l')
        buf_printf(&p->texts[i], "%lld", v->integer), set_text(p, i, OID_INT8);
    else if (v->type == 'f') {
        p->types[i] = OID_FLOAT8;
        if (!isnan(v->real)) buf_printf(&p->texts[i], "%.17g", v->real), set_text(p, i, OID_FLOAT8);
    } else if (v->type == 'b') {
        p->types[i] = OID_BYTEA, p->formats[i] = 1;
        p->values[i] = v->bytes ? v->bytes : "", p->lengths[i] = (int)v->size;
    }
}

static PGresult *execute(struct server_db *db, const char *sql, const struct db_value *args,
                         unsigned n) {
    struct buf numbered = {0};
    struct parameters *p = xcalloc(1, sizeof *p);
    number_placeholders(sql, &numbered);
    for (unsigned i = 0; i < n; i++) set_parameter(p, i, &args[i]);
    PGresult *result = pq.PQexecParams(db->connection, buf_str(&numbered), (int)n, p->types,
                                       p->values, p->lengths, p->formats, 0);
    for (unsigned i = 0; i < n; i++) buf_free(&p->texts[i]);
    free(p), buf_free(&numbered);
    return result;
}

/* Sets the session's parameters. The compiler for queries (jit) takes 30 seconds for the views of a
 * large class, whose execution takes one second; servers before version 11 lack it and refuse the
 * second statement. */
static bool configure(struct server_db *db, struct err *e) {
    PGresult *limit = execute(db, "SET lock_timeout = '60s'", NULL, 0);
    bool ok = pq.PQresultStatus(limit) == PGRES_COMMAND_OK ||
              db_set_error(&db->base, ERR_SYSTEM, pq.PQerrorMessage(db->connection), "", e);
    pq.PQclear(limit), pq.PQclear(execute(db, "SET jit = off", NULL, 0));
    return ok;
}

/* Connects again if an earlier statement found the connection lost. A workbench that is open for
 * days survives a restart of the server that way. Not in a transaction, whose begin is lost. */
static void reconnect(struct server_db *db) {
    if (pq.PQstatus(db->connection) == CONNECTION_OK || db->is_in_transaction) return;
    pq.PQreset(db->connection);
    if (pq.PQstatus(db->connection) == CONNECTION_OK) configure(db, &(struct err){0});
}

static struct store_rows *query_rows(struct db *db, const char *sql, const struct db_value *args,
                                     unsigned n, struct err *e) {
    struct server_db *server = server_of(db);
    reconnect(server);
    PGresult *result = execute(server, sql, args, n);
    ExecStatusType status = pq.PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        set_result_error(server, result, e), pq.PQclear(result);
        return NULL;
    }
    server->changed_rows = atoll(pq.PQcmdTuples(result));
    struct server_rows *rows = xcalloc(1, sizeof *rows);
    size_t column_count = (size_t)pq.PQnfields(result) + 1;
    *rows = (struct server_rows){.base = {db},
                                 .result = result,
                                 .row = -1,
                                 .bytes = xcalloc(column_count, sizeof *rows->bytes),
                                 .sizes = xcalloc(column_count, sizeof *rows->sizes)};
    return &rows->base;
}

static void free_bytes(struct server_rows *rows) {
    for (int i = 0; i < pq.PQnfields(rows->result); i++)
        if (rows->bytes[i]) pq.PQfreemem(rows->bytes[i]), rows->bytes[i] = NULL;
}

static bool step_rows(struct store_rows *rows, struct err *e) {
    struct server_rows *r = rows_of(rows);
    (void)e; /* The query fetched all rows. */
    free_bytes(r);
    return ++r->row < pq.PQntuples(r->result);
}

static void finalize_rows(struct store_rows *rows) {
    struct server_rows *r = rows_of(rows);
    free_bytes(r), pq.PQclear(r->result);
    free(r->bytes), free(r->sizes), free(r);
}

static long long count_changed_rows(struct db *db) { return server_of(db)->changed_rows; }

/* ---- columns ---- */

static int count_columns(struct store_rows *rows) { return pq.PQnfields(rows_of(rows)->result); }

static Oid type_of(struct store_rows *rows, int column) {
    return pq.PQftype(rows_of(rows)->result, column);
}
static const char *name_of_column(struct store_rows *rows, int column) {
    return pq.PQfname(rows_of(rows)->result, column);
}
static bool is_column_null(struct store_rows *rows, int column) {
    return pq.PQgetisnull(rows_of(rows)->result, rows_of(rows)->row, column);
}
static bool is_column_bytes(struct store_rows *rows, int column) {
    return type_of(rows, column) == OID_BYTEA;
}
static bool is_column_number(struct store_rows *rows, int column) {
    Oid type = type_of(rows, column);
    return !is_column_null(rows, column) &&
           (type == OID_INT8 || type == OID_INT4 || type == OID_INT2 || type == OID_FLOAT4 ||
            type == OID_FLOAT8 || type == OID_NUMERIC);
}

static const void *bytes_of_column(struct store_rows *rows, int column, size_t *size) {
    struct server_rows *r = rows_of(rows);
    *size = (size_t)pq.PQgetlength(r->result, r->row, column);
    if (is_column_null(rows, column)) return NULL;
    const char *text = pq.PQgetvalue(r->result, r->row, column);
    if (!is_column_bytes(rows, column)) return text;
    if (!r->bytes[column])
        r->bytes[column] = pq.PQunescapeBytea((const unsigned char *)text, &r->sizes[column]);
    if (!r->bytes[column]) die("out of memory");
    *size = r->sizes[column];
    return r->bytes[column];
}

static const char *text_of_column(struct store_rows *rows, int column) {
    size_t size;
    const char *text = bytes_of_column(rows, column, &size);
    if (text && type_of(rows, column) == OID_BOOL) return *text == 't' ? "1" : "0";
    return text;
}

static double double_of_column(struct store_rows *rows, int column) {
    const char *text = text_of_column(rows, column);
    return text ? strtod(text, NULL) : 0;
}

/* ---- transactions ---- */

/* The number of the lock that exclusive transactions take. Stores in two schemas of one database
 * don't wait for each other. */
#define LOCK_SQL "SELECT pg_advisory_xact_lock(1465010754, hashtext(current_schema()))"

static void roll_back(struct db *db) {
    struct err ignored = {0};
    server_of(db)->is_in_transaction = false;
    db_exec(db, "ROLLBACK", &ignored); /* The server may have done it already. */
}

static bool begin(struct db *db, enum db_transaction kind, struct err *e) {
    if (!db_exec(db, "BEGIN", e)) return false;
    server_of(db)->is_in_transaction = true;
    if (kind == DB_SHARED || db_exec(db, LOCK_SQL, e)) return true;
    roll_back(db);
    return false;
}

/* The server answers a COMMIT after an error with a successful ROLLBACK. */
static bool commit(struct db *db, struct err *e) {
    if (pq.PQtransactionStatus(server_of(db)->connection) == PQTRANS_INTRANS &&
        db_exec(db, "COMMIT", e)) {
        server_of(db)->is_in_transaction = false;
        return true;
    }
    return db_set_error(db, ERR_SYSTEM, "a statement of the transaction failed", "", e);
}

static bool prepare_erase(struct db *db, struct err *e) {
    (void)db, (void)e; /* erase() rewrites the tables. */
    return true;
}

static bool erase(struct db *db, struct err *e) {
    static const char *const tables[] = {"submission", "decision", "entry", "intake",
                                         "student",    "result",   "source"};
    bool ok = true;
    for (unsigned i = 0; i < sizeof tables / sizeof *tables && ok; i++) {
        char sql[64];
        snprintf(sql, sizeof sql, "VACUUM (FULL) %s", tables[i]);
        ok = db_exec(db, sql, e);
    }
    return ok;
}

/* ---- tables ---- */

#define TEXT                 "TEXT COLLATE \"C\""
#define INTEGER              "BIGINT"
#define REAL                 "DOUBLE PRECISION"
#define BYTES                "BYTEA"
#define ROW_NUMBER           "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"
#define EPOCH(time)          "CAST(extract(epoch FROM CAST(" time " AS TIMESTAMPTZ)) AS BIGINT)"
#define JOINED(text)         "string_agg(" text ", ' ' ORDER BY " text ")"
#define JSON_ROWS(json, key) "json_array_elements(CAST(" json " AS JSON) -> '" key "') AS t(value)"
#define JSON_TEXT(key)       "(t.value ->> '" key "')"
#include "grader/class/db_schema.h"

static long long read_number(struct db *db, const char *sql, struct err *e) {
    struct store_rows *rows = query_rows(db, sql, NULL, 0, e);
    if (!rows) return -1;
    long long n = step_rows(rows, e) ? (long long)double_of_column(rows, 0) : 0;
    finalize_rows(rows);
    return n;
}

static long long schema_version(struct db *db, struct err *e) {
    long long n = read_number(
        db, "SELECT count(*) FROM pg_class WHERE oid = to_regclass('warpbook_schema')", e);
    return n > 0 ? read_number(db, "SELECT max(version) FROM warpbook_schema", e) : n;
}

static bool set_schema_version(struct db *db, long long version, struct err *e) {
    char sql[96];
    snprintf(sql, sizeof sql, "INSERT INTO warpbook_schema VALUES (%lld)", version);
    return db_exec(db, "CREATE TABLE IF NOT EXISTS warpbook_schema (version BIGINT NOT NULL)", e) &&
           db_exec(db, sql, e);
}

/* ---- opening ---- */

static bool load_library(const char *shown, struct err *e) {
    static bool is_loaded;
    if (is_loaded) return true;
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return err_set(e, ERR_INPUT,
                       "%s: libpq.so.5 is not on this machine; install PostgreSQL's client library "
                       "(Debian: apt-get install libpq5)",
                       shown);
#define X(name)                                                  \
    if (!(pq.name = (__typeof__(pq.name))dlsym(library, #name))) \
        return err_set(e, ERR_SYSTEM, "%s: libpq.so.5 lacks %s", shown, #name);
    FUNCTIONS(X)
#undef X
    return is_loaded = true;
}

static void ignore_notice(void *user, const PGresult *result) { (void)user, (void)result; }

/* Returns PGPASSWORD, and removes it from the environment at the first call. */
static const char *take_password(void) {
    static char *password;
    const char *now = getenv("PGPASSWORD");
    if (now) free(password), password = xstrdup(now), unsetenv("PGPASSWORD");
    return password;
}

static bool set_connect_error(struct server_db *db, struct err *e) {
    bool is_refused = pq.PQconnectionNeedsPassword(db->connection);
    bool is_wrong = !is_refused && pq.PQconnectionUsedPassword(db->connection);
    const char *hint = is_refused ? "; put the password in ~/.pgpass (mode 600) or in PGPASSWORD"
                       : is_wrong
                           ? "; check the password in ~/.pgpass, PGPASSWORD or the URL"
                           : "; check the URL, and that the server runs and has the database "
                             "(createdb makes one)";
    return db_set_error(&db->base, ERR_INPUT, pq.PQerrorMessage(db->connection), hint, e);
}

/* Connects. A later word of the list overrides an earlier one, so the location's parameters do. */
static bool connect_server(struct server_db *db, const char *location, struct err *e) {
    const char *keys[] = {"connect_timeout",           "password", "dbname", "client_encoding",
                          "fallback_application_name", NULL};
    const char *values[] = {"10", take_password(), location, "UTF8", "warpbook", NULL};
    db->connection = pq.PQconnectdbParams(keys, values, 1);
    if (pq.PQstatus(db->connection) != CONNECTION_OK) return set_connect_error(db, e);
    pq.PQsetNoticeReceiver(db->connection, ignore_notice, NULL);
    const char *encoding = pq.PQparameterStatus(db->connection, "server_encoding");
    if (encoding && !strcmp(encoding, "UTF8")) return true;
    return db_set_error(&db->base, ERR_INPUT, "the database's encoding is not UTF8",
                        "; make it with createdb --encoding=UTF8 --template=template0", e);
}

/* Returns false if libpq can't read the location. libpq's own message might quote a password. */
static bool check_location(const char *location, const char *shown, bool is_clear, struct err *e) {
    PQconninfoOption *options = is_clear ? pq.PQconninfoParse(location, NULL) : NULL;
    bool ok = options;
    pq.PQconninfoFree(options);
    return ok || err_set(e, ERR_INPUT,
                         "%s: not a valid URL of a database; write "
                         "postgresql://user@host/database, with %%40 for @, %%2F for / and %%3F "
                         "for ? inside a name or password",
                         shown);
}

static void close_db(struct db *db) {
    if (!db) return;
    pq.PQfinish(server_of(db)->connection);
    free(db);
}

static struct db *open_db(const char *location, bool create, struct err *e) {
    struct server_db *db = xcalloc(1, sizeof *db);
    (void)create; /* store.c creates the tables. */
    db->base.driver = &db_postgresql;
    bool is_clear = db_shown_location(location, db->base.name, sizeof db->base.name);
    if (load_library(db->base.name, e) && check_location(location, db->base.name, is_clear, e) &&
        connect_server(db, location, e) && configure(db, e))
        return &db->base;
    if (db->connection) close_db(&db->base);
    else free(db);
    return NULL;
}

const struct db_driver db_postgresql = {
    .now = "CAST(extract(epoch FROM clock_timestamp()) AS BIGINT)",
    .skip_locked = " FOR UPDATE OF c SKIP LOCKED",
    .is_remote = true,
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
};

#else

static struct db *open_db(const char *location, bool create, struct err *e) {
    char shown[512];
    (void)create;
    db_shown_location(location, shown, sizeof shown);
    err_set(e, ERR_INPUT,
            "%s: this grader was built without PostgreSQL; install its client library with headers "
            "(Debian: apt-get install libpq-dev), then run make setup and make",
            shown);
    return NULL;
}

const struct db_driver db_postgresql = {.open = open_db};

#endif
