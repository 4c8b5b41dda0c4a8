/* store.c — see store.h. What depends on the database is in its driver (db.h). */
#include "grader/class/store.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGS = 32 };

/* ---- statements ---- */

static unsigned read_args(const char *types, va_list ap, struct db_value args[MAX_ARGS]) {
    unsigned n = 0;
    for (; types[n]; n++) {
        struct db_value v = {.type = types[n]};
        if (n == MAX_ARGS) die("a statement has over %d arguments", MAX_ARGS);
        if (v.type == 't') v.text = va_arg(ap, const char *);
        else if (v.type == 'l') v.integer = va_arg(ap, long long);
        else if (v.type == 'f') v.real = va_arg(ap, double);
        else if (v.type == 'b') {
            const struct buf *b = va_arg(ap, const struct buf *);
            v.bytes = buf_str(b), v.size = b->size;
        }
        args[n] = v;
    }
    return n;
}

struct store_rows *store_query(struct store *s, struct err *e, const char *sql, const char *types,
                               ...) {
    struct db_value args[MAX_ARGS];
    va_list ap;
    va_start(ap, types);
    unsigned n = read_args(types, ap, args);
    va_end(ap);
    return s->db->driver->query(s->db, sql, args, n, e);
}

/* Runs a query to its end and finalizes it. */
static bool exhaust(struct store_rows *q, struct err *e) {
    struct err step_error = {0};
    if (!q) return false;
    const struct db_driver *driver = q->db->driver;
    while (driver->step(q, &step_error)) {}
    driver->finalize(q);
    return !step_error.text[0] || err_set(e, step_error.kind, "%s", step_error.text);
}

bool store_exec(struct store *s, struct err *e, const char *sql, const char *types, ...) {
    struct db_value args[MAX_ARGS];
    va_list ap;
    va_start(ap, types);
    unsigned n = read_args(types, ap, args);
    va_end(ap);
    return exhaust(s->db->driver->query(s->db, sql, args, n, e), e);
}

bool db_exec(struct db *db, const char *sql, struct err *e) {
    return exhaust(db->driver->query(db, sql, NULL, 0, e), e);
}

long long store_changed_rows(struct store *s) { return s->db->driver->changed_rows(s->db); }

bool store_step(struct store *s, struct store_rows **q, struct err *e) {
    (void)s;
    if (*q && (*q)->db->driver->step(*q, e)) return true;
    store_finalize(q);
    return false;
}

void store_finalize(struct store_rows **q) {
    if (*q) (*q)->db->driver->finalize(*q);
    *q = NULL;
}

long long store_query_int(struct store *s, struct err *e, const char *sql) {
    struct store_rows *q = store_query(s, e, sql, "");
    long long n = store_step(s, &q, e) ? store_column_int64(q, 0) : -1;
    store_finalize(&q);
    return n;
}

/* ---- columns ---- */

int store_column_count(struct store_rows *q) { return q->db->driver->column_count(q); }

bool store_column_is_null(struct store_rows *q, int column) {
    return q->db->driver->column_is_null(q, column);
}
bool store_column_is_number(struct store_rows *q, int column) {
    return q->db->driver->column_is_number(q, column);
}
const char *store_column_text(struct store_rows *q, int column) {
    const char *s = q->db->driver->column_text(q, column);
    return s ? s : "";
}
long long store_column_int64(struct store_rows *q, int column) {
    return strtoll(store_column_text(q, column), NULL, 10);
}
int store_column_int(struct store_rows *q, int column) {
    return (int)store_column_int64(q, column);
}
double store_column_double(struct store_rows *q, int column) {
    return q->db->driver->column_double(q, column);
}
const void *store_column_bytes(struct store_rows *q, int column) {
    size_t size;
    return q->db->driver->column_bytes(q, column, &size);
}
size_t store_column_size(struct store_rows *q, int column) {
    size_t size;
    q->db->driver->column_bytes(q, column, &size);
    return size;
}

/* ---- transactions ---- */

bool store_begin(struct store *s, struct err *e) {
    return s->db->driver->begin(s->db, DB_EXCLUSIVE, e);
}

bool store_begin_shared(struct store *s, struct err *e) {
    return s->db->driver->begin(s->db, DB_SHARED, e);
}

bool store_commit(struct store *s, bool ok, struct err *e) {
    ok = ok && s->db->driver->commit(s->db, e);
    if (!ok) s->db->driver->roll_back(s->db);
    return ok;
}

bool store_prepare_erase(struct store *s, struct err *e) {
    return s->db->driver->prepare_erase(s->db, e);
}

bool store_erase(struct store *s, struct err *e) { return s->db->driver->erase(s->db, e); }

/* ---- tables ---- */

static bool drop_views(struct store *s, struct err *e) {
    const struct db_driver *driver = s->db->driver;
    bool ok = true;
    for (unsigned i = driver->view_count; i-- && ok;) {
        char sql[128];
        snprintf(sql, sizeof sql, "DROP VIEW IF EXISTS %s", driver->views[i].name);
        ok = db_exec(s->db, sql, e);
    }
    return ok;
}

static int newest_version(const struct db_driver *driver) {
    return driver->migrations[driver->migration_count - 1].version;
}

static bool create_tables(struct store *s, long long version, struct err *e) {
    const struct db_driver *driver = s->db->driver;
    bool ok = drop_views(s, e);
    for (unsigned i = 0; i < driver->migration_count && ok; i++)
        if (driver->migrations[i].version > version)
            ok = db_exec(s->db, driver->migrations[i].sql, e);
    for (unsigned i = 0; i < driver->view_count && ok; i++)
        ok = db_exec(s->db, driver->views[i].sql, e);
    return ok && driver->set_schema_version(s->db, newest_version(driver), e);
}

/* Brings the tables up to date. Two graders may try at the same time, so the version is read again
 * in the transaction. */
static bool migrate(struct store *s, bool create, struct err *e) {
    const struct db_driver *driver = s->db->driver;
    int newest = newest_version(driver);
    long long version = driver->schema_version(s->db, e);
    if (version == newest) return true;
    if (version < 0) return false;
    if (version == 0 && !create && driver->is_remote)
        return err_set(e, ERR_INPUT, "%s: the database has no store of the grader", s->path);
    if (version > newest)
        return err_set(e, ERR_INPUT, "%s: made by a newer grader (schema %lld); use that one",
                       s->path, version);
    if (!store_begin(s, e)) return false;
    version = driver->schema_version(s->db, e);
    bool ok = version >= newest || (version >= 0 && create_tables(s, version, e));
    return store_commit(s, ok, e);
}

/* ---- opening ---- */

bool store_open(struct store *s, const char *location, bool create, struct err *e) {
    const struct db_driver *driver =
        location && db_is_server(location) ? &db_postgresql : &db_sqlite;
    *s = (struct store){.db = driver->open(location, create, e)};
    if (!s->db) return false;
    snprintf(s->path, sizeof s->path, "%s", s->db->name);
    s->location = location ? xstrdup(location) : NULL;
    if (migrate(s, create, e)) return true;
    store_close(s);
    return false;
}

void store_close(struct store *s) {
    if (s->db) s->db->driver->close(s->db);
    free(s->location);
    s->db = NULL, s->location = NULL;
}

void store_shown_name(const char *location, char *out, size_t size) {
    if (db_is_server(location)) db_shown_location(location, out, size);
    else snprintf(out, size, "%s", location);
}

/* ---- two stores ---- */

static const char *const attached[] = {
#define ATTACHED(name) #name,
#include "grader/class/store_attached.def"
#undef ATTACHED
};
enum { ATTACHED_COUNT = sizeof attached / sizeof *attached };

/* Copies the current row of `from` into the table. */
static bool copy_row(struct store *s, const char *insert_sql, struct store_rows *from,
                     struct err *e) {
    struct db_value args[MAX_ARGS];
    int n = store_column_count(from);
    for (int i = 0; i < n; i++) {
        size_t size;
        const void *bytes = from->db->driver->column_bytes(from, i, &size);
        bool is_null = store_column_is_null(from, i), is_number = store_column_is_number(from, i);
        args[i] = (struct db_value){.type = is_null                                      ? 'n'
                                            : is_number                                  ? 'f'
                                            : from->db->driver->column_is_bytes(from, i) ? 'b'
                                                                                         : 't',
                                    .text = store_column_text(from, i),
                                    .real = store_column_double(from, i),
                                    .bytes = bytes,
                                    .size = size};
    }
    return exhaust(s->db->driver->query(s->db, insert_sql, args, (unsigned)n, e), e);
}

static void put_insert(const char *table, struct store_rows *from, struct buf *sql) {
    int n = store_column_count(from);
    buf_printf(sql, "INSERT INTO other_%s (", table);
    for (int i = 0; i < n; i++)
        buf_printf(sql, "%s%s", i ? ", " : "", from->db->driver->column_name(from, i));
    buf_puts(sql, ") VALUES (");
    for (int i = 0; i < n; i++) buf_puts(sql, i ? ", ?" : "?");
    buf_puts(sql, ")");
}

static bool copy_table(struct store *s, struct store *other, const char *table, struct err *e) {
    struct buf sql = {0};
    buf_printf(&sql, "CREATE TEMP TABLE other_%s AS SELECT * FROM %s WHERE 1 = 0", table, table);
    bool ok = db_exec(s->db, buf_str(&sql), e);
    buf_clear(&sql), buf_printf(&sql, "SELECT * FROM %s", table);
    struct store_rows *q = ok ? store_query(other, e, buf_str(&sql), "") : NULL;
    buf_clear(&sql);
    if (q) put_insert(table, q, &sql);
    while (ok && store_step(other, &q, e)) ok = copy_row(s, buf_str(&sql), q, e);
    store_finalize(&q);
    buf_free(&sql);
    return ok && !e->text[0];
}

static bool drop_copies(struct store *s, struct err *e) {
    bool ok = true;
    for (unsigned i = 0; i < ATTACHED_COUNT && ok; i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "DROP TABLE IF EXISTS other_%s", attached[i]);
        ok = db_exec(s->db, sql, e);
    }
    return ok;
}

static bool copy_tables(struct store *s, struct store *other, struct err *e) {
    bool ok = drop_copies(s, e) && store_begin_shared(s, e);
    if (!ok) return false;
    for (unsigned i = 0; i < ATTACHED_COUNT && ok; i++) ok = copy_table(s, other, attached[i], e);
    return store_commit(s, ok, e);
}

bool store_attach(struct store *s, const char *location, struct err *e) {
    struct store other;
    if (!store_open(&other, location, false, e)) return false;
    s->has_attached = s->db->driver == other.db->driver && s->db->driver->attach;
    bool ok = s->has_attached || copy_tables(s, &other, e);
    store_close(&other);
    return ok && (!s->has_attached || s->db->driver->attach(s->db, location, e));
}

bool store_detach(struct store *s, bool ok, struct err *e) {
    struct err ignored = {0};
    struct err *error = ok ? e : &ignored;
    bool is_detached =
        s->has_attached ? s->db->driver->detach(s->db, error) : drop_copies(s, error);
    return is_detached && ok;
}
