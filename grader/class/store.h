/* store.h — one SQLite file with a class's submissions and results, and with all that each result
 * depends on. The class commands use it. Each result is committed as soon as it is computed; a
 * kill, a full disk or a power cut loses nothing that was committed. Several graders on one machine
 * may use a store at the same time. docs/store.md documents the tables. */
#pragma once
#include "common/buf.h"
#include "common/err.h"

#include <sqlite3.h>
#include <stdbool.h>

struct store {
    sqlite3 *db;
    char path[512]; /* for messages */
};
/* Opens a store; if `create`, creates the file if it doesn't exist. If `path` is NULL, the store is
 * temporary: store_close deletes it. */
bool store_open(struct store *s, const char *path, bool create, struct err *e);
void store_close(struct store *s);

/* Executes a statement. `types` has a letter for each argument: t text (NULL = NULL), l long long,
 * f double (NAN = NULL), b struct buf *. */
bool store_exec(struct store *s, struct err *e, const char *sql, const char *types, ...);
/* Returns a prepared query for store_step; NULL on failure. */
sqlite3_stmt *store_query(struct store *s, struct err *e, const char *sql, const char *types, ...);
/* Fetches the next row. Returns false at the end and on an error; both finalize the query. */
bool store_step(struct store *s, sqlite3_stmt **q, struct err *e);
/* Finalizes a query early; does nothing if it is finalized already. */
void store_finalize(sqlite3_stmt **q);
const char *store_column_text(sqlite3_stmt *q, int column); /* never NULL */
/* Returns the number that a query yields; -1 = error. */
long long store_query_int(struct store *s, struct err *e, const char *sql);

bool store_begin(struct store *s, struct err *e); /* a write transaction */
/* Commits; rolls back if `ok` is false or the commit fails. Returns true if committed. */
bool store_commit(struct store *s, bool ok, struct err *e);

/* Attaches another store as `other`, brought up to date first; false if it is none. */
bool store_attach(struct store *s, const char *path, struct err *e);
/* Detaches it; returns `ok`, or false with an error. If `ok` is false, `e` stays. */
bool store_detach(struct store *s, bool ok, struct err *e);
